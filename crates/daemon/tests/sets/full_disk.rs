//! A disk without room, which comes back: nothing of ours stays in the way, and what was not kept
//! is kept later.

use crate::kept::{folder, one, open};
use crate::world::{World, config, entry, name};
use daemon::journal::{Op, Operations};
use daemon::sets::{Origin, Refusal, Request};
use std::path::Path;
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
    let before = names(dir.path());
    let next = dir.path().join("journal-0000000002");
    std::os::unix::fs::symlink("/dev/full", &next).expect("a link");
    assert!(journal.begin_compaction().is_err());
    assert_eq!(names(dir.path()), before);
    journal.append(&one(0)).expect("the one before goes on");
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
