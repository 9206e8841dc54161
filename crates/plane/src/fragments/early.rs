//! Fragments that wait behind none: by their datagram, and by how long they have waited.
//!
//! None of this walks: a flood of datagrams whose first fragments were lost costs the others
//! nothing but their room.

use std::collections::HashMap;
use std::hash::Hash;

use frame::Nanos;

const NONE: u32 = u32::MAX;

/// Things that wait, in chains by a key; at most as many as there are slots.
#[derive(Debug)]
pub(super) struct Early<K, T> {
    slots: Box<[Slot<K, T>]>,
    chains: HashMap<K, Chain>,
    /// Free slots, by their `next`.
    free: u32,
    oldest: u32,
    newest: u32,
    len: usize,
}

#[derive(Debug)]
struct Slot<K, T> {
    held: Option<(K, T)>,
    since: Nanos,
    /// Of all, by age.
    older: u32,
    newer: u32,
    /// Of its chain, whose oldest comes first; of free slots, the next free one.
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Chain {
    first: u32,
    last: u32,
}

impl<K: Copy + Eq + Hash, T> Early<K, T> {
    /// Room for `most`, and for one at least.
    pub(super) fn new(most: usize) -> Self {
        let most = most.clamp(1, NONE as usize - 1) as u32;
        let slot = |at: u32| Slot {
            held: None,
            since: Nanos(0),
            older: NONE,
            newer: NONE,
            next: if at + 1 < most { at + 1 } else { NONE },
        };
        Self {
            slots: (0..most).map(slot).collect(),
            // Twice as many, so that what was removed never makes it grow.
            chains: HashMap::with_capacity(2 * most as usize),
            free: 0,
            oldest: NONE,
            newest: NONE,
            len: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + self.chains.capacity() * size_of::<(K, Chain)>()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether something of this key waits.
    #[inline]
    pub(super) fn has(&self, key: &K) -> bool {
        self.len != 0 && self.chains.contains_key(key)
    }

    /// Adds one behind those of its key. Where there is no room the oldest of all goes: it is
    /// returned.
    pub(super) fn push(&mut self, key: K, held: T, now: Nanos) -> Option<T> {
        let gone = if self.free == NONE {
            self.next_oldest()
        } else {
            None
        };
        let at = self.free;
        let older = self.newest;
        let Some(slot) = self.slots.get_mut(at as usize) else {
            return Some(held);
        };
        self.free = slot.next;
        *slot = Slot {
            held: Some((key, held)),
            since: now,
            older,
            newer: NONE,
            next: NONE,
        };
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = at,
            None => self.oldest = at,
        }
        (self.newest, self.len) = (at, self.len + 1);
        let chain = self.chains.entry(key).or_insert(Chain {
            first: at,
            last: at,
        });
        let last = std::mem::replace(&mut chain.last, at);
        if last != at {
            self.slots[last as usize].next = at;
        }
        gone
    }

    /// Takes the oldest of a key.
    pub(super) fn next_of(&mut self, key: &K) -> Option<T> {
        let first = self.chains.get(key)?.first;
        self.take(first)
    }

    /// Takes the oldest of all.
    pub(super) fn next_oldest(&mut self) -> Option<T> {
        self.take(self.oldest)
    }

    /// Takes the oldest of all, if it came at `last` or before.
    pub(super) fn next_until(&mut self, last: Nanos) -> Option<T> {
        let oldest = self.slots.get(self.oldest as usize)?;
        if oldest.since > last {
            return None;
        }
        self.next_oldest()
    }

    /// Takes the first of a chain.
    fn take(&mut self, at: u32) -> Option<T> {
        let slot = self.slots.get_mut(at as usize)?;
        let (key, held) = slot.held.take()?;
        let (older, newer) = (slot.older, slot.newer);
        let next = std::mem::replace(&mut slot.next, self.free);
        (self.free, self.len) = (at, self.len - 1);
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
        match self.slots.get_mut(newer as usize) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
        if next == NONE {
            self.chains.remove(&key);
        } else if let Some(chain) = self.chains.get_mut(&key) {
            chain.first = next;
        }
        Some(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a list that is walked.
    #[test]
    fn chains_against_a_list() {
        let seed = 0x5eed_u64;
        let mut state = seed;
        let mut below = |count: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % count
        };
        for most in [1, 2, 7] {
            let mut early = Early::new(most);
            let bytes = early.bytes();
            let mut list: Vec<(u64, u64, u64)> = Vec::new();
            for step in 0..5000 {
                let key = below(4);
                match below(4) {
                    0 | 1 => {
                        let gone = (list.len() == most).then(|| list.remove(0).1);
                        list.push((key, step, step));
                        assert_eq!(early.push(key, step, Nanos(step)), gone, "seed {seed:#x}");
                    }
                    2 => {
                        let at = list.iter().position(|held| held.0 == key);
                        let wanted = at.map(|at| list.remove(at).1);
                        assert_eq!(early.has(&key), wanted.is_some(), "seed {seed:#x}");
                        assert_eq!(early.next_of(&key), wanted, "seed {seed:#x}");
                    }
                    _ => {
                        let last = step.saturating_sub(below(12));
                        let is_over = list.first().is_some_and(|held| held.2 <= last);
                        let wanted = is_over.then(|| list.remove(0).1);
                        assert_eq!(early.next_until(Nanos(last)), wanted, "seed {seed:#x}");
                    }
                }
                assert_eq!((early.len(), early.bytes()), (list.len(), bytes));
            }
            while let Some(oldest) = early.next_oldest() {
                assert_eq!(oldest, list.remove(0).1);
            }
            assert!(list.is_empty() && early.len() == 0);
        }
    }
}
