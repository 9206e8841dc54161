//! Events of the folders that a file is in: the file itself may be renamed over at any time, and a
//! watch on it would follow the old one away.
//!
//! One inotify instance serves all files: a system has 128 of them for a user, unless it is told
//! otherwise. What cannot be watched is reported, so that it can be polled, and each look at it
//! tries again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{CreateFlags, Event, ReadFlags, Reader, WatchFlags};
use rustix::fs::inotify::{add_watch, init, remove_watch};

use super::signal::Signal;
use super::way::Way;

/// How often a way is gone again that was another when it had been gone.
const WAYS_MAX: usize = 4;

const WANTED: WatchFlags = WatchFlags::MOVED_TO
    .union(WatchFlags::CREATE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// File systems on which others write without an event here: NFS, CIFS, SMB2, FUSE, 9P, Ceph, AFS
/// and Coda (`linux/magic.h`).
const REMOTE: [u32; 8] = [
    0x6969,
    0xff53_4d42,
    0xfe53_4d42,
    0x6573_5546,
    0x0102_1997,
    0x00c3_6400,
    0x6b41_4653,
    0x7375_7245,
];

/// Watches the files of all sources, and wakes those of which something was seen.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    folders: Arc<Mutex<Folders>>,
}

/// Watches the folder of a path, and those of all links on the way to its file.
#[derive(Debug)]
pub(crate) struct Watch {
    folders: Arc<Mutex<Folders>>,
    id: u64,
}

/// What happened since the last look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Seen {
    /// Nothing of note.
    #[default]
    Nothing,
    /// A file was renamed to the watched name: it is whole.
    RenamedInto,
    /// The file was written to under its name, after which it must come to rest.
    Written,
}

/// Why no event tells of a change.
#[derive(Debug)]
pub(crate) enum Unwatched {
    /// The system gives no instance: the reason is logged for all files at once.
    NoInstance(io::Error),
    /// It gives no watch on a folder.
    NoWatch(io::Error),
    /// Other machines may write there.
    Remote,
}

impl fmt::Display for Unwatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInstance(error) => write!(
                f,
                "inotify gives no instance ({error}): raise fs.inotify.max_user_instances or the \
                 limit of open files"
            ),
            Self::NoWatch(error) => write!(
                f,
                "inotify gives no watch ({error}): raise fs.inotify.max_user_watches, or let the \
                 daemon read the folder"
            ),
            Self::Remote => f.write_str(
                "its file system is a remote one, whose changes inotify does not see: copy the \
                 list to a local one",
            ),
        }
    }
}

#[derive(Debug, Default)]
struct Folders {
    instance: Option<Instance>,
    /// That there is none was logged.
    said: bool,
    files: BTreeMap<u64, Watched>,
    last_id: u64,
}

/// One file.
#[derive(Debug)]
struct Watched {
    signal: Arc<Signal>,
    /// Watches on its folders.
    watches: Vec<i32>,
    /// Names that the file has in these folders.
    names: Vec<OsString>,
    seen: Seen,
}

