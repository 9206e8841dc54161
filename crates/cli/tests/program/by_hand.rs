//! Lists that are loaded by hand survive a restart, with what was deleted of them since.

use std::fs;
use std::path::PathBuf;

use crate::Place;
use crate::daemon::{Daemon, config};

const SETS: &str = "[[set]]\nname = 'hand'\naction = 'count'\n";

/// Whether the set has an address.
fn has(daemon: &Daemon<'_>, address: &str) -> bool {
    let tested = daemon.ask(&format!("set test {address} --json")).json();
    let matches = tested["sets"][0]["matches"].as_array();
    matches.is_some_and(|matches| !matches.is_empty())
}

fn texts(place: &Place) -> Vec<PathBuf> {
    let folder = fs::read_dir(place.path("state/loaded")).expect("kept lists");
    folder.map(|entry| entry.expect("a file").path()).collect()
}

#[test]
fn a_list_loaded_by_hand_is_there_after_restarts() {
    let place = Place::new();
    place.write("a.toml", config(SETS));
    place.write("old.txt", "203.0.113.1\n");
    place.write(
        "new.txt",
        "45.83.2.1 # one\n45.83.2.2\n198.51.100.0/24\n2001:db8::/32\n",
    );
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set load hand old.txt");
    daemon.must("set load hand new.txt --force");
    assert_eq!(texts(&place).len(), 1, "the old text is left behind");
    daemon.must("set del hand 45.83.2.2 2001:db8::/32");
    daemon.must("set add hand 45.83.2.77");
    daemon.stop();
    for round in 0..2 {
        let daemon = Daemon::start(&place, "run a.toml --json");
        for address in ["45.83.2.1", "198.51.100.9", "45.83.2.77"] {
            assert!(has(&daemon, address), "{address}, round {round}");
        }
        for address in ["45.83.2.2", "2001:db8::1", "203.0.113.1"] {
            assert!(!has(&daemon, address), "{address}, round {round}");
        }
        let tested = daemon.must("set test 45.83.2.1 --json").json();
        let place = tested["sets"][0]["matches"][0]["place"].to_string();
        assert!(place.contains("new.txt"), "{tested}");
        daemon.stop();
    }
    // Loaded again, what was deleted is back.
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set load hand new.txt --force");
    daemon.stop();
    let daemon = Daemon::start(&place, "run a.toml --json");
    assert!(has(&daemon, "45.83.2.2"));
    daemon.must("set flush hand");
    daemon.stop();
    let daemon = Daemon::start(&place, "run a.toml --json");
    assert!(!has(&daemon, "45.83.2.1"));
    daemon.stop();
}

#[test]
fn a_damaged_text_refuses_the_start_and_recover_goes_without() {
    let place = Place::new();
    place.write("a.toml", config(SETS));
    place.write("new.txt", "45.83.2.1\n45.83.2.2\n");
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set load hand new.txt");
    daemon.stop();
    let text = texts(&place).pop().expect("a text");
    fs::write(&text, "45.83.2.1\n45.83.2.3\n").expect("damage");
    let refused = place.run("run a.toml --duration 1s").ended(2);
    assert!(refused.complaints().contains("--recover"), "{refused:?}");
    assert!(refused.complaints().contains("new.txt"), "{refused:?}");
    let daemon = Daemon::start(&place, "run a.toml --json --recover");
    assert!(!has(&daemon, "45.83.2.1"));
    daemon.stop();
}

#[test]
fn a_reload_that_adds_a_set_keeps_the_list() {
    let place = Place::new();
    place.write("a.toml", config(SETS));
    place.write("new.txt", "45.83.2.1\n45.83.2.2\n");
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set load hand new.txt");
    daemon.must("set del hand 45.83.2.2");
    let more = format!("{SETS}[[set]]\nname = 'more'\naction = 'count'\n");
    place.write("a.toml", config(&more));
    daemon.must("reload");
    assert!(has(&daemon, "45.83.2.1") && !has(&daemon, "45.83.2.2"));
    daemon.stop();
    let daemon = Daemon::start(&place, "run a.toml --json");
    assert!(has(&daemon, "45.83.2.1") && !has(&daemon, "45.83.2.2"));
    daemon.stop();
}

/// An entry that was there goes on for the time that was asked for last, which is told.
#[test]
fn an_entry_that_is_permanent_from_now_on_is_told() {
    let place = Place::new();
    place.write("a.toml", config(SETS));
    let daemon = Daemon::start(&place, "run a.toml --json");
    let already = "0 entries added to 'hand', 1 was in it already";
    for (more, said) in [
        (" --timeout 1h", "1 entry added to 'hand'".to_owned()),
        (" --timeout 2h", already.to_owned()),
        (
            "",
            format!("{already}; 1 of these is now permanent, without the timeout it had"),
        ),
        (
            " --timeout 1h",
            format!("{already}; 1 of these is now over when the timeout is"),
        ),
    ] {
        let ran = daemon.must(&format!("set add hand 45.83.2.9{more}"));
        assert_eq!(ran.text().trim_end(), said, "{more}");
    }
    daemon.stop();
}
