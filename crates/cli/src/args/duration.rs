//! Durations as people write them: `10s`, `2m`, `500ms`, `1.5h`, `1h30m`, `10`.

use std::time::Duration;

/// A number and a unit; seconds where no unit is given. Zero is refused.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let duration = daemon::config::parse_duration(text)?;
    if duration.is_zero() {
        return Err("zero is no time to wait or to run for: write 1s or more".to_owned());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_refused() {
        assert_eq!(parse("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse("1h30m"), Ok(Duration::from_secs(5400)));
        for text in ["", "1e3", "0", "0ms", "0h0m"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
