//! Recorded times of requests, read from text.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use frame::Nanos;

use super::Pace;
use crate::LoadError;

/// The longest file of times that is read.
const BYTES_MAX: u64 = 256 << 20;

/// Reads a file of times.
///
/// # Errors
/// A sentence that names the file, and the line where one is wrong.
pub fn read_replay(file: &Path) -> Result<Pace, LoadError> {
    let refuse = |why: &dyn fmt::Display| LoadError::new(format!("{}: {why}", file.display()));
    let unread = |error| refuse(&format_args!("{error}: name a text of times, one a line"));
    let opened = File::open(file).map_err(unread)?;
    let mut text = String::new();
    let read = opened.take(BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(unread)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(refuse(&"at most 256 MiB of times are read: cut the file"));
    }
    let times = read_times(&text).map_err(|error| refuse(&error))?;
    Ok(Pace::Replay(Arc::from(times)))
}

/// Reads times, one a line: seconds with up to nine digits behind the point, from any beginning.
/// They count from the earliest, and need not be in order. Empty lines and those that begin with
/// `#` are left out.
///
/// # Errors
/// A sentence that names the line.
fn read_times(text: &str) -> Result<Vec<Nanos>, LoadError> {
    let mut times = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        times.push(time(line).ok_or_else(|| {
            LoadError::new(format!(
                "line {}: no time: write seconds, as in 1700000000.25",
                number + 1
            ))
        })?);
    }
    times.sort_unstable();
    let Some(first) = times.first().copied() else {
        return Err(LoadError::new(
            "there are no times: write one a line, in seconds",
        ));
    };
    Ok(times
        .into_iter()
        .map(|time| Nanos(time.since(first)))
        .collect())
}

fn time(text: &str) -> Option<Nanos> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 9 {
        return None;
    }
    let seconds: u64 = whole.parse().ok()?;
    let part: u64 = part.parse::<u64>().ok()? * 10_u64.pow(9 - part.len() as u32);
    Some(Nanos(
        seconds.checked_mul(1_000_000_000)?.checked_add(part)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_earliest() {
        for (text, times) in [
            ("5", &[0][..]),
            ("1.5\n1.25\n\n# x\n2\n", &[0, 250_000_000, 750_000_000]),
            ("1700000000.000000001\n1700000000.000000003", &[0, 2]),
            (" 7 \r\n8\r\n", &[0, 1_000_000_000]),
        ] {
            let read: Vec<u64> = read_times(text)
                .expect(text)
                .iter()
                .map(|time| time.0)
                .collect();
            assert_eq!(read, times, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_named_by_its_line() {
        for (text, named) in [
            ("", "no times"),
            ("# nothing", "no times"),
            ("1\nx", "line 2"),
            ("-1", "line 1"),
            ("1.", "line 1"),
            (".5", "line 1"),
            ("1.0000000001", "line 1"),
            ("1e3", "line 1"),
            ("1,5", "line 1"),
            ("99999999999999", "line 1"),
        ] {
            let error = read_times(text).err().map(|error| error.to_string());
            let found = error.as_ref().is_some_and(|error| error.contains(named));
            assert!(found, "{text}: {error:?}");
        }
    }
}
