//! Who holds an entry of the dynamic part: a person, a feed, or both.
//!
//! An entry that both gave stays until both have let it go. The dynamic part has one note an entry;
//! where there are two claims they lie here, and the note is what they amount to.

use super::clock::Now;
use super::request::Origin;
use std::collections::{HashMap, HashSet};
use table::live::{Entry, Note};

/// What is written into [`Note::tag`]: who gave an entry, and since when the set has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) giver: Giver,
    /// Milliseconds since 1970.
    pub(super) since_ms: u64,
}

/// Who can give single entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Giver {
    Hand = 1,
    CrowdSec = 2,
}

impl Giver {
    pub(super) const EVERY: [Self; 2] = [Self::Hand, Self::CrowdSec];

    pub(super) fn of(origin: Origin) -> Option<Self> {
        match origin {
            Origin::Hand => Some(Self::Hand),
            Origin::CrowdSec => Some(Self::CrowdSec),
            Origin::File | Origin::Url | Origin::Command | Origin::Etcd => None,
        }
    }

    pub(super) fn origin(self) -> Origin {
        match self {
            Self::Hand => Origin::Hand,
            Self::CrowdSec => Origin::CrowdSec,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::EVERY.into_iter().find(|giver| *giver as u8 == code)
    }

    fn other(self) -> Self {
        match self {
            Self::Hand => Self::CrowdSec,
            Self::CrowdSec => Self::Hand,
        }
    }
}

impl Tag {
    pub(super) fn word(self) -> u64 {
        self.since_ms << 8 | self.giver as u64
    }

    pub(super) fn of(word: u64) -> Option<Self> {
        let giver = Giver::from_code(word as u8)?;
        Some(Self {
            giver,
            since_ms: word >> 8,
        })
    }
}

/// Entries that both gave: by hand, by a feed.
#[derive(Debug, Default)]
pub(super) struct Claims {
    both: HashMap<(usize, Entry), [Note; 2]>,
    /// Pruned when there are more than this.
    prune_at: usize,
}

/// What becomes of the dynamic part when a feed takes an entry back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Letting {
    /// It did not give it.
    NotHis,
    /// Nobody else holds it there.
    Gone,
    /// The other does, with this note.
    Stays(Note),
}

pub(super) fn giver_of(note: &Note) -> Option<Giver> {
    Tag::of(note.tag).map(|tag| tag.giver)
}

fn is_over(note: &Note, now: Now) -> bool {
    note.expires.is_some_and(|expires| expires <= now.mono)
}

/// Of two claims the longer time and what the person said.
fn amount([hand, feed]: &[Note; 2], now: Now) -> Note {
    let shown = if is_over(hand, now) { feed } else { hand };
    Note {
        expires: hand.expires.zip(feed.expires).map(|(a, b)| a.max(b)),
        ..shown.clone()
    }
}

impl Claims {
    /// The note of an entry when `giver` gives it with `new`; `held` is the note it has.
    pub(super) fn give(
        &mut self,
        (list, entry): (usize, Entry),
        giver: Giver,
        mut new: Note,
        held: Option<Note>,
        now: Now,
    ) -> Note {
        let Some(held) = held.filter(|held| !is_over(held, now)) else {
            self.both.remove(&(list, entry));
            return new;
        };
        let keep_since = |old: &Note, new: &mut Note| {
            if let (Some(old), Some(tag)) = (Tag::of(old.tag), Tag::of(new.tag)) {
                let since_ms = old.since_ms.min(tag.since_ms);
                new.tag = Tag { since_ms, ..tag }.word();
            }
        };
        let place = giver as usize - 1;
        if let Some(both) = self.both.get_mut(&(list, entry)) {
            if !is_over(&both[place], now) {
                keep_since(&both[place], &mut new);
            }
            both[place] = new;
            return amount(both, now);
        }
        match giver_of(&held) {
            Some(holder) if holder == giver.other() => {
                let mut both = [held, new];
                if giver == Giver::Hand {
                    both.swap(0, 1);
                }
                let note = amount(&both, now);
                self.both.insert((list, entry), both);
                note
            }
            _ => {
                keep_since(&held, &mut new);
                new
            }
        }
    }

