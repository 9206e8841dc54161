//! What a run is expected to show: `p99=50ms,errors=0.1%,rate=1000`.

use std::time::Duration;

use traffic::Histogram;

use super::Books;
use crate::LoadError;

/// One wish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// This share of all requests is answered within a time.
    Within {
        /// The share, as in 0.99.
        share: f64,
        /// Nanoseconds.
        nanos: u64,
    },
    /// At most this share of all requests has no sound answer.
    Errors(f64),
    /// At least so many answers a second.
    Rate(f64),
}

/// A wish as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As it was written.
    pub text: String,
    /// What it means.
    pub wish: Wish,
}

/// Whether a wish came true.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The wish.
    pub expectation: Expectation,
    /// What was seen: seconds, a share, or answers a second. None where too few were answered.
    pub seen: Option<f64>,
    /// Whether it is met.
    pub met: bool,
}

impl Expectation {
    /// Reads a list of them; `duration` reads times.
    ///
    /// # Errors
    /// A sentence for what is none.
    pub fn parse_all(
        text: &str,
        duration: impl Fn(&str) -> Option<Duration>,
    ) -> Result<Vec<Self>, LoadError> {
        text.split(',')
            .map(|wish| Self::parse(wish.trim(), &duration))
            .collect()
    }

    fn parse(text: &str, duration: &impl Fn(&str) -> Option<Duration>) -> Result<Self, LoadError> {
        let refuse = || {
            LoadError::new(format!(
                "{text}: write p99=50ms, p99.9=1s, max=2s, errors=0.1% or rate=1000"
            ))
        };
        let (name, value) = text.split_once('=').ok_or_else(refuse)?;
        let wish = match name {
            "errors" => errors(value).map(Wish::Errors),
            "rate" => plain(value).filter(|rate| *rate > 0.0).map(Wish::Rate),
            _ => {
                let share = match name {
                    "max" => Some(1.0),
                    _ => name
                        .strip_prefix('p')
                        .and_then(plain)
                        .map(|percent| percent / 100.0),
                };
                let time = duration(value);
                share
                    .filter(|share| *share > 0.0 && *share <= 1.0)
                    .zip(time)
                    .map(within)
            }
        };
        let wish = wish.ok_or_else(refuse)?;
        Ok(Self {
            text: text.to_owned(),
            wish,
        })
    }

    /// Holds it against a run. A request without a sound answer is later than all others.
    #[must_use]
    pub fn judge(&self, books: &Books, latency: &Histogram, seconds: f64) -> Judged {
        let all = (books.answered + books.failed()).max(1) as f64;
        let seen = match self.wish {
            Wish::Within { share, .. } => {
                let of_answered = (share * all).ceil() / latency.count().max(1) as f64;
                let enough = latency.count() > 0 && of_answered <= 1.0;
                enough.then(|| latency.quantile(of_answered) as f64 / 1e9)
            }
            Wish::Errors(_) => Some(books.failed() as f64 / all),
            Wish::Rate(_) => Some(books.answered as f64 / seconds.max(1e-9)),
        };
        let met = seen.is_some_and(|seen| match self.wish {
            Wish::Within { nanos, .. } => seen <= nanos as f64 / 1e9,
            Wish::Errors(most) => seen <= most && books.answered > 0,
            Wish::Rate(least) => seen >= least,
        });
        Judged {
            expectation: self.clone(),
            seen,
            met,
        }
    }
}

fn within((share, time): (f64, Duration)) -> Wish {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Wish::Within { share, nanos }
}

fn errors(value: &str) -> Option<f64> {
    let share = match value.strip_suffix('%') {
        Some(percent) => plain(percent)? / 100.0,
        None => plain(value)?,
    };
    (share <= 1.0).then_some(share)
}

/// Digits with a point: no sign, no exponent.
fn plain(text: &str) -> Option<f64> {
    let digits = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Option<Duration> {
        text.strip_suffix("ms")?
            .parse()
            .ok()
            .map(Duration::from_millis)
    }

    fn one(text: &str) -> Expectation {
        Expectation::parse(text, &millis).expect(text)
    }

    #[test]
    fn wishes() {
        for (text, wish) in [
            (
                "p99=50ms",
                Wish::Within {
                    share: 0.99,
                    nanos: 50_000_000,
                },
            ),
            (
                "p100=1ms",
                Wish::Within {
                    share: 1.0,
                    nanos: 1_000_000,
                },
            ),
            (
                "max=1ms",
                Wish::Within {
                    share: 1.0,
                    nanos: 1_000_000,
                },
            ),
            ("errors=0.1%", Wish::Errors(0.001)),
            ("errors=0", Wish::Errors(0.0)),
            ("rate=1000", Wish::Rate(1000.0)),
        ] {
            assert_eq!(one(text).wish, wish, "{text}");
        }
        for text in [
            "",
            "p99",
            "p99=",
            "p0=1ms",
            "p101=1ms",
            "errors=101%",
            "errors=-1",
            "rate=0",
            "rate=nan",
            "mean=1ms",
            "p1e1=1ms",
        ] {
            assert!(Expectation::parse(text, &millis).is_err(), "{text}");
        }
        assert_eq!(
            Expectation::parse_all("p99=5ms, rate=1", millis).map(|all| all.len()),
            Ok(2)
        );
    }

    #[test]
    fn what_was_not_answered_is_later_than_everything() {
        let mut latency = Histogram::new();
        latency.record_many(1_000_000, 980);
        latency.record_many(40_000_000, 10);
        let books = Books {
            answered: 990,
            not_sent: 10,
            ..Books::default()
        };
        for (text, met) in [
            ("p50=2ms", true),
            ("p98=2ms", true),
            ("p99=50ms", true),
            ("p99=2ms", false),
            ("p99.1=50ms", false),
            ("max=50ms", false),
            ("errors=1%", true),
            ("errors=0.9%", false),
            ("rate=99", true),
            ("rate=100", false),
        ] {
            assert_eq!(one(text).judge(&books, &latency, 10.0).met, met, "{text}");
        }
        let nothing = one("errors=100%").judge(&Books::default(), &Histogram::new(), 1.0);
        assert!(!nothing.met, "a run without an answer shows nothing");
        assert!(
            !one("p50=9ms")
                .judge(&Books::default(), &Histogram::new(), 1.0)
                .met
        );
    }
}
