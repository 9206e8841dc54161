//! What is said again and again: the first times as it is, then a sum a minute.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use tracing::Event;
use tracing::field::{Field, Visit};

/// How long repetitions are held back before their sum is said.
const SUM_EVERY: Duration = Duration::from_secs(60);

/// The same words are said so often in that time.
const SAME_MAX: u32 = 3;

/// One place in the program says so many different things in that time.
const PLACE_MAX: u32 = 40;

/// The target of sums, which are never held back themselves.
const SUMS: &str = "linerate::repeated";

/// Bytes of a held back line that are kept for the sum.
const SHOWN_MAX: usize = 200;

/// What was said in this minute. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats(Arc<Mutex<Said>>);

#[derive(Debug, Default)]
struct Said {
    /// By place and words.
    same: HashMap<u64, Line>,
    /// By place alone.
    places: HashMap<u64, Line>,
}

#[derive(Debug, Default)]
struct Line {
    said: u32,
    held: u64,
    /// The last that was held back.
    text: String,
}

impl Repeats {
    /// Begins to say sums.
    pub(super) fn start() -> io::Result<Self> {
        let repeats = Self::default();
        let summing = repeats.clone();
        Builder::new().name("log".to_owned()).spawn(move || {
            loop {
                std::thread::sleep(SUM_EVERY);
                for (held, text) in summing.sum() {
                    tracing::warn!(target: SUMS, times = held, "held back: {text}");
                }
            }
        })?;
        Ok(repeats)
    }

    /// Whether this is to be said now.
    pub(super) fn is_new(&self, event: &Event<'_>) -> bool {
        let metadata = event.metadata();
        if metadata.target() == SUMS {
            return true;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let mut hasher = DefaultHasher::new();
        metadata.callsite().hash(&mut hasher);
        self.lock().is_new(hasher.finish(), &text.0)
    }

    /// What was held back since the last sum; and begins anew.
    fn sum(&self) -> Vec<(u64, String)> {
        let said = std::mem::take(&mut *self.lock());
        let lines = said.same.into_values().chain(said.places.into_values());
        let held = lines.filter(|line| line.held != 0);
        held.map(|line| (line.held, line.text)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Said {
    fn is_new(&mut self, place: u64, text: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        (place, text).hash(&mut hasher);
        let words = hasher.finish();
        // A place that says too much is not remembered word by word: the maps stay small.
        let by_place = self.places.entry(place).or_default();
        if by_place.said >= PLACE_MAX && !self.same.contains_key(&words) {
            by_place.hold(text);
            return false;
        }
        by_place.said += 1;
        let same = self.same.entry(words).or_default();
        same.said += 1;
        if same.said > SAME_MAX {
            same.hold(text);
            return false;
        }
        true
    }
}

impl Line {
    fn hold(&mut self, text: &str) {
        self.held += 1;
        self.text = text.chars().take(SHOWN_MAX).collect();
    }
}

/// An event's message and fields as one line.
#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        // Writing to a String never fails.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, "{name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_summed() {
        let repeats = Repeats::default();
        let say = |place, text: &str| repeats.lock().is_new(place, text);
        let said = (0..10).filter(|_| say(1, "down")).count();
        assert_eq!(said, SAME_MAX as usize);
        assert!(say(2, "down"), "another place");
        assert!(say(1, "up"), "other words");
        assert_eq!(repeats.sum(), [(7, "down".to_owned())]);
        assert!(say(1, "down"), "another minute");
    }

    #[test]
    fn a_place_that_says_ever_new_things_is_bounded() {
        let repeats = Repeats::default();
        let say = |number: u32| repeats.lock().is_new(1, &format!("peer {number}"));
        assert_eq!(
            (0..1000).filter(|&number| say(number)).count(),
            PLACE_MAX as usize
        );
        assert!(repeats.lock().same.len() <= PLACE_MAX as usize);
        let held: u64 = repeats.sum().iter().map(|(held, _)| held).sum();
        assert_eq!(held, 1000 - u64::from(PLACE_MAX));
    }
}
