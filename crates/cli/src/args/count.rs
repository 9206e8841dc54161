//! Counts as people write them: `6000000`, `6,000,000`, `6_000_000`, `6M`.

/// A whole number above zero; `k`, `M` and `G` are thousands, millions and thousand millions.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.chars().last() {
        Some('k') => (&text[..text.len() - 1], 1_000),
        Some('M') => (&text[..text.len() - 1], 1_000_000),
        Some('G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    let digits: String = digits.chars().filter(|c| !matches!(c, '_' | ',')).collect();
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let number = plain
        .then(|| digits.parse::<u64>().ok()?.checked_mul(factor))
        .flatten();
    match number {
        Some(0) => Err("zero does nothing: write 1 or more".to_owned()),
        Some(number) => Ok(number),
        None => Err("not a count: write 1000000, 1,000,000 or 1M".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_write_it() {
        for text in ["6000000", "6,000,000", "6_000_000", "6M", "6000k"] {
            assert_eq!(parse(text), Ok(6_000_000), "{text}");
        }
        for text in ["", "M", "0", "-1", "1.5M", "6m", "99999999999G", "six"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
