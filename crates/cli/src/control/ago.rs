//! Times as people say them.

use std::time::{SystemTime, UNIX_EPOCH};

/// `12 s`, `5 min`, `3 h`, `12 days`: one unit, rounded down.
pub(super) fn span(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// How long ago a time was, seconds since 1970. What lies ahead, by clocks that differ, is now.
pub(super) fn ago(at: u64) -> String {
    format!("{} ago", since(at))
}

/// How long a time has passed, seconds since 1970.
pub(super) fn since(at: u64) -> String {
    span(now().saturating_sub(at))
}

/// How far ahead a time is, seconds since 1970.
pub(super) fn until(at: u64) -> String {
    format!("in {}", span(at.saturating_sub(now())))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        for (seconds, said) in [
            (0, "0 s"),
            (119, "119 s"),
            (120, "2 min"),
            (7_199, "119 min"),
            (7_200, "2 h"),
            (172_800, "2 days"),
        ] {
            assert_eq!(span(seconds), said);
        }
    }
}
