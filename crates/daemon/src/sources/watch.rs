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

/// Links that are followed, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// How often a way is gone again that was another when it had been gone.
const WAYS_MAX: usize = 4;

const WANTED: WatchFlags = WatchFlags::MOVED_TO
    .union(WatchFlags::CREATE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Watches the folder of a path, and those of all links on the way to its file.
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
        let mut way = Way::of(path);
        let mut watched = Vec::new();
        for _ in 0..WAYS_MAX {
            let add = |folder| add_watch(inotify, folder, WANTED).ok();
            watched = way.folders.iter().filter_map(add).collect();
            let again = Way::of(path);
            if again == way {
                break;
            }
            // A link was put elsewhere before it was watched, and nobody would tell.
            way = again;
        }
        for old in &self.watched {
            if !watched.contains(old) {
                // A folder that is gone took its watch along.
                let _ = remove_watch(inotify, *old);
            }
        }
        self.watched = watched;
        self.names = way.names;
    }
}

/// The way from a path to its file: what must be watched to see another file at its end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Way {
    /// The folders of all links on it, of the file, and of what is missing.
    folders: Vec<PathBuf>,
    /// The file's name, and those of links to it.
    names: Vec<OsString>,
}

impl Way {
    fn of(path: &Path) -> Self {
        let mut way = Self::default();
        let mut at = PathBuf::from(".");
        let mut left = parts(path);
        let mut links = 0;
        while let Some(part) = left.pop() {
            if !way.step(&mut at, part, &mut left, &mut links) {
                break;
            }
        }
        way
    }

    /// Goes from folder `at` by `part`. False when the way ends there.
    fn step(
        &mut self,
        at: &mut PathBuf,
        part: OsString,
        left: &mut Vec<OsString>,
        links: &mut usize,
    ) -> bool {
        // As paths are read: `/` begins anew, and `..` leads out of where a link led.
        let next = at.join(&part);
        let target = std::fs::read_link(&next);
        let last = left.is_empty();
        if last || target.is_ok() || !next.exists() {
            self.folders.push(at.clone());
        }
        if last {
            self.names.push(part);
        }
        let Ok(target) = target else {
            *at = next;
            return at.exists();
        };
        *links += 1;
        left.extend(parts(&target));
        *links <= LINKS_MAX
    }
}

/// The components of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

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

    fn woken(watch: &Watch) -> bool {
        let mut fds = [PollFd::new(watch.inotify.as_ref().unwrap(), PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).unwrap() == 1
    }

    #[test]
    fn a_link_to_a_folder_is_watched() {
        let above = tempfile::tempdir().unwrap();
        let at = |name: &str| above.path().join(name);
        for release in ["one", "two"] {
            fs::create_dir(at(release)).unwrap();
            fs::write(at(release).join("list"), release).unwrap();
        }
        symlink("one", at("current")).unwrap();
        let path = at("current/list");
        let mut watch = Watch::new(&path);
        assert!(!woken(&watch));
        symlink("two", at("next")).unwrap();
        fs::rename(at("next"), at("current")).unwrap();
        assert!(woken(&watch), "the link leads elsewhere");
        watch.seen(&path);
        fs::write(at("new"), "a").unwrap();
        fs::rename(at("new"), at("two/list")).unwrap();
        assert_eq!(watch.seen(&path), Seen::RenamedInto);
    }

    #[test]
    fn a_folder_that_is_put_in_the_place_of_another_is_seen() {
        let above = tempfile::tempdir().unwrap();
        let at = |name: &str| above.path().join(name);
        fs::create_dir_all(at("lists/deep")).unwrap();
        fs::write(at("lists/deep/list"), "a").unwrap();
        let path = at("lists/deep/list");
        let mut watch = Watch::new(&path);
        fs::rename(at("lists/deep"), at("away")).unwrap();
        assert!(woken(&watch), "it went away");
        watch.seen(&path);
        // The end of the watch on what went away is an event of its own.
        watch.seen(&path);
        assert!(!woken(&watch));
        fs::rename(at("away"), at("lists/deep")).unwrap();
        assert!(woken(&watch), "it came back");
        watch.seen(&path);
        fs::write(&path, "b").unwrap();
        assert_eq!(watch.seen(&path), Seen::Written);
    }

    #[test]
    fn links_without_end_are_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        symlink(&path, &path).unwrap();
        let mut watch = Watch::new(&path);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "a").unwrap();
        assert_eq!(watch.seen(&path), Seen::Written);
    }
}
