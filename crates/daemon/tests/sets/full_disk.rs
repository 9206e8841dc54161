//! A disk without room, which comes back: nothing of ours stays in the way, and what was not kept
//! is kept later.

use crate::kept::{folder, one, open, ten};
use crate::world::{World, config, entry, name};
use daemon::journal::{Journal, JournalError, KeptSets, Op, Operations, Report};
use daemon::sets::{Origin, Refusal, Request};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// More than one record takes, which the journal refuses as it does what the disk refuses.
fn too_much() -> Operations {
    let mut operations = Operations::default();
    let comment = "c".repeat(255);
    for index in 0..20_000 {
        let op = Op::Add {
            entry: table::live::Entry::address_v4(index),
            giver: 1,
            since_ms: 5,
            expires_ms: None,
            comment: Some(comment.as_str().into()),
        };
        operations.push(&name("a"), &op);
    }
    operations
}

fn names(dir: &Path) -> Vec<String> {
    let all = std::fs::read_dir(dir).expect("a folder");
    let mut names: Vec<String> = all
        .map(|entry| entry.expect("an entry").file_name().into_string())
        .map(|name| name.expect("text"))
        .collect();
    names.sort();
    names
}

#[test]
fn half_a_snapshot_does_not_keep_the_disk_full() {
    let dir = folder();
    let (mut journal, _, _) = open(dir.path(), false).expect("a new one");
    journal.append(&one(0)).expect("appended");
    let compaction = journal.begin_compaction().expect("begun");
    let full = compaction.write(&mut |tell| {
        tell(&one(0))?;
        Err(std::io::ErrorKind::StorageFull.into())
    });
    journal.end_compaction(full.ok());
    let left = names(dir.path());
    assert!(!left.iter().any(|name| name.contains(".new")), "{left:?}");
}

/// The file of the next journal stands for a disk that takes not even its header.
#[test]
fn a_journal_that_cannot_be_begun_leaves_no_file() {
    let dir = folder();
    let (mut journal, _, _) = open(dir.path(), false).expect("a new one");
    journal.append(&one(0)).expect("appended");
    let before = names(dir.path());
    let next = dir.path().join("journal-0000000002");
    std::os::unix::fs::symlink("/dev/full", &next).expect("a link");
    assert!(journal.begin_compaction().is_err());
    assert_eq!(names(dir.path()), before);
    journal.append(&one(1)).expect("the one before goes on");
}

/// A file system of 16 pages, which only root may make.
struct Tiny(tempfile::TempDir);

