//! What a daemon tells of its sets: hits as fresh as its counters, sources that are gone, what a
//! change reached, and who made it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::Duration;

use crate::Place;
use crate::daemon::{Daemon, config, until};

const HAND: &str = "[[set]]\nname = 'hand'\naction = 'count'\n";

/// Whoever has seen so many hits of a set sees no fewer of its one address.
#[test]
fn hits_of_addresses_are_no_older_than_those_of_sets() {
    let place = Place::new();
    let set = "[[set]]\nname = 'bad'\nsource = 'a.txt'\naction = 'count'\n";
    place.write("a.txt", "198.51.100.1\n");
    place.write("a.toml", config(set).replace("size=64", "size=64,hit=1"));
    let daemon = Daemon::start(&place, "run a.toml --json");
    for round in 0..10 {
        let sets = daemon.must("show sets --json").json();
        let count = |side: &str| sets["hits"][0][side].as_u64().expect("a count");
        let seen = count("source") + count("destination");
        let (what, known) = match round % 2 {
            0 => {
                let tested = daemon.must("set test 198.51.100.1 --json").json();
                ("test", tested["sets"][0]["hits"]["last_hour"].as_u64())
            }
            _ => {
                let hits = daemon.must("show hits --json").json();
                let top = hits["top"].as_array().expect("addresses").iter();
                let frames = top.filter(|hit| hit["address"] == "198.51.100.1");
                ("hits", frames.map(|hit| hit["frames"].as_u64()).sum())
            }
        };
        assert!(
            known >= Some(seen),
            "round {round}, {what}: {known:?} of {seen}"
        );
    }
    daemon.stop();
}

#[test]
fn a_source_that_is_gone_is_told_since_when() {
    let place = Place::new();
    let set = "[[set]]\nname = 'a'\nsource = 'lists/a.txt'\naction = 'count'\n";
    place.write("a.toml", config(set));
    std::fs::create_dir(place.path("lists")).expect("a folder");
    place.write("lists/a.txt", "198.51.100.1\n");
    let daemon = Daemon::start(&place, "run a.toml --json");
    let list = || daemon.must("set list").text().to_owned();
    assert!(!list().contains("fails"), "{}", list());
    std::fs::remove_dir_all(place.path("lists")).expect("it goes");
    until("the line", || list().contains("a: its source fails for "));
    let shown = daemon.must("set show a --json").json();
    assert!(shown["sources"][0]["failing_since"].is_u64(), "{shown}");
    assert_eq!(shown["entries"], 1);
    std::fs::create_dir(place.path("lists")).expect("a folder");
    place.write("lists/a.txt", "198.51.100.1\n198.51.100.2\n");
    until("it is back", || !list().contains("fails"));
    daemon.stop();
}

#[test]
fn changes_are_told_and_logged_with_who_made_them() {
    let place = Place::new();
    place.write("a.toml", config(HAND));
    place.write("a.txt", "198.51.100.1\n");
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set add hand 198.51.100.7 198.51.100.0/24");
    let ran = daemon.must("set del hand 198.51.100.7");
    let text = "198.51.100.7 is still in 'hand', which has 198.51.100.0/24";
    assert!(ran.text().contains(text), "{ran:?}");
    let ran = daemon.must("set del hand 198.51.100.0/24 --json").json();
    assert!(ran["covered"].is_null(), "{ran}");
    daemon.must("set load hand a.txt");
    let ran = daemon.must("set action hand block");
    let text = "'hand' does block now: 1 entry; while it counted it would have dropped 0 frames of";
    assert!(
        ran.text().contains(text) || ran.text().contains("'hand' does block now: 1 entry\n"),
        "{ran:?}"
    );
    // Who watches ends while it is told something.
    let socket = UnixStream::connect(place.path("ctl.sock")).expect("a socket");
    let params = r#"{"method":"show.sets","every_ms":100}"#;
    let watch = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"watch","params":{params}}}"#);
    (&socket)
        .write_all((watch + "\n").as_bytes())
        .expect("asked");
    let mut line = String::new();
    BufReader::new(&socket).read_line(&mut line).expect("told");
    drop(socket);
    sleep(Duration::from_millis(500));
    let (_, log) = daemon.stop();
    for method in ["set.add", "set.load", "set.action"] {
        let of = log.lines().filter(|line| line.contains(method));
        let lines: Vec<&str> = of.collect();
        assert_eq!(lines.len(), 1, "{method}: {log}");
        assert!(lines[0].contains("uid "), "{}", lines[0]);
    }
    assert_eq!(log.matches("set.delete").count(), 2, "{log}");
    assert!(log.contains("198.51.100.7, 198.51.100.0/24"), "{log}");
    assert!(!log.contains("connection failed"), "{log}");
}

