//! Counting hits.

/// How many of `found` are true. By eight bytes at a time: a sum of `usize` widens each, which is
/// two instructions a key.
#[inline]
pub(crate) fn count(found: &[bool]) -> usize {
    let (eights, rest) = found.as_chunks::<8>();
    let mut hits = rest.iter().map(|&found| usize::from(found)).sum();
    // A byte holds 255 at most.
    for eights in eights.chunks(usize::from(u8::MAX)) {
        let sums = eights.iter().fold(0, |sums, &eight| {
            sums + u64::from_ne_bytes(eight.map(u8::from))
        });
        hits += sums.to_ne_bytes().map(usize::from).iter().sum::<usize>();
    }
    hits
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