    /// What becomes of an entry when `giver` takes it back; `held` is the note it has.
    pub(super) fn take_back(
        &mut self,
        (list, entry): (usize, Entry),
        giver: Giver,
        held: Option<Note>,
        now: Now,
    ) -> Letting {
        let both = self.both.remove(&(list, entry));
        let Some(held) = held.filter(|held| !is_over(held, now)) else {
            return Letting::NotHis;
        };
        if let Some(mut both) = both {
            let other = std::mem::take(&mut both[giver.other() as usize - 1]);
            return if is_over(&other, now) {
                Letting::Gone
            } else {
                Letting::Stays(other)
            };
        }
        if giver_of(&held) == Some(giver) {
            Letting::Gone
        } else {
            Letting::NotHis
        }
    }

    /// Forgets an entry that was taken out for all.
    pub(super) fn forget(&mut self, list: usize, entry: Entry) {
        self.both.remove(&(list, entry));
    }

    /// Entries of a list that both gave.
    pub(super) fn shared(&self, list: usize) -> HashSet<Entry> {
        let of_list = self.both.keys().filter(|&&(other, _)| other == list);
        of_list.map(|&(_, entry)| entry).collect()
    }

    /// All pairs, for whoever lists them away from the keeper.
    pub(super) fn pairs(&self) -> HashMap<(usize, Entry), [Note; 2]> {
        self.both.clone()
    }

    /// Drops pairs of entries that are gone, once there are many.
    pub(super) fn prune(&mut self, is_held: impl Fn(usize, Entry) -> bool) {
        if self.both.len() > self.prune_at.max(1024) {
            self.both.retain(|&(list, entry), _| is_held(list, entry));
            self.prune_at = 2 * self.both.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frame::Nanos;

    const NOW: Now = Now {
        mono: Nanos(100),
        wall_ms: 1,
    };

    fn note(giver: Giver, expires: Option<u64>) -> Note {
        Note {
            expires: expires.map(Nanos),
            comment: None,
            tag: Tag { giver, since_ms: 5 }.word(),
        }
    }

    #[test]
    fn an_entry_stays_until_both_let_go() {
        let mut claims = Claims::default();
        let entry = (0, Entry::address_v4(1));
        let hand = note(Giver::Hand, Some(200));
        let feed = note(Giver::CrowdSec, Some(300));
        let first = claims.give(entry, Giver::Hand, hand.clone(), None, NOW);
        assert_eq!(first, hand);
        let both = claims.give(entry, Giver::CrowdSec, feed, Some(first), NOW);
        assert_eq!(
            (both.expires, giver_of(&both)),
            (Some(Nanos(300)), Some(Giver::Hand))
        );
        let left = claims.take_back(entry, Giver::CrowdSec, Some(both), NOW);
        assert_eq!(left, Letting::Stays(hand.clone()));
        let left = claims.take_back(entry, Giver::CrowdSec, Some(hand.clone()), NOW);
        assert_eq!(left, Letting::NotHis);
        let left = claims.take_back(entry, Giver::Hand, Some(hand), NOW);
        assert_eq!(left, Letting::Gone);
    }

    #[test]
    fn for_good_outlasts_any_time() {
        let mut claims = Claims::default();
        let entry = (0, Entry::address_v4(1));
        let feed = claims.give(
            entry,
            Giver::CrowdSec,
            note(Giver::CrowdSec, Some(300)),
            None,
            NOW,
        );
        let both = claims.give(entry, Giver::Hand, note(Giver::Hand, None), Some(feed), NOW);
        assert_eq!(both.expires, None);
        let late = Now {
            mono: Nanos(400),
            ..NOW
        };
        let left = claims.take_back(entry, Giver::Hand, Some(both), late);
        assert_eq!(left, Letting::Gone);
    }
}
