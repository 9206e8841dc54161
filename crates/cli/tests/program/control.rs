//! Commands that speak to a daemon, each against a socket with a stand-in behind it.

#[path = "../../../daemon/tests/rpc/stand_in.rs"]
mod stand_in;

use std::io::{BufRead, BufReader};
use std::sync::Arc;

use daemon::rpc::{Server, ServerConfig};
use serde_json::Value;

use super::{Place, Ran};
use stand_in::StandIn;

/// A folder with a control socket in it that answers.
struct Daemon {
    place: Place,
    _server: Server,
}

impl Daemon {
    fn new() -> Self {
        let place = Place::new();
        let config = ServerConfig::new(place.path("control.sock"));
        let stand_in = StandIn::new();
        let (sets, facts) = (Arc::new(stand_in.clone()), Arc::new(stand_in));
        let server = Server::start(&config, sets, facts).expect("a socket");
        Self {
            place,
            _server: server,
        }
    }

    fn run(&self, words: &str) -> Ran {
        self.place.run(&format!("{words} --socket control.sock"))
    }

    fn pipe(&self, words: &str, input: &[u8]) -> Ran {
        let words = format!("{words} --socket control.sock");
        self.place.run_with_input(&words, input)
    }

    /// One set, by `set show`.
    fn set(&self, name: &str) -> Value {
        self.run(&format!("set show {name} --json")).ended(0).json()
    }
}

#[test]
fn sets_are_listed_and_shown() {
    let daemon = Daemon::new();
    let ran = daemon.run("set list").ended(0);
    let lines: Vec<&str> = ran.text().lines().collect();
    let heads: Vec<&str> = lines[0].split_whitespace().collect();
    let columns = [
        "set", "action", "entries", "dynamic", "timed", "loaded", "source",
    ];
    assert_eq!(heads, columns);
    assert!(lines[1].trim_start().starts_with("bad"), "{lines:?}");
    assert!(
        lines[1].ends_with("bad.txt") && lines.len() == 3,
        "{lines:?}"
    );
    let json = daemon.run("set list --json").ended(0).json();
    assert_eq!(json["sets"][1]["set"], "office");
    let shown = daemon.run("set show bad").ended(0);
    for part in ["bad\n", "block", "3", "bad.txt"] {
        assert!(shown.text().contains(part), "{part}: {}", shown.text());
    }
    let ran = daemon.run("set show worse").ended(1);
    let complaints = ran.complaints();
    assert!(
        complaints.contains("no set 'worse'; there are bad, office"),
        "{complaints}"
    );
}

#[test]
fn entries_go_in_and_out() {
    let daemon = Daemon::new();
    let ran = daemon.run("set add bad 192.0.2.1 203.0.113.0/24 --timeout 1h --comment scan");
    let said = "1 entry added to 'bad', 1 was in it already\n";
    assert_eq!(ran.ended(0).text(), said);
    let set = daemon.set("bad");
    assert_eq!(
        (&set["entries"], &set["timed"]),
        (&Value::from(4), &Value::from(2))
    );
    let json = daemon.run("set add bad 203.0.113.7 --json").ended(0).json();
    assert_eq!(json["changed"], 1);
    let ran = daemon.run("set del bad 203.0.113.7").ended(0);
    assert_eq!(ran.text(), "1 entry taken out of 'bad'\n");
    // What was not there looks like a typing error.
    let ran = daemon.run("set del bad 203.0.113.7").ended(1);
    assert!(
        ran.complaints().contains("1 entry was not in 'bad'"),
        "{ran:?}"
    );
    // A program that unbans what has timed out meanwhile expects it.
    let ran = daemon.run("set del bad 203.0.113.7 --exist").ended(0);
    assert_eq!(
        ran.text(),
        "0 entries taken out of 'bad', 1 was not in it\n"
    );
    assert!(ran.complaints().is_empty(), "{ran:?}");
    daemon
        .pipe("set del bad - --exist", b"203.0.113.7\n")
        .ended(0);
    daemon.pipe("set del bad -", b"203.0.113.7\n").ended(1);
    for (time, said) in [
        ("1h30m", 0),
        ("1d12h", 0),
        ("1h30", 2),
        ("30m1h", 2),
        ("1 h", 2),
    ] {
        let mut command = daemon
            .place
            .command("set add bad 203.0.113.9 --socket control.sock");
        let ran = command.args(["--timeout", time]).output();
        let ran = Ran::of(ran.expect("the program runs")).ended(said);
        assert_eq!(
            ran.stderr.contains(": write "),
            said == 2,
            "{time}: {}",
            ran.stderr
        );
    }
    daemon.run("set del bad 203.0.113.9").ended(0);
    // One that is none, and nothing is sent.
    let before = daemon.set("bad");
    let ran = daemon.run("set add bad 203.0.113.8 10.0.0.1/8").ended(2);
    assert!(ran.complaints().contains("10.0.0.0/8"), "{ran:?}");
    daemon.run("set add bad 203.0.113.8 -").ended(2);
    assert_eq!(daemon.set("bad"), before);
    let ran = daemon.run("set add worse 192.0.2.1").ended(1);
    assert!(
        ran.complaints().contains("there are bad, office"),
        "{ran:?}"
    );
    let ran = daemon.run("set flush bad").ended(0);
    assert_eq!(ran.text(), "4 entries taken out of 'bad'\n");
}

