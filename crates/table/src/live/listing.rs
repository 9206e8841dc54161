//! All entries of a list as they are at one moment.

use super::change::Note;
use super::entry::Entry;
use super::list::List;
use super::shards::Shards;
use super::snapshot::Parts;
use super::{Counts, LiveLists};
use crate::address::Address;
use crate::flatten::Span;
use crate::range::Range;

/// All entries of a list as they were when it was made: taking it costs some reference counts, and
/// it may go to another thread. While it is kept, changes copy the shards that they touch.
#[derive(Clone, Debug)]
pub struct Listing {
    v4: FamilyListing<u32>,
    v6: FamilyListing<u128>,
    counts: Counts,
}

#[derive(Clone, Debug)]
struct FamilyListing<A> {
    parts: Parts<A>,
    notes: Shards<Span<A>, Note>,
}

impl LiveLists {
    /// The entries of the list at `index`.
    ///
    /// # Panics
    /// When there is no such list.
    #[must_use]
    pub fn listing(&self, index: usize) -> Listing {
        Listing {
            v4: FamilyListing::of(&self.v4.lists()[index]),
            v6: FamilyListing::of(&self.v6.lists()[index]),
            counts: self.counts(index),
        }
    }

    /// What is said of an entry of the dynamic part of the list at `index`; none when it is not
    /// in that part. Its time may be over.
    ///
    /// # Panics
    /// When there is no such list.
    #[must_use]
    pub fn note(&self, index: usize, entry: Entry) -> Option<Note> {
        match entry {
            Entry::V4(range) => note_of(&self.v4.lists()[index], range),
            Entry::V6(range) => note_of(&self.v6.lists()[index], range),
        }
    }
}

fn note_of<A: Address>(list: &List<A>, range: Range<A>) -> Option<Note> {
    list.state((range.first(), range.last())).dynamic
}

impl Listing {
    /// How many entries there are.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Entries of the file part that were not removed, IPv4 first: addresses, networks, ranges,
    /// each ascending, as they were loaded, and then what its source has added since, in no order.
    pub fn file(&self) -> impl Iterator<Item = Entry> {
        self.v4
            .file()
            .map(entry_v4)
            .chain(self.v6.file().map(entry_v6))
    }

    /// Entries that the source of the file part has and that were removed by hand, in no order.
    pub fn removed(&self) -> impl Iterator<Item = Entry> {
        let v4 = self.v4.removed().map(entry_v4);
        v4.chain(self.v6.removed().map(entry_v6))
    }

    /// Entries of the dynamic part, in no order, with what is said of them.
    pub fn dynamic(&self) -> impl Iterator<Item = (Entry, Note)> {
        let v4 = self.v4.dynamic();
        let v6 = self.v6.dynamic();
        v4.map(|(span, note)| (entry_v4(span), note))
            .chain(v6.map(|(span, note)| (entry_v6(span), note)))
    }

    /// True when the file part has `entry` and it was not removed.
    #[must_use]
    pub fn in_file(&self, entry: Entry) -> bool {
        match entry {
            Entry::V4(range) => self.v4.parts.in_file((range.first(), range.last())),
            Entry::V6(range) => self.v6.parts.in_file((range.first(), range.last())),
        }
    }
}

fn entry_v4((first, last): Span<u32>) -> Entry {
    Entry::V4(Range::between(first, last))
}

fn entry_v6((first, last): Span<u128>) -> Entry {
    Entry::V6(Range::between(first, last))
}

impl<A: Address> FamilyListing<A> {
    fn of(list: &List<A>) -> Self {
        Self {
            parts: list.parts().clone(),
            notes: list.notes().clone(),
        }
    }

    fn file(&self) -> impl Iterator<Item = Span<A>> {
        let singles = self.parts.file.addresses.iter().copied();
        let added = self.parts.added.addresses();
        let loaded = singles.map(|address| (address, address));
        let loaded = loaded.chain(self.parts.file.spans());
        let loaded = loaded.filter(|&span| !self.parts.withdrawn.contains(span));
        let added = added.map(|address| (address, address));
        let added = added.chain(self.parts.added.spans());
        let all = loaded.chain(added);
        all.filter(|&span| !self.parts.removed.contains(span))
    }

    fn removed(&self) -> impl Iterator<Item = Span<A>> {
        let singles = self.parts.removed.addresses();
        let singles = singles.map(|address| (address, address));
        singles.chain(self.parts.removed.spans())
    }

    fn dynamic(&self) -> impl Iterator<Item = (Span<A>, Note)> {
        let singles = self.parts.dynamic.addresses();
        let singles = singles.map(|address| (address, address));
        let note = |span| self.notes.get(&span).cloned().unwrap_or_default();
        let all = singles.chain(self.parts.dynamic.spans());
        all.map(move |span| (span, note(span)))
    }
}
