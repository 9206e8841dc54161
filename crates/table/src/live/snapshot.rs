//! What the tables are built from: cheap to take, and free to go to another thread.

use super::entry_set::EntrySet;
use super::file_part::FilePart;
use crate::address::Address;
use crate::compiled::CompileError;
use crate::entries::FamilyEntries;
use crate::family::{AddressSet, Family};
use crate::flatten::{self, MergedSpans, Runs, Span};
use crate::range::Range;
use std::borrow::Cow;
use std::sync::Arc;

/// The entries of one list in one family. A clone shares all of it.
#[derive(Clone, Debug)]
pub(super) struct Parts<A> {
    /// As it was loaded.
    pub(super) file: Arc<FilePart<A>>,
    /// What its source has added since; none of it is in `file`.
    pub(super) added: EntrySet<A>,
    /// What its source has taken out since; all of it is in `file`.
    pub(super) withdrawn: EntrySet<A>,
    /// Entries of the source that are out all the same; all of them are in it.
    pub(super) removed: EntrySet<A>,
    pub(super) dynamic: EntrySet<A>,
}

impl<A: Address> Parts<A> {
    /// With this file part as it is loaded.
    pub(super) fn new(file: Arc<FilePart<A>>, dynamic: EntrySet<A>) -> Self {
        Self {
            file,
            added: EntrySet::default(),
            withdrawn: EntrySet::default(),
            removed: EntrySet::default(),
            dynamic,
        }
    }

    /// Whether the source of the file part has it.
    pub(super) fn in_source(&self, span: Span<A>) -> bool {
        match self.file.contains(span) {
            true => !self.withdrawn.contains(span),
            false => self.added.contains(span),
        }
    }

    pub(super) fn in_file(&self, span: Span<A>) -> bool {
        self.in_source(span) && !self.removed.contains(span)
    }

    /// How many entries the source has.
    pub(super) fn source_len(&self) -> usize {
        self.file.len() - self.withdrawn.len() + self.added.len()
    }

    /// Says whether the source has it, and whether it is in all the same.
    pub(super) fn set_source(&mut self, span: Span<A>, in_source: bool, in_file: bool) {
        match self.file.contains(span) {
            true => self.withdrawn.set(span, !in_source),
            false => self.added.set(span, in_source),
        }
        self.removed.set(span, in_source && !in_file);
    }

    /// The file part that the source has now.
    pub(super) fn source(&self) -> Arc<FilePart<A>> {
        if self.added.len() + self.withdrawn.len() == 0 {
            return Arc::clone(&self.file);
        }
        let all = self.source_addresses().chain(self.added.addresses());
        let spans = self.source_spans().chain(self.added.spans());
        Arc::new(FilePart::new(FamilyEntries {
            addresses: all.collect(),
            ranges: spans
                .map(|(first, last)| Range::between(first, last))
                .collect(),
            ..FamilyEntries::default()
        }))
    }

    fn source_addresses(&self) -> impl Iterator<Item = A> {
        let all = self.file.addresses.iter().copied();
        all.filter(|&address| !self.withdrawn.contains((address, address)))
    }

    fn source_spans(&self) -> impl Iterator<Item = Span<A>> {
        let all = self.file.spans();
        all.filter(|&span| !self.withdrawn.contains(span))
    }

    pub(super) fn holds(&self, span: Span<A>) -> bool {
        self.dynamic.contains(span) || self.in_file(span)
    }

    pub(super) fn holds_twice(&self, span: Span<A>) -> bool {
        self.dynamic.contains(span) && self.in_file(span)
    }

    /// Single addresses, those of both parts twice.
    fn addresses(&self) -> Cow<'_, [A]> {
        let others = [&self.added, &self.withdrawn, &self.removed, &self.dynamic];
        if others.iter().all(|other| other.address_count() == 0) {
            return Cow::Borrowed(&self.file.addresses);
        }
        let gone = self.removed.addresses().chain(self.withdrawn.addresses());
        let mut gone: Vec<A> = gone.collect();
        gone.sort_unstable();
        let mut gone = gone.into_iter().peekable();
        let kept = self.file.addresses.iter().copied().filter(|&address| {
            while gone.next_if(|&gone| gone < address).is_some() {}
            gone.peek() != Some(&address)
        });
        let added = self.added.addresses();
        let added = added.filter(|&address| !self.removed.contains((address, address)));
        Cow::Owned(kept.chain(added).chain(self.dynamic.addresses()).collect())
    }

    /// Networks and ranges, each once.
    pub(super) fn spans(&self) -> Vec<Span<A>> {
        let source = self.source_spans().chain(self.added.spans());
        let file = source.filter(|&span| !self.removed.contains(span));
        let dynamic = self.dynamic.spans().filter(|&span| !self.in_file(span));
        file.chain(dynamic).collect()
    }

    /// Entries that both parts have.
    pub(super) fn twice(&self) -> usize {
        let addresses = self.dynamic.addresses().map(|address| (address, address));
        let both = addresses.chain(self.dynamic.spans());
        both.filter(|&span| self.in_file(span)).count()
    }
}

/// Builds one family of all lists from scratch.
pub(super) fn build<A: Address, S: AddressSet<A>>(
    lists: &[Parts<A>],
) -> Result<(Family<A, S>, Runs<A>), CompileError> {
    let spans: Vec<MergedSpans<A>> = lists
        .iter()
        .map(|parts| MergedSpans::of(parts.spans()))
        .collect();
    let runs = flatten::sweep(&spans);
    let columns: Vec<Cow<'_, [A]>> = lists.iter().map(Parts::addresses).collect();
    let (family, _) = Family::new(&columns, &runs)?;
    Ok((family, runs))
}
