//! Lists that must not come into force.

use crate::world::{World, entry, name};
use daemon::sets::{Amendment, Origin, Refusal, Reply, Request};

fn lines(numbers: std::ops::Range<u32>) -> String {
    let line = |number: u32| format!("{}\n", std::net::Ipv4Addr::from(0x0100_0000 + 7 * number));
    numbers.map(line).collect()
}

/// Loads `good`, then `bad`, which must be refused: the old list stays, and `force` overrides.
fn refused(good: &str, bad: &str) -> Refusal {
    let world = World::new(&["a"]);
    let _ = world.load("a", good, false).expect("a good list");
    let before = world.facts("a");
    let refusal = world.load("a", bad, false).expect_err("a bad list");
    assert!(refusal.is_guard(), "{refusal}");
    let after = world.facts("a");
    assert_eq!(
        (after.counts, &after.loaded),
        (before.counts, &before.loaded)
    );
    assert_eq!(
        (after.refused, after.refusal),
        (1, Some(refusal.to_string()))
    );
    assert!(world.published.has(0, "1.0.0.0"), "the old list is gone");
    match world.load("a", bad, true).expect("forced") {
        Reply::Loaded(load) => assert!(load.forced),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.facts("a").refusal, None);
    refusal
}

#[test]
fn an_emptied_list() {
    let refusal = refused(&lines(0..100), "# nothing\n");
    assert_eq!(
        refusal.to_string(),
        "test.list holds no entries, so set 'a' keeps its 100: mend the list, or write allow_empty \
         = true in its [[set]], or take it once by 'linerate set load a --force'"
    );
}

#[test]
fn a_truncated_list() {
    let refusal = refused(&lines(0..100), &lines(0..49));
    assert_eq!(
        refusal.to_string(),
        "test.list has 49 entries where set 'a' has 100 (0 new, 51 gone), more than max_change = \
         0.5 allows, so set 'a' keeps its 100: mend the list, or write max_change = 0.51 or more \
         in its [[set]], or take it once by 'linerate set load a --force'"
    );
    let world = World::new(&["a"]);
    let _ = world.load("a", &lines(0..100), false).expect("a good list");
    let _ = world
        .load("a", &lines(0..50), false)
        .expect("half is allowed");
}

#[test]
fn a_doubled_list() {
    let refusal = refused(&lines(0..100), &lines(0..200));
    assert!(
        refusal.to_string().contains("(100 new, 0 gone)"),
        "{refusal}"
    );
}