/// A list with columns, or of JSON, is read the same way after a restart.
#[test]
fn a_list_is_loaded_by_columns_and_paths() {
    let place = Place::new();
    place.write("a.toml", config(HAND));
    place.write("flows.csv", "id,start-ip,end\nx,45.83.2.1,45.83.2.9\n");
    place.write("d.json", "{\"a\":[\"45.83.3.1\"],\n\"b\":[\"45.83.4.1\"]}");
    for (words, address, line) in [
        ("flows.csv --columns 2-3", "45.83.2.3", "flows.csv:2"),
        ("flows.csv --column all", "", "not one column headed"),
        (
            "flows.csv --column start-ip",
            "",
            "outside of column 2; --columns 2-3",
        ),
        ("d.json --json-path b[]", "45.83.4.1", "d.json:2"),
        ("d.json", "", "--json-path says which"),
        ("--column 2", "", "no FILE is given"),
        (
            "flows.csv --columns 2-3 --json-path a[]",
            "",
            "cannot be used with",
        ),
    ] {
        let daemon = Daemon::start(&place, "run a.toml --json");
        let ran = daemon.ask(&format!("set load hand {words} --force"));
        assert_eq!(ran.code == 0, !address.is_empty(), "{words}: {ran:?}");
        if address.is_empty() {
            assert!(ran.complaints().contains(line), "{words}: {ran:?}");
            assert!(
                !ran.complaints().contains("--force reads"),
                "{words}: {ran:?}"
            );
            daemon.stop();
            continue;
        }
        daemon.stop();
        let daemon = Daemon::start(&place, "run a.toml --json");
        let tested = daemon.must(&format!("set test {address} --json")).json();
        let found = tested["sets"][0]["matches"][0]["place"].to_string();
        assert!(found.contains(line), "{words}: {tested}");
        daemon.stop();
    }
}

/// A set that must have a list from now on has one, or the reload is refused as a start is.
#[test]
fn a_reload_requires_a_list() {
    let place = Place::new();
    let set = |required: bool| {
        config(&format!(
            "[[set]]\nname = 'a'\nsource = 'a.txt'\naction = 'count'\nrequired = {required}\n"
        ))
    };
    place.write("a.toml", set(false));
    let daemon = Daemon::start(&place, "run a.toml --json");
    place.write("a.toml", set(true));
    let ran = daemon.ask("reload").ended(1);
    assert!(ran.complaints().contains("a.txt cannot be read"), "{ran:?}");
    place.write("a.txt", "198.51.100.1\n");
    until("it is read", || daemon.ask("reload").code == 0);
    place.write("a.toml", set(false));
    daemon.must("reload");
    place.write("a.toml", set(true));
    daemon.must("reload");
    daemon.stop();
    let checked = place.run("run --check --lists a.toml").ended(0);
    let said = String::from_utf8_lossy(&checked.stdout) + checked.stderr.as_str();
    assert!(said.contains("set 'a': 1 entry of "), "{said}");
}

/// A daemon's own messages name the keys of its configuration.
#[test]
fn a_daemon_names_keys_and_a_command_options() {
    let place = Place::new();
    place.write("a.toml", config(&format!("{HAND}source = 'a.txt'\n")));
    for (text, key, option) in [
        ("a,b\nx,y\n", "column = N", "--column N"),
        (
            "192.0.2.0,192.0.2.9\n",
            "columns = \"1-2\"",
            "--columns 1-2",
        ),
        ("192.0.2.0 24\n", "columns = \"1/2\"", "--columns 1/2"),
        (
            "{\"a\":[\"192.0.2.1\"],\"b\":[\"192.0.2.7\"]}",
            "json_path says which",
            "--json-path says which",
        ),
        (
            "{\"x\":[\"192.0.2.1\",\"192.0.2.7\"]}",
            "json_path = 'x[]'",
            "--json-path x[]",
        ),
        (
            "{\"a\":1}\n{\"b\":2}\n",
            "json_path = 'KEY'",
            "--json-path KEY",
        ),
    ] {
        place.write("a.txt", text);
        let started = place.run("run a.toml --duration 100ms").ended(2);
        let complaints = started.complaints();
        let of_list = complaints.lines().filter(|line| line.contains("a.txt"));
        let said: String = of_list.collect();
        assert!(said.contains(key) && !said.contains("--"), "{text}: {said}");
        let checked = place.run("set check a.txt");
        let said = checked.complaints() + checked.text();
        assert!(said.contains(option), "{text}: {said}");
    }
}

#[test]
fn commands_that_are_called_otherwise_are_named() {
    let place = Place::new();
    for (words, hint) in [
        ("show set bad", "'linerate set show NAME'"),
        ("set remove bad 192.0.2.1", "'linerate set del NAME ENTRY'"),
        ("set delete bad 192.0.2.1", "'linerate set del NAME ENTRY'"),
        ("status", "'linerate top'"),
        ("list", "'linerate set list'"),
        ("set reload", "'linerate set load NAME'"),
        ("bridge eth1 eth2", "xdp:eth1"),
        ("lab show stride", "'linerate lab run NAME'"),
        ("lab strid", "'linerate lab run stride'"),
        ("lab run strid", "did you mean 'stride'?"),
        (
            "lab compare stride b",
            "'linerate lab run stride --json FILE'",
        ),
        ("lab rnu", "'linerate lab run'"),
        ("help brige", "'bridge'"),
        ("help set tset", "'test'"),
        ("help lab rnu", "'linerate lab run'"),
        ("set tset 192.0.2.1", "'test'"),
        ("show setz", "'sets'"),
    ] {
        let ran = place.run(words).ended(2);
        assert!(ran.complaints().contains(hint), "{words}: {ran:?}");
    }
}
