//! What was changed in sets by hand and by feeds, kept on disk, so that it survives a restart.
//!
//! A folder holds a *snapshot* and a *journal* of one generation, and a `lock`. The snapshot is all
//! that was known when the generation began, the journal what was changed since, in records that
//! are only ever appended. Each record has a length, a sequence number and a checksum.
//!
//! What is lost:
//!
//! * by `kill -9`: nothing that was answered. A record goes to the kernel before the answer.
//! * by a power cut or a crash of the kernel: what was answered in the last 100 ms, and while
//!   `fdatasync` takes its time. Records are written through in the background.
//! * by a full disk: nothing yet. Changes stay in force and are answered as not kept; the journal
//!   begins anew as soon as a snapshot, which has them all, can be written. A start reads what
//!   there is and goes on so.
//!
//! **Compaction.** When the journal has outgrown the snapshot a new generation begins: first a new
//! empty journal, which takes what is appended from then on, then in the background a snapshot,
//! written aside, synced and renamed; then the old files go. Every start begins a generation, too.
//! A kill at any moment leaves a snapshot that is whole and the journals that follow it.
//!
//! **Damage.** At the end of the last journal there may be a record that was not written to its
//! end: it is cut off and reported, and so it is where the next journal says by its first number
//! that a start had cut it off before. Damage anywhere else means that something is missing in the
//! middle: [`Journal::open`] refuses, unless it is told to recover, which takes what is readable,
//! says what is not, and keeps the damaged files under another name.

mod error;
mod file;
mod generation;
mod op;
mod recover;
mod state;
mod sync;

pub use error::JournalError;
pub(crate) use generation::is_its_file;
pub use op::{KeptList, On, Op, Operations, read};
pub use recover::{ENTRIES_MAX, Report};
pub use state::{Kept, KeptSet, KeptSets};
pub(crate) use state::{Pieces, deletion, op as kept_op};

use file::Appender;
use generation::Folder;
use recover::Last;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use sync::Syncer;

/// The most bytes of operations that one record takes.
pub const PAYLOAD_BYTES_MAX: usize = 4 << 20;

/// A journal is never compacted before it has this many bytes.
const COMPACT_BYTES_MIN: u64 = 4 << 20;

/// The shortest time from one compaction to the next: a full disk is not tried all the time. It
/// doubles with each that fails.
const RETRY_EVERY: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Writes a snapshot: is given a place to put operations, as many as it likes.
pub type Writing<'a> =
    dyn FnMut(&mut dyn FnMut(&Operations) -> io::Result<()>) -> io::Result<()> + 'a;

/// How to open a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Takes what is readable where something in the middle is damaged.
    pub recover: bool,
}

/// The journal of one daemon.
#[derive(Debug)]
pub struct Journal {
    folder: Folder,
    appender: Appender,
    syncer: Syncer,
    /// Bytes of the newest snapshot.
    snapshot_bytes: u64,
    compacting: bool,
    /// When a compaction was last begun.
    attempted: Option<Instant>,
    /// How long after that another one may begin.
    retry: Duration,
    /// Why the journal takes nothing any more, until a compaction has begun a new one.
    broken: Option<String>,
    /// Changes were answered as not kept, and no snapshot has them yet.
    owing: bool,
}

/// A snapshot to be written, on whatever thread has time for it.
#[derive(Debug)]
#[must_use = "the journal waits for it"]
pub struct Compaction {
    folder: Folder,
    generation: u64,
    next_seq: u64,
    syncer: Syncer,
}

/// A snapshot that was written.
#[derive(Clone, Copy, Debug)]
pub struct Compacted {
    bytes: u64,
}

/// What a keeper begins with: where it writes changes, if anywhere, and what was kept of them.
#[derive(Debug, Default)]
pub struct Restart {
    /// None where nothing is to survive.
    pub journal: Option<Journal>,
    /// The sets as the journal had them.
    pub kept: KeptSets,
}

impl Journal {
    /// Opens the journal in `dir`, which is made if it is not there, reads it, and begins a new
    /// generation with what it holds. `now_ms` is the time, milliseconds since 1970: what is over
    /// by then is left out.
    ///
    /// # Errors
    /// [`JournalError`]: another process has the folder, something in the middle is damaged, or
    /// the folder cannot be read or written. Nothing was changed then. A disk without room is no
    /// error, but [`Report::no_room`].
    pub fn open(
        dir: &Path,
        options: OpenOptions,
        now_ms: u64,
    ) -> Result<(Self, KeptSets, Report), JournalError> {
        let folder = Folder::lock(dir)?;
        let (kept, mut report, last) = recover::read_all(&folder, options, now_ms)?;
        let mut journal = Self::begin(folder, last, &mut report)?;
        if journal.broken.is_none() {
            journal.first_snapshot(&kept, &mut report)?;
        }
        Ok((journal, kept, report))
    }

