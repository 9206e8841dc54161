//! What has changed while a load goes on.

use crate::address::Address;
use crate::flatten::Span;
use std::collections::BTreeMap;

/// Entries touched while a load goes on, each once however often it was touched; so its size is
/// bounded by the entries touched and not by the changes made.
#[derive(Debug)]
pub(super) struct Log<A> {
    entries: BTreeMap<(u8, Span<A>), Logged>,
}

/// When an entry was last touched and last removed by hand; 0 for never.
#[derive(Clone, Copy, Debug, Default)]
struct Logged {
    touched: u64,
    removed: u64,
}

/// What a load has missed: changes after it was begun, or after it took its snapshot, which may
/// have been later.
#[derive(Clone, Copy, Debug)]
pub(super) struct Missed {
    /// The list it loads.
    pub(super) list: Option<usize>,
    /// The moment it was begun.
    pub(super) begun: u64,
    /// The moment its snapshot was taken.
    pub(super) taken: u64,
}

impl<A> Default for Log<A> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
        }
    }
}

impl<A: Address> Log<A> {
    pub(super) fn note(&mut self, list: usize, span: Span<A>, is_removal: bool, moment: u64) {
        let logged = self.entries.entry((list as u8, span)).or_default();
        logged.touched = moment;
        if is_removal {
            logged.removed = moment;
        }
    }

    /// Entries whose state a load may have wrong.
    pub(super) fn touched(&self, missed: Missed) -> Vec<(usize, Span<A>)> {
        let is_missed = |list: usize, logged: &Logged| {
            let removed = missed.list == Some(list) && logged.removed > missed.begun;
            logged.touched > missed.taken || removed
        };
        self.entries
            .iter()
            .map(|(&(list, span), logged)| ((usize::from(list), span), logged))
            .filter(|&((list, _), logged)| is_missed(list, logged))
            .map(|(entry, _)| entry)
            .collect()
    }

    /// Entries that were taken out of the list of a load since it was begun.
    pub(super) fn removed(&self, missed: Missed) -> Vec<Span<A>> {
        let of_list =
            |&(&(list, _), _): &(&(u8, Span<A>), &Logged)| missed.list == Some(usize::from(list));
        self.entries
            .iter()
            .filter(of_list)
            .filter(|(_, logged)| logged.removed > missed.begun)
            .map(|(&(_, span), _)| span)
            .collect()
    }

    /// Forgets all: no load goes on.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}
