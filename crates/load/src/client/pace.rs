//! Rates that change, and times that were recorded.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use frame::Nanos;

use crate::LoadError;

/// The highest rate that is taken.
const RATE_MAX: f64 = 1e7;
/// Segments of one rate at most.
const SEGMENTS_MAX: usize = 1000;
const SECOND: f64 = 1e9;

/// Where the requests of a schedule lie, all workers together.
#[derive(Clone, Debug, PartialEq)]
pub enum Pace {
    /// By rates.
    Rates(Rates),
    /// At recorded times, from the start on, in order.
    Replay(Arc<[Nanos]>),
}

impl Pace {
    /// When the request at a position is due, from the start; none where the schedule has ended.
    pub(super) fn time_of(&self, position: f64) -> Option<Nanos> {
        match self {
            Self::Rates(rates) => {
                let seconds = rates.seconds_of(position)?;
                // A time past the end of the clock is the end of the clock.
                Some(Nanos((seconds * SECOND) as u64))
            }
            Self::Replay(times) => times.get(position as usize).copied(),
        }
    }

    /// The rate that it comes to, where it does not end by itself.
    #[must_use]
    pub const fn last_rate(&self) -> Option<f64> {
        match self {
            Self::Rates(rates) => rates.last,
            Self::Replay(_) => None,
        }
    }

    /// How long it lasts, where it ends by itself.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        match self {
            Self::Rates(rates) => rates.duration(),
            // The last request is due before the end.
            Self::Replay(times) => {
                let last = times.last().copied().unwrap_or_default();
                Some(Duration::from_nanos(last.0.saturating_add(1)))
            }
        }
    }
}

/// One rate after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    segments: Arc<[Segment]>,
    /// The rate behind the segments; none where the schedule ends with them.
    last: Option<f64>,
    /// Requests of all segments, and how long these last.
    requests: f64,
    seconds: f64,
}

/// A rate that stays, or changes in a straight line, for some time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    from: f64,
    to: f64,
    seconds: f64,
    /// Requests before it, and when it begins.
    requests_before: f64,
    begin: f64,
}

impl Segment {
    fn requests(&self) -> f64 {
        (self.from + self.to) / 2.0 * self.seconds
    }
}

impl Rates {
    /// One rate from the start on.
    #[must_use]
    pub fn constant(rate: f64) -> Self {
        Self::new(&[], Some(rate))
    }

    /// From 0 up to a rate, which then stays.
    #[must_use]
    pub fn ramp(rate: f64, over: Duration) -> Self {
        Self::new(&[(0.0, rate, over)], Some(rate))
    }

    fn new(parts: &[(f64, f64, Duration)], last: Option<f64>) -> Self {
        let (mut requests, mut seconds) = (0.0, 0.0);
        let segments = parts.iter().map(|&(from, to, over)| {
            let segment = Segment {
                from,
                to,
                seconds: over.as_secs_f64(),
                requests_before: requests,
                begin: seconds,
            };
            requests += segment.requests();
            seconds += segment.seconds;
            segment
        });
        let segments = segments.collect();
        Self {
            segments,
            last,
            requests,
            seconds,
        }
    }

    /// Reads `1000`, `1000:10s,2000:10s`, or with ramps `0-2000:20s,2000`: a rate without a time
    /// is the last and stays.
    ///
    /// # Errors
    /// A sentence for anything else.
    pub fn parse(
        text: &str,
        parse_duration: fn(&str) -> Result<Duration, String>,
    ) -> Result<Self, LoadError> {
        let words: Vec<&str> = text.split(',').collect();
        let refuse = |what: &str| LoadError::new(format!("{text}: {what}"));
        if words.len() > SEGMENTS_MAX {
            return Err(refuse("a rate has at most 1000 parts"));
        }
        let (mut parts, mut last) = (Vec::new(), None);
        for word in words {
            if last.is_some() {
                return Err(refuse("only the last rate stands without a time"));
            }
            let Some((rates, time)) = word.split_once(':') else {
                last = Some(parse_rate(word)?);
                continue;
            };
            let (from, to) = rates.split_once('-').unwrap_or((rates, rates));
            let over = parse_duration(time).map_err(LoadError::new)?;
            parts.push((rate_or_pause(from)?, rate_or_pause(to)?, over));
        }
        let rates = Self::new(&parts, last);
        match rates.last.is_none() && rates.requests < 1.0 {
            true => Err(refuse("not even one request is due")),
            false => Ok(rates),
        }
    }

    /// The rate, where there is but one.
    #[must_use]
    pub fn only(&self) -> Option<f64> {
        self.last.filter(|_| self.segments.is_empty())
    }

    fn duration(&self) -> Option<Duration> {
        match self.last {
            Some(_) => None,
            None => Some(Duration::from_secs_f64(self.seconds)),
        }
    }

    /// When so many requests have been due, in seconds.
    fn seconds_of(&self, position: f64) -> Option<f64> {
        if position >= self.requests {
            let rate = self.last?;
            return Some(self.seconds + (position - self.requests) / rate);
        }
        // Segments without a request begin with as many before them as the next.
        let behind = self
            .segments
            .partition_point(|one| one.requests_before <= position);
        let segment = self.segments.get(behind.checked_sub(1)?)?;
        Some(segment.begin + within(segment, position - segment.requests_before))
    }
}

