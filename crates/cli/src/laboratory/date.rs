//! The date of a run.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, as `2026-11-20T23:53:55Z`; none where the clock stands before 1970.
pub(super) fn now() -> Option<String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(utc(since.as_secs()))
}

/// Nanoseconds since 1970 as `2026-11-20T23:53:55.000000001Z`.
pub(crate) fn nanoseconds(nanos: u64) -> String {
    let (seconds, nanos) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let time = utc(seconds);
    format!("{}.{nanos:09}Z", time.trim_end_matches('Z'))
}

/// Seconds since 1970 in the Gregorian calendar, by days since 1 March of the year 0: a year that
/// begins in March has its leap day at the end.
fn utc(seconds: u64) -> String {
    const DAYS_BEFORE_1970: u64 = 719_468;
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let (days, second) = (seconds / 86_400 + DAYS_BEFORE_1970, seconds % 86_400);
    let (era, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    let year = era * 400 + year + next;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(seconds), date);
        }
        assert_eq!(nanoseconds(1_000_000_002), "1970-01-01T00:00:01.000000002Z");
    }
}