#[test]
fn a_pipe_of_entries_names_its_bad_lines() {
    let daemon = Daemon::new();
    let mut input = b"# a list\n192.0.2.1\nhost.example\n".to_vec();
    for number in 0..20_000u32 {
        let address = std::net::Ipv4Addr::from_bits(0x0a00_0000 + number);
        input.extend_from_slice(format!("{address} ; why\n").as_bytes());
    }
    // The last line without an end.
    input.extend_from_slice(b"2001:db8:1::1");
    let ran = daemon.pipe("set add bad -", &input).ended(1);
    let said = ran.text();
    assert!(
        said.starts_with("20,001 entries added to 'bad', 1 was in it already, in "),
        "{said}"
    );
    let complaints = ran.complaints();
    assert!(
        complaints.contains("standard input:3: \"host.example\""),
        "{complaints}"
    );
    assert!(
        complaints.contains("1 line is no entry and left out"),
        "{complaints}"
    );
    assert_eq!(daemon.set("bad")["entries"], 20_004);
    let ran = daemon
        .pipe("set del bad - --json", &input[b"# a list\n".len()..])
        .ended(1);
    assert_eq!(ran.json()["changed"], 20_002);
    assert_eq!(daemon.set("bad")["entries"], 2);
    // A refusal names the lines that it is about.
    let ran = daemon.pipe("set add worse -", b"192.0.2.1\n").ended(1);
    assert!(
        ran.complaints()
            .contains("standard input:1: there is no set"),
        "{ran:?}"
    );
    daemon.pipe("set add bad -", b"").ended(0);
}

#[test]
fn a_saved_set_loads_back() {
    let daemon = Daemon::new();
    daemon
        .run("set add bad 203.0.113.0/24 2001:db8:1::-2001:db8:1::5")
        .ended(0);
    daemon.run("set save bad bad.txt").ended(0);
    let saved = daemon.place.read("bad.txt");
    assert!(!daemon.place.path("bad.txt.part").exists());
    assert_eq!(daemon.run("set save bad").ended(0).stdout, saved);
    daemon.run("set flush bad").ended(0);
    let ran = daemon.run("set load bad bad.txt").ended(0);
    let said = "'bad' has 5 entries from this file: 5 new, 0 gone (in ";
    assert!(ran.text().starts_with(said), "{}", ran.text());
    let again = daemon.run("set save bad -").ended(0);
    assert_eq!(
        sorted(again.text()),
        sorted(&String::from_utf8_lossy(&saved))
    );
    let ran = daemon
        .pipe("set load bad - --json", b"192.0.2.1\n")
        .ended(0);
    assert_eq!(ran.json()["removed"], 4);
    daemon.run("set save bad no/folder/x.txt").ended(1);
}