/// When so many requests of a segment have been due: the inverse of
/// `from t + (to - from) t^2 / (2 over)`.
fn within(segment: &Segment, requests: f64) -> f64 {
    let slope = (segment.to - segment.from) / segment.seconds;
    if slope.abs() < 1e-9 {
        return requests / segment.to;
    }
    // The form of the root that loses no digits when the slope is small.
    let root = (segment.from * segment.from + 2.0 * slope * requests)
        .max(0.0)
        .sqrt();
    2.0 * requests / (segment.from + root)
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates = match self {
            Self::Replay(times) => return write!(f, "{} recorded times", times.len()),
            Self::Rates(rates) => rates,
        };
        let most = rates.segments.iter().flat_map(|one| [one.from, one.to]);
        let most = most.chain(rates.last).fold(0.0, f64::max);
        match (rates.segments.len(), rates.last) {
            (0, Some(rate)) => write!(f, "{rate} req/s"),
            (parts, _) => write!(f, "{parts} changes of rate, up to {most} req/s"),
        }
    }
}

/// Reads a rate above zero: `1000`, `2.5` or `50k`.
///
/// # Errors
/// A sentence for anything else.
pub fn parse_rate(text: &str) -> Result<f64, LoadError> {
    let rate = rate_or_pause(text)?;
    match rate > 0.0 {
        true => Ok(rate),
        false => Err(rate_refusal()),
    }
}

fn rate_or_pause(text: &str) -> Result<f64, LoadError> {
    let (number, scale) = match (text.strip_suffix('k'), text.strip_suffix('M')) {
        (Some(number), _) => (number, 1e3),
        (_, Some(number)) => (number, 1e6),
        _ => (text, 1.0),
    };
    let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let rate = number.parse::<f64>().ok();
    let rate = rate.filter(|_| number.bytes().all(plain));
    let rate = rate.map(|rate| rate * scale);
    rate.filter(|rate| *rate <= RATE_MAX)
        .ok_or_else(rate_refusal)
}

fn rate_refusal() -> LoadError {
    LoadError::new("write requests a second, as in 1000, 0.5 or 50k, up to 10M")
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn seconds(text: &str) -> Result<Duration, String> {
        let number = text
            .strip_suffix('s')
            .and_then(|number| number.parse().ok());
        number
            .map(Duration::from_secs)
            .ok_or_else(|| "write 5s".to_owned())
    }

    #[test]
    fn positions_have_their_times() {
        for (text, times) in [
            ("1000", &[(0.0, Some(0.0)), (1500.0, Some(1.5))][..]),
            (
                "10:1s,20:2s",
                &[
                    (9.0, Some(0.9)),
                    (10.0, Some(1.0)),
                    (11.0, Some(1.05)),
                    (50.0, None),
                ],
            ),
            (
                "10:1s,0:5s,10:1s",
                &[(9.0, Some(0.9)), (10.0, Some(6.0)), (20.0, None)],
            ),
            ("0:2s,10", &[(0.0, Some(2.0)), (10.0, Some(3.0))]),
            (
                "0-10:10s,10",
                &[(12.5, Some(5.0)), (50.0, Some(10.0)), (60.0, Some(11.0))],
            ),
            ("10-0:10s", &[(37.5, Some(5.0)), (50.0, None)]),
        ] {
            let rates = Rates::parse(text, seconds).expect(text);
            for (position, expected) in times {
                let found = rates.seconds_of(*position);
                let near = match (found, expected) {
                    (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
                    (found, expected) => found.is_none() && expected.is_none(),
                };
                assert!(near, "{text} at {position}: {found:?}");
            }
        }
    }

    #[test]
    fn durations_are_those_of_schedules_that_end() {
        for (text, duration) in [("10", None), ("10:3s,20:2s", Some(5)), ("10:3s,20", None)] {
            let rates = Pace::Rates(Rates::parse(text, seconds).expect(text));
            assert_eq!(
                rates.duration(),
                duration.map(Duration::from_secs),
                "{text}"
            );
        }
        let replay = Pace::Replay([Nanos(0), Nanos(7)].into());
        assert_eq!(replay.duration(), Some(Duration::from_nanos(8)));
        assert_eq!(replay.time_of(1.0), Some(Nanos(7)));
        assert_eq!(replay.time_of(2.0), None);
    }

    #[test]
    fn rates_that_are_none() {
        for text in [
            "", "0", "-1", "k", "1e3", "nan", "11M", "1kk", "inf", "1:", ":1s", "1:1s,", "1,2:1s",
            "1,2", "1:1m", "0:5s", "1-:1s", "-1:1s", "1-2-3:1s", "1 :1s",
        ] {
            assert!(Rates::parse(text, seconds).is_err(), "{text}");
        }
        let long = ["1:1s"; SEGMENTS_MAX + 1].join(",");
        assert!(Rates::parse(&long, seconds).is_err());
    }
}
