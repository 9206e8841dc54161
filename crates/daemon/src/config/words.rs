//! Values as people write them: times, sizes, CPUs; and as TOML writes texts.

use std::fmt::Write as _;
use std::time::Duration;

use frame::CpuId;

use super::error::Wrong;

/// Longer than any time that makes sense here, and short enough to be added without overflow.
const DURATION_MAX: Duration = Duration::from_secs(10 * 365 * 86_400);

const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("min", 60_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

/// A time as people write it: `500ms`, `10s`, `2m`, `1.5h`, `7d`; a bare number is seconds.
/// Exact to the microsecond.
///
/// # Errors
///
/// A sentence that says how to write it: no number, no such unit, or more than ten years.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = if unit.is_empty() { "s" } else { unit };
    let Some(&(_, micros)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!(
            "'{unit}' is no unit of time: write 500ms, 10s, 2m or 1h"
        ));
    };
    let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: f64 = match number.parse() {
        Ok(number) if plain => number,
        _ => return Err(format!("'{text}' is no time: write 500ms, 10s, 2m or 1h")),
    };
    // Rounded to microseconds: exact below 2^53 of them, 285 years.
    let micros = number * micros as f64;
    let longest = DURATION_MAX.as_micros() as f64;
    if micros > longest {
        return Err(format!("'{text}' is more than ten years: write less"));
    }
    Ok(Duration::from_micros(micros.round() as u64))
}

/// As [`parse_duration`] reads it back.
pub(crate) fn show_duration(duration: Duration) -> String {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    if micros == 0 {
        return "0s".to_owned();
    }
    let whole = |(name, unit): &(&str, u64)| {
        (micros % unit == 0).then(|| format!("{}{name}", micros / unit))
    };
    let units = UNITS.iter().filter(|(name, _)| *name != "min");
    units.clone().find_map(whole).unwrap_or_default()
}

/// A size as people write it: `4096`, `64KiB`, `512MiB`, `2GiB`.
pub(crate) fn parse_bytes(text: &str) -> Result<u64, Wrong> {
    let split = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit {
        "" => Some(0),
        "KiB" => Some(10),
        "MiB" => Some(20),
        "GiB" => Some(30),
        _ => None,
    };
    let bytes = shift.and_then(|shift| number.parse::<u64>().ok()?.checked_mul(1 << shift));
    let wrong = || Wrong::new(format!("'{text}' is no size"), "write 4096, 64KiB or 1GiB");
    bytes
        .filter(|&bytes| bytes != 0 && i64::try_from(bytes).is_ok())
        .ok_or_else(wrong)
}

/// CPUs as the kernel writes them, `0,2-3`: in the order given, each once.
///
/// # Errors
///
/// A sentence that says what is no CPU number, runs backwards or is named twice.
pub fn parse_cpus(text: &str) -> Result<Vec<CpuId>, String> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (cpu_number(first)?, cpu_number(last)?);
        if first > last {
            return Err(format!(
                "{first}-{last} runs backwards: write {last}-{first}"
            ));
        }
        for cpu in (first..=last).map(CpuId) {
            if cpus.contains(&cpu) {
                return Err(format!(
                    "CPU {cpu} is named twice: a worker needs one of its own"
                ));
            }
            cpus.push(cpu);
        }
    }
    Ok(cpus)
}

/// CPUs are few; a larger number is a slip of the finger, and a range of them a flood.
fn cpu_number(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|&number| number < 4096);
    number.ok_or_else(|| format!("'{text}' is no CPU number: write 0,1 or 0-3"))
}

/// A text as a TOML string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                // Writing to a String never fails.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_shown() {
        for (text, millis, shown) in [
            ("10s", 10_000, "10s"),
            ("2m", 120_000, "2m"),
            ("90min", 5_400_000, "90m"),
            ("500ms", 500, "500ms"),
            ("10", 10_000, "10s"),
            ("1.5h", 5_400_000, "90m"),
            ("0", 0, "0s"),
        ] {
            let read = parse_duration(text).expect(text);
            assert_eq!(read, Duration::from_millis(millis), "{text}");
            assert_eq!(show_duration(read), shown);
            assert_eq!(parse_duration(shown), Ok(read));
        }
        for text in [
            "",
            "s",
            "10 s",
            "-1s",
            "+1",
            "1e3",
            "10x",
            "inf",
            "nan",
            "99999999999d",
            "4000d",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        let read = |text| parse_bytes(text).ok();
        assert_eq!(read("4096"), Some(4096));
        assert_eq!(read("64KiB"), Some(65_536));
        assert_eq!(read("2GiB"), Some(2 << 30));
        for text in [
            "",
            "MiB",
            "1 MiB",
            "1.5MiB",
            "-1",
            "18446744073709551615GiB",
            "1M",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn cpus_in_lists_and_ranges() {
        let cpus = |text: &str| parse_cpus(text).ok();
        assert_eq!(cpus("0"), Some(vec![CpuId(0)]));
        assert_eq!(
            cpus("4,0-2"),
            Some(vec![CpuId(4), CpuId(0), CpuId(1), CpuId(2)])
        );
        for text in ["", "a", "1,", "3-1", "0,0", "0-2,1", "-1", "70000", "0-"] {
            assert!(cpus(text).is_none(), "{text}");
        }
    }

    #[test]
    fn texts_are_quoted_as_toml_reads_them() {
        assert_eq!(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000A\"");
    }
}