/// What was added one by one stands behind the file's, and is of the file once it was loaded.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_list_that_is_refused_says_why() {
    let daemon = Daemon::new();
    daemon.place.write("empty.txt", "");
    daemon
        .place
        .write("broken.txt", "192.0.2.1\nhost.example\n");
    let ran = daemon.run("set load bad empty.txt").ended(1);
    assert!(ran.complaints().contains("with --force"), "{ran:?}");
    assert_eq!(daemon.set("bad")["entries"], 3);
    let ran = daemon.run("set load bad broken.txt").ended(1);
    assert!(ran.complaints().contains("broken.txt:2: "), "{ran:?}");
    daemon.run("set load bad missing.txt").ended(2);
    daemon.run("set load bad empty.txt --force").ended(0);
    assert_eq!(daemon.set("bad")["entries"], 0);
}

#[test]
fn an_address_is_tested() {
    let daemon = Daemon::new();
    daemon
        .run("set add bad 192.0.2.0/24 --timeout 3h --comment case-17")
        .ended(0);
    let ran = daemon.run("set test 192.0.2.1").ended(0);
    for part in [
        "in 'bad' (block), hit 7 times in the last minute and 89 to 90 in the last hour",
        "bad.txt:1",
        "192.0.2.0/24",
        "3 h",
        "case-17",
        "not in office",
        "a frame from 192.0.2.1 is dropped (blocked_src) by 'bad'",
        "a frame to 192.0.2.1 is dropped (blocked_dst) by 'bad'",
    ] {
        assert!(ran.text().contains(part), "{part}: {}", ran.text());
    }
    let json = daemon.run("set test 192.0.2.1 --json").ended(0).json();
    assert_eq!(json["sets"][0]["matches"][1]["comment"], "case-17");
    let ran = daemon.run("set test 2001:db9::1").ended(1);
    assert!(
        ran.text().starts_with("2001:db9::1: in none of 2 sets\n"),
        "{}",
        ran.text()
    );
    let said = "a frame from 2001:db9::1 passes: no set stops it\n";
    assert!(ran.text().contains(said), "{}", ran.text());
    daemon.run("set test nonsense").ended(2);
}

/// However an address is written, it is the same entry to every command.
#[test]
fn a_mapped_address_is_ipv4() {
    let daemon = Daemon::new();
    let forms = ["203.0.113.9", "::ffff:203.0.113.9", "::FFFF:cb00:7109"];
    for added in forms {
        for deleted in forms {
            daemon.run(&format!("set add bad {added}")).ended(0);
            for asked in forms {
                let ran = daemon.run(&format!("set test {asked}")).ended(0);
                assert!(
                    ran.text().contains("203.0.113.9"),
                    "{asked}: {}",
                    ran.text()
                );
            }
            daemon.run(&format!("set del bad {deleted}")).ended(0);
            daemon.run(&format!("set test {added}")).ended(1);
        }
    }
}

#[test]
fn an_action_changes() {
    let daemon = Daemon::new();
    assert_eq!(
        daemon.run("set action bad count").ended(0).text(),
        "'bad' does count now: 3 entries\n"
    );
    let shown = daemon.run("set show bad").ended(0);
    assert!(
        shown.text().contains("the configuration has block"),
        "{}",
        shown.text()
    );
    daemon.run("set action bad destroy").ended(2);
}

