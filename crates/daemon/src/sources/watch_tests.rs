//! What a watch sees of a file and of the way to it.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::signal::{Signal, Why};
use super::watch::{Seen, Unwatched, Watch, Watcher};

/// Long enough for the slowest machine: a wait ends when something comes.
const PATIENCE: Duration = Duration::from_secs(30);

/// An event that is not to come would have come by then.
const MOMENT: Duration = Duration::from_millis(100);

/// A watch, and whom it wakes.
struct Bench {
    _watcher: Watcher,
    signal: Arc<Signal>,
    watch: Watch,
    path: PathBuf,
}

impl Bench {
    /// Watches `path` from now on.
    fn new(path: &Path) -> Self {
        let watcher = Watcher::default();
        let signal = Arc::new(Signal::new().unwrap());
        let bench = Self {
            watch: watcher.watch(Arc::clone(&signal)),
            _watcher: watcher,
            signal,
            path: path.to_owned(),
        };
        bench.seen();
        bench
    }

    fn seen(&self) -> Seen {
        let (seen, watched) = self.watch.seen(&self.path);
        watched.unwrap();
        self.signal.wait(Duration::ZERO);
        seen
    }

    fn is_woken(&self) -> bool {
        self.signal.wait(PATIENCE) == Why::Touched
    }

    fn rests(&self) -> bool {
        self.signal.wait(MOMENT) == Why::Due
    }
}

#[test]
fn a_rename_is_told_from_a_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let watch = Bench::new(&path);
    assert_eq!(watch.seen(), Seen::Nothing);
    fs::write(&path, "a").unwrap();
    assert_eq!(watch.seen(), Seen::Written);
    fs::write(folder.path().join("other"), "a").unwrap();
    assert_eq!(watch.seen(), Seen::Nothing);
    fs::rename(folder.path().join("other"), &path).unwrap();
    assert_eq!(watch.seen(), Seen::RenamedInto);
    fs::write(folder.path().join("other"), "a").unwrap();
    fs::rename(folder.path().join("other"), &path).unwrap();
    fs::write(&path, "b").unwrap();
    assert_eq!(watch.seen(), Seen::Written);
    assert_eq!(watch.seen(), Seen::Nothing);
}

#[test]
fn the_folder_may_come_and_go() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("lists");
    let path = folder.join("list");
    let watch = Bench::new(&path);
    fs::create_dir(&folder).unwrap();
    watch.seen();
    fs::write(&path, "a").unwrap();
    assert_eq!(watch.seen(), Seen::Written);
    fs::rename(&folder, above.path().join("away")).unwrap();
    fs::create_dir(&folder).unwrap();
    watch.seen();
    fs::write(&path, "a").unwrap();
    assert_eq!(watch.seen(), Seen::Written);
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
    let watch = Bench::new(&path);
    fs::write(there.join("new"), "b").unwrap();
    fs::rename(there.join("new"), there.join("real")).unwrap();
    assert_eq!(watch.seen(), Seen::RenamedInto);
    fs::write(there.join("other"), "c").unwrap();
    symlink(there.join("other"), here.join("new")).unwrap();
    fs::rename(here.join("new"), &path).unwrap();
    assert_eq!(watch.seen(), Seen::RenamedInto);
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
    let watch = Bench::new(&path);
    assert!(watch.rests());
    symlink("two", at("next")).unwrap();
    fs::rename(at("next"), at("current")).unwrap();
    assert!(watch.is_woken(), "the link leads elsewhere");
    watch.seen();
    fs::write(at("new"), "a").unwrap();
    fs::rename(at("new"), at("two/list")).unwrap();
    assert_eq!(watch.seen(), Seen::RenamedInto);
}

#[test]
fn a_folder_that_is_put_in_the_place_of_another_is_seen() {
    let above = tempfile::tempdir().unwrap();
    let at = |name: &str| above.path().join(name);
    fs::create_dir_all(at("lists/deep")).unwrap();
    fs::write(at("lists/deep/list"), "a").unwrap();
    let path = at("lists/deep/list");
    let watch = Bench::new(&path);
    fs::rename(at("lists/deep"), at("away")).unwrap();
    assert!(watch.is_woken(), "it went away");
    watch.seen();
    // The end of the watch on what went away is an event of its own.
    watch.seen();
    assert!(watch.rests());
    fs::rename(at("away"), at("lists/deep")).unwrap();
    assert!(watch.is_woken(), "it came back");
    watch.seen();
    fs::write(&path, "b").unwrap();
    assert_eq!(watch.seen(), Seen::Written);
}

#[test]
fn links_without_end_are_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    symlink(&path, &path).unwrap();
    let watch = Bench::new(&path);
    fs::remove_file(&path).unwrap();
    fs::write(&path, "a").unwrap();
    assert_eq!(watch.seen(), Seen::Written);
}

#[test]
fn one_instance_serves_all_files_and_wakes_whom_it_concerns() {
    let folder = tempfile::tempdir().unwrap();
    let watcher = Watcher::default();
    let bench = |name: &str| {
        let signal = Arc::new(Signal::new().unwrap());
        let path = folder.path().join(name).join("list");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let watch = watcher.watch(Arc::clone(&signal));
        watch.seen(&path).1.unwrap();
        (signal, watch, path)
    };
    let (one, two, beside) = (bench("a"), bench("b"), bench("a"));
    fs::write(&one.2, "x").unwrap();
    let long = Duration::from_secs(30);
    assert_eq!(one.0.wait(long), Why::Touched);
    assert_eq!(beside.0.wait(long), Why::Touched);
    assert_eq!(two.0.wait(Duration::ZERO), Why::Due);
    // One that goes takes no watch along that another has.
    drop(beside);
    one.1.seen(&one.2).1.unwrap();
    one.0.wait(Duration::ZERO);
    fs::write(&one.2, "y").unwrap();
    assert_eq!(one.0.wait(long), Why::Touched);
}

#[test]
fn what_cannot_be_watched_names_what_to_raise() {
    let error = || io::Error::from_raw_os_error(24);
    for (unwatched, wanted) in [
        (
            Unwatched::NoInstance(error()),
            "fs.inotify.max_user_instances",
        ),
        (Unwatched::NoWatch(error()), "fs.inotify.max_user_watches"),
        (Unwatched::Remote, "remote"),
    ] {
        let told = unwatched.to_string();
        assert!(told.contains(wanted) && told.contains("inotify"), "{told}");
    }
}
