//! Actions by side and ingress port, changed live, and whose hits are told.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Place;
use crate::daemon::{Daemon, config};

const ALL: &str = "0.0.0.0/1 128.0.0.0/1";

/// Frames that a worker took before the change have left by then.
#[track_caller]
fn must_stand_still(daemon: &Daemon<'_>) {
    sleep(Duration::from_millis(200));
    let before = daemon.sent();
    sleep(Duration::from_millis(200));
    assert_eq!(
        daemon.sent(),
        before,
        "frames leave although all are blocked"
    );
}

#[test]
fn an_action_is_changed_for_a_side_and_a_port_alone_and_survives() {
    let place = Place::new();
    let set = "[[set]]\nname = 'all'\naction = 'count'\n";
    place.write("a.toml", config(set));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must(&format!("set add all {ALL}"));
    // Nothing comes in by the other port.
    daemon.must("set action all block --port inside");
    daemon.await_sent(1000);
    let unknown = daemon.ask("set action all block --port nowhere");
    assert!(
        unknown.stderr.contains("there are outside, inside"),
        "{unknown:?}"
    );
    daemon.must("set action all block --side src --port outside");
    must_stand_still(&daemon);
    let shown = daemon.must("set show all --json").json();
    let actions = shown["actions"].as_array().expect("actions");
    let at = |side: &str, port: &str| {
        let mut actions = actions.iter();
        let found = actions.find(|one| one["side"] == side && one["port"] == port);
        found.map(|one| one["action"].clone())
    };
    assert_eq!(at("source", "outside"), Some("block".into()), "{shown}");
    assert_eq!(
        at("destination", "outside"),
        Some("count".into()),
        "{shown}"
    );
    assert_eq!(at("destination", "inside"), Some("block".into()), "{shown}");
    daemon.stop();
    let daemon = Daemon::start(&place, "run a.toml --json");
    must_stand_still(&daemon);
    // The set's own action ends what was said of sides and ports.
    daemon.must("set action all count");
    daemon.await_sent(1000);
    let shown = daemon.must("set show all --json").json();
    assert!(shown["actions"].is_null(), "{shown}");
    daemon.stop();
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1000);
    daemon.stop();
}

#[test]
fn hits_of_an_address_in_two_sets_are_said_to_be_of_both() {
    let place = Place::new();
    let sets = "[[set]]\nname = 'one'\naction = 'count'\n[[set]]\nname = 'two'\naction = 'count'\n\
                [[set]]\nname = 'none'\naction = 'count'\n";
    place.write("a.toml", config(sets));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must(&format!("set add one {ALL}"));
    daemon.await_sent(1000);
    let begun = Instant::now();
    let hit = loop {
        let hits = daemon.must("show hits --top 1 --json").json();
        if let Some(address) = hits["top"][0]["address"].as_str() {
            break address.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{hits}");
        sleep(Duration::from_millis(50));
    };
    let of_sets = || {
        let tested = daemon.must(&format!("set test {hit} --json")).json();
        let sets = tested["sets"].as_array().expect("sets").clone();
        let of_sets = sets.iter().map(|set| set["hits"]["of_sets"].as_u64());
        of_sets.collect::<Vec<_>>()
    };
    assert_eq!(of_sets(), [Some(1), Some(0), Some(0)]);
    daemon.must(&format!("set add two {ALL}"));
    assert_eq!(of_sets(), [Some(2), Some(2), Some(0)]);
    let said = daemon.must(&format!("set test {hit}"));
    assert!(
        said.text().contains("by the 2 sets that have it"),
        "{said:?}"
    );
    daemon.stop();
}

#[test]
fn tables_and_journal_are_shown_and_reported() {
    let place = Place::new();
    place.write(
        "a.toml",
        config("[[set]]\nname = 'all'\naction = 'count'\n"),
    );
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set add all 192.0.2.1 198.51.100.0/24");
    let memory = daemon.must("show memory --json").json();
    let part = |what: &str| {
        let mut parts = memory["parts"].as_array().expect("parts").iter();
        let found = parts.find(|part| part["what"] == what);
        found.and_then(|part| part["bytes"].as_u64())
    };
    for what in ["frames", "tables", "journal"] {
        assert!(part(what) > Some(0), "{what}: {memory}");
    }
    let (report, _) = daemon.stop();
    assert!(report["sets"][0]["bytes"].as_u64() > Some(0), "{report}");
}