#[test]
fn facts_are_shown_as_tables_and_as_json() {
    let daemon = Daemon::new();
    for (what, parts) in [
        (
            "ports",
            &[
                "outside",
                "no carrier",
                "1,000",
                "58.6 KiB",
                "missed",
                "dropped",
            ][..],
        ),
        ("workers", &["25.0 %", "19.9", "125628.1"]),
        (
            "dispatch",
            &[
                "bound to CPU 2,3",
                "1,024",
                "hybrid",
                "HDisp'd",
                "640",
                "996",
            ],
        ),
        ("drops", &["blocked_src", "4"]),
        ("sets", &["bad", "block", "office"]),
        ("hits", &["192.0.2.1", "3 to 4", "never hit: office"]),
        (
            "memory",
            &["frames", "huge pages, node 0", "resident", "30.0 MiB"],
        ),
        ("config", &["# linerate.toml\n[control]\n"]),
    ] {
        let text = daemon.run(&format!("show {what}")).ended(0);
        for part in parts {
            assert!(
                text.text().contains(part),
                "{what}, {part}: {}",
                text.text()
            );
        }
        daemon.run(&format!("show {what} --json")).ended(0).json();
    }
    let json = daemon.run("show hits --top 1 --json").ended(0).json();
    assert_eq!(json["top"][0]["frames"], 4);
    let json = daemon
        .run("show ports --port inside --json")
        .ended(0)
        .json();
    assert_eq!(json["ports"].as_array().map(Vec::len), Some(1));
    let ran = daemon.run("show ports --port nowhere").ended(1);
    assert!(
        ran.complaints().contains("there are outside, inside"),
        "{ran:?}"
    );
    daemon.run("show hits --top 0").ended(2);
    daemon.run("show ports --watch --interval 1ms").ended(2);
}

/// Reads `count` lines of a command that goes on, closes its output, and sees it end.
fn watched(daemon: &Daemon, words: &str, count: usize) -> Vec<String> {
    let mut command = daemon
        .place
        .command(&format!("{words} --socket control.sock"));
    let mut child = command.spawn().expect("the program starts");
    let stdout = child.stdout.take().expect("a pipe");
    let lines = BufReader::new(stdout).lines().take(count);
    let lines: Vec<String> = lines.map(|line| line.expect("text")).collect();
    // Nobody reads any more: that is an end and no fault.
    let ended = child.wait().expect("it ends");
    assert!(ended.success(), "{words}: {ended}");
    lines
}

#[test]
fn what_is_watched_goes_on_until_nobody_reads() {
    let daemon = Daemon::new();
    let lines = watched(&daemon, "show ports --watch --interval 100ms", 24);
    let is_heading = |line: &String| line.contains("input (all ports)");
    // Again after twenty lines.
    let headings: Vec<usize> = (0..24).filter(|&at| is_heading(&lines[at])).collect();
    assert_eq!(headings, [0, 22], "{lines:#?}");
    let width = lines[1].len();
    assert!(
        lines[2..22].iter().all(|line| line.len() == width),
        "{lines:#?}"
    );
    for line in watched(&daemon, "show drops --json --watch --interval 100ms", 3) {
        let value: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(value["drops"][0]["reason"], "blocked_src");
    }
    let lines = watched(&daemon, "show drops --watch --interval 100ms", 8);
    assert!(
        lines.iter().any(|line| line.contains("a second")),
        "{lines:#?}"
    );
}

#[test]
fn reload_says_what_changed() {
    let daemon = Daemon::new();
    let ran = daemon.run("reload").ended(0);
    assert_eq!(
        ran.text(),
        "set bad has other settings: its configured action was count and is block\n"
    );
    let json = daemon.run("reload --json").ended(0).json();
    assert_eq!(json["changes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn no_daemon_and_a_socket_in_the_environment() {
    let place = Place::new();
    let ran = place.run("set list --socket nowhere.sock").ended(2);
    let complaints = ran.complaints();
    assert!(
        complaints.contains("no daemon listens at nowhere.sock"),
        "{complaints}"
    );
    assert!(complaints.contains("linerate run"), "{complaints}");
    let daemon = Daemon::new();
    let mut command = daemon.place.command("set list --json");
    let ran = command.env("LINERATE_SOCKET", "control.sock").output();
    let json = Ran::of(ran.expect("the program runs")).ended(0).json();
    assert_eq!(json["sets"][0]["set"], "bad");
}

#[test]
fn text_has_colour_only_where_it_is_wanted() {
    let daemon = Daemon::new();
    for (when, colored) in [("never", false), ("auto", false), ("always", true)] {
        let ran = daemon
            .run(&format!("set test 192.0.2.1 --color {when}"))
            .ended(0);
        assert_eq!(ran.text().contains('\x1b'), colored, "{when}");
    }
}
