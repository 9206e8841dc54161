//! What is answered, and that it holds when it is answered.

use crate::world::{World, entry, from, name, read};
use daemon::sets::{Added, Deleted, NewEntry, Origin, PartHeld, Place, Refusal, Reply, Request};
use plane::Action;
use std::io::Write;
use std::net::IpAddr;
use std::time::{Duration, Instant, SystemTime};

fn added(reply: &Reply) -> Added {
    match reply {
        Reply::Added(added) => *added,
        other => panic!("{other:?}"),
    }
}

fn deleted(reply: &Reply) -> Deleted {
    match reply {
        Reply::Deleted(deleted) => *deleted,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answered_change_is_published() {
    let world = World::new(&["a", "b"]);
    let answer = added(&world.add("b", "192.0.2.1 192.0.2.1 2001:db8::/32"));
    assert_eq!((answer.added, answer.already_there), (2, 1));
    assert!(world.published.has(1, "192.0.2.1"));
    assert!(world.published.has(1, "2001:db8::5"));
    assert!(!world.published.has(0, "192.0.2.1"));
    let answer = deleted(&world.delete("b", "192.0.2.1 192.0.2.9", Origin::Hand));
    assert_eq!((answer.deleted, answer.was_not_there), (1, 1));
    assert!(!world.published.has(1, "192.0.2.1"));
    world.keeper.stop();
    let ended = world.handle.ask(Request::List);
    assert_eq!(ended.expect_err("it has ended"), Refusal::Stopped);
}

/// Each addition of one entry, in turn, with what it made of the one before.
#[test]
fn an_entry_that_goes_on_for_another_time_is_told() {
    let world = World::new(&["a"]);
    let hour = Some(Duration::from_secs(3600));
    for (timeout, answer) in [
        (hour, (1, 0, 0, 0)),
        (hour, (0, 1, 0, 0)),
        (None, (0, 1, 1, 0)),
        (None, (0, 1, 0, 0)),
        (hour, (0, 1, 0, 1)),
    ] {
        let new = NewEntry {
            timeout,
            ..NewEntry::from(entry("192.0.2.1"))
        };
        let add = Request::Add {
            set: name("a"),
            entries: vec![new],
            origin: Origin::Hand,
        };
        let did = added(&world.handle.ask(add).expect("an answer"));
        let did = (
            did.added,
            did.already_there,
            did.made_permanent,
            did.made_timed,
        );
        assert_eq!(did, answer, "{timeout:?}");
    }
}

#[test]
fn refusals_name_what_is_wrong() {
    let world = World::new(&["a", "b"]);
    let show = Request::Show { set: name("c") };
    let refusal = world.handle.ask(show).expect_err("no such set");
    assert_eq!(refusal.to_string(), "there is no set 'c'; there are a, b");
    let new = NewEntry {
        comment: Some("x".repeat(256).into()),
        ..NewEntry::from(entry("192.0.2.1"))
    };
    let add = Request::Add {
        set: name("a"),
        entries: vec![new],
        origin: Origin::Hand,
    };
    let refusal = world.handle.ask(add).expect_err("too long");
    assert!(
        refusal
            .to_string()
            .starts_with("the comment of 192.0.2.1 has 256 bytes")
    );
    assert!(!world.published.has(0, "192.0.2.1"));
}

#[test]
fn a_feed_takes_back_only_what_it_gave() {
    let world = World::new(&["a"]);
    let _ = world.load("a", "203.0.113.9\n", false).expect("loaded");
    world.add("a", "192.0.2.1 192.0.2.2");
    world.add_for(
        "a",
        "192.0.2.2 192.0.2.3 203.0.113.9",
        None,
        Origin::CrowdSec,
    );
    let all = "192.0.2.1 192.0.2.2 192.0.2.3 203.0.113.9";
    let answer = deleted(&world.delete("a", all, Origin::CrowdSec));
    let wanted = Deleted {
        deleted: 1,
        was_not_there: 1,
        still_there: 2,
    };
    assert_eq!(answer, wanted);
    for address in ["192.0.2.1", "192.0.2.2", "203.0.113.9"] {
        assert!(world.published.has(0, address), "{address}");
    }
    assert!(!world.published.has(0, "192.0.2.3"));
    // By hand it goes, whoever gave it.
    world.add_for("a", "192.0.2.2", None, Origin::CrowdSec);
    assert_eq!(deleted(&world.delete("a", all, Origin::Hand)).deleted, 3);
    assert_eq!(world.facts("a").counts.entries, 0);
}

#[test]
fn a_feed_that_begins_anew_replaces_what_it_gave() {
    let world = World::new(&["a"]);
    world.add("a", "192.0.2.1");
    world.add_for("a", "192.0.2.1 192.0.2.2 192.0.2.3", None, Origin::CrowdSec);
    let replace = Request::Replace {
        set: name("a"),
        entries: vec![entry("192.0.2.3").into(), entry("192.0.2.4").into()],
        origin: Origin::CrowdSec,
    };
    let answer = added(&world.handle.ask(replace).expect("replaced"));
    assert_eq!(
        (answer.added, answer.already_there, answer.deleted),
        (1, 1, 2)
    );
    let held = |address| world.published.has(0, address);
    let held = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map(held);
    assert_eq!(held, [true, false, true, true]);
}

#[test]
fn entries_go_by_themselves() {
    let world = World::new(&["a"]);
    let soon = Some(Duration::from_millis(50));
    world.add_for("a", "192.0.2.1", soon, Origin::Hand);
    assert!(world.published.has(0, "192.0.2.1"));
    let begun = Instant::now();
    while world.published.has(0, "192.0.2.1") {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never goes");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(
        begun.elapsed() >= Duration::from_millis(40),
        "it went early"
    );
}

#[test]
fn many_entries_go_in_slices_and_are_counted_together() {
    let world = World::new(&["a"]);
    let entries: Vec<NewEntry> = (0..10_000u32)
        .map(|index| table::live::Entry::address_v4(0x0100_0000 + index % 9000).into())
        .collect();
    let add = Request::Add {
        set: name("a"),
        entries,
        origin: Origin::Hand,
    };
    let answer = added(&world.handle.ask(add).expect("added"));
    assert_eq!((answer.added, answer.already_there), (9000, 1000));
    let flush = Request::Flush { set: name("a") };
    match world.handle.ask(flush).expect("flushed") {
        Reply::Flushed(flushed) => assert_eq!(flushed.entries, 9000),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.facts("a").counts, table::live::Counts::default());
    assert!(!world.published.has(0, "1.0.0.0"));
}

#[test]
fn a_flush_empties_both_parts() {
    let world = World::new(&["a", "b"]);
    let _ = world.load("a", "203.0.113.9\n", false).expect("loaded");
    world.add("a", "192.0.2.1");
    world.add("b", "192.0.2.1");
    let _ = world.handle.ask(Request::Flush { set: name("a") });
    assert_eq!(world.facts("a").counts.entries, 0);
    assert!(world.facts("a").loaded.is_none());
    assert!(world.published.has(1, "192.0.2.1"));
}

#[test]
fn an_action_changes_for_the_workers() {
    let world = World::new(&["a"]);
    let set_action = |action| {
        let set = name("a");
        match world.handle.ask(Request::SetAction {
            set,
            action,
            at: None,
        }) {
            Ok(Reply::ActionSet { before }) => before,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(set_action(Action::Count), Action::Block);
    let rules = world.published.last();
    assert_eq!(rules.policy().rules()[0].action, Action::Count);
    assert_eq!(world.facts("a").configured, Some(Action::Block));
    assert_eq!(set_action(Action::Block), Action::Count);
    assert_eq!(world.facts("a").configured, None);
}

#[test]
fn a_reload_changes_what_can_change_and_nothing_else() {
    let world = World::new(&["a", "b"]);
    world.add("b", "192.0.2.1");
    let mut sets = crate::world::config(&["a", "b"]).sets;
    sets[1].rule.action = Action::Count;
    let reload = |sets| {
        let packet_rules = None;
        world.handle.ask(Request::Reload { sets, packet_rules })
    };
    match reload(sets.clone()).expect("it can change") {
        Reply::Reloaded(changed) => assert_eq!(changed, [name("b")]),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        world.published.last().policy().rules()[1].action,
        Action::Count
    );
    sets.pop();
    let refusal = reload(sets).expect_err("a set is missing");
    assert_eq!(refusal.reason(), "needs-restart");
    assert!(world.published.has(1, "192.0.2.1"));
}

#[test]
fn a_test_tells_where_an_address_stands() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let text = "# head\n198.51.100.0/24 ; SBL1\n198.51.100.9\n2001:db8::/32 # six\n";
    file.write_all(text.as_bytes()).expect("written");
    let world = World::new(&["a", "b"]);
    let mut source = from("drop.txt");
    source.file = Some(file.path().to_owned());
    source.bytes = text.len() as u64;
    source.at = SystemTime::now() + Duration::from_secs(1);
    let load = Request::Load {
        set: name("a"),
        entries: read(text),
        source,
        origin: Origin::File,
        force: true,
    };
    let _ = world.handle.ask(load).expect("loaded");
    let new = NewEntry {
        timeout: Some(Duration::from_secs(3600)),
        comment: Some("seen at the door".into()),
        ..NewEntry::from(entry("198.51.100.9"))
    };
    let add = Request::Add {
        set: name("b"),
        entries: vec![new],
        origin: Origin::CrowdSec,
    };
    let _ = world.handle.ask(add).expect("added");
    let address: IpAddr = "198.51.100.9".parse().expect("an address");
    let Ok(Reply::Test(answers)) = world.handle.ask(Request::Test { address }) else {
        panic!("no answer");
    };
    let told: Vec<_> = answers[0]
        .reasons
        .iter()
        .map(|reason| (reason.place.to_string(), reason.comment.clone()))
        .collect();
    let wanted = [
        ("drop.txt:3".to_owned(), None),
        ("drop.txt:2".to_owned(), Some("SBL1".to_owned())),
    ];
    assert_eq!(told, wanted);
    assert!(
        answers[0]
            .reasons
            .iter()
            .all(|reason| reason.part == PartHeld::File)
    );
    let [reason] = &answers[1].reasons[..] else {
        panic!("{answers:?}");
    };
    assert_eq!(reason.place, Place::Single(Origin::CrowdSec));
    assert_eq!(reason.comment.as_deref(), Some("seen at the door"));
    let left = reason.time_left.expect("a timeout");
    assert!(left > Duration::from_secs(3000) && left <= Duration::from_secs(3600));
    // Another file by now: no line is better than a wrong one.
    file.write_all(b"x").expect("written");
    let Ok(Reply::Test(answers)) = world.handle.ask(Request::Test { address }) else {
        panic!("no answer");
    };
    assert_eq!(answers[0].reasons[0].place.to_string(), "drop.txt");
}
