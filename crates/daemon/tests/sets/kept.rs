//! What survives a restart, and what a damaged journal does.

use crate::world::{Random, World, config, entry, name, now_ms};
use daemon::journal::{Journal, JournalError, KeptSets, Op, OpenOptions, Operations, Report};
use daemon::sets::{NewEntry, Origin, Reply, Request, TestReason};
use plane::Action;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) fn open(dir: &Path, recover: bool) -> Result<(Journal, KeptSets, Report), JournalError> {
    Journal::open(dir, OpenOptions { recover }, now_ms())
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A record of one entry.
pub(crate) fn one(index: u32) -> Operations {
    let mut operations = Operations::default();
    let op = Op::Add {
        entry: table::live::Entry::address_v4(index),
        giver: 1,
        since_ms: 5,
        expires_ms: None,
        comment: Some(format!("number {index}").into()),
    };
    operations.push(&name("a"), &op);
    operations
}

fn journal_file(dir: &Path) -> PathBuf {
    let all = fs::read_dir(dir).expect("a folder");
    let mut journals: Vec<PathBuf> = all
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains("/journal-"))
        .collect();
    journals.sort();
    journals.pop().expect("a journal")
}

/// A folder whose journal has records of the entries 0 to 9.
pub(crate) fn ten(dir: &Path) -> PathBuf {
    let (mut journal, _, _) = open(dir, false).expect("a new one");
    for index in 0..10 {
        journal.append(&one(index)).expect("appended");
    }
    journal_file(dir)
}

