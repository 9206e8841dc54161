//! Events of the folders that a file is in: the file itself may be renamed over at any time, and a
//! watch on it would follow the old one away.

use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::remove_watch;
use rustix::fs::inotify::{CreateFlags, Event, ReadFlags, Reader, WatchFlags, add_watch, init};

/// Events read in one look, at most; the rest makes the next look come at once.
const EVENTS_MAX: usize = 1024;

/// Watches the folder of a path, and that of the file it links to.
#[derive(Debug)]
pub(crate) struct Watch {
    /// None where the system gives no more watches: the file is looked at from time to time.
    inotify: Option<OwnedFd>,
    watched: Vec<i32>,
    /// Names that the file has in these folders.
    names: Vec<OsString>,
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

impl Watch {
    /// Watches `path` from now on.
    pub(crate) fn new(path: &Path) -> Self {
        let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
        let mut watch = Self {
            inotify: inotify.ok(),
            watched: Vec::new(),
            names: Vec::new(),
        };
        watch.arm(path);
        watch
    }

    /// Readable when something happened.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.inotify.as_ref()?.as_fd())
    }

    /// What happened since the last call. Watches again what has come or was put elsewhere; whoever
    /// looks at the file after this misses nothing.
    pub(crate) fn seen(&mut self, path: &Path) -> Seen {
        let seen = self.drain();
        self.arm(path);
        seen
    }

    fn drain(&self) -> Seen {
        let Some(inotify) = &self.inotify else {
            return Seen::Nothing;
        };
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(inotify, &mut room);
        let mut seen = Seen::Nothing;
        for _ in 0..EVENTS_MAX {
            let Ok(event) = reader.next() else {
                break;
            };
            seen = self.judge(&event, seen);
        }
        seen
    }

    /// The last word counts: a file renamed into place and then written to is not whole.
    fn judge(&self, event: &Event<'_>, before: Seen) -> Seen {
        let ours = event.file_name().is_some_and(|name| {
            let name = name.to_bytes();
            self.names.iter().any(|ours| ours.as_bytes() == name)
        });
        let flags = event.events();
        if ours && flags.contains(ReadFlags::MOVED_TO) {
            Seen::RenamedInto
        } else if ours && flags.intersects(ReadFlags::CREATE | ReadFlags::CLOSE_WRITE) {
            Seen::Written
        } else {
            before
        }
    }

    fn arm(&mut self, path: &Path) {
        let Some(inotify) = &self.inotify else {
            return;
        };
        let wanted = WatchFlags::MOVED_TO
            | WatchFlags::CREATE
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        let real = std::fs::canonicalize(path).ok();
        let paths = [Some(path.to_owned()), real];
        let paths: Vec<PathBuf> = paths.into_iter().flatten().collect();
        let watched: Vec<i32> = paths
            .iter()
            .filter_map(|path| add_watch(inotify, folder(path), wanted).ok())
            .collect();
        for old in &self.watched {
            if !watched.contains(old) {
                // A folder that is gone took its watch along.
                let _ = remove_watch(inotify, *old);
            }
        }
        self.watched = watched;
        let names = paths.iter().filter_map(|path| path.file_name());
        self.names = names.map(OsString::from).collect();
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_rename_is_told_from_a_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        let mut watch = Watch::new(&path);
        assert_eq!(watch.seen(&path), Seen::Nothing);
        fs::write(&path, "a").unwrap();
        assert_eq!(watch.seen(&path), Seen::Written);
        fs::write(folder.path().join("other"), "a").unwrap();
        assert_eq!(watch.seen(&path), Seen::Nothing);
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(watch.seen(&path), Seen::RenamedInto);
        fs::write(folder.path().join("other"), "a").unwrap();
        fs::rename(folder.path().join("other"), &path).unwrap();
        fs::write(&path, "b").unwrap();
        assert_eq!(watch.seen(&path), Seen::Written);
        assert_eq!(watch.seen(&path), Seen::Nothing);
    }

    #[test]
    fn the_folder_may_come_and_go() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("lists");
        let path = folder.join("list");
        let mut watch = Watch::new(&path);
        fs::create_dir(&folder).unwrap();
        watch.seen(&path);
        fs::write(&path, "a").unwrap();
        assert_eq!(watch.seen(&path), Seen::Written);
        fs::rename(&folder, above.path().join("away")).unwrap();
        fs::create_dir(&folder).unwrap();
        watch.seen(&path);
        fs::write(&path, "a").unwrap();
        assert_eq!(watch.seen(&path), Seen::Written);
    }

    #[test]
    fn a_link_is_watched_at_both_ends() {
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        fs::create_dir(&here).unwrap();
        fs::create_dir(&there).unwrap();
        fs::write(there.join("real"), "a").unwrap();
        symlink(there.join("real"), here.join("list")).unwrap();
        let path = here.join("list");
        let mut watch = Watch::new(&path);
        fs::write(there.join("new"), "b").unwrap();
        fs::rename(there.join("new"), there.join("real")).unwrap();
        assert_eq!(watch.seen(&path), Seen::RenamedInto);
        fs::write(there.join("other"), "c").unwrap();
        symlink(there.join("other"), here.join("new")).unwrap();
        fs::rename(here.join("new"), &path).unwrap();
        assert_eq!(watch.seen(&path), Seen::RenamedInto);
    }
}
