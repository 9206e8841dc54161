//! Entries that a script adds and removes again (`ipset del`, `nft delete element`).
//!
//! A removal is kept until its set is complete and then compared with all entries in one pass, so
//! that a text costs no more for having many removals. An entry is removed by its whole extent. A
//! removal of a part of an entry is refused: what remains has no line that says it.

use crate::entry::Entry;
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use std::collections::HashMap;

/// From the first address to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Extent {
    is_v6: bool,
    first: u128,
    last: u128,
}

impl Extent {
    fn of(entry: Entry) -> Self {
        match entry {
            Entry::V4(span) => Self {
                is_v6: false,
                first: span.first().into(),
                last: span.last().into(),
            },
            Entry::V6(span) => Self {
                is_v6: true,
                first: span.first(),
                last: span.last(),
            },
        }
    }
}

/// One removal, as the script states it.
#[derive(Clone, Copy)]
pub(crate) struct Removal {
    pub(crate) entry: Entry,
    pub(crate) line: u64,
    /// The entry need not be there (`-exist`, `destroy element`).
    pub(crate) may_miss: bool,
}

/// What becomes of the entries of one extent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// They are removed; none was there so far.
    Removed,
    /// They are removed, and some were there.
    Found,
    /// It was added again: one stays.
    AddedAgain,
    /// One was seen, and stays.
    Kept,
}

/// The removals of one set.
#[derive(Default)]
pub(crate) struct Removals {
    by_extent: HashMap<Extent, (Removal, Fate)>,
}

impl Removals {
    pub(crate) fn add(&mut self, removal: Removal) {
        let extent = Extent::of(removal.entry);
        self.by_extent.insert(extent, (removal, Fate::Removed));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_extent.is_empty()
    }

    /// An entry that is added after its removal stays.
    pub(crate) fn cancel(&mut self, entry: Entry) {
        if !self.by_extent.is_empty()
            && let Some((_, fate)) = self.by_extent.get_mut(&Extent::of(entry))
        {
            *fate = Fate::AddedAgain;
        }
    }

    /// Removes from what `intake` holds. `is_by_address` is true for a set that keeps each address
    /// of an entry by itself, so that a removal touches every entry that covers it.
    pub(crate) fn apply<S: Sink>(mut self, is_by_address: bool, intake: &mut Intake<'_, S>) {
        if self.by_extent.is_empty() {
            return;
        }
        let by_extent = &mut self.by_extent;
        let held = &mut intake.held;
        held.entry_count -= held.sink.retain(&mut |entry| {
            let Some((_, fate)) = by_extent.get_mut(&Extent::of(entry)) else {
                return true;
            };
            let stays = *fate == Fate::AddedAgain;
            *fate = match *fate {
                Fate::Removed | Fate::Found => Fate::Found,
                Fate::AddedAgain | Fate::Kept => Fate::Kept,
            };
            stays
        });
        by_extent.retain(|_, (_, fate)| *fate != Fate::Kept);
        let before = held.warnings.len();
        held.warnings.retain(|warning| {
            let word = warning.text.split(' ').next().unwrap_or_default();
            Entry::parse(word.as_bytes())
                .is_ok_and(|entry| !by_extent.contains_key(&Extent::of(entry)))
        });
        held.warning_count -= (before - held.warnings.len()) as u64;
        self.refuse(is_by_address, intake);
    }

    /// Refuses what was removed in part, or else what was not there.
    fn refuse<S: Sink>(self, is_by_address: bool, intake: &mut Intake<'_, S>) {
        let line = intake.line;
        let mut rest: Vec<_> = self.by_extent.into_iter().collect();
        rest.retain(|(_, (_, fate))| is_by_address || *fate == Fate::Removed);
        rest.sort_unstable_by_key(|&(extent, _)| extent);
        if let Some(removal) = partial(&rest, intake) {
            intake.line = removal.line;
            let text = removal.entry.to_string();
            intake.bad(Fault::RemovalOfPart, text.as_bytes());
        } else {
            rest.retain(|(_, (removal, fate))| *fate == Fate::Removed && !removal.may_miss);
            rest.sort_unstable_by_key(|(_, (removal, _))| removal.line);
            for (_, (removal, _)) in rest {
                intake.line = removal.line;
                let text = removal.entry.to_string();
                intake.bad(Fault::RemovalOfNothing, text.as_bytes());
            }
        }
        intake.line = line;
    }
}

/// A removal that overlaps an entry that is held. `sorted` is in the order of extents.
fn partial<S: Sink>(
    sorted: &[(Extent, (Removal, Fate))],
    intake: &mut Intake<'_, S>,
) -> Option<Removal> {
    // Beside each removal stands the one that reaches farthest of those up to it.
    let mut farthest: Vec<(Extent, Removal)> = Vec::with_capacity(sorted.len());
    for &(extent, (removal, _)) in sorted {
        let next = match farthest.last() {
            Some(&(far, of)) if far.is_v6 == extent.is_v6 && far.last >= extent.last => (far, of),
            _ => (extent, removal),
        };
        farthest.push(next);
    }
    let mut found = None;
    intake.held.sink.retain(&mut |entry| {
        let held = Extent::of(entry);
        let begun = sorted
            .partition_point(|(extent, _)| (extent.is_v6, extent.first) <= (held.is_v6, held.last));
        if let Some(&(far, removal)) = begun.checked_sub(1).and_then(|at| farthest.get(at))
            && far.is_v6 == held.is_v6
            && far.last >= held.first
        {
            found.get_or_insert(removal);
        }
        true
    });
    found
}

/// The entries that a removal of `entry` removes: an IPv4-mapped one was loaded as two.
pub(crate) fn both(entry: Entry) -> [Entry; 2] {
    [entry, entry.unmapped()]
}
