//! The slow obvious twin of the classifier.

use super::{Entry, Key};

/// Whether a packet matches: each condition is tried.
#[must_use]
pub fn matches(entry: &Entry, key: &Key) -> bool {
    entry.conditions.iter().all(|condition| {
        key.get(condition.field).is_some_and(|value| {
            let mut values = condition.values.iter();
            values.any(|&(first, last)| (first..=last).contains(&value))
        })
    })
}
