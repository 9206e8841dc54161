//! Durations as people write them: `10s`, `2m`, `500ms`, `1.5h`, `10`.

use std::time::Duration;

/// A number and a unit; seconds where no unit is given. Zero is refused.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds_per_unit = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => {
            return Err(format!(
                "'{unit}' is no unit of time: write 500ms, 10s, 2m or 1h"
            ));
        }
    };
    let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: f64 = match number.trim().parse() {
        Ok(number) if plain => number,
        _ => return Err("not a duration: write 500ms, 10s, 2m or 1h".to_owned()),
    };
    let duration = Duration::try_from_secs_f64(number * seconds_per_unit)
        .map_err(|_| "longer than time is counted".to_owned())?;
    if duration.is_zero() {
        return Err("a run needs some time: write 1s or more".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        for (text, millis) in [
            ("10s", 10_000),
            ("2m", 120_000),
            ("500ms", 500),
            ("10", 10_000),
            ("1.5h", 5_400_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration() {
        for text in [
            "",
            "s",
            "10 s",
            "-1s",
            "+1",
            "1e3",
            "10x",
            "0",
            "0ms",
            "inf",
            "nan",
            "99999999999999999999d",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
