//! Lists that change while workers look up: the control side.
//!
//! [`LiveLists`] keeps the entries of up to 32 lists as they were given. A batch of changes makes
//! one new version of the tables, which shares with the version before it all pages that the
//! batch does not touch; whoever calls hands the version to the workers. What a worker can read is
//! never written. No I/O, no threads and no clock: time is an argument.
//!
//! # What a set means
//!
//! * A set is its *file part* plus its *dynamic part*: entries added by hand or by a feed. An
//!   address is in the set when an entry of either part holds it.
//! * A load replaces the file part only. Readers see all of the old part or all of the new one.
//! * Removing an entry takes it out of both parts. A load that was begun *after* the removal brings
//!   it back if the file has it; one that was begun before does not. Withdrawing an entry takes it
//!   out of the dynamic part only.
//! * The source of a file part may change it in place, entry by entry, instead of a load. What it
//!   adds is in, also if it was removed before.
//! * Whatever was acknowledged during a load survives it.
//! * Removing, or the expiry of, an entry uncovers what lay beneath: addresses, networks and ranges
//!   of the same list that overlap it. Expiry takes an entry out of the dynamic part only, so the
//!   same entry from the file shows again.
//! * Removing a network does not remove the addresses within it that were given by themselves.
//! * An entry is known by what it covers ([`Entry`]).
//!
//! # What it costs
//!
//! A change of an address copies the pages that hold it, 64 KiB each; one of a network rebuilds
//! the blocks it meets. Neither depends on how many entries there are, but a change of a wide
//! network has to look at all that lies within it, and of 16 lists the first IPv6 network in all
//! of them has all networks of IPv6 made anew, once.
//!
//! A load builds new tables while the old ones are in use: both are in memory at once, with the
//! sorted columns of the new file part (4 bytes an IPv4 address, 16 an IPv6 address) and what
//! compiling needs. Replacing six million IPv4 addresses takes about 100 MB beyond the lists at
//! rest. `docs/design/live.md` has the figures.

mod change;
mod compact;
mod cover;
mod difference;
mod entry;
mod entry_set;
mod explain;
mod family;
mod file_part;
mod list;
mod listing;
mod load;
mod log;
mod runs;
mod shards;
mod snapshot;

use crate::compiled::{CompileError, CompiledLists};
use crate::entries::Entries;
use crate::flatten::Span;
use crate::mask::LISTS_MAX;
use crate::simd::Level;
use entry_set::EntrySet;
use family::{LiveFamily, Touched};
use file_part::FilePart;
use frame::Nanos;
use list::NewFile;
use load::{Snapshot, Ticket};
use log::Missed;
use std::sync::{Arc, Weak};

pub use change::{Action, COMMENT_BYTES_MAX, Change, ChangeError, Note, Outcome};
pub use compact::{COMPACTED_MAX, Compacted};
pub use difference::{Difference, Share, Sorted};
pub use entry::Entry;
pub use explain::{Part, Reason};
pub use listing::Listing;
pub use load::{Finished, Load, Loaded, Rebuild, Replaced};

/// Entries that one call of [`LiveLists::expire`] takes out at most: a few milliseconds of work
/// where each touches a page of its own.
pub const EXPIRED_MAX: usize = 256;

/// The tables as they are after a change.
#[derive(Clone, Debug)]
pub struct Version {
    /// Counts up by one with every version.
    pub number: u64,
    /// For the workers.
    pub lists: Arc<CompiledLists>,
}

/// What a batch did.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The tables now. The version before, with its number, where nothing changed in them.
    pub version: Version,
    /// What each change did, in order.
    pub outcomes: Vec<Outcome>,
}

/// How many entries a list has; told without counting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Different entries of both parts.
    pub entries: usize,
    /// Entries that the source of the file part has.
    pub source: usize,
    /// Entries of the dynamic part.
    pub dynamic: usize,
    /// Entries that will go by themselves.
    pub timed: usize,
}

