//! Replacing a list: the heavy work, on whatever thread has time for it.

use super::difference::Sorted;
use super::family::Brought;
use super::file_part::FilePart;
use super::list::NewFile;
use super::log::Missed;
use super::runs::RunMap;
use super::snapshot::{self, Parts};
use super::{LiveLists, Version};
use crate::compiled::{CompileError, CompiledLists, ListFacts};
use crate::entries::Entries;
use crate::simd::Level;
use std::sync::Arc;

/// What the tables are built from.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) v4: Vec<Parts<u32>>,
    pub(super) v6: Vec<Parts<u128>>,
    pub(super) level: Level,
}

/// What the control side wants to know again when the work is done.
#[derive(Debug)]
pub(super) struct Ticket {
    /// Alive while the load is: the control side keeps what such loads have missed.
    pub(super) token: Arc<()>,
    pub(super) missed: Missed,
}

/// A list's new file part in both families.
pub(super) type Files = (Arc<FilePart<u32>>, Arc<FilePart<u128>>);

/// A load that was begun; may go to another thread.
#[derive(Debug)]
#[must_use = "nothing is loaded until it is compiled and finished"]
pub struct Load {
    pub(super) ticket: Ticket,
    pub(super) snapshot: Snapshot,
}

/// Tables to be built, without anything to read; may go to another thread.
#[derive(Debug)]
#[must_use = "nothing is built until it is compiled and finished"]
pub struct Rebuild {
    pub(super) ticket: Ticket,
    pub(super) snapshot: Snapshot,
    pub(super) files: Option<Files>,
}

/// What a load has made; goes back to
/// [`LiveLists::finish_load`](super::LiveLists::finish_load).
#[derive(Debug)]
#[must_use = "nothing is loaded until it is finished"]
pub struct Loaded {
    pub(super) ticket: Ticket,
    pub(super) table: CompiledLists,
    pub(super) files: Option<Files>,
    pub(super) v4: Brought<u32>,
    pub(super) v6: Brought<u128>,
}

/// How a load ended.
#[derive(Debug)]
pub enum Finished {
    /// It is in the tables.
    Published {
        /// The new version, to be published.
        version: Version,
        /// What was there before.
        replaced: Box<Replaced>,
    },
    /// Another list was replaced meanwhile: compile once more, then finish. What was read is
    /// kept.
    Again(Rebuild),
    /// A load of the same list that was begun later, or for a rebuild any load, has been
    /// finished already: there is nothing left to do.
    Superseded,
}

/// What a load has replaced, up to hundreds of megabytes: to be dropped where time does not
/// matter. The table itself lives on while workers read it.
#[derive(Debug)]
#[must_use = "dropping takes time: choose where"]
pub struct Replaced {
    pub(super) _version: Version,
    pub(super) _v4: Brought<u32>,
    pub(super) _v6: Brought<u128>,
}

impl Load {
    /// Sorts the entries and builds the tables of all lists: about 0.3 s where these have six
    /// million addresses. Nothing waits for it.
    ///
    /// # Errors
    /// [`CompileError`]; the load is over, and nothing has changed.
    pub fn compile(self, entries: Entries) -> Result<Loaded, CompileError> {
        self.sort(entries).compile()
    }

    /// Sorts the entries: the first part of [`Load::compile`], for whoever wants to look at them
    /// before it goes on.
    pub fn sort(self, entries: Entries) -> Sorted {
        let Entries { v4, v6 } = entries;
        Sorted {
            before: self.before(),
            load: self,
            files: (Arc::new(FilePart::new(v4)), Arc::new(FilePart::new(v6))),
        }
    }
}

impl Load {
    /// The file part that is to be replaced, as its source had it when the load was begun.
    fn before(&self) -> Option<Files> {
        let list = self.ticket.missed.list?;
        let v4 = self.snapshot.v4.get(list)?.source();
        let v6 = self.snapshot.v6.get(list)?.source();
        Some((v4, v6))
    }
}

impl Sorted {
    /// Builds the tables of all lists.
    ///
    /// # Errors
    /// [`CompileError`]; the load is over, and nothing has changed.
    pub fn compile(self) -> Result<Loaded, CompileError> {
        let rebuild = Rebuild {
            ticket: self.load.ticket,
            snapshot: self.load.snapshot,
            files: Some(self.files),
        };
        rebuild.compile()
    }
}

impl LiveLists {
    /// Shows a load all that has changed since it was begun, so that [`LiveLists::finish_load`]
    /// need not ask for it to be compiled once more: for loads that waited for their turn.
    pub fn refresh(&self, sorted: &mut Sorted) {
        sorted.load.ticket.missed.taken = self.moment;
        sorted.load.snapshot = self.snapshot();
    }
}

impl Rebuild {
    /// Builds the tables of all lists.
    ///
    /// # Errors
    /// [`CompileError`]; nothing has changed.
    pub fn compile(self) -> Result<Loaded, CompileError> {
        let Self {
            ticket,
            mut snapshot,
            files,
        } = self;
        let place = ticket.missed.list.zip(files.as_ref());
        let new = place.map(|(list, (v4, v6))| {
            let v4 = NewFile::new(Arc::clone(v4), snapshot.v4[list].dynamic.clone());
            let v6 = NewFile::new(Arc::clone(v6), snapshot.v6[list].dynamic.clone());
            snapshot.v4[list] = v4.parts.clone();
            snapshot.v6[list] = v6.parts.clone();
            (list, v4, v6)
        });
        let (table, runs_v4, runs_v6) = snapshot.build()?;
        let (v4, v6) = match new {
            None => (None, None),
            Some((list, v4, v6)) => (Some((list, v4, runs_v4)), Some((list, v6, runs_v6))),
        };
        Ok(Loaded {
            ticket,
            table,
            files,
            v4: Brought { file: v4 },
            v6: Brought { file: v6 },
        })
    }
}

impl Loaded {
    /// What reading the list told, as [`CompiledLists::list`] would; none for a rebuild.
    #[must_use]
    pub fn facts(&self) -> Option<&ListFacts> {
        let list = self.ticket.missed.list?;
        self.table.facts.get(list)
    }
}

impl Snapshot {
    /// Builds the tables of all lists from scratch.
    pub(super) fn build(&self) -> Result<(CompiledLists, RunMap<u32>, RunMap<u128>), CompileError> {
        let (v4, runs_v4) = snapshot::build(&self.v4)?;
        let (v6, runs_v6) = snapshot::build(&self.v6)?;
        let facts = self.v4.iter().zip(&self.v6);
        let table = CompiledLists {
            v4,
            v6,
            facts: facts
                .map(|(v4, v6)| ListFacts::of(&v4.file.facts, &v6.file.facts))
                .collect(),
            sieve: None,
        };
        let table = table.at_level(self.level);
        Ok((table, RunMap::new(&runs_v4), RunMap::new(&runs_v6)))
    }
}
