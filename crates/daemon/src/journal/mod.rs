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
//!   begins anew as soon as a snapshot, which has them all, can be written.
//!
//! **Compaction.** When the journal has outgrown the snapshot a new generation begins: first a new
//! empty journal, which takes what is appended from then on, then in the background a snapshot,
//! written aside, synced and renamed; then the old files go. Every start begins a generation, too.
//! A kill at any moment leaves a snapshot that is whole and the journals that follow it.
//!
//! **Damage.** At the end of the last journal there may be a record that was not written to its
//! end: it is cut off and reported. Damage anywhere else means that something is missing in the
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
pub use op::{Op, Operations, read};
pub use recover::{ENTRIES_MAX, Report};
pub use state::{Kept, KeptSet, KeptSets};
pub(crate) use state::{Pieces, op as kept_op};

use file::Appender;
use generation::Folder;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};
use sync::Syncer;

/// The most bytes of operations that one record takes.
pub const PAYLOAD_BYTES_MAX: usize = 4 << 20;

/// A journal is never compacted before it has this many bytes.
const COMPACT_BYTES_MIN: u64 = 4 << 20;

/// The shortest time from one compaction to the next: a full disk is not tried all the time.
const RETRY_EVERY: Duration = Duration::from_secs(1);

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

impl Journal {
    /// Opens the journal in `dir`, which is made if it is not there, reads it, and begins a new
    /// generation with what it holds. `now_ms` is the time, milliseconds since 1970: what is over
    /// by then is left out.
    ///
    /// # Errors
    /// [`JournalError`]: another process has the folder, something in the middle is damaged, or
    /// the folder cannot be read or written. Nothing was changed then.
    pub fn open(
        dir: &Path,
        options: OpenOptions,
        now_ms: u64,
    ) -> Result<(Self, KeptSets, Report), JournalError> {
        let folder = Folder::lock(dir)?;
        let (kept, report, last) = recover::read_all(&folder, options, now_ms)?;
        let generation = last.generation + 1;
        let appender = folder.create_journal(generation, last.next_seq)?;
        let mut operations =
            |tell: &mut dyn FnMut(&Operations) -> io::Result<()>| state::write(&kept, tell);
        let bytes = folder.write_snapshot(generation, last.next_seq, &mut operations)?;
        folder.retire(generation, report.is_recovered())?;
        let journal = Self {
            syncer: Syncer::start(appender.shared())?,
            folder,
            appender,
            snapshot_bytes: bytes,
            compacting: false,
            attempted: None,
            broken: None,
            owing: false,
        };
        Ok((journal, kept, report))
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
        let rested = self.attempted.is_none_or(|at| at.elapsed() >= RETRY_EVERY);
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
        let generation = self.appender.generation() + 1;
        let next_seq = self.appender.next_seq();
        let appender = self.folder.create_journal(generation, next_seq)?;
        self.syncer.follow(appender.shared());
        self.appender = appender;
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
