//! Keys whose answer is a word of the trie.
//!
//! Those of a window wait until the others of it have their answers, and then with those of other
//! windows for the end of the burst: they go down together where they are many.

use super::line;
use super::place::{self, Places};
use super::window::WINDOW;
use super::{NOTHING, low};
use crate::prefixes::trie::{self, Trie};
use crate::simd::{Level, Portable, twice};

/// Keys of a window that wait.
pub(super) struct Waiting {
    /// Their numbers, then zeros.
    keys: [u8; WINDOW],
    count: usize,
}

impl Waiting {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            keys: [0; WINDOW],
            count: 0,
        }
    }

    /// Adds a key, of which there are [`WINDOW`] at most.
    ///
    /// Inlined: as a function that the compiler takes for rare it cost all other keys 5 to 7 % of
    /// their rate (Zen 3).
    #[inline(always)]
    pub(super) fn push(&mut self, key: usize) {
        self.keys[self.count % WINDOW] = key as u8;
        self.count += 1;
    }

    #[inline(always)]
    pub(super) fn keys(&self) -> &[u8] {
        &self.keys[..self.count.min(WINDOW)]
    }
}

/// Keys that go down at once. Room for more costs more than it gives: nearly all bursts have one
/// such key or none.
const ROOM: usize = 32;
/// Fewer go down one by one.
const TOGETHER_MIN: usize = 8;

/// Keys of a burst that wait: where they are in it, and their leaves.
#[derive(Default)]
pub(super) struct Descent {
    places: [u32; ROOM],
    leaves: [u32; ROOM],
    count: usize,
}

impl Descent {
    /// Adds a key; there must be room.
    pub(super) fn push(&mut self, place: usize, leaf: u32) {
        self.places[self.count] = place as u32;
        self.leaves[self.count] = leaf;
        self.count += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == ROOM
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }

    /// Where the keys are in the burst.
    pub(super) fn places(&self) -> &[u32] {
        &self.places[..self.count]
    }

    /// The class of each key, then whatever.
    pub(super) fn classes<'a>(
        &self,
        level: Level,
        trie: &Trie,
        lines: impl Places<'a>,
        burst: &[u128],
    ) -> [u32; trie::WINDOW] {
        const { assert!(ROOM <= trie::WINDOW) };
        let (mut keys, mut words) = ([0; ROOM], [NOTHING; trie::WINDOW]);
        let waiting = self.places().iter().zip(self.leaves);
        for ((key, word), (&place, leaf)) in keys.iter_mut().zip(&mut words).zip(waiting) {
            *key = burst[place as usize];
            let leaf = lines.at(leaf);
            let run = line::run(Portable, leaf, twice(low(*key)));
            *word = line::word(lines.at(place::of(line::words_number(leaf))), run);
        }
        let keys = &keys[..self.count];
        if self.count < TOGETHER_MIN {
            for (&key, word) in keys.iter().zip(&mut words) {
                *word = trie.class(key, *word);
            }
        } else {
            trie.descend(level, keys, &mut words);
        }
        words
    }
}
