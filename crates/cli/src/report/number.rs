//! Numbers as people read them.

/// `184,214,528`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place != 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `38.2 MiB`, in powers of 1024.
pub(crate) fn bytes(number: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut scaled = number as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would round to "1024.0".
    while scaled >= 1023.95 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{scaled:.1} {}", UNITS[unit])
}

/// `10.0 %`; what is there and rounds to nothing shows as `< 0.1 %`, nothing of nothing as `-`.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let percent = part as f64 * 100.0 / whole as f64;
    if part != 0 && percent < 0.05 {
        return "< 0.1 %".to_owned();
    }
    format!("{percent:.1} %")
}

/// `10.0 s`, `1.25 s`, `12.3 ms`, `400 us`: about three digits.
pub(crate) fn seconds(seconds: f64) -> String {
    if seconds >= 9.995 {
        format!("{seconds:.1} s")
    } else if seconds >= 0.9995 {
        format!("{seconds:.2} s")
    } else if seconds >= 0.001 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{:.0} us", seconds * 1e6)
    }
}

/// `18.42 M`, `940 k`, `12`: a rate or count of which three or four digits matter.
pub(crate) fn brief(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e4 => format!("{:.0} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// `18.42 Mpps`, `940.2 kpps`, `12 pps`, `0.45 pps`: a rate in a unit that takes prefixes.
pub(crate) fn rate(number: f64, unit: &str) -> String {
    match number {
        n if n >= 1e9 => format!("{:.2} G{unit}", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M{unit}", n / 1e6),
        n if n >= 1e4 => format!("{:.1} k{unit}", n / 1e3),
        n if n.fract() == 0.0 || n >= 100.0 => format!("{n:.0} {unit}"),
        // Two digits after zeros that lead, and none that trail.
        n => {
            let digits = (1.0 - n.abs().log10().floor()).clamp(1.0, 9.0) as usize;
            let text = format!("{n:.digits$}");
            format!(
                "{} {unit}",
                text.trim_end_matches('0').trim_end_matches('.')
            )
        }
    }
}

/// `92`, or `0 to 92` of a number that may be too high by `error`.
pub(crate) fn range(at_most: u64, error: u64) -> String {
    match error {
        0 => count(at_most),
        _ => format!(
            "{} to {}",
            count(at_most.saturating_sub(error)),
            count(at_most)
        ),
    }
}

/// `1 worker`, `2 workers`.
pub(crate) fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (184_214_528, "184,214,528"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(count(number), text);
        }
    }

    #[test]
    fn binary_units() {
        for (number, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1024 * 1024 - 1, "1.0 MiB"),
            (40_000_000, "38.1 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
    }

    #[test]
    fn shares() {
        for (part, whole, text) in [
            (0, 0, "-"),
            (0, 5, "0.0 %"),
            (1, 10, "10.0 %"),
            (1, 1_000_000, "< 0.1 %"),
            (5, 5, "100.0 %"),
        ] {
            assert_eq!(share(part, whole), text);
        }
    }

    #[test]
    fn times_and_rates() {
        assert_eq!(seconds(10.004), "10.0 s");
        assert_eq!(seconds(1.254), "1.25 s");
        assert_eq!(seconds(0.0123), "12.3 ms");
        assert_eq!(seconds(0.0004), "400 us");
        assert_eq!(brief(18_420_000.0), "18.42 M");
        assert_eq!(brief(940_000.0), "940 k");
        assert_eq!(brief(12.0), "12");
        assert_eq!(rate(18_420_000.0, "pps"), "18.42 Mpps");
        assert_eq!(rate(940_200.0, "pps"), "940.2 kpps");
        assert_eq!(rate(12.0, "pps"), "12 pps");
        assert_eq!(range(92, 0), "92");
        assert_eq!(range(92, 92), "0 to 92");
        assert_eq!(range(1_092, 92), "1,000 to 1,092");
        for (number, text) in [
            (0.0, "0 pps"),
            (0.446_428, "0.45 pps"),
            (0.5, "0.5 pps"),
            (0.000_001, "0.000001 pps"),
            (1.5, "1.5 pps"),
            (99.96, "100 pps"),
            (100.4, "100 pps"),
        ] {
            assert_eq!(rate(number, "pps"), text);
        }
        assert_eq!(plural(1, "worker", "workers"), "1 worker");
        assert_eq!(plural(2_000, "worker", "workers"), "2,000 workers");
    }
}
