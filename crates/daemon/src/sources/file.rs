//! A list in a file: taken when it is whole, kept when it is gone.

use std::fs::{File, Metadata, OpenOptions};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::backoff::Backoff;
use super::error::SourceError;
use super::signal::Why;
use super::source::SourceSpec;
use super::task::{Desk, Provenance, Task};
use super::watch::{Seen, Watch};

/// After so many times the settling time without rest the state says that the file never rests.
const RESTLESS: u32 = 20;

/// Looks closer together than this are put off: a folder in which much happens wakes us for all.
const LOOK_MIN: Duration = Duration::from_millis(50);

/// A file that feeds a set.
pub(crate) struct FileTask {
    spec: SourceSpec,
    path: PathBuf,
    watch: Watch,
    backoff: Backoff,
    /// The file as it was last taken, or refused.
    read: Option<Stamp>,
    /// True when that was refused: looking at it again and finding it the same mends nothing.
    bad: bool,
    /// The file as it is being written.
    pending: Option<Pending>,
    /// An operator wants it read, perhaps past the guards, as soon as it is at rest.
    asked: Option<bool>,
    last_look: Option<Instant>,
}

/// What tells one state of a file from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A state that was seen and must prove to last.
#[derive(Clone, Copy, Debug)]
struct Pending {
    stamp: Stamp,
    since: Instant,
    /// When the file was first seen in motion.
    restless_since: Instant,
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// When it was last written to.
    fn at(&self) -> SystemTime {
        time(self.modified).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// How long ago something was last done to the file. A time in the future is no rest.
    fn rested(&self) -> Duration {
        let last = time(self.changed).max(time(self.modified));
        last.and_then(|last| SystemTime::now().duration_since(last).ok())
            .unwrap_or_default()
    }
}

impl FileTask {
    pub(crate) fn new(spec: SourceSpec, path: PathBuf) -> Self {
        let watch = Watch::new(&path);
        Self {
            backoff: Backoff::new(Duration::from_secs(2), spec.refresh),
            spec,
            path,
            watch,
            read: None,
            bad: false,
            pending: None,
            asked: None,
            last_look: None,
        }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn cannot(&self, what: &'static str, error: std::io::Error) -> SourceError {
        SourceError::io(self.name(), what, error)
    }

    /// Looks at the file and takes it when it is new and whole. Gives back when to look again.
    fn look(&mut self, why: Why, desk: &Desk) -> Result<Duration, SourceError> {
        let seen = self.watch.seen(&self.path);
        let meta = std::fs::metadata(&self.path).map_err(|error| self.cannot("be read", error))?;
        if !meta.is_file() {
            return Err(SourceError::NotAFile { name: self.name() });
        }
        let stamp = Stamp::of(&meta);
        let known = self.read == Some(stamp);
        if known && self.asked.is_none() {
            self.pending = None;
            if why == Why::Due && !self.bad {
                desk.tried();
                desk.unchanged();
            }
            return Ok(self.backoff.regular(self.spec.refresh));
        }
        if !known && let Some(wait) = self.unsettled(stamp, seen)? {
            return Ok(wait);
        }
        desk.tried();
        self.pending = None;
        self.read = Some(stamp);
        self.bad = false;
        self.not_too_large(&meta)?;
        let force = self.asked.take() == Some(true);
        self.take(stamp, desk, force)?;
        Ok(match self.read {
            Some(_) => self.backoff.regular(self.spec.refresh),
            None => self.spec.limits.settle,
        })
    }

    /// Reading tells it, too, but only after a gigabyte.
    fn not_too_large(&self, meta: &Metadata) -> Result<(), SourceError> {
        let bytes_max = self.spec.limits.bytes_max;
        if meta.len() <= bytes_max {
            return Ok(());
        }
        Err(SourceError::TooLarge {
            name: self.name(),
            bytes_max,
            unpacked: false,
        })
    }

    /// How long to wait for the file to come to rest, none when it has.
    fn unsettled(&mut self, stamp: Stamp, seen: Seen) -> Result<Option<Duration>, SourceError> {
        let settle = self.spec.limits.settle;
        if seen == Seen::RenamedInto || stamp.rested() >= settle {
            return Ok(None);
        }
        let now = Instant::now();
        let before = self.pending.take();
        let pending = Pending {
            stamp,
            since: before
                .filter(|before| before.stamp == stamp)
                .map_or(now, |before| before.since),
            restless_since: before.map_or(now, |before| before.restless_since),
        };
        let rest = now - pending.since;
        if rest >= settle {
            return Ok(None);
        }
        self.pending = Some(pending);
        if now - pending.restless_since > settle * RESTLESS {
            return Err(SourceError::Unsettled { name: self.name() });
        }
        Ok(Some(settle - rest))
    }

    fn take(&mut self, stamp: Stamp, desk: &Desk, force: bool) -> Result<(), SourceError> {
        let from = Provenance {
            name: self.name(),
            at: stamp.at(),
            from_copy: false,
            etag: None,
            file: self.path.clone(),
        };
        let taken = desk.load(&self.spec, || self.open(stamp), &from, force);
        let now = std::fs::metadata(&self.path);
        if now.map(|meta| Stamp::of(&meta)).ok() != Some(stamp) {
            // Written to or replaced meanwhile: to be looked at again.
            self.read = None;
        }
        taken
    }

    /// A FIFO that took the path's place must not hold the thread: opened without waiting.
    fn open(&self, stamp: Stamp) -> Result<Whole, SourceError> {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32)
            .open(&self.path)
            .map_err(|error| self.cannot("be read", error))?;
        Ok(Whole { file, stamp })
    }
}

/// A file that ends in an error when it is not at its end what it was when it had come to rest.
struct Whole {
    file: File,
    stamp: Stamp,
}

impl std::io::Read for Whole {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(room)?;
        if count == 0 {
            let now = Stamp::of(&self.file.metadata()?);
            // Another file renamed over this one changes its ctime alone; this one is whole still.
            let same = now.inode == self.stamp.inode
                && now.size == self.stamp.size
                && now.modified == self.stamp.modified;
            if !same {
                let told = "it was changed while it was read, and is read again when it rests";
                return Err(std::io::Error::other(told));
            }
        }
        Ok(count)
    }
}

