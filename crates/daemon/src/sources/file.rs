//! A list in a file: taken when it is whole, kept when it is gone.

use std::fs::{File, Metadata, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::backoff::Backoff;
use super::copied::Copied;
use super::copies::Description;
use super::error::SourceError;
use super::signal::Why;
use super::source::SourceSpec;
use super::task::{Desk, Provenance, Task};
use super::watch::{Seen, Unwatched, Watch};

/// After so many times the settling time without rest the state says that the file never rests.
const RESTLESS: u32 = 20;

/// Looks closer together than this are put off: a folder in which much happens wakes us for all.
const LOOK_MIN: Duration = Duration::from_millis(50);

/// How often a file is looked at that cannot be watched.
const POLL: Duration = Duration::from_millis(500);

/// A file that feeds a set.
pub(crate) struct FileTask {
    spec: SourceSpec,
    path: PathBuf,
    watch: Watch,
    backoff: Backoff,
    /// What the next start is held against; none where nothing is kept.
    copied: Option<Copied>,
    /// The file as it was accepted before this start.
    accepted: Option<Stamp>,
    /// The file as it was last taken, or refused.
    read: Option<Stamp>,
    /// True when that was refused: looking at it again and finding it the same mends nothing.
    bad: bool,
    /// The file as it is being written.
    pending: Option<Pending>,
    /// An operator wants it read, perhaps past the guards, as soon as it is at rest.
    asked: Option<bool>,
    last_look: Option<Instant>,
    /// The file at the last look; none where it was missing.
    looked_at: Option<Stamp>,
    /// Of a file of which no event tells: when the next look is due, however the file is.
    polling: Option<Instant>,
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

    fn of_path(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path);
        meta.ok().map(|meta| Self::of(&meta))
    }

    /// As a copy notes it.
    fn name(&self) -> String {
        format!("{self:?}")
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

/// Copies of what was accepted of a file; none where they would not outlast the process.
fn copied(spec: &SourceSpec, path: &Path, folder: &Path) -> Option<Copied> {
    if super::plan::is_passing(folder) {
        return None;
    }
    let name = path.display().to_string();
    // Read by other rules it is another list.
    let source = format!("{name}\0{:?}", spec.text);
    let copied = Copied::new(spec.clone(), name, source.as_bytes(), folder);
    Some(copied)
}

/// What a start finds of a file that was accepted before.
pub(crate) enum Accepted {
    /// The file is as it was then.
    Same,
    /// It is another, or gone; this is the copy of what was accepted.
    Copy(PathBuf),
    /// There is no copy, or none of this source.
    Nothing,
}

/// What was accepted of a file before.
///
/// # Errors
/// There is a copy, and it cannot be read or is damaged.
pub(crate) fn accepted(
    spec: &SourceSpec,
    path: &Path,
    folder: &Path,
) -> Result<Accepted, SourceError> {
    let Some(copied) = copied(spec, path, folder) else {
        return Ok(Accepted::Nothing);
    };
    let stamp = Stamp::of_path(path).map(|stamp| stamp.name());
    Ok(match copied.last()? {
        Some((_, copy)) if stamp.is_some() && copy.etag == stamp => Accepted::Same,
        Some((copy, _)) => Accepted::Copy(copy),
        None => Accepted::Nothing,
    })
}

impl FileTask {
    pub(crate) fn new(spec: SourceSpec, path: PathBuf, watch: Watch, folder: &Path) -> Self {
        Self {
            backoff: Backoff::new(Duration::from_secs(2), spec.refresh),
            copied: copied(&spec, &path, folder),
            accepted: None,
            looked_at: None,
            polling: None,
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
        let (seen, watched) = self.watch.seen(&self.path);
        self.note_watch(watched, desk);
        self.looked_at = None;
        let meta = std::fs::metadata(&self.path).map_err(|error| {
            // What was accepted before stays in force, as where the file goes away later.
            self.begin_with_copy(desk);
            self.cannot("be read", error)
        })?;
        let stamp = Stamp::of(&meta);
        self.looked_at = Some(stamp);
        if !meta.is_file() {
            return Err(SourceError::NotAFile { name: self.name() });
        }
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
        self.begin(stamp, desk);
        desk.tried();
        self.pending = None;
        self.read = Some(stamp);
        self.bad = false;
        self.not_too_large(&meta)?;
        let force = self.asked.take() == Some(true) || self.accepted == Some(stamp);
        self.take(stamp, desk, force)?;
        self.keep(stamp, desk);
        Ok(match self.read {
            Some(_) => self.backoff.regular(self.spec.refresh),
            None => self.spec.limits.settle,
        })
    }

    /// Before the file is read for the first time: what was accepted before this start is in force,
    /// so that a change meanwhile is held against it.
    fn begin(&mut self, stamp: Stamp, desk: &Desk) {
        let Some(copied) = self.copied.as_mut().filter(|copied| !copied.is_started()) else {
            return;
        };
        if copied.is_of(&stamp.name()) {
            self.accepted = Some(stamp);
            return;
        }
        self.begin_with_copy(desk);
    }

    /// At the first look: the copy of what was accepted before this start, if there is one.
    fn begin_with_copy(&mut self, desk: &Desk) {
        let Some(copied) = self.copied.as_mut().filter(|copied| !copied.is_started()) else {
            return;
        };
        // The start waits for what comes of the file itself.
        desk.note(|state| state.beginning = copied.copies.are_any());
        copied.start(desk);
    }

    /// Keeps what is in force for the next start.
    fn keep(&mut self, stamp: Stamp, desk: &Desk) {
        let Some(copied) = &self.copied else { return };
        if self.accepted == Some(stamp) || self.read.is_none() {
            return;
        }
        let (name, bytes_max) = (self.name(), self.spec.limits.bytes_max);
        let stopped = || match desk.signal.is_stopped() {
            true => Err(SourceError::Stopped),
            false => Ok(()),
        };
        let failed = |error| self.cannot("be copied", error);
        let text = self.open(stamp);
        let kept = text.and_then(|text| {
            let copies = &copied.copies;
            let spooled = copies.spool(&name, text, bytes_max, stopped, failed)?;
            let copy = Description {
                etag: Some(stamp.name()),
                bytes: spooled.bytes,
                crc32: spooled.crc32,
                ..copied.describe()
            };
            copies.keep(spooled, &copy)
        });
        match kept {
            Ok(()) => self.accepted = Some(stamp),
            Err(SourceError::Stopped) => {}
            Err(error) => {
                let set = &*self.spec.set;
                tracing::warn!(
                    set,
                    "a restart will hold the list against an older one: {error}"
                );
            }
        }
    }

    /// Says once that no event will tell of changes, and when events come again.
    fn note_watch(&mut self, watched: Result<(), Unwatched>, desk: &Desk) {
        let (set, was_polling) = (&*self.spec.set, self.polling.is_some());
        let unwatched = watched.as_ref().err().map(ToString::to_string);
        match watched {
            Ok(()) => self.polling = None,
            Err(unwatched) if !was_polling => {
                self.polling = Some(Instant::now());
                // A missing instance is reported for all files at once.
                if !matches!(unwatched, Unwatched::NoInstance(_)) {
                    let name = self.name();
                    tracing::warn!(
                        set,
                        "{name} is polled every {POLL:?}, not watched: {unwatched}"
                    );
                }
            }
            Err(_) => {}
        }
        desk.note(|state| state.unwatched = unwatched);
    }

    /// How long to wait for the next poll, where the file is as it was at the last one and nothing
    /// else is due.
    fn poll(&mut self, why: Why, desk: &Desk) -> Option<Duration> {
        let left = self.polling?.saturating_duration_since(Instant::now());
        let is_same = self.looked_at == Stamp::of_path(&self.path);
        if why != Why::Due || !is_same || left.is_zero() {
            return None;
        }
        // Every poll tries to watch again.
        let (_, watched) = self.watch.seen(&self.path);
        self.note_watch(watched, desk);
        // What was changed before the watch began no event tells of.
        self.polling.is_some().then(|| left.min(POLL))
    }

    /// Remembers when a look is due that no event brings on; how long to sleep until then.
    fn sleep(&mut self, wait: Duration) -> Duration {
        match &mut self.polling {
            None => wait,
            Some(due) => {
                *due = Instant::now() + wait;
                wait.min(POLL)
            }
        }
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
        desk.note(|state| state.beginning = false);
        if Stamp::of_path(&self.path) != Some(stamp) {
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
        if let Some(wait) = self.poll(why, desk) {
            return wait;
        }
        if let Some(last) = self.last_look.filter(|_| why == Why::Touched) {
            thread::sleep(LOOK_MIN.saturating_sub(last.elapsed()));
        }
        self.last_look = Some(Instant::now());
        if let Why::Asked { force, .. } = why {
            self.asked = Some(force || self.asked == Some(true));
        }
        let wait = match self.look(why, desk) {
            Ok(wait) => wait,
            Err(SourceError::Stopped) => Duration::ZERO,
            Err(error) => self.after(&error, desk),
        };
        desk.note(|state| state.beginning = false);
        self.sleep(wait)
    }

    fn is_pending(&self) -> bool {
        self.asked.is_some()
    }
}