fn reasons(world: &World, address: &str) -> Vec<TestReason> {
    let address = address.parse().expect("an address");
    match world.handle.ask(Request::Test { address }) {
        Ok(Reply::Test(answers)) => answers.into_iter().flat_map(|set| set.reasons).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn entries_given_by_hand_and_by_feeds_survive() {
    let dir = folder();
    let world = World::kept(&["a", "b"], dir.path());
    let new = NewEntry {
        timeout: Some(Duration::from_secs(3600)),
        comment: Some("at the door".into()),
        ..NewEntry::from(entry("192.0.2.1"))
    };
    let add = Request::Add {
        set: name("a"),
        entries: vec![
            new,
            entry("2001:db8::/32").into(),
            entry("192.0.2.9").into(),
        ],
        origin: Origin::Hand,
    };
    let _ = world.handle.ask(add).expect("added");
    world.add_for("b", "192.0.2.1-192.0.2.3", None, Origin::CrowdSec);
    world.add_for("a", "192.0.2.1", None, Origin::CrowdSec);
    let short = Some(Duration::from_millis(1));
    world.add_for("a", "192.0.2.77", short, Origin::Hand);
    world.delete("a", "192.0.2.9", Origin::Hand);
    let before = reasons(&world, "192.0.2.1");
    world.keeper.stop();
    std::thread::sleep(Duration::from_millis(5));

    let world = World::kept(&["a", "b"], dir.path());
    let after = reasons(&world, "192.0.2.1");
    assert_eq!(after.len(), 2);
    for (before, after) in before.iter().zip(&after) {
        assert_eq!((before.entry, before.origin), (after.entry, after.origin));
        assert_eq!(
            (before.since, &before.comment),
            (after.since, &after.comment)
        );
        assert_eq!(before.time_left.is_some(), after.time_left.is_some());
    }
    assert!(world.published.has(0, "2001:db8::1"));
    assert!(!world.published.has(0, "192.0.2.9"));
    assert!(!world.published.has(0, "192.0.2.77"));
    // Both claims are known: the feed's end leaves that of the hand, and its time.
    world.delete("a", "192.0.2.1", Origin::CrowdSec);
    let left = reasons(&world, "192.0.2.1");
    let left = left[0].time_left.expect("the hour");
    assert!(left > Duration::from_secs(3000) && left <= Duration::from_secs(3600));
}

#[test]
fn entries_of_a_set_that_is_not_configured_wait_for_it() {
    let dir = folder();
    let world = World::kept(&["a", "b"], dir.path());
    world.add("b", "192.0.2.1");
    world.keeper.stop();
    World::kept(&["a"], dir.path()).keeper.stop();
    let world = World::kept(&["a", "b"], dir.path());
    assert!(world.published.has(1, "192.0.2.1"));
}

#[test]
fn an_action_changed_live_survives_unless_the_configuration_changes() {
    let dir = folder();
    let world = World::kept(&["a"], dir.path());
    let set_action = Request::SetAction {
        set: name("a"),
        action: Action::Count,
        at: None,
    };
    let _ = world.handle.ask(set_action).expect("set");
    world.keeper.stop();
    let world = World::kept(&["a"], dir.path());
    assert_eq!(world.facts("a").rule.action, Action::Count);
    world.keeper.stop();
    let mut other = config(&["a"]);
    other.sets[0].rule.action = Action::Allow;
    let world = World::start(other, Some(dir.path()));
    assert_eq!(world.facts("a").rule.action, Action::Allow);
}

#[test]
fn a_second_daemon_is_refused() {
    let dir = folder();
    let _first = open(dir.path(), false).expect("the first");
    let error = open(dir.path(), false).expect_err("the second");
    assert!(matches!(error, JournalError::Locked { .. }), "{error}");
}

#[test]
fn a_record_that_was_not_written_to_its_end_is_cut_off() {
    let dir = folder();
    let path = ten(dir.path());
    let whole = fs::read(&path).expect("a journal");
    let record = (whole.len() - 28) / 10;
    for cut in 1..=record {
        let dir = folder();
        let path = ten(dir.path());
        let whole = fs::read(&path).expect("a journal");
        fs::write(&path, &whole[..whole.len() - cut]).expect("cut");
        let (journal, kept, report) = open(dir.path(), false).expect("it opens");
        assert_eq!(kept.entry_count(), 9, "{cut} bytes cut");
        assert_eq!(report.cut_bytes, (record - cut) as u64);
        drop(journal);
        let (_, kept, report) = open(dir.path(), false).expect("it opens again");
        assert_eq!((kept.entry_count(), report.cut_bytes), (9, 0));
    }
}

#[test]
fn zeros_behind_the_end_are_cut_off() {
    let dir = folder();
    let path = ten(dir.path());
    let mut bytes = fs::read(&path).expect("a journal");
    bytes.extend([0; 5000]);
    fs::write(&path, &bytes).expect("written");
    let (_, kept, report) = open(dir.path(), false).expect("it opens");
    assert_eq!((kept.entry_count(), report.cut_bytes), (10, 5000));
}

#[test]
fn damage_in_the_middle_is_refused_and_can_be_left_out() {
    let dir = folder();
    let path = ten(dir.path());
    let whole = fs::read(&path).expect("a journal");
    let record = (whole.len() - 28) / 10;
    let mut random = Random::seeded();
    for _ in 0..50 {
        let dir = folder();
        let path = ten(dir.path());
        let mut bytes = fs::read(&path).expect("a journal");
        let at = 28 + random.below(9 * record as u64) as usize;
        bytes[at] ^= 1 << random.below(8);
        fs::write(&path, &bytes).expect("written");
        let error = open(dir.path(), false).expect_err("damaged");
        let JournalError::Damaged { offset, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(
            *offset as usize,
            28 + (at - 28) / record * record,
            "{error}"
        );
        assert!(error.to_string().contains("--recover"), "{error}");
        let (journal, kept, report) = open(dir.path(), true).expect("it recovers");
        assert_eq!(kept.entry_count(), 9, "byte {at}");
        assert!(report.is_recovered());
        drop(journal);
        let kept_aside = format!("{}.damaged", path.display());
        assert_eq!(fs::read(kept_aside).expect("it is kept"), bytes);
        let (_, kept, report) = open(dir.path(), false).expect("it is whole again");
        assert_eq!((kept.entry_count(), report.is_recovered()), (9, false));
    }
}

#[test]
fn a_missing_file_is_damage_in_the_middle() {
    for kind in ["snapshot-", "journal-"] {
        let dir = folder();
        ten(dir.path());
        drop(open(dir.path(), false).expect("a second start"));
        let all = fs::read_dir(dir.path()).expect("a folder");
        for entry in all {
            let path = entry.expect("an entry").path();
            if path.to_string_lossy().contains(kind) {
                fs::remove_file(path).expect("removed");
            }
        }
        let error = open(dir.path(), false).expect_err("something is missing");
        assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
    }
}

#[test]
fn a_compaction_that_ends_at_any_stage_loses_nothing() {
    for stage in 0..4 {
        let dir = folder();
        let (mut journal, _, _) = open(dir.path(), false).expect("a new one");
        for index in 0..10 {
            journal.append(&one(index)).expect("appended");
        }
        let compaction = journal.begin_compaction().expect("begun");
        journal.append(&one(10)).expect("appended");
        let mut write = |tell: &mut dyn FnMut(&Operations) -> std::io::Result<()>| {
            for index in 0..10 {
                if stage == 1 && index == 5 {
                    return Err(std::io::Error::other("killed"));
                }
                tell(&one(index))?;
            }
            Ok(())
        };
        match stage {
            0 => drop(compaction),
            1 => journal.end_compaction(compaction.write(&mut write).ok()),
            2 => drop(compaction.write(&mut write)),
            _ => {
                journal.end_compaction(compaction.write(&mut write).ok());
                let again = journal.begin_compaction().expect("begun");
                journal.append(&one(11)).expect("appended");
                drop(again);
            }
        }
        drop(journal);
        let (_, kept, report) = open(dir.path(), false).expect("it opens");
        let wanted = if stage == 3 { 12 } else { 11 };
        assert_eq!(kept.entry_count(), wanted, "stage {stage}");
        assert_eq!(report.cut_bytes, 0);
    }
}

#[test]
fn any_bytes_open_or_are_refused() {
    let mut random = Random::seeded();
    for round in 0..300 {
        let dir = folder();
        let path = ten(dir.path());
        let mut bytes = fs::read(&path).expect("a journal");
        for _ in 0..=random.below(4) {
            match random.below(4) {
                0 => bytes.truncate(random.below(1 + bytes.len() as u64) as usize),
                1 => bytes.extend((0..random.below(60)).map(|_| random.0 as u8)),
                2 => {
                    let from = random.below(1 + bytes.len() as u64) as usize;
                    bytes.extend_from_within(from..);
                }
                _ if bytes.is_empty() => {}
                _ => {
                    let at = random.below(bytes.len() as u64) as usize;
                    bytes[at] = random.word() as u8;
                }
            }
        }
        fs::write(&path, &bytes).expect("written");
        match open(dir.path(), false) {
            Ok((_, kept, _)) => assert!(kept.entry_count() <= 10, "round {round}"),
            Err(JournalError::Damaged { .. }) => {
                let (_, kept, report) = open(dir.path(), true).expect("it recovers");
                assert!(report.is_recovered() && kept.entry_count() <= 10);
            }
            Err(other) => panic!("{other}"),
        }
    }
}