#[test]
fn every_line_twice_is_the_same_list() {
    let world = World::new(&["a"]);
    let good = lines(0..100);
    let _ = world.load("a", &good, false).expect("a good list");
    let twice = format!("{good}{good}");
    match world.load("a", &twice, false).expect("the same set") {
        Reply::Loaded(load) => assert_eq!((load.entries, load.added, load.removed), (100, 0, 0)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_wide_network_among_many_addresses() {
    let refusal = refused(&lines(0..1000), &format!("{}11.0.0.0/8\n", lines(0..1000)));
    assert!(
        refusal.to_string().contains("16778216 IPv4 addresses"),
        "{refusal}"
    );
    let world = World::new(&["a"]);
    let _ = world
        .load("a", &lines(0..1000), false)
        .expect("a good list");
    let small = format!("{}11.0.0.0/24\n", lines(0..1000));
    let _ = world.load("a", &small, false).expect("a small network");
}

#[test]
fn a_list_that_covers_private_space() {
    for line in [
        "10.1.2.0/24",
        "fd00::/8",
        "127.0.0.1",
        "fe80::1",
        "224.0.0.5",
        "100.64.0.1",
    ] {
        let refusal = refused(&lines(0..100), &format!("{}{line}\n", lines(0..100)));
        assert_eq!(refusal.reason(), "covers-private-or-own", "{refusal}");
        let start = format!("test.list: {line} covers ");
        assert!(refusal.to_string().starts_with(&start), "{refusal}");
    }
    // What was covered before is not new; documentation space harms nobody.
    let world = World::new(&["a"]);
    let _ = world
        .load("a", "10.0.0.0/8\n1.0.0.0\n", true)
        .expect("forced");
    let _ = world
        .load("a", "10.0.0.0/8\n1.0.0.0\n192.0.2.1\n", false)
        .expect("nothing new");
}

#[test]
fn a_list_that_covers_an_own_address() {
    let refusal = refused(
        &lines(0..100),
        &format!("{}198.51.100.0/24\n", lines(0..100)),
    );
    assert_eq!(
        refusal.to_string(),
        "test.list: 198.51.100.0/24 covers 198.51.100.7, its gateway, so set 'a' keeps its 100: \
         mend the list, or write allow_private = true in its [[set]], or take it once by 'linerate \
         set load a --force'"
    );
}

#[test]
fn the_line_is_named_where_it_can_be() {
    use crate::world::{from, name, read};
    use std::io::Write;
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let text = "1.0.0.0\n# ours\n192.168.0.0/16\n";
    file.write_all(text.as_bytes()).expect("written");
    let world = World::new(&["a"]);
    let mut source = from("feed");
    source.file = Some(file.path().to_owned());
    source.bytes = text.len() as u64;
    source.at += std::time::Duration::from_secs(1);
    let load = Request::Load {
        set: name("a"),
        entries: read(text),
        source,
        origin: Origin::Url,
        force: false,
    };
    let refusal = world.handle.ask(load).expect_err("private");
    let start = "feed:3: 192.168.0.0/16 covers private space 192.168.0.0/16 (RFC 1918)";
    assert!(refusal.to_string().starts_with(start), "{refusal}");
}

#[test]
fn sets_that_allow_or_are_told_so_may_cover_anything() {
    let mut config = crate::world::config(&["a", "b"]);
    config.sets[0].rule.action = plane::Action::Allow;
    config.sets[1].allow_private = true;
    let world = World::start(config, None);
    for set in ["a", "b"] {
        let _ = world.load(set, "10.0.0.0/8\n", false).expect("it may");
    }
}

/// `count` addresses and these lines.
fn with(count: u32, more: &str) -> String {
    format!("{}{more}\n", lines(0..count))
}

#[test]
fn small_lists_are_not_held_against_ratios() {
    // Before, after, the floor, and whether the load passes.
    let cases = [
        (lines(0..1), lines(0..2), 100, true),
        (lines(0..1), lines(0..99), 100, true),
        (lines(0..99), lines(0..1), 100, true),
        (lines(0..50), lines(50..99), 100, true),
        (
            with(1, "2001:db8::/32"),
            with(1, "2001:db8::/32\n2a00::/16"),
            100,
            true,
        ),
        (
            with(1, "11.0.0.0/8"),
            with(1, "11.0.0.0/8\n12.0.0.0/8"),
            100,
            true,
        ),
        // Beyond the floor the share is one of the floor at least.
        (lines(0..60), lines(0..110), 100, true),
        (lines(0..60), lines(0..111), 100, false),
        (lines(0..1), lines(0..100_000), 100, false),
        (lines(0..100), lines(0..50), 100, true),
        (lines(0..100), lines(0..49), 100, false),
        (lines(0..150), lines(0..1), 100, false),
        (lines(0..1000), with(1000, "11.0.0.0/8"), 100, false),
        (lines(0..99), with(99, "11.0.0.0/8"), 100, false),
        // Settable, to nothing as well.
        (lines(0..1), lines(0..2), 0, false),
        (lines(0..400), lines(0..100), 500, true),
        (lines(0..400), lines(0..100), 400, false),
    ];
    for (number, (before, after, floor, passes)) in cases.iter().enumerate() {
        let mut config = crate::world::config(&["a"]);
        config.sets[0].max_change_floor = *floor;
        let world = World::start(config, None);
        let _ = world.load("a", before, false).expect("the first list");
        let loaded = world.load("a", after, false);
        assert_eq!(loaded.is_ok(), *passes, "case {number}: {loaded:?}");
    }
}

#[test]
fn an_empty_list_is_taken_where_it_may_be() {
    for allowed in [false, true] {
        let mut config = crate::world::config(&["a"]);
        config.sets[0].allow_empty = allowed;
        let world = World::start(config, None);
        assert_eq!(world.load("a", "# none yet\n", false).is_ok(), allowed);
        let _ = world.load("a", &lines(0..1000), false).expect("a list");
        assert_eq!(world.load("a", "# gone\n", false).is_ok(), allowed);
        let _ = world.load("a", &lines(0..1000), false).expect("it is back");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let bad = with(10, "10.0.0.0/8\n192.168.1.1\nfe80::1\n198.51.100.7");
    let refusal = refused(&lines(0..100), &bad).to_string();
    for part in [
        "has 14 entries where set 'a' has 100 (4 new, 90 gone)",
        "10.0.0.0/8 covers private space 10.0.0.0/8 (RFC 1918)",
        "192.168.1.1 covers private space",
        "fe80::1 covers link-local space",
        "198.51.100.7 covers 198.51.100.7, its gateway",
        // No max_change takes sixteen million addresses for a hundred.
        ": mend the list, or take it once by 'linerate set load a --force'",
    ] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
}

#[test]
fn a_start_names_no_command() {
    let world = World::new(&["a"]);
    world.handle.set_starting(true);
    let refusal = world.load("a", "", false).expect_err("empty").to_string();
    assert_eq!(
        refusal,
        "test.list holds no entries, so set 'a' stays without it: mend the list, or write \
         allow_empty = true in its [[set]]"
    );
    let _ = world.load("a", &lines(0..100), false).expect("a list");
    let refusal = world.load("a", "", false).expect_err("empty").to_string();
    let later = ", or take it once, when the daemon runs, by 'linerate set load a --force'";
    assert!(refusal.ends_with(later), "{refusal}");
    world.handle.set_starting(false);
    let refusal = world.load("a", "", false).expect_err("empty").to_string();
    assert!(
        refusal.ends_with("'linerate set load a --force'"),
        "{refusal}"
    );
}

fn resolver(address: &str) -> engine::OwnAddress {
    engine::OwnAddress {
        address: address.parse().expect("an address"),
        role: engine::Role::Resolver,
    }
}

#[test]
fn what_is_exempt_or_only_counted_is_not_refused() {
    use daemon::sets::Keeps;
    use plane::{Action, Exception, Ports, SetRule, Sides};
    const LEVEL1: &str = "0.0.0.0/8\n10.0.0.0/8\n127.0.0.0/8\n224.0.0.0/3\n";
    let exception = |action| Exception {
        sides: Sides::SRC,
        ports: Ports::ALL,
        action,
    };
    let (private, local) = (Keeps::Private, Keeps::Local);
    // What the set does, what it does elsewhere, what is kept, the list, and whether it is taken.
    let cases = [
        (Action::Block, None, vec![], LEVEL1, false),
        (Action::Block, None, vec![private], LEVEL1, false),
        (Action::Block, None, vec![local], LEVEL1, false),
        (Action::Block, None, vec![private, local], LEVEL1, true),
        (
            Action::Block,
            None,
            vec![private],
            "10.0.0.0/8\n100.64.0.0/10\nfd00::/8\n",
            true,
        ),
        (Action::Block, None, vec![private], "198.51.100.7\n", false),
        (
            Action::Block,
            None,
            vec![local],
            "198.51.100.7\n224.0.0.1\nfe80::1\n",
            true,
        ),
        (Action::Count, None, vec![], LEVEL1, true),
        (Action::Count, Some(Action::Block), vec![], LEVEL1, false),
        (Action::Count, Some(Action::Allow), vec![], LEVEL1, true),
        (Action::Allow, None, vec![], LEVEL1, true),
        (Action::Allow, Some(Action::Block), vec![], LEVEL1, false),
    ];
    let cases = cases.map(|case| (crate::world::config(&["a"]), case));
    // A resolver in private space: whoever exempts that space exempts it.
    let lists = [
        (vec![private], "10.0.0.0/8\n", true),
        (vec![private], "10.0.0.53\n", true),
        (vec![private], "10.0.0.53\n198.51.100.7\n", false),
        (vec![local], "10.0.0.53\n", false),
        (vec![], "10.0.0.53\n", false),
    ];
    let resolving = lists.map(|(kept, list, taken)| {
        let mut config = crate::world::config(&["a"]);
        config.own_addresses = || ["10.0.0.53", "198.51.100.7"].map(resolver).to_vec();
        (config, (Action::Block, None, kept, list, taken))
    });
    let cases = cases.into_iter().chain(resolving);
    for (number, (mut config, (action, elsewhere, kept, list, taken))) in cases.enumerate() {
        config.sets[0].rule.action = action;
        config.sets[0].rule.exceptions = elsewhere.map(exception).into_iter().collect();
        for keeps in kept {
            let rule = SetRule::new(format!("{keeps:?}"), Action::Allow, Sides::BOTH);
            let mut set = daemon::sets::SetConfig::new(rule);
            set.keeps = Some(keeps);
            config.sets.push(set);
        }
        let world = World::start(config, None);
        let loaded = world.load("a", list, false);
        assert_eq!(loaded.is_ok(), taken, "case {number}: {loaded:?}");
    }
}

#[test]
fn a_list_that_was_forced_is_not_refused_after_a_restart() {
    let dir = tempfile::tempdir().expect("a folder");
    let world = World::kept(&["a"], dir.path());
    let list = "10.0.0.0/8\n1.0.0.0\n";
    let _ = world.load("a", list, false).expect_err("private");
    let _ = world.load("a", list, true).expect("forced");
    world.keeper.stop();
    let world = World::kept(&["a"], dir.path());
    let _ = world
        .load("a", "10.0.0.0/9\n1.0.0.0\n", false)
        .expect_err("another list");
    let _ = world.load("a", list, false).expect("the same list");
    let _ = world
        .load("a", "1.0.0.0\n", true)
        .expect("forced, since half is more than half");
    let _ = world
        .load("a", "1.0.0.0\n1.0.0.1\n", true)
        .expect("another one");
    world.keeper.stop();
    let world = World::kept(&["a"], dir.path());
    let _ = world
        .load("a", list, false)
        .expect_err("it is no longer the one that was forced");
}

/// Whether a change in place of the set `a` was taken.
fn amended(world: &World, (source, origin): (&str, Origin), added: &str, removed: &str) -> bool {
    let entries = |text: &str| text.split_whitespace().map(entry).collect();
    let amendment = Amendment {
        name: source.to_owned(),
        added: entries(added),
        removed: entries(removed),
        copy: None,
    };
    let set = name("a");
    let reply = world.handle.ask(Request::Amend {
        set,
        amendment,
        origin,
    });
    match reply.expect("no refusal") {
        Reply::Amended(taken) => taken,
        other => panic!("{other:?}"),
    }
}

/// What a source changes in place is what no guard could refuse; all else is for a whole load.
#[test]
fn a_change_in_place() {
    let world = World::new(&["a"]);
    let _ = world.load("a", &lines(0..100), false).expect("a good list");
    let origin = world.facts("a").loaded.expect("it was loaded").origin;
    let amend = |source: &str, origin, added: &str, removed: &str| {
        amended(&world, (source, origin), added, removed)
    };
    let many = lines(1000..1051);
    let gone = lines(0..51);
    let all = lines(0..100);
    for (added, removed, taken) in [
        ("1.1.1.1 1.1.2.0/24 2001:db8::/49", "1.0.0.7", true),
        ("", "1.0.0.14 9.9.9.9", true),
        ("1.1.1.1", "", true),
        // More than half, in either direction, and everything.
        (many.as_str(), "", false),
        ("", gone.as_str(), false),
        ("", all.as_str(), false),
        // Few entries that cover much.
        ("1.2.0.0/16", "", false),
        ("", "1.2.0.0/16", false),
        ("2600::/48", "", false),
        // What nobody wants in a list: private space, and the gateway of this machine.
        ("10.1.0.0/24", "", false),
        ("192.168.7.7", "", false),
        ("fe80::1", "", false),
        ("198.51.100.0/24", "", false),
        ("", "198.51.100.0/24", true),
    ] {
        let before = world.facts("a").counts;
        assert_eq!(
            amend("test.list", origin, added, removed),
            taken,
            "{added}, {removed}"
        );
        if !taken {
            assert_eq!(world.facts("a").counts, before, "{added}, {removed}");
        }
    }
    assert!(
        !amend("other.list", origin, "1.1.1.2", ""),
        "another source"
    );
    assert!(
        !amend("test.list", Origin::CrowdSec, "1.1.1.2", ""),
        "another kind"
    );
    let facts = world.facts("a");
    assert_eq!((facts.counts.entries, facts.counts.dynamic), (101, 0));
    assert_eq!(facts.loaded.expect("still there").entries, 101);
    for (address, is_in) in [
        ("1.1.1.1", true),
        ("1.1.2.9", true),
        ("1.0.0.7", false),
        ("1.0.0.0", true),
    ] {
        assert_eq!(world.published.has(0, address), is_in, "{address}");
    }
    // The next load is held against the list as it is now.
    let _ = world
        .load("a", &lines(100..150), false)
        .expect_err("101 gone");
    let _ = world
        .load("a", &lines(3..150), false)
        .expect("4 gone, 50 new");
    assert!(!world.published.has(0, "1.1.1.1"));
}
