//! When to look at which entry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use frame::Nanos;

/// Times and keys, the earliest first. A timer is never taken out before its time: one that is
/// outdated is told by its entry.
#[derive(Debug)]
pub(crate) struct Timers<K>(BinaryHeap<Reverse<(Nanos, K)>>);

impl<K: Ord> Default for Timers<K> {
    fn default() -> Self {
        Self(BinaryHeap::new())
    }
}

impl<K: Ord + Copy> Timers<K> {
    pub(crate) fn push(&mut self, due: Nanos, key: K) {
        self.0.push(Reverse((due, key)));
    }

    pub(crate) fn first(&self) -> Option<(Nanos, K)> {
        self.0.peek().map(|Reverse(next)| *next)
    }

    /// The earliest, where its time has come.
    pub(crate) fn take(&mut self, now: Nanos) -> Option<(Nanos, K)> {
        let next = self.first().filter(|(due, _)| *due <= now)?;
        self.0.pop();
        Some(next)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl<K: Ord> FromIterator<(Nanos, K)> for Timers<K> {
    fn from_iter<T: IntoIterator<Item = (Nanos, K)>>(timers: T) -> Self {
        Self(timers.into_iter().map(Reverse).collect())
    }
}