/// A time of a file, by the wall clock.
fn time((seconds, nanos): (i64, i64)) -> Option<SystemTime> {
    let seconds = u64::try_from(seconds).ok()?;
    let nanos = u32::try_from(nanos).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

impl FileTask {
    /// What is wrong with the list itself is not tried again until the list changes.
    fn after(&mut self, error: &SourceError, desk: &Desk) -> Duration {
        self.asked = None;
        let count = desk.failed(error);
        let lasting = match error {
            SourceError::List(_) | SourceError::TooLarge { .. } => true,
            SourceError::Refused { refused, .. } => !refused.passing,
            _ => false,
        };
        if lasting && self.read.is_some() {
            self.bad = true;
            return self.backoff.regular(self.spec.refresh);
        }
        self.read = None;
        self.backoff.after_failures(count, None)
    }
}

impl Task for FileTask {
    fn turn(&mut self, why: Why, desk: &Desk) -> Duration {
        if let Some(last) = self.last_look.filter(|_| why == Why::Touched) {
            thread::sleep(LOOK_MIN.saturating_sub(last.elapsed()));
        }
        self.last_look = Some(Instant::now());
        if let Why::Asked { force, .. } = why {
            self.asked = Some(force || self.asked == Some(true));
        }
        match self.look(why, desk) {
            Ok(wait) => wait,
            Err(SourceError::Stopped) => Duration::ZERO,
            Err(error) => self.after(&error, desk),
        }
    }

    fn is_pending(&self) -> bool {
        self.asked.is_some()
    }

    fn watched(&self) -> Option<BorrowedFd<'_>> {
        self.watch.fd()
    }
}