    /// The journal of the generation after `last`, or one that takes nothing until there is room.
    fn begin(folder: Folder, last: Last, report: &mut Report) -> Result<Self, JournalError> {
        let mut broken = None;
        let appender = match folder.create_journal(last.generation + 1, last.next_seq) {
            Err(error) if error.is_no_room() && !report.is_recovered() => {
                broken = Some(error.to_string());
                folder.no_journal(last)
            }
            created => created?,
        };
        report.no_room.clone_from(&broken);
        Ok(Self {
            syncer: Syncer::start(appender.shared())?,
            folder,
            appender,
            snapshot_bytes: 0,
            compacting: false,
            attempted: broken.as_ref().map(|_| Instant::now()),
            retry: RETRY_EVERY,
            owing: broken.is_some(),
            broken,
        })
    }

    /// The files before go when the snapshot is there. Without room for it they stay.
    fn first_snapshot(&mut self, kept: &KeptSets, report: &mut Report) -> Result<(), JournalError> {
        let (generation, next_seq) = (self.appender.generation(), self.appender.next_seq());
        let mut operations =
            |tell: &mut dyn FnMut(&Operations) -> io::Result<()>| state::write(kept, tell);
        match self
            .folder
            .write_snapshot(generation, next_seq, &mut operations)
        {
            Ok(bytes) => self.snapshot_bytes = bytes,
            Err(error) if error.is_no_room() && !report.is_recovered() => {
                report.no_room = Some(error.to_string());
                self.attempted = Some(Instant::now());
                self.owing = true;
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.folder.retire(generation, report.is_recovered())
    }

    /// Appends operations as one record. It is with the kernel when this returns.
    ///
    /// # Errors
    /// A sentence; the operations are not kept, nor any after them until a compaction is done.
    pub fn append(&mut self, operations: &Operations) -> Result<(), String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        let appended = self.appender.append(operations.bytes());
        self.syncer.note();
        let why = match appended {
            Ok(()) if !self.syncer.has_failed() => return Ok(()),
            Ok(()) => "fdatasync failed".to_owned(),
            Err(error) => error.to_string(),
        };
        let why = format!("{}: {why}", self.appender.path().display());
        self.broken = Some(why.clone());
        self.owing = true;
        Err(why)
    }

    /// True when [`Journal::begin_compaction`] is due.
    #[must_use]
    pub fn is_due(&self) -> bool {
        let outgrown = self.appender.bytes() > COMPACT_BYTES_MIN.max(2 * self.snapshot_bytes);
        let rested = self.attempted.is_none_or(|at| at.elapsed() >= self.retry);
        !self.compacting && rested && (outgrown || self.owing)
    }

    /// True from the first change that could not be kept until a snapshot has them all: then
    /// [`Journal::is_due`] is to be asked every second.
    #[must_use]
    pub fn is_owing(&self) -> bool {
        self.owing
    }

    /// Begins a generation: what is appended from now on goes into its journal. The snapshot must
    /// hold all that was appended before.
    ///
    /// # Errors
    /// The new journal cannot be made; the old one goes on.
    pub fn begin_compaction(&mut self) -> Result<Compaction, JournalError> {
        self.attempted = Some(Instant::now());
        let next_seq = self.appender.next_seq();
        // The snapshot before it may have failed: then its journal does for this one, and tries in
        // vain leave no files behind.
        if self.broken.is_some() || !self.appender.is_empty() {
            let generation = self.appender.generation() + 1;
            let appender = self.folder.create_journal(generation, next_seq)?;
            self.syncer.follow(appender.shared());
            self.appender = appender;
        }
        let generation = self.appender.generation();
        self.compacting = true;
        // What the old journal did not take is in the snapshot.
        self.broken = None;
        Ok(Compaction {
            folder: self.folder.clone(),
            generation,
            next_seq,
            syncer: self.syncer.clone(),
        })
    }

    /// Takes note of how a compaction ended, none for a failure. After one the journals of both
    /// generations stay, and another compaction is due when the newer has outgrown the snapshot.
    pub fn end_compaction(&mut self, ended: Option<Compacted>) {
        self.compacting = false;
        self.retry = match ended {
            Some(_) => RETRY_EVERY,
            None => (2 * self.retry).min(RETRY_MAX),
        };
        if let Some(compacted) = ended {
            self.snapshot_bytes = compacted.bytes;
            // What was refused while the snapshot was written is not in it.
            self.owing = self.broken.is_some();
        }
    }
}

impl Compaction {
    /// Writes the snapshot: `operations` is given a place to put them, as many as it likes.
    ///
    /// # Errors
    /// [`JournalError::Io`]; the snapshot before stays.
    pub fn write(self, operations: &mut Writing<'_>) -> Result<Compacted, JournalError> {
        let bytes = self
            .folder
            .write_snapshot(self.generation, self.next_seq, operations)?;
        // The files that go are whole until the new journal is, too.
        self.syncer.wait();
        self.folder.retire(self.generation, false)?;
        Ok(Compacted { bytes })
    }
}
