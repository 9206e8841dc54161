//! What the writer of a trial does to the table: one change at a time, each a version of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use frame::Nanos;
use table::live::{Change, ChangeError, Entry, LiveLists};
use table::{CompileError, CompiledLists, Entries};

use super::scheme::Table;
use crate::shuffle::Seeded;

/// Gives the changes of the next version.
type Next = Box<dyn FnMut(&LiveLists) -> Vec<Change> + Send>;

/// Lists that change, and what is to be changed next.
pub(super) struct Writer {
    live: LiveLists,
    next: Next,
}

impl Writer {
    /// One list that holds `entries`.
    pub(super) fn new(entries: Entries, next: Next) -> Result<Self, CompileError> {
        let live = LiveLists::new(vec![entries])?;
        Ok(Self { live, next })
    }

    /// The same; in turn an address that is not there goes in and comes out again.
    pub(super) fn of_one_address(entries: Entries, seed: u64) -> Result<Self, CompileError> {
        let mut seeded = Seeded::new(seed);
        let mut added = None;
        let next = move |live: &LiveLists| match added.take() {
            Some(address) => vec![Change::remove(0, Entry::address_v4(address))],
            None => {
                let address = stranger(&live.version().lists, &mut seeded);
                added = Some(address);
                vec![Change::add(0, Entry::address_v4(address))]
            }
        };
        Self::new(entries, Box::new(next))
    }

    /// Puts so many addresses in that are not there, and takes them out again: what is left is
    /// the same lists, in a table whose pages were copied as they are by changes one at a time.
    pub(super) fn scatter(&mut self, count: usize, seed: u64) -> Result<(), ChangeError> {
        let mut seeded = Seeded::new(seed);
        let table = self.version();
        let drawn = (0..count).map(|_| stranger(&table, &mut seeded));
        let strangers: BTreeSet<u32> = drawn.collect();
        let changes = |change: fn(usize, Entry) -> Change| -> Vec<Change> {
            let entries = strangers.iter().copied().map(Entry::address_v4);
            entries.map(|entry| change(0, entry)).collect()
        };
        self.live.apply(&changes(Change::add), Nanos::ZERO)?;
        self.live.apply(&changes(Change::remove), Nanos::ZERO)?;
        Ok(())
    }

    /// The newest version.
    pub(super) fn version(&self) -> Table {
        Arc::clone(&self.live.version().lists)
    }

    /// Makes the next version. The one before where memory for it cannot be had.
    pub(super) fn change(&mut self) -> Table {
        let changes = (self.next)(&self.live);
        let _as_it_was = self.live.apply(&changes, Nanos::ZERO);
        self.version()
    }
}

/// An address that is not in the table.
fn stranger(table: &CompiledLists, seeded: &mut Seeded) -> u32 {
    loop {
        let address = seeded.next() as u32;
        if table.lookup_v4(address).is_empty() {
            return address;
        }
    }
}

/// Where a trial's versions come from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// Each is a change of the one before.
    Changed(&'a std::sync::Mutex<Writer>),
    /// These two in turn, whole tables that share nothing.
    Whole(&'a [Table; 2]),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_changes_leave_the_lists_as_they_were() {
        let mut list = Entries::default();
        list.v4.addresses = (0..1000).collect();
        let mut writer = Writer::of_one_address(list, 1).expect("compiles");
        let before = writer.version();
        writer.scatter(100, 7).expect("changes");
        let after = writer.version();
        assert!(!Arc::ptr_eq(&before, &after));
        assert_eq!(writer.live.counts(0).entries, 1000);
        let held = |address: u32| !after.lookup_v4(address).is_empty();
        assert!((0..1000).all(held) && !(1000..3000).any(held));
    }

    #[test]
    fn an_address_goes_in_and_comes_out_again() {
        let mut list = Entries::default();
        list.v4.addresses = (0..1000).collect();
        let mut writer = Writer::of_one_address(list, 1).expect("compiles");
        let count = |writer: &Writer| writer.live.counts(0).entries;
        for _ in 0..50 {
            let before = writer.version();
            let after = writer.change();
            assert!(!Arc::ptr_eq(&before, &after));
            assert_eq!(count(&writer), 1001);
            writer.change();
            assert_eq!(count(&writer), 1000);
        }
    }
}
