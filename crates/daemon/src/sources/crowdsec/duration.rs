//! Durations as Go writes them: `3h59m57.6s`, `-12.5ms`, `0s`.

use std::time::Duration;

/// Nanoseconds of each unit, longest name first where one begins like another.
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// No duration of Go is longer: 292 years.
const NANOS_MAX: u128 = 1 << 63;

/// Reads what Go's `time.ParseDuration` reads. Negative ones, of decisions that have ended, are
/// zero.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    if text.len() > 64 {
        return None;
    }
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    let mut nanos = 0u128;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (one, after) = part(rest)?;
        nanos = nanos.checked_add(one).filter(|sum| *sum <= NANOS_MAX)?;
        rest = after;
    }
    let nanos = if negative { 0 } else { nanos };
    Some(Duration::from_nanos(u64::try_from(nanos).ok()?))
}

/// A number with its unit, and what follows.
fn part(text: &str) -> Option<(u128, &str)> {
    let (whole, after) = digits(text);
    let (fraction, after) = match after.strip_prefix('.') {
        Some(after) => digits(after),
        None => ("", after),
    };
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = after
        .find(|c: char| c.is_ascii_digit() || c == '.')
        .unwrap_or(after.len());
    let (unit, after) = after.split_at(end);
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let whole: u128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    // Nine digits are nanoseconds of a second; of hours more would count, for nobody.
    let kept = &fraction[..fraction.len().min(18)];
    let part = match kept {
        "" => 0,
        _ => kept.parse::<u128>().ok()? * unit / 10u128.pow(kept.len() as u32),
    };
    Some((whole.checked_mul(*unit)?.checked_add(part)?, after))
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_writes() {
        let nanos = |text: &str| parse(text).map(|duration| duration.as_nanos());
        assert_eq!(nanos("3h59m57.641708614s"), Some(14_397_641_708_614));
        assert_eq!(nanos("0s"), Some(0));
        assert_eq!(nanos("0"), Some(0));
        assert_eq!(nanos("1.5h"), Some(5_400_000_000_000));
        assert_eq!(nanos("-14h5m7.3s"), Some(0));
        assert_eq!(nanos("12.5ms"), Some(12_500_000));
        assert_eq!(nanos("7µs"), Some(7_000));
        assert_eq!(nanos("7us3ns"), Some(7_003));
        assert_eq!(nanos("+.5s"), Some(500_000_000));
        assert_eq!(nanos("1.s"), Some(1_000_000_000));
        assert_eq!(nanos("2562047h47m16.854775807s"), Some(i64::MAX as u128));
    }

    #[test]
    fn what_go_refuses() {
        for text in [
            "",
            "-",
            "+",
            "3",
            "s",
            ".s",
            "3x",
            "3h5",
            "--3s",
            "3 h",
            " 3h",
            "h3",
            "3d",
            "-.s",
            "99999999999999999999h",
            "2562048h",
            "1h1",
            "٣s",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
