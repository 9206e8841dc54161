//! A reload while frames go by: what it says, what it leaves alone, and what is in force by then.

use std::fmt::Write as _;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::Place;
use crate::daemon::{Daemon, config};

/// A set that comes or goes beside those that are looked at.
const OTHER: &str = "[[set]]\nname = 'other'\naction = 'count'\n";

fn trial(action: &str) -> String {
    format!("[[set]]\nname = 'trial'\naction = '{action}'\n")
}

/// The set's facts, as `set list` has them.
fn listed(daemon: &Daemon, set: &str) -> Value {
    let listed = daemon.must("set list --json").json();
    let sets = listed["sets"].as_array().expect("sets");
    let found = sets.iter().find(|facts| facts["set"] == set);
    found.expect("the set").clone()
}

fn reload(place: &Place, daemon: &Daemon, sets: &str) -> String {
    place.write("a.toml", config(sets));
    daemon.must("reload").text().to_owned()
}

#[test]
fn a_new_list_is_in_force_when_the_reload_answers() {
    let place = Place::new();
    let mut many = String::new();
    for number in 0..200_000_u32 {
        // Writing to a String never fails.
        let _ = writeln!(many, "45.{}.{}.1", number >> 8 & 255, number & 255);
    }
    place.write("one.txt", "45.83.2.1\n");
    place.write("many.txt", &many);
    let set = |name: &str, source: &str| {
        format!(
            "[[set]]\nname = '{name}'\nsource = {source}\naction = 'block'\n\
             max_change_floor = 100000\n"
        )
    };
    let old = set("a", "'one.txt'");
    place.write("a.toml", config(&old));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let said = reload(&place, &daemon, &(old + &set("b", "'many.txt'")));
    assert!(said.contains("set b is new"), "{said}");
    assert_eq!(listed(&daemon, "b")["entries"], 65_536, "{said}");
    // Another source of the same sets.
    let other = set("a", "'many.txt'") + &set("b", "'one.txt'");
    let said = reload(&place, &daemon, &other);
    assert!(said.contains("set a has another source"), "{said}");
    assert_eq!(listed(&daemon, "a")["entries"], 65_536, "{said}");
    assert_eq!(listed(&daemon, "b")["entries"], 1, "{said}");
    let slow = set("c", "{ command = ['/bin/sleep', '3'] }");
    let said = reload(&place, &daemon, &(other + &slow));
    assert!(
        said.contains("set c: its list comes later, from /bin/sleep"),
        "{said}"
    );
    daemon.stop();
}

/// The action of a set before and after, and live; what ended is named, whatever else changed.
#[test]
fn every_changed_action_is_named_and_live_actions_end_for_good() {
    for state in ["", "[state]\nkeep = false\n"] {
        for (before, beside, after) in [("", "", ""), ("", OTHER, ""), (OTHER, "", OTHER)] {
            let place = Place::new();
            let whole = |action: &str, beside: &str| {
                let text = config(&(trial(action) + beside));
                match state {
                    "" => text,
                    none => text.replace("[state]\ndir = 'state'\n", none),
                }
            };
            let reload = |daemon: &Daemon, action: &str, beside: &str| {
                place.write("a.toml", whole(action, beside));
                daemon.must("reload").text().to_owned()
            };
            place.write("a.toml", whole("count", before));
            let mut daemon = Daemon::start(&place, "run a.toml --json");
            daemon.must("set add trial 203.0.113.9 --comment kept");
            daemon.must("set action trial block");
            daemon.must("set action trial allow --side source");
            // What the configuration does not speak of anew stays.
            let more = format!("{beside}[[set]]\nname = 'third'\naction = 'count'\n");
            reload(&daemon, "count", &more);
            assert_eq!(listed(&daemon, "trial")["action"], "block");
            reload(&daemon, "count", before);
            assert_eq!(listed(&daemon, "trial")["action"], "block");
            assert!(listed(&daemon, "trial")["actions"].is_array());
            let said = reload(&daemon, "allow", beside);
            for wanted in [
                "set trial has other settings: its configured action was count and is allow",
                "set trial: the live action block has ended for good",
                "set trial: the live actions for sides and ports have ended for good",
            ] {
                assert!(said.contains(wanted), "{state}{before}{beside}: {said}");
            }
            assert_eq!(listed(&daemon, "trial")["entries"], 1, "{state}{beside}");
            if state.is_empty() {
                daemon.stop();
                daemon = Daemon::start(&place, "run a.toml --json");
            }
            let said = reload(&daemon, "count", after);
            let wanted = "its configured action was allow and is count";
            assert!(said.contains(wanted) && !said.contains("ended"), "{said}");
            let facts = listed(&daemon, "trial");
            assert_eq!(facts["action"], "count", "{state}{before}{beside}");
            assert!(facts["configured"].is_null(), "{facts}");
            daemon.stop();
        }
    }
}

/// Over a restart, too: what the configuration spoke of anew does not come back with the old one.
#[test]
fn a_live_action_ends_at_a_start_for_good() {
    let place = Place::new();
    let starts = [("count", "block"), ("allow", "allow"), ("count", "count")];
    for (number, (configured, in_force)) in starts.into_iter().enumerate() {
        place.write("a.toml", config(&trial(configured)));
        let daemon = Daemon::start(&place, "run a.toml --json");
        if number == 0 {
            daemon.must("set action trial block");
        }
        assert_eq!(listed(&daemon, "trial")["action"], in_force, "{number}");
        daemon.stop();
    }
}

/// Sets that did not change look as they did, whatever comes or goes beside them.
#[test]
fn a_set_that_stays_keeps_its_times_and_states() {
    let place = Place::new();
    place.write("good.txt", "45.83.2.1\n");
    place.write("bad.txt", "45.83.2.2\n");
    place.write("hand.txt", "45.83.2.3\n");
    let sets = "[[set]]\nname = 'good'\nsource = 'good.txt'\naction = 'block'\n\
                [[set]]\nname = 'bad'\nsource = 'bad.txt'\naction = 'block'\n\
                [[set]]\nname = 'hand'\naction = 'block'\n";
    place.write("a.toml", config(sets));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set load hand hand.txt");
    place.write("bad.txt", "no list\n");
    assert_ne!(daemon.ask("set load bad").code, 0);
    let facts = |set: &str| {
        let mut facts = listed(&daemon, set);
        // When it is tried next is another matter.
        for source in facts["sources"].as_array_mut().into_iter().flatten() {
            source["next_try_at"] = Value::Null;
            source["failed_in_a_row"] = Value::Null;
        }
        facts
    };
    let names = ["good", "bad", "hand"];
    let before = names.map(facts);
    assert!(
        before[1]["sources"][0]["failing_since"].is_u64(),
        "{before:?}"
    );
    sleep(Duration::from_millis(1100));
    for beside in [OTHER, ""] {
        reload(&place, &daemon, &format!("{sets}{beside}"));
        assert_eq!(names.map(facts), before, "{beside}");
    }
    daemon.stop();
}
