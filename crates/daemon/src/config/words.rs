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

/// How times are written, for messages.
const TIMES: &str = "write 500ms, 10s, 2m, 1h30m or 7d";

/// A time as people write it: `500ms`, `10s`, `2m`, `1.5h`, `1h30m`, `7d`; a bare number is
/// seconds. Of several units the larger comes first, each once. Exact to the microsecond.
///
/// # Errors
///
/// A sentence that says how to write it: no number, no such unit, units out of order, or more than
/// ten years.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let is_bare = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if is_bare {
        return in_bounds(text, number(text, text)? * 1e6);
    }
    let (mut sum, mut rest, mut last) = (0.0, text, None);
    while !rest.is_empty() {
        let (part, unit, after) = part(text, rest)?;
        let is_smaller = last.is_none_or(|(_, before)| unit.1 < before);
        if !is_smaller {
            let before = last.map_or("", |(name, _)| name);
            return Err(format!(
                "'{text}' has '{}' behind '{before}': write the larger unit first, as in 1h30m",
                unit.0
            ));
        }
        sum += part * unit.1 as f64;
        (rest, last) = (after, Some(unit));
    }
    in_bounds(text, sum)
}

/// The number at the beginning of `rest`, its unit, and what follows.
fn part<'a>(text: &str, rest: &'a str) -> Result<(f64, (&'static str, u64), &'a str), String> {
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let Some(digits) = digits else {
        return Err(format!(
            "'{rest}' at the end of '{text}' has no unit: {TIMES}"
        ));
    };
    let (digits, after) = rest.split_at(digits);
    let number = number(text, digits)?;
    let end = after.find(|c: char| c.is_ascii_digit() || c == '.');
    let (unit, after) = after.split_at(end.unwrap_or(after.len()));
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    let known = known.ok_or_else(|| match unit.contains(char::is_whitespace) {
        true => format!("'{text}' has a space in it: {TIMES}, without spaces"),
        false => format!("'{unit}' is no unit of time: {TIMES}"),
    });
    Ok((number, *known?, after))
}

fn number(text: &str, digits: &str) -> Result<f64, String> {
    let number = digits.parse();
    number.map_err(|_| format!("'{text}' is no time: {TIMES}"))
}

/// Rounded to microseconds: exact below 2^53 of them, 285 years.
fn in_bounds(text: &str, micros: f64) -> Result<Duration, String> {
    if micros > DURATION_MAX.as_micros() as f64 {
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
            ("1h30m", 5_400_000, "90m"),
            ("1h30min", 5_400_000, "90m"),
            ("1d12h", 129_600_000, "36h"),
            ("2d3h4m5s", 183_845_000, "183845s"),
            ("1m0.5s", 60_500, "60500ms"),
            ("1s500ms", 1_500, "1500ms"),
            ("0h0m", 0, "0s"),
            ("0h05m", 300_000, "5m"),
            ("1d90m", 91_800_000, "1530m"),
        ] {
            let read = parse_duration(text).expect(text);
            assert_eq!(read, Duration::from_millis(millis), "{text}");
            assert_eq!(show_duration(read), shown);
            assert_eq!(parse_duration(shown), Ok(read));
        }
        assert_eq!(parse_duration("1ms1us"), Ok(Duration::from_micros(1_001)));
    }

    #[test]
    fn what_is_no_time_is_told_why() {
        for (text, why) in [
            ("", "is no time"),
            (".", "is no time"),
            ("s", "is no time"),
            ("-1s", "is no time"),
            ("+1", "is no time"),
            ("inf", "is no time"),
            ("nan", "is no time"),
            ("1.2.3s", "is no time"),
            ("1h.m", "is no time"),
            ("1h-5m", "'h-' is no unit"),
            ("1e3", "'e' is no unit"),
            ("10x", "'x' is no unit"),
            ("1hour", "'hour' is no unit"),
            ("1H", "'H' is no unit"),
            ("5\u{b5}s", "is no unit"),
            ("\u{663}s", "is no time"),
            ("1h30", "'30' at the end of '1h30' has no unit"),
            ("1h30.", "'30.' at the end"),
            ("10 s", "space"),
            ("1h 30m", "space"),
            ("10s ", "space"),
            ("30m1h", "'h' behind 'm'"),
            ("1h1h", "'h' behind 'h'"),
            ("1m1min", "'min' behind 'm'"),
            ("99999999999d", "ten years"),
            ("4000d", "ten years"),
            ("3000d99999h", "ten years"),
        ] {
            let error = parse_duration(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
            assert!(error.contains(": write "), "{error} has no remedy");
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