/// Lists that change: entries as given, and the newest tables made of them.
#[derive(Debug)]
pub struct LiveLists {
    v4: LiveFamily<u32>,
    v6: LiveFamily<u128>,
    current: Version,
    level: Level,
    /// Batches done, loads begun and loads finished so far: tells what was before what.
    moment: u64,
    loads: Vec<Outstanding>,
    /// For each list when its file part was last replaced.
    replaced: Vec<Replacement>,
}

/// A load that goes on, unless it was given up.
#[derive(Debug)]
struct Outstanding {
    token: Weak<()>,
}

/// Moments.
#[derive(Clone, Copy, Debug, Default)]
struct Replacement {
    /// When the load was begun.
    begun: u64,
    /// When it was finished.
    finished: u64,
}

/// What a batch has touched so far.
#[derive(Default)]
struct Batch {
    v4: Vec<Touched<u32>>,
    v6: Vec<Touched<u128>>,
}

impl LiveLists {
    /// Lists with these file parts and nothing else. List `i` is bit `i` of an answer.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn new(files: Vec<Entries>) -> Result<Self, CompileError> {
        Self::at_level(files, Level::best())
    }

    /// The same, looked up at `level` in all versions; for tests.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn at_level(files: Vec<Entries>, level: Level) -> Result<Self, CompileError> {
        let count = files.len();
        if count > LISTS_MAX {
            return Err(CompileError::TooManyLists { count });
        }
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for file in files {
            let (file_v4, file_v6) = (FilePart::new(file.v4), FilePart::new(file.v6));
            v4.push(NewFile::new(Arc::new(file_v4), EntrySet::default()));
            v6.push(NewFile::new(Arc::new(file_v6), EntrySet::default()));
        }
        let snapshot = Snapshot {
            v4: v4.iter().map(|new| new.parts.clone()).collect(),
            v6: v6.iter().map(|new| new.parts.clone()).collect(),
            level,
        };
        let (table, runs_v4, runs_v6) = snapshot.build()?;
        Ok(Self {
            v4: LiveFamily::new(v4, runs_v4),
            v6: LiveFamily::new(v6, runs_v6),
            current: Version {
                number: 1,
                lists: Arc::new(table),
            },
            level,
            moment: 0,
            loads: Vec::new(),
            replaced: vec![Replacement::default(); count],
        })
    }

    /// The newest version.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.current
    }

    /// How many lists there are.
    #[must_use]
    pub fn list_count(&self) -> usize {
        self.replaced.len()
    }

    /// How many entries the list at `index` has.
    ///
    /// # Panics
    /// When there is no such list.
    #[must_use]
    pub fn counts(&self, index: usize) -> Counts {
        let (v4, v6) = (&self.v4.lists()[index], &self.v6.lists()[index]);
        Counts {
            entries: v4.entries() + v6.entries(),
            source: v4.parts().source_len() + v6.parts().source_len(),
            dynamic: v4.parts().dynamic.len() + v6.parts().dynamic.len(),
            timed: v4.timed() + v6.timed(),
        }
    }

    /// Makes all changes, in order, as one new version.
    ///
    /// # Errors
    /// [`ChangeError`]; then none was made.
    pub fn apply(&mut self, changes: &[Change], now: Nanos) -> Result<Applied, ChangeError> {
        changes.iter().try_for_each(|change| self.check(change))?;
        let mut batch = Batch::default();
        let make = |change: &Change| {
            let (list, action) = (change.list, &change.action);
            match change.entry {
                Entry::V4(range) => {
                    let span = (range.first(), range.last());
                    let (outcome, touched) = self.v4.change(list, span, action, now);
                    batch.v4.push(touched);
                    outcome
                }
                Entry::V6(range) => {
                    let span = (range.first(), range.last());
                    let (outcome, touched) = self.v6.change(list, span, action, now);
                    batch.v6.push(touched);
                    outcome
                }
            }
        };
        let outcomes = changes.iter().map(make).collect();
        self.publish(batch)?;
        Ok(Applied {
            version: self.current.clone(),
            outcomes,
        })
    }

    fn check(&self, change: &Change) -> Result<(), ChangeError> {
        let (list, count) = (change.list, self.list_count());
        if list >= count {
            return Err(ChangeError::NoSuchList { list, count });
        }
        match &change.action {
            Action::Add(Note {
                comment: Some(comment),
                ..
            }) if comment.len() > COMMENT_BYTES_MAX => Err(ChangeError::CommentTooLong {
                bytes: comment.len(),
            }),
            _ => Ok(()),
        }
    }

    /// When the next entry goes by itself; in the past where [`LiveLists::expire`] has more to do.
    #[must_use]
    pub fn next_expiry(&self) -> Option<Nanos> {
        let (v4, v6) = (self.v4.next_expiry(), self.v6.next_expiry());
        v4.into_iter().chain(v6).min()
    }

    /// Takes entries out whose time is over, the longest over first, at most [`EXPIRED_MAX`] a
    /// call. Looks at no other entry. None where the tables stay as they are.
    ///
    /// # Errors
    /// [`ChangeError`]; then all of them are still there.
    pub fn expire(&mut self, now: Nanos) -> Result<Option<Version>, ChangeError> {
        let mut batch = Batch::default();
        for _ in 0..EXPIRED_MAX {
            let (v4, v6) = (self.v4.next_expiry(), self.v6.next_expiry());
            let is_v4 = v4.is_some_and(|v4| v6.is_none_or(|v6| v4 <= v6));
            if is_v4 {
                let Some(touched) = self.v4.expire_one(now) else {
                    break;
                };
                batch.v4.push(touched);
            } else {
                let Some(touched) = self.v6.expire_one(now) else {
                    break;
                };
                batch.v6.push(touched);
            }
        }
        let number = self.current.number;
        self.publish(batch)?;
        Ok((self.current.number != number).then(|| self.current.clone()))
    }

    /// Makes a version of what a batch has changed, or undoes it.
    fn publish(&mut self, batch: Batch) -> Result<(), ChangeError> {
        let changed_v4 = self.v4.changed(&batch.v4);
        let changed_v6 = self.v6.changed(&batch.v6);
        if !changed_v4.is_empty() || !changed_v6.is_empty() {
            let table = match self.changed_table(&changed_v4, &changed_v6) {
                Ok(table) => table,
                Err(error) => {
                    self.v4.undo(batch.v4);
                    self.v6.undo(batch.v6);
                    return Err(error.into());
                }
            };
            self.show(table);
        }
        self.moment += 1;
        self.loads.retain(|load| load.token.strong_count() > 0);
        if self.loads.is_empty() {
            self.v4.forget();
            self.v6.forget();
        } else {
            self.v4.note(&batch.v4, self.moment);
            self.v6.note(&batch.v6, self.moment);
        }
        Ok(())
    }

    /// The current table with these entries as the control side has them.
    fn changed_table(
        &mut self,
        v4: &[(usize, Span<u32>)],
        v6: &[(usize, Span<u128>)],
    ) -> Result<CompiledLists, CompileError> {
        if self.v4.is_bulk(v4) || self.v6.is_bulk(v6) {
            let (table, runs_v4, runs_v6) = self.snapshot().build()?;
            self.v4.set_runs(runs_v4);
            self.v6.set_runs(runs_v6);
            return Ok(table);
        }
        let mut table = CompiledLists::clone(&self.current.lists);
        table.sieve = None;
        self.v4.update(&mut table.v4, v4)?;
        self.v6.update(&mut table.v6, v6)?;
        Ok(table)
    }

    /// Makes a table the current one; returns the version before.
    fn show(&mut self, table: CompiledLists) -> Version {
        let next = Version {
            number: self.current.number + 1,
            lists: Arc::new(table),
        };
        std::mem::replace(&mut self.current, next)
    }

    /// True when lookups have become slower than tables built anew would answer them. Then
    /// [`LiveLists::begin_rebuild`].
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.current.lists.v4.is_crowded() || self.current.lists.v6.is_crowded()
    }

    /// Begins to replace the file part of a list: call it before the file is opened.
    ///
    /// Several loads may go on at once. Until each is finished or dropped, the entries touched
    /// meanwhile are remembered.
    ///
    /// # Errors
    /// [`ChangeError::NoSuchList`].
    pub fn begin_load(&mut self, list: usize) -> Result<Load, ChangeError> {
        let count = self.list_count();
        if list >= count {
            return Err(ChangeError::NoSuchList { list, count });
        }
        Ok(Load {
            ticket: self.ticket(Some(list)),
            snapshot: self.snapshot(),
        })
    }

    /// Begins to build the tables anew from the entries as they are.
    pub fn begin_rebuild(&mut self) -> Rebuild {
        Rebuild {
            ticket: self.ticket(None),
            snapshot: self.snapshot(),
            files: None,
        }
    }

    fn ticket(&mut self, list: Option<usize>) -> Ticket {
        self.moment += 1;
        let token = Arc::new(());
        self.loads.push(Outstanding {
            token: Arc::downgrade(&token),
        });
        Ticket {
            token,
            missed: Missed {
                list,
                begun: self.moment,
                taken: self.moment,
            },
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            v4: self.v4.parts(),
            v6: self.v6.parts(),
            level: self.level,
        }
    }

    /// Takes over what a load has made, with all that has changed since it was begun.
    ///
    /// When another list was replaced since this load took its snapshot, its tables do not have
    /// that: then what it read is kept and compiled once more ([`Finished::Again`]).
    ///
    /// # Errors
    /// [`ChangeError`]; then everything is as it was, and the load is over.
    pub fn finish_load(&mut self, loaded: Loaded) -> Result<Finished, ChangeError> {
        let token = Arc::downgrade(&loaded.ticket.token);
        if !self.loads.iter().any(|load| load.token.ptr_eq(&token)) {
            return Err(ChangeError::ForeignLoad);
        }
        if self.is_superseded(loaded.ticket.missed) {
            return Ok(Finished::Superseded);
        }
        if self.is_stale(loaded.ticket.missed) {
            let Loaded {
                mut ticket, files, ..
            } = loaded;
            ticket.missed.taken = self.moment;
            return Ok(Finished::Again(Rebuild {
                ticket,
                snapshot: self.snapshot(),
                files,
            }));
        }
        self.adopt(loaded).map_err(ChangeError::from)
    }

    /// A later load of the list is in place, or for a rebuild any: these build anew too.
    fn is_superseded(&self, missed: Missed) -> bool {
        match missed.list {
            Some(list) => self.replaced[list].begun > missed.begun,
            None => self
                .replaced
                .iter()
                .any(|last| last.finished > missed.taken),
        }
    }

    /// Another list was replaced.
    fn is_stale(&self, missed: Missed) -> bool {
        let others = self.replaced.iter().enumerate();
        others
            .filter(|&(list, _)| missed.list != Some(list))
            .any(|(_, last)| last.finished > missed.taken)
    }

    fn adopt(&mut self, loaded: Loaded) -> Result<Finished, CompileError> {
        let Loaded {
            ticket,
            mut table,
            v4,
            v6,
            ..
        } = loaded;
        let missed = ticket.missed;
        let v4 = self.v4.adopt(v4, missed, &mut table.v4)?;
        let v6 = match self.v6.adopt(v6, missed, &mut table.v6) {
            Ok(before) => before,
            Err(error) => {
                self.v4.put_back(v4);
                return Err(error);
            }
        };
        self.moment += 1;
        if let Some(list) = missed.list {
            self.replaced[list] = Replacement {
                begun: missed.begun,
                finished: self.moment,
            };
        }
        let replaced = Box::new(Replaced {
            _version: self.show(table),
            _v4: v4,
            _v6: v6,
        });
        Ok(Finished::Published {
            version: self.current.clone(),
            replaced,
        })
    }
}
