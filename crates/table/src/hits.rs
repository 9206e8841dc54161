//! Counting hits.

/// How many of `found` are true. By 64 at a time, whose sum fits a byte: so the compiler adds them
/// by vectors. It took 75 instructions a burst of 64 when it added words of eight.
#[inline]
pub(crate) fn count(found: &[bool]) -> usize {
    let (blocks, rest) = found.as_chunks::<64>();
    let whole: usize = blocks
        .iter()
        .map(|block| usize::from(count_some(block)))
        .sum();
    whole + usize::from(count_some(rest))
}

/// How many of at most 64.
#[inline(always)]
fn count_some(found: &[bool]) -> u8 {
    found.iter().map(|&found| u8::from(found)).sum()
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn hits_of_every_length_are_counted() {
        let (short, long): (_, &[usize]) = if cfg!(miri) {
            (10, &[2041])
        } else {
            (100, &[2039, 2040, 2041, 4103])
        };
        for len in (0..short).chain(long.iter().copied()) {
            assert_eq!(count(&vec![true; len]), len);
            let some: Vec<bool> = (0..len).map(|at| at % 3 == 0).collect();
            assert_eq!(count(&some), len.div_ceil(3));
        }
    }
}
