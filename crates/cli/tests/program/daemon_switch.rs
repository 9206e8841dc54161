//! A switch under the daemon: `linerate run` with `kind = "switch"`.

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::Place;
use crate::daemon::{Daemon, until};

/// Frames of the generator, which all go to one station that sends nothing.
const SWITCH: &str = "[[port]]\nname = 'A'\nspec = 'gen:size=64'\n\
                      [[port]]\nname = 'B'\nspec = 'null:'\n\
                      [[port]]\nname = 'C'\nspec = 'null:'\n\
                      [[port]]\nname = 'D'\nspec = 'null:'\n\
                      [control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n";

fn config(pipeline: &str) -> String {
    format!("{SWITCH}[[pipeline]]\nkind = 'switch'\n{pipeline}\n")
}

/// Frames that left, by port.
fn sent(daemon: &Daemon<'_>) -> Vec<u64> {
    let shown = daemon.must("show ports --json").json();
    let ports = shown["ports"].as_array().expect("ports");
    let sent = ports.iter().map(|port| port["out_frames"].as_u64());
    sent.map(|frames| frames.expect("a count")).collect()
}

#[test]
fn frames_leave_by_the_ports_of_their_vlan() {
    let place = Place::new();
    place.write("a.toml", config("vlan = ['10=A,Bt,C', '20=D']"));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1000);
    let sent = sent(&daemon);
    assert!(sent[1] > 0 && sent[2] > 0, "{sent:?}");
    assert_eq!((sent[0], sent[3]), (0, 0), "{sent:?}");
    let shown = daemon.must("show vlans --json").json();
    let [ten, twenty] = [0, 1].map(|place| shown["vlans"][place].clone());
    assert_eq!((&ten["vlan"], &twenty["vlan"]), (&10.into(), &20.into()));
    assert_eq!(ten["tagged"], serde_json::json!(["B"]));
    let frames = |vlan: &Value, key: &str| vlan[key].as_u64().expect("a count");
    // All are flooded to two ports.
    assert!(frames(&ten, "in_frames") > 0);
    assert_eq!(frames(&ten, "out_frames"), 2 * frames(&ten, "in_frames"));
    assert_eq!(
        (frames(&twenty, "in_frames"), frames(&twenty, "out_frames")),
        (0, 0)
    );
    assert_eq!(shown["events"][0]["event"], "learned");
    let text = daemon.must("show vlans");
    assert!(text.text().contains("A,C,Bt"), "{}", text.text());
    let (report, _) = daemon.stop();
    assert_eq!(report["ports"][1]["name"], "B", "{report}");
    assert!(report["switch"]["flooded"].as_u64() > Some(0), "{report}");
}

#[test]
fn sets_work_at_the_way_in() {
    let place = Place::new();
    let set = "[[set]]\nname = 'all'\naction = 'block'\nports = ['A']";
    place.write("a.toml", config(set));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1000);
    daemon.must("set add all 0.0.0.0/1 128.0.0.0/1");
    // Ports show what passed ten times a second.
    sleep(Duration::from_millis(500));
    let before = sent(&daemon);
    sleep(Duration::from_millis(500));
    assert_eq!(before, sent(&daemon));
    daemon.stop();
}

/// The stations that are shown, as `MAC port`.
fn stations(daemon: &Daemon<'_>, words: &str) -> Vec<String> {
    let shown = daemon.must(&format!("show fdb {words} --json")).json();
    let stations = shown["stations"].as_array().expect("stations");
    let word = |station: &Value, key: &str| station[key].as_str().expect(key).to_owned();
    let line = |station| format!("{} {}", word(station, "mac"), word(station, "port"));
    stations.iter().map(line).collect()
}

#[test]
fn stations_are_shown_with_the_names_of_their_ports() {
    let place = Place::new();
    place.write(
        "a.toml",
        config(
            "vlan = ['10=A,Bt,C', '20=D,Bt']\n\
             static = ['02:00:00:00:00:09@20=D', '02:00:00:00:00:08@10=C']",
        ),
    );
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1000);
    let learned = stations(&daemon, "--port A");
    assert!(!learned.is_empty() && learned.iter().all(|line| line.ends_with(" A")));
    for (words, expected) in [
        ("--vlan 20", &["02:00:00:00:00:09 D"][..]),
        ("--vlan 10 --port C", &["02:00:00:00:00:08 C"]),
        ("--vlan 20 --port A", &[]),
        ("--vlan 30", &[]),
    ] {
        assert_eq!(stations(&daemon, words), expected, "{words}");
    }
    let text = daemon.must("show fdb --vlan 20");
    let row: Vec<&str> = text
        .text()
        .lines()
        .last()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    assert_eq!(row, ["20", "02:00:00:00:00:09", "D", "static"]);
    let refused = daemon.ask("show fdb --port X").ended(1);
    assert!(
        refused.complaints().contains("there are A, B, C, D"),
        "{}",
        refused.complaints()
    );
    daemon.stop();
    place.write("b.toml", crate::daemon::config(""));
    let daemon = Daemon::start(&place, "run b.toml --json");
    let refused = daemon.ask("show fdb").ended(1);
    assert!(
        refused.complaints().contains("no switch"),
        "{}",
        refused.complaints()
    );
}

#[test]
fn a_reload_changes_vlans_while_frames_go_by() {
    let place = Place::new();
    let reload = |daemon: &Daemon<'_>, pipeline: &str| {
        place.write("a.toml", config(pipeline));
        daemon.ask("reload")
    };
    place.write("a.toml", config("vlan = ['10=A,B', '20=C,D']"));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1000);
    let refused = reload(&daemon, "vlan = ['10=A,B']\nstations = 9").ended(1);
    assert!(
        refused
            .complaints()
            .contains("stations of [[pipeline]] cannot change")
    );
    let refused = reload(&daemon, "vlan = ['10=A,X']").ended(1);
    assert!(refused.complaints().contains("no port is called 'X'"));
    // The set has no list, and the switch stays as it is with the sets.
    let set = "vlan = ['10=A,C']\n[[set]]\nname = 's'\naction = 'block'\nsource = '/no'";
    reload(&daemon, set).ended(1);
    daemon.await_sent(1000);
    assert_eq!(sent(&daemon)[2..], [0, 0], "as before");
    let told = reload(
        &daemon,
        "vlan = ['10=A,Ct', '30=D']\nage = '20s'\nstatic = ['02:00:00:00:00:09@30=D']",
    );
    let told = told.ended(0);
    for said in [
        "VLAN 10 has other members",
        "VLAN 20 is gone",
        "VLAN 30 is new",
        "forgotten after 20s",
        "static stations: 1 more, 0 fewer",
    ] {
        assert!(told.text().contains(said), "{}", told.text());
    }
    assert_eq!(stations(&daemon, "--vlan 30"), ["02:00:00:00:00:09 D"]);
    sleep(Duration::from_millis(300));
    let before = sent(&daemon);
    until("frames leave by C", || sent(&daemon)[2] > before[2]);
    let after = sent(&daemon);
    assert_eq!((after[1], after[3]), (before[1], 0), "{before:?} {after:?}");
    daemon.stop();
}

#[test]
fn check_names_all_that_is_wrong() {
    let place = Place::new();
    place.write("a.toml", config("vlan = ['10=A,X',\n'y=B']"));
    let ran = place.run("run --check a.toml").ended(2);
    for said in [
        "a.toml:19: no port is called 'X'",
        "a.toml:20: 'y' is not a VLAN",
    ] {
        assert!(ran.complaints().contains(said), "{}", ran.complaints());
    }
}
