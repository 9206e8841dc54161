//! The folder of a journal: which files are there, and in which order they come and go.

use super::Writing;
use super::error::JournalError;
use super::file::{self, Appender};
use super::op::Operations;
use super::recover::Last;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for the lock: a process that the one before had just forked has it until it
/// becomes another program, and a daemon that ends takes a moment.
const LOCK_WITHIN: Duration = Duration::from_millis(500);

/// The file that is locked.
const LOCK: &str = "lock";

/// What ends the names of damaged files that are kept.
const DAMAGED: &str = "damaged";

/// A folder that is locked while any clone of this lives.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    dir: PathBuf,
    lock: Arc<File>,
}

/// What a file of the folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Snapshot,
    Journal,
    /// A snapshot that was not finished.
    Aside,
}

impl Folder {
    pub(super) fn lock(dir: &Path) -> Result<Self, JournalError> {
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(dir);
        made.map_err(JournalError::io("make", dir))?;
        let path = dir.join(LOCK);
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(false).write(true).mode(0o600);
        let lock = options
            .open(&path)
            .map_err(JournalError::io("make", &path))?;
        match flock_within(&lock, LOCK_WITHIN) {
            Ok(()) => Ok(Self {
                dir: dir.to_owned(),
                lock: Arc::new(lock),
            }),
            Err(Errno::WOULDBLOCK) => Err(JournalError::Locked {
                dir: dir.to_owned(),
            }),
            Err(error) => Err(JournalError::io("lock", &path)(error.into())),
        }
    }

    pub(super) fn path(&self, kind: Kind, generation: u64) -> PathBuf {
        let name = match kind {
            Kind::Snapshot => format!("snapshot-{generation:010}"),
            Kind::Journal => format!("journal-{generation:010}"),
            Kind::Aside => format!("snapshot-{generation:010}.new"),
        };
        self.dir.join(name)
    }

    /// All files of a journal, in ascending order.
    pub(super) fn files(&self) -> Result<Vec<(Kind, u64)>, JournalError> {
        let failed = || JournalError::io("read", &self.dir);
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(failed())? {
            let name = entry.map_err(failed())?.file_name();
            files.extend(name.to_str().and_then(kind_of));
        }
        files.sort_unstable();
        Ok(files)
    }

    pub(super) fn open(&self, kind: Kind, generation: u64) -> Result<File, JournalError> {
        let path = self.path(kind, generation);
        File::open(&path).map_err(JournalError::io("read", &path))
    }

    /// An empty journal of a new generation.
    pub(super) fn create_journal(
        &self,
        generation: u64,
        first_seq: u64,
    ) -> Result<Appender, JournalError> {
        let path = self.path(Kind::Journal, generation);
        let failed = || JournalError::io("make", &path);
        let mut options = OpenOptions::new();
        // One that was begun and never used is of a start that was killed.
        let options = options.create(true).append(true).mode(0o600);
        let mut file = options.open(&path).map_err(failed())?;
        let header = file::header(generation, first_seq);
        let begun = emptied(&file).and_then(|()| file.write_all(&header));
        if let Err(error) = begun {
            // The one before goes on, and must stay the last: only of the last may an end be cut.
            let _ = fs::remove_file(&path);
            return Err(failed()(error));
        }
        Ok(Appender::new(path, Arc::new(file), generation, first_seq))
    }

    /// Stands where no journal could be made: nothing is appended to it.
    pub(super) fn no_journal(&self, last: Last) -> Appender {
        let path = self.path(Kind::Journal, last.generation + 1);
        Appender::new(path, Arc::clone(&self.lock), last.generation, last.next_seq)
    }

    /// Writes a snapshot aside, syncs it and gives it its name; its bytes.
    pub(super) fn write_snapshot(
        &self,
        generation: u64,
        next_seq: u64,
        operations: &mut Writing<'_>,
    ) -> Result<u64, JournalError> {
        let (aside, path) = (
            self.path(Kind::Aside, generation),
            self.path(Kind::Snapshot, generation),
        );
        let failed = || JournalError::io("write", &aside);
        let mut options = OpenOptions::new();
        let options = options.create(true).truncate(true).write(true).mode(0o600);
        let file = options.open(&aside).map_err(failed())?;
        let mut out = BufWriter::new(file);
        let write = || -> io::Result<File> {
            out.write_all(&file::header(generation, next_seq))?;
            let (mut record, mut count) = (Vec::new(), 0u64);
            let mut put = |payload: &[u8], count: u64| {
                record.clear();
                file::put_record(&mut record, count, payload)?;
                out.write_all(&record)
            };
            operations(&mut |operations: &Operations| {
                put(operations.bytes(), count)?;
                count += 1;
                Ok(())
            })?;
            // A record without operations says that this is all.
            put(&[], count)?;
            Ok(out.into_inner()?)
        };
        let written = write().and_then(|file| {
            file.sync_all()?;
            let bytes = file.metadata()?.len();
            fs::rename(&aside, &path)?;
            Ok(bytes)
        });
        let bytes = written.map_err(|error| {
            // Half of it would keep full the disk that had no room for the whole.
            let _ = fs::remove_file(&aside);
            failed()(error)
        })?;
        self.sync()?;
        Ok(bytes)
    }

    /// Removes what came before a generation, or gives it another name.
    pub(super) fn retire(&self, generation: u64, keep: bool) -> Result<(), JournalError> {
        for (kind, old) in self.files()? {
            if old >= generation && kind != Kind::Aside {
                continue;
            }
            let path = self.path(kind, old);
            let done = if keep && kind != Kind::Aside {
                fs::rename(&path, path.with_extension(DAMAGED))
            } else {
                fs::remove_file(&path)
            };
            done.map_err(JournalError::io("remove", &path))?;
        }
        self.sync()
    }

    fn sync(&self) -> Result<(), JournalError> {
        let synced = File::open(&self.dir).and_then(|dir| dir.sync_all());
        synced.map_err(JournalError::io("write", &self.dir))
    }
}

fn emptied(file: &File) -> io::Result<()> {
    match file.metadata()?.len() {
        0 => Ok(()),
        _ => file.set_len(0),
    }
}

/// True for the name of a file that a journal's folder may hold.
pub(crate) fn is_its_file(name: &str) -> bool {
    let kept = name.strip_suffix(DAMAGED);
    let kept = kept.and_then(|name| name.strip_suffix('.'));
    name == LOCK || kind_of(kept.unwrap_or(name)).is_some()
}

fn flock_within(lock: &File, within: Duration) -> Result<(), Errno> {
    const NAP: Duration = Duration::from_millis(20);
    let begun = Instant::now();
    loop {
        match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) if begun.elapsed() < within => thread::sleep(NAP),
            locked => return locked,
        }
    }
}

fn kind_of(name: &str) -> Option<(Kind, u64)> {
    let (kind, number) = name.split_once('-')?;
    let (kind, number) = match (kind, number.strip_suffix(".new")) {
        ("snapshot", None) => (Kind::Snapshot, number),
        ("snapshot", Some(number)) => (Kind::Aside, number),
        ("journal", None) => (Kind::Journal, number),
        _ => return None,
    };
    let is_number =
        (10..=19).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((kind, number.parse().ok().filter(|_| is_number)?))
}