/// The inotify instance, and the thread that waits for its events.
#[derive(Debug)]
struct Instance {
    ends: Arc<Ends>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Ends {
    inotify: OwnedFd,
    /// Rung when the thread is to end.
    bell: OwnedFd,
    stopped: AtomicBool,
}

impl Watcher {
    /// A watch that wakes by `signal`. Nothing is watched before the first look.
    pub(crate) fn watch(&self, signal: Arc<Signal>) -> Watch {
        let mut folders = lock(&self.folders);
        folders.last_id += 1;
        let id = folders.last_id;
        let watched = Watched {
            signal,
            watches: Vec::new(),
            names: Vec::new(),
            seen: Seen::Nothing,
        };
        folders.files.insert(id, watched);
        Watch {
            folders: Arc::clone(&self.folders),
            id,
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let instance = lock(&self.folders).instance.take();
        let Some(mut instance) = instance else { return };
        instance.ends.stopped.store(true, Ordering::SeqCst);
        // A full counter rings already.
        let _ = rustix::io::write(&instance.ends.bell, &1u64.to_ne_bytes());
        if let Some(thread) = instance.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Watch {
    /// What happened since the last call. Watches again what has come or was put elsewhere; whoever
    /// looks at the file after this misses nothing, unless it is not watched.
    pub(crate) fn seen(&self, path: &Path) -> (Seen, Result<(), Unwatched>) {
        let mut folders = lock(&self.folders);
        folders.drain(Some(self.id));
        let file = folders.files.get_mut(&self.id);
        let seen = file.map(|file| std::mem::take(&mut file.seen));
        drop(folders);
        (seen.unwrap_or_default(), self.arm(path))
    }

    fn arm(&self, path: &Path) -> Result<(), Unwatched> {
        let mut way = Way::of(path);
        for _ in 0..WAYS_MAX {
            if way.folders.iter().any(|folder| is_remote(folder)) {
                return Err(Unwatched::Remote);
            }
            let mut folders = lock(&self.folders);
            folders.begin(&self.folders)?;
            folders.arm(self.id, &way)?;
            drop(folders);
            let again = Way::of(path);
            if again == way {
                break;
            }
            // A link was put elsewhere before it was watched, and nobody would tell.
            way = again;
        }
        Ok(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut folders = lock(&self.folders);
        if let Some(file) = folders.files.remove(&self.id) {
            folders.release(&file.watches);
        }
    }
}

impl Folders {
    /// Makes the instance, where there is none.
    fn begin(&mut self, all: &Arc<Mutex<Self>>) -> Result<(), Unwatched> {
        if self.instance.is_some() {
            return Ok(());
        }
        match Instance::new(all) {
            Ok(instance) => {
                self.instance = Some(instance);
                if std::mem::take(&mut self.said) {
                    tracing::info!("inotify has an instance again: files are watched");
                }
                Ok(())
            }
            Err(error) => {
                let unwatched = Unwatched::NoInstance(error);
                if !std::mem::replace(&mut self.said, true) {
                    tracing::warn!("files are polled, not watched, until they can be: {unwatched}");
                }
                Err(unwatched)
            }
        }
    }

    fn arm(&mut self, id: u64, way: &Way) -> Result<(), Unwatched> {
        let (Some(instance), Some(file)) = (&self.instance, self.files.get_mut(&id)) else {
            return Ok(());
        };
        let mut watches = Vec::new();
        let mut unwatched = None;
        for folder in &way.folders {
            match add_watch(&instance.ends.inotify, folder, WANTED) {
                Ok(watch) => watches.push(watch),
                // The next look finds it gone.
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
                Err(error) => unwatched = Some(Unwatched::NoWatch(error.into())),
            }
        }
        file.names.clone_from(&way.names);
        let old = std::mem::replace(&mut file.watches, watches);
        self.release(&old);
        unwatched.map_or(Ok(()), Err)
    }

    /// Ends those of these watches that no file has any more.
    fn release(&self, watches: &[i32]) {
        let Some(instance) = &self.instance else {
            return;
        };
        let mut files = self.files.values();
        for &watch in watches {
            if !files.any(|file| file.watches.contains(&watch)) {
                // A folder that is gone took its watch along.
                let _ = remove_watch(&instance.ends.inotify, watch);
            }
            files = self.files.values();
        }
    }

    /// Takes all events there are, and wakes whom they are about, except `looking`, which looks by
    /// itself.
    fn drain(&mut self, looking: Option<u64>) {
        let Some(instance) = &self.instance else {
            return;
        };
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&instance.ends.inotify, &mut room);
        while let Ok(event) = reader.next() {
            let is_lost = event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            for (id, file) in &mut self.files {
                if !is_lost && !file.watches.contains(&event.wd()) {
                    continue;
                }
                file.judge(&event);
                if Some(*id) != looking {
                    file.signal.touch();
                }
            }
        }
    }
}

impl Watched {
    /// The last word counts: a file renamed into place and then written to is not whole.
    fn judge(&mut self, event: &Event<'_>) {
        let is_ours = event.file_name().is_some_and(|name| {
            let name = name.to_bytes();
            self.names.iter().any(|ours| ours.as_bytes() == name)
        });
        let flags = event.events();
        if is_ours && flags.contains(ReadFlags::MOVED_TO) {
            self.seen = Seen::RenamedInto;
        } else if is_ours && flags.intersects(ReadFlags::CREATE | ReadFlags::CLOSE_WRITE) {
            self.seen = Seen::Written;
        }
    }
}

impl Instance {
    fn new(folders: &Arc<Mutex<Folders>>) -> io::Result<Self> {
        let ends = Arc::new(Ends {
            inotify: init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?,
            bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            stopped: AtomicBool::new(false),
        });
        let (theirs, folders) = (Arc::clone(&ends), Arc::downgrade(folders));
        let thread = thread::Builder::new().name("watch".to_owned());
        let thread = thread.spawn(move || {
            while theirs.wait() {
                let Some(folders) = folders.upgrade() else {
                    return;
                };
                lock(&folders).drain(None);
            }
        })?;
        Ok(Self {
            ends,
            thread: Some(thread),
        })
    }
}

impl Ends {
    /// Waits for events. False when it is to end.
    fn wait(&self) -> bool {
        let fds = [self.inotify.as_fd(), self.bell.as_fd()];
        let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        // An interrupted wait finds no events.
        let _ = poll(&mut fds, None);
        !self.stopped.load(Ordering::SeqCst)
    }
}

fn lock(folders: &Mutex<Folders>) -> MutexGuard<'_, Folders> {
    folders.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether other machines may write there. What is not there has no file system.
fn is_remote(folder: &Path) -> bool {
    let kind = rustix::fs::statfs(folder).map(|found| found.f_type as u32);
    kind.is_ok_and(|kind| REMOTE.contains(&kind))
}