impl Tiny {
    fn new() -> Option<Self> {
        let at = folder();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]);
        match mount.arg(at.path()).output() {
            Ok(done) if done.status.success() => Some(Self(at)),
            refused => {
                println!("skipped: no tmpfs can be mounted here: {refused:?}");
                None
            }
        }
    }

    fn fill(&self) -> PathBuf {
        let path = self.0.path().join("filled");
        let mut file = std::fs::File::create(&path).expect("a file");
        while file.write_all(&[1; 4096]).is_ok() {}
        path
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

#[test]
fn a_start_without_room_has_what_was_kept_and_keeps_the_rest_when_there_is_room() {
    let Some(tiny) = Tiny::new() else {
        return;
    };
    let state = tiny.0.path().join("state");
    let (mut journal, _, _) = open(&state, false).expect("a new one");
    journal.append(&one(0)).expect("appended");
    drop(journal);
    let filled = tiny.fill();
    let (mut journal, kept, report) = open(&state, false).expect("it opens all the same");
    assert_eq!(kept.entry_count(), 1);
    let why = report.no_room.expect("that there is no room");
    assert!(why.contains("No space left"), "{why}");
    assert!(journal.is_owing(), "to be tried again");
    assert!(journal.append(&one(1)).is_err());
    assert!(journal.begin_compaction().is_err(), "there is none yet");
    std::fs::remove_file(&filled).expect("removed");
    let compaction = journal.begin_compaction().expect("begun");
    let written = compaction.write(&mut |tell| {
        tell(&one(0))?;
        tell(&one(1))
    });
    journal.end_compaction(Some(written.expect("written")));
    assert!(!journal.is_owing());
    journal.append(&one(2)).expect("appended");
    drop(journal);
    let (_, kept, report) = open(&state, false).expect("it opens");
    assert_eq!((kept.entry_count(), report.no_room), (3, None));
}

/// A power cut tears the end, and the disk is full when the machine is back: a journal follows that
/// knows where the torn one ended.
#[test]
fn a_torn_end_that_a_start_cut_off_is_no_damage_later() {
    let source = folder();
    let whole = std::fs::read(ten(source.path())).expect("a journal");
    for left in (0..whole.len()).rev().step_by(7).chain([1, 27, 28]) {
        let dir = folder();
        let torn = ten(dir.path());
        std::fs::write(&torn, &whole[..left]).expect("torn");
        let (_, before, _) = open_on_a_full_disk(dir.path());
        // As after a kill: the disk is full at the next start, too.
        let (mut journal, kept, _) = open_on_a_full_disk(dir.path());
        assert_eq!(
            kept.entry_count(),
            before.entry_count(),
            "{left} bytes left"
        );
        journal.append(&one(100)).expect("appended");
        drop(journal);
        let (_, kept, _) = open(dir.path(), false).expect("it opens");
        assert_eq!(
            kept.entry_count(),
            before.entry_count() + 1,
            "{left} bytes left"
        );
    }
}

/// Without room for a snapshot, that of any generation that the next starts can come to.
fn open_on_a_full_disk(dir: &Path) -> (Journal, KeptSets, Report) {
    let asides = (2..6).map(|next| dir.join(format!("snapshot-{next:010}.new")));
    let asides: Vec<_> = asides.collect();
    for aside in &asides {
        std::os::unix::fs::symlink("/dev/full", aside).expect("a link");
    }
    let opened = open(dir, false).expect("it opens all the same");
    for aside in &asides {
        let _ = std::fs::remove_file(aside);
    }
    assert!(opened.2.no_room.is_some());
    opened
}

/// A journal that is missing its end, and one after it that says so.
#[test]
fn an_end_that_is_missing_is_damage_where_the_next_journal_says_so() {
    let dir = folder();
    let torn = ten(dir.path());
    let whole = std::fs::read(&torn).expect("a journal");
    let (journal, _, _) = open_on_a_full_disk(dir.path());
    drop(journal);
    std::fs::write(&torn, &whole[..whole.len() - 1]).expect("torn later");
    let error = open(dir.path(), false).expect_err("a record that was read is gone");
    assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
}

#[test]
fn a_snapshot_is_tried_until_it_has_what_was_not_kept() {
    let dir = folder();
    let (mut journal, _, _) = open(dir.path(), false).expect("a new one");
    assert!(journal.append(&too_much()).is_err());
    for is_full in [true, true, false] {
        let begun = Instant::now();
        while !journal.is_due() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is given up");
            std::thread::sleep(Duration::from_millis(20));
        }
        let compaction = journal.begin_compaction().expect("begun");
        let written = compaction.write(&mut |tell| match is_full {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => tell(&one(7)),
        });
        assert_eq!(written.is_err(), is_full);
        journal.end_compaction(written.ok());
        assert_eq!(journal.is_owing(), is_full);
        // Of the start, and the one that this began.
        let journals = names(dir.path());
        let journals = journals.iter().filter(|name| name.contains("journal"));
        assert!(journals.count() <= 2, "tries leave files");
    }
    drop(journal);
    let (_, kept, _) = open(dir.path(), false).expect("it opens");
    assert_eq!(kept.entry_count(), 1);
}

/// A start reads no more than so many entries: what it could not read is not taken.
#[test]
fn no_more_is_taken_than_a_start_can_read() {
    let mut config = config(&["a", "b"]);
    config.dynamic_max = 4;
    let world = World::start(config, None);
    world.add("a", "192.0.2.1 192.0.2.2 192.0.2.3");
    let add = |set: &str| Request::Add {
        set: name(set),
        entries: vec![entry("198.51.100.1").into(), entry("198.51.100.2").into()],
        origin: Origin::Hand,
    };
    let refusal = world.handle.ask(add("b")).expect_err("no room");
    assert_eq!(refusal, Refusal::TooMany { entries_max: 4 });
    world.delete("a", "192.0.2.1", Origin::Hand);
    world.handle.ask(add("b")).expect("there is room");
}
