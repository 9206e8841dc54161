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

/// When what was last done to an entry; 0 for never.
#[derive(Clone, Copy, Debug, Default)]
struct Logged {
    touched: u64,
    /// Removed by hand, and not added by the source since.
    removed: u64,
    /// Added by the source of the file part, or taken out by it.
    sourced: u64,
    /// Which of the two.
    in_source: bool,
}

/// What kind of change touched an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of the dynamic part.
    Dynamic,
    /// Removed by hand.
    Removal,
    /// Added by the source of the file part.
    SourceAdd,
    /// Taken out by the source of the file part.
    SourceRemove,
}

/// What was done to an entry since a load of its list was begun that the load does not undo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Meanwhile {
    /// Removed by hand.
    pub(super) is_removed: bool,
    /// What its source said of it.
    pub(super) in_source: Option<bool>,
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

impl Logged {
    /// When the file part last had it taken out or put in.
    fn last_of_file(self) -> u64 {
        self.removed.max(self.sourced)
    }

    fn since(self, begun: u64) -> Meanwhile {
        Meanwhile {
            is_removed: self.removed > begun,
            in_source: (self.sourced > begun).then_some(self.in_source),
        }
    }
}

impl<A> Default for Log<A> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
        }
    }
}

impl<A: Address> Log<A> {
    pub(super) fn note(&mut self, list: usize, span: Span<A>, kind: Kind, moment: u64) {
        let logged = self.entries.entry((list as u8, span)).or_default();
        logged.touched = moment;
        match kind {
            Kind::Dynamic => {}
            Kind::Removal => logged.removed = moment,
            Kind::SourceAdd | Kind::SourceRemove => {
                logged.removed = 0;
                logged.sourced = moment;
                logged.in_source = kind == Kind::SourceAdd;
            }
        }
    }

    /// Entries whose state a load may have wrong.
    pub(super) fn touched(&self, missed: Missed) -> Vec<(usize, Span<A>)> {
        let is_missed = |list: usize, logged: &Logged| {
            let is_its = missed.list == Some(list);
            logged.touched > missed.taken || is_its && logged.last_of_file() > missed.begun
        };
        self.entries
            .iter()
            .map(|(&(list, span), logged)| ((usize::from(list), span), logged))
            .filter(|&((list, _), logged)| is_missed(list, logged))
            .map(|(entry, _)| entry)
            .collect()
    }

    /// What of that stays with the list of a load.
    pub(super) fn meanwhile(&self, missed: Missed) -> Vec<(Span<A>, Meanwhile)> {
        let Some(list) = missed.list else {
            return Vec::new();
        };
        let touched = self.touched(missed).into_iter();
        let of_list = touched.filter(|&(other, _)| other == list);
        let meanwhile = |(_, span)| {
            let logged = self.entries.get(&(list as u8, span));
            (
                span,
                logged.copied().unwrap_or_default().since(missed.begun),
            )
        };
        of_list.map(meanwhile).collect()
    }

    /// Forgets all: no load goes on.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}
