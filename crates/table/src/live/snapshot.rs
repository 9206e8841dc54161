//! What the tables are built from: cheap to take, and free to go to another thread.

use super::entry_set::EntrySet;
use super::file_part::FilePart;
use crate::address::Address;
use crate::compiled::CompileError;
use crate::family::{AddressSet, Family};
use crate::flatten::{self, MergedSpans, Runs, Span};
use std::borrow::Cow;
use std::sync::Arc;

/// The entries of one list in one family. A clone shares all of it.
#[derive(Clone, Debug)]
pub(super) struct Parts<A> {
    pub(super) file: Arc<FilePart<A>>,
    /// Entries of the file part that are out; all of them are in it.
    pub(super) removed: EntrySet<A>,
    pub(super) dynamic: EntrySet<A>,
}

impl<A: Address> Parts<A> {
    pub(super) fn in_file(&self, span: Span<A>) -> bool {
        self.file.contains(span) && !self.removed.contains(span)
    }

    pub(super) fn holds(&self, span: Span<A>) -> bool {
        self.dynamic.contains(span) || self.in_file(span)
    }

    pub(super) fn holds_twice(&self, span: Span<A>) -> bool {
        self.dynamic.contains(span) && self.in_file(span)
    }

    /// Single addresses, those of both parts twice.
    fn addresses(&self) -> Cow<'_, [A]> {
        if self.removed.address_count() == 0 && self.dynamic.address_count() == 0 {
            return Cow::Borrowed(&self.file.addresses);
        }
        let mut removed: Vec<A> = self.removed.addresses().collect();
        removed.sort_unstable();
        let mut removed = removed.into_iter().peekable();
        let kept = self.file.addresses.iter().copied().filter(|&address| {
            while removed.next_if(|&gone| gone < address).is_some() {}
            removed.peek() != Some(&address)
        });
        Cow::Owned(kept.chain(self.dynamic.addresses()).collect())
    }

    /// Networks and ranges, each once.
    pub(super) fn spans(&self) -> Vec<Span<A>> {
        let file = self
            .file
            .spans()
            .filter(|&span| !self.removed.contains(span));
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
