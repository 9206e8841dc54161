//! What a week in count mode tells: frames that would be dropped, each once, and what all sets
//! together do to an address. Sets of address space to keep change only by force.

use serde_json::Value;

use crate::Place;
use crate::daemon::{Daemon, config};

/// Both halves of IPv4: whatever the generator makes, by both addresses of each frame.
const ALL: &str = "0.0.0.0/1 128.0.0.0/1";

const TRIALS: &str = "[[set]]\nname = 'trial'\naction = 'count'\n\
                      [[set]]\nname = 'other'\naction = 'count'\n\
                      [[set]]\nname = 'office'\naction = 'allow'\n";

/// A daemon whose count sets hold all addresses.
fn trial<'p>(place: &'p Place, pipeline: &str) -> Daemon<'p> {
    place.write("a.toml", config(&format!("{TRIALS}{pipeline}")));
    let daemon = Daemon::start(place, "run a.toml --json");
    for set in ["trial", "other"] {
        daemon.must(&format!("set add {set} {ALL}"));
    }
    daemon.await_sent(1000);
    daemon
}

/// The figures of one set in an answer.
fn of<'a>(sets: &'a Value, name: &str) -> &'a Value {
    let sets = sets.as_array().expect("sets");
    let named = |set: &&Value| set["set"] == name || set["name"] == name;
    sets.iter().find(named).expect("the set")
}

#[test]
fn a_frame_that_count_sets_would_drop_is_counted_once() {
    let place = Place::new();
    let daemon = trial(&place, "");
    let shown = daemon.must("show sets --json").json();
    let hits = of(&shown["hits"], "trial");
    let figure = |value: &Value| value.as_u64().expect("a count");
    assert!(figure(&hits["would_drop"]) > 0, "{shown}");
    assert!(figure(&shown["would_drop"]) > 0, "{shown}");
    let text = daemon.must("show sets");
    for part in [
        "would drop",
        "would drop in all: ",
        "each frame counted once",
    ] {
        assert!(text.text().contains(part), "{part}: {}", text.text());
    }
    let text = daemon.must("set show trial");
    for part in ["hits src  ", "would drop  ", ", each frame counted once"] {
        assert!(text.text().contains(part), "{part}: {}", text.text());
    }
    assert!(!daemon.must("set show office").text().contains("would drop"));
    let (report, _) = daemon.stop();
    // Entries of the first set were there before those of the second.
    let (trial, other) = (of(&report["sets"], "trial"), of(&report["sets"], "other"));
    for set in [trial, other] {
        assert_eq!(set["would_drop"], set["hits_src"], "{report}");
        assert_eq!(set["would_drop"], set["hits_dst"], "{report}");
    }
    assert_eq!(report["would_drop"], trial["would_drop"], "{report}");
}

#[test]
fn what_an_allow_set_exempts_would_not_be_dropped() {
    let place = Place::new();
    place.write("a.toml", config(TRIALS));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must(&format!("set add office {ALL}"));
    daemon.must(&format!("set add trial {ALL}"));
    daemon.await_sent(1000);
    let tested = daemon.must("set test 9.9.9.9");
    let said = "a frame from 9.9.9.9 passes: 'office' exempts it from 'trial'";
    assert!(tested.text().contains(said), "{}", tested.text());
    let (report, _) = daemon.stop();
    let trial = of(&report["sets"], "trial");
    assert!(trial["hits_src"].as_u64() > Some(0), "{report}");
    assert_eq!(trial["would_drop"], 0, "{report}");
    assert_eq!(report["would_drop"], 0, "{report}");
}

#[test]
fn a_test_of_an_address_ends_with_what_all_sets_do() {
    let place = Place::new();
    let keep = "[[pipeline]]\nkeep = ['private']\n";
    let daemon = trial(&place, keep);
    for (change, address, from, to) in [
        (
            "set add office 9.9.9.1",
            "9.9.9.9",
            "passes, and is counted: 'trial', 'other' would drop it",
            "passes, and is counted: 'trial', 'other' would drop it",
        ),
        (
            "set add office 9.9.9.1",
            "9.9.9.1",
            "passes: 'office' exempts it from 'trial', 'other'",
            "passes: 'office' exempts it from 'trial', 'other'",
        ),
        (
            "set action trial block --side source",
            "9.9.9.9",
            "is dropped (blocked_src) by 'trial'",
            "passes, and is counted: 'trial', 'other' would drop it",
        ),
        (
            "set action trial block",
            "10.0.0.1",
            "passes: 'keep-private' exempts it from 'trial', 'other'",
            "passes: 'keep-private' exempts it from 'trial', 'other'",
        ),
        (
            "set action trial block",
            "2001:db8::1",
            "passes: no set stops it",
            "passes: no set stops it",
        ),
    ] {
        daemon.must(change);
        let tested = daemon.ask(&format!("set test {address}"));
        for line in [
            format!("a frame from {address} {from}\n"),
            format!("a frame to {address} {to}\n"),
        ] {
            assert!(tested.text().contains(&line), "{line}: {}", tested.text());
        }
    }
    let json = daemon.must("set test 9.9.9.9 --json").json();
    assert_eq!(json["verdicts"][0]["drop"], "blocked_src", "{json}");
    assert_eq!(json["verdicts"][0]["block"][0], "trial", "{json}");
    assert_eq!(json["stateful"], false, "{json}");
    daemon.stop();
}

#[test]
fn a_default_of_drop_is_said_of_an_address_in_no_set() {
    let place = Place::new();
    let sets = format!("{TRIALS}[[pipeline]]\ndefault = 'drop'\n");
    place.write("a.toml", config(&sets));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let tested = daemon.ask("set test 9.9.9.9").ended(1);
    let text = tested.text().replace("\n  ", " ");
    assert!(
        text.contains("is dropped (not_allowed): the default is drop"),
        "{text}"
    );
    daemon.must("set add office 9.9.9.9");
    let tested = daemon.must("set test 9.9.9.9");
    assert!(
        tested.text().contains("passes: 'office' allows it"),
        "{}",
        tested.text()
    );
    daemon.stop();
}

#[test]
fn sets_of_address_space_to_keep_change_only_by_force() {
    let place = Place::new();
    place.write("list.txt", "45.83.2.0/24\n");
    place.write(
        "a.toml",
        config("[[set]]\nname = 'bad'\naction = 'count'\n[[pipeline]]\nkeep = ['private']\n"),
    );
    let daemon = Daemon::start(&place, "run a.toml --json");
    let before = daemon.must("set show keep-private --json").json();
    let changes = [
        "set action NAME block",
        "set action NAME count --side source",
        "set add NAME 9.9.9.9",
        "set del NAME 10.0.0.0/8 --exist",
        "set load NAME list.txt",
        "set flush NAME",
    ];
    for change in changes {
        let ran = daemon.ask(&change.replace("NAME", "keep-private"));
        let said = ran.complaints();
        assert!(
            ran.code == 1 && said.contains("--force"),
            "{change}: {ran:?}"
        );
        assert!(said.contains("'keep'"), "{change}: {said}");
    }
    let mut after = daemon.must("set show keep-private --json").json();
    after["hits"] = before["hits"].clone();
    after["frames"] = before["frames"].clone();
    assert_eq!(after, before, "nothing has changed");
    for change in changes {
        daemon.must(&change.replace("NAME", "bad"));
        daemon.must(&format!(
            "{} --force",
            change.replace("NAME", "keep-private")
        ));
    }
    daemon.stop();
}
