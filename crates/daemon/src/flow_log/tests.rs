//! The file: opened, renamed under the writer, full, torn, and gone; a FIFO and its readers.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, mkfifoat};

use super::outlet::{Outlet, REOPEN_EVERY};

fn open(path: &Path) -> Outlet {
    Outlet::open(path).expect("it can be opened")
}

/// As if a second had passed.
fn look_after(outlet: &mut Outlet) {
    std::thread::sleep(REOPEN_EVERY + Duration::from_millis(1));
    outlet.look_after();
}

fn counted(outlet: &Outlet) -> (u64, u64) {
    let counts = outlet.counts();
    (counts.written(), counts.unwritten())
}

fn fifo(folder: &Path) -> PathBuf {
    let path = folder.join("fifo");
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).expect("a FIFO");
    path
}

/// Reading without waiting for a writer.
fn reader(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.read(true);
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    options.open(path).expect("a reader")
}

fn all_of(reader: &mut File) -> String {
    let mut text = Vec::new();
    let mut part = [0; 4096];
    while let Ok(bytes @ 1..) = reader.read(&mut part) {
        text.extend_from_slice(&part[..bytes]);
    }
    String::from_utf8(text).expect("text")
}

#[test]
fn a_file_that_was_renamed_is_begun_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let (now, old) = (
        folder.path().join("flows.jsonl"),
        folder.path().join("flows.jsonl.1"),
    );
    let mut outlet = open(&now);
    outlet.push("one\n");
    outlet.flush();
    fs::rename(&now, &old).expect("renamed");
    // What waits when it is seen belongs to the old one.
    outlet.push("two\n");
    look_after(&mut outlet);
    outlet.push("three\n");
    outlet.flush();
    let at = |path: &Path| fs::read_to_string(path).expect("a file");
    assert_eq!(
        (at(&old), at(&now)),
        ("one\ntwo\n".into(), "three\n".into())
    );
    assert_eq!(counted(&outlet), (3, 0));
}

#[test]
fn what_cannot_be_written_is_counted_and_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flows.jsonl");
    let mut outlet = open(&path);
    outlet.push("waits\n");
    outlet.fail(io::Error::other("the disk is full"));
    outlet.push("one\n");
    look_after(&mut outlet);
    outlet.push("two\n");
    outlet.flush();
    assert_eq!(counted(&outlet), (1, 2));
    let error = outlet.take_error().expect("why").to_string();
    assert_eq!(error, "the disk is full");
    assert_eq!(fs::read_to_string(path).expect("a file"), "two\n");
}

/// Lines that only a buffer took are not written.
#[test]
fn lines_before_the_disk_was_full_are_counted_as_lost() {
    let path = Path::new("/dev/full");
    if !path.exists() {
        println!("skipped: no /dev/full here");
        return;
    }
    let mut outlet = open(path);
    for _ in 0..10 {
        outlet.push("line\n");
    }
    outlet.flush();
    assert_eq!(counted(&outlet), (0, 10));
    let error = outlet.take_error().expect("why");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn a_line_behind_a_torn_one_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("flows.jsonl");
    fs::write(&path, "whole\nto").expect("written");
    let mut outlet = open(&path);
    outlet.push("next\n");
    outlet.flush();
    drop(open(&path));
    let text = fs::read_to_string(path).expect("a file");
    assert_eq!(text, "whole\nto\nnext\n");
}

#[test]
fn a_fifo_is_waited_for_by_nobody() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = fifo(folder.path());
    let mut outlet = open(&path);
    outlet.push("nobody reads this\n");
    assert_eq!(counted(&outlet), (0, 1));
    let mut one = reader(&path);
    look_after(&mut outlet);
    outlet.push("one\n");
    outlet.flush();
    assert_eq!(all_of(&mut one), "one\n");
    drop(one);
    outlet.push("it is gone\n");
    outlet.flush();
    assert_eq!(counted(&outlet), (1, 2));
    let mut another = reader(&path);
    look_after(&mut outlet);
    outlet.push("two\n");
    outlet.flush();
    assert_eq!(all_of(&mut another), "two\n");
    assert_eq!(counted(&outlet), (2, 2));
}

#[test]
fn a_reader_that_takes_nothing_fills_the_buffer_and_loses_no_part_of_a_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = fifo(folder.path());
    let mut sleeper = reader(&path);
    let mut outlet = open(&path);
    let line = format!("{}\n", "x".repeat(299));
    let mut pushed = 0_u64;
    while !outlet.is_full() {
        outlet.push(&line);
        pushed += 1;
    }
    assert!(!outlet.flush(), "nothing is taken");
    let mut text = all_of(&mut sleeper);
    assert!(outlet.flush(), "there is room again");
    text += &all_of(&mut sleeper);
    while outlet.flush() {
        text += &all_of(&mut sleeper);
    }
    assert!(outlet.is_empty());
    assert_eq!(counted(&outlet), (pushed, 0));
    assert_eq!(text.lines().count() as u64, pushed);
    assert!(text.lines().all(|read| read.len() == 299));
}

#[test]
fn what_is_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(Outlet::open(folder.path()).is_err());
    assert!(Outlet::open(&folder.path().join("no/such")).is_err());
    let mut file = File::create(folder.path().join("file")).expect("a file");
    file.write_all(b"x").expect("written");
    assert!(Outlet::open(&folder.path().join("file/below")).is_err());
}
