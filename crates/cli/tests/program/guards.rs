//! Lists that a start takes or refuses, what a restart holds them against, and what a daemon
//! follows while it runs: files without events, and addresses of this machine.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Place;
use crate::daemon::{Daemon, config, until};

fn lines(count: u32) -> String {
    let line = |number: u32| format!("{}\n", std::net::Ipv4Addr::from(0x0100_0000 + 7 * number));
    (0..count).map(line).collect()
}

/// A set of the file `a.txt`.
fn set(action: &str, more: &str) -> String {
    format!("[[set]]\nname = 'a'\nsource = 'a.txt'\naction = '{action}'\n{more}")
}

/// What the daemon says of set `a`.
fn shown(daemon: &Daemon<'_>) -> Value {
    daemon.must("set show a --json").json()
}

/// `run --check --lists` and the start agree on every one of these.
#[test]
fn first_lists() {
    const LEVEL1: &str = "0.0.0.0/8\n10.0.0.0/8\n198.51.100.0/24\n224.0.0.0/3\n";
    const KEEP: &str = "[[pipeline]]\nkeep = ['private', 'local']\n";
    // The list, none for a missing one; the sets and more; what a refusal says, none for a start.
    let cases = [
        (Some("198.51.100.1\n"), set("block", ""), None),
        (Some("198.51.100.1\n"), set("drop", ""), None),
        (
            Some("# none\n"),
            set("block", ""),
            Some("allow_empty = true"),
        ),
        (
            Some("# none\n"),
            set("count", ""),
            Some("allow_empty = true"),
        ),
        (Some("# none\n"), set("block", "allow_empty = true\n"), None),
        (Some(LEVEL1), set("block", ""), Some("allow_private = true")),
        (Some(LEVEL1), set("block", "allow_private = true\n"), None),
        (Some(LEVEL1), set("count", ""), None),
        (Some(LEVEL1), set("allow", ""), None),
        (Some(LEVEL1), set("block", KEEP), None),
        (Some("no list\n"), set("count", ""), Some("a.txt:1: ")),
        (None, set("block", ""), Some("a.txt cannot be read")),
        (None, set("block", "required = false\n"), None),
    ];
    for (number, (list, sets, refusal)) in cases.into_iter().enumerate() {
        let place = Place::new();
        place.write("a.toml", config(&sets));
        if let Some(list) = list {
            place.write("a.txt", list);
        }
        for (words, code) in [
            ("run --check --lists a.toml", 1),
            ("run a.toml --duration 100ms", 2),
        ] {
            let ran = place.run(words);
            ran.is_refused_as(refusal, code, &format!("case {number}"));
            assert!(
                !ran.complaints().contains("--force"),
                "case {number}: {ran:?}"
            );
        }
    }
}

/// A set that a reload brings is taken with its list, or not at all.
#[test]
fn a_reload_takes_no_set_without_its_list() {
    let place = Place::new();
    place.write("a.toml", config(&set("block", "")));
    place.write("a.txt", lines(3));
    place.write("good.txt", lines(4));
    place.write("bad.txt", "198.51.100.1\nexample.com\n");
    place.write("private.txt", "10.0.0.0/8\n");
    place.write("empty.txt", "# none\n");
    let daemon = Daemon::start(&place, "run a.toml --json");
    // The list, more keys of its set, and what a refusal says.
    for (list, more, refusal) in [
        ("absent", "", Some("absent.txt cannot be read")),
        ("bad", "", Some("bad.txt:2: \"example.com\"")),
        ("private", "", Some("private.txt:1: 10.0.0.0/8 covers")),
        ("empty", "", Some("empty.txt holds no entries")),
        ("good", "", None),
        ("bad", "skip_bad_lines = true\n", None),
        ("private", "allow_private = true\n", None),
        ("absent", "required = false\n", None),
    ] {
        let source = format!("source = '{list}.txt'");
        let other = set("block", more).replace("source = 'a.txt'", &source);
        let new = other.replace("name = 'a'", "name = 'b'");
        for sets in [set("block", "") + &new, other] {
            place.write("a.toml", config(&set("block", "")));
            daemon.must("reload");
            until("the list", || shown(&daemon)["entries"] == 3);
            place.write("a.toml", config(&sets));
            let ran = daemon.ask("reload");
            ran.is_refused_as(refusal, 1, &sets);
            if refusal.is_some() {
                assert_eq!(shown(&daemon)["entries"], 3, "{sets}");
                assert_ne!(daemon.ask("set show b").code, 0, "{sets}");
            }
        }
    }
    // A list that need not be there does not refuse, and what is wrong with it is said.
    let other = set("block", "required = false\n").replace("a.txt", "bad.txt");
    let new = other.replace("name = 'a'", "name = 'c'");
    place.write("a.toml", config(&(set("block", "") + &new)));
    let said = daemon.must("reload");
    assert!(
        said.text().contains("set c does not take its list: "),
        "{said:?}"
    );
    daemon.stop();
}

/// What was accepted before is what `--check --lists` holds a list against.
#[test]
fn a_check_knows_the_last_accepted_list() {
    let place = Place::new();
    place.write("a.toml", config(&set("block", "")));
    place.write("a.txt", lines(1000));
    Daemon::start(&place, "run a.toml --json").stop();
    for (list, refusal) in [
        (lines(1000), None),
        (lines(600), None),
        (lines(400), Some("400 entries where set 'a' has 1000")),
        (
            format!("{}10.0.0.0/8\n", lines(1000)),
            Some("10.0.0.0/8 covers"),
        ),
    ] {
        place.write("a.txt", list);
        let checked = place.run("run --check --lists a.toml");
        assert_eq!(checked.code, i32::from(refusal.is_some()), "{checked:?}");
        let said = refusal.is_none_or(|refusal| checked.complaints().contains(refusal));
        assert!(said, "{checked:?}");
    }
    // A copy that is none any more is told of.
    place.write("state/sources/a.json", "{");
    let checked = place.run("run --check --lists a.toml");
    let told = checked
        .text()
        .contains("max_change was not checked, since ");
    assert!(told, "{checked:?}");
}

/// An entry that an allow set or kept space exempts is added, and blocks nothing.
#[test]
fn an_addition_that_is_exempt_says_so() {
    const SETS: &str = "[[pipeline]]\nkeep = ['private']\n\
                        [[set]]\nname = 'vip'\naction = 'allow'\n\
                        [[set]]\nname = 'bad'\naction = 'block'\n\
                        [[set]]\nname = 'seen'\naction = 'count'\n";
    let place = Place::new();
    place.write("a.toml", config(SETS));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set add vip 198.51.100.0/24");
    for (add, told) in [
        ("bad 192.0.2.1", ""),
        (
            "bad 198.51.100.7",
            "198.51.100.7 is not blocked, since it is exempt by 'vip'\n",
        ),
        (
            "bad 10.1.2.3",
            "10.1.2.3 is not blocked, since it is exempt by 'keep-private'\n",
        ),
        (
            "bad 10.1.0.0/16",
            "10.1.0.0/16 is not blocked, since it is exempt by 'keep-private'\n",
        ),
        ("bad 198.51.0.0/16", ""),
        (
            "bad 10.1.2.4 192.0.2.2 198.51.100.8",
            "10.1.2.4 and 1 more are not blocked, since they are exempt by 'keep-private', 'vip'\n",
        ),
        ("seen 10.1.2.3", ""),
        ("vip 10.1.2.3", ""),
    ] {
        let ran = daemon.must(&format!("set add {add}"));
        let said = ran.text();
        let (_, exempt) = said.split_once('\n').expect("a line");
        assert_eq!(exempt, told, "{add}: {said}");
    }
    let said = daemon.must("set add bad 10.9.9.9 --json").json();
    assert_eq!(said["exempt"][0]["set"], "keep-private", "{said}");
    daemon.stop();
}

#[test]
fn all_lists_that_refuse_a_start_are_named() {
    let place = Place::new();
    let set =
        |name: &str| format!("[[set]]\nname = '{name}'\nsource = '{name}.txt'\naction = 'block'\n");
    place.write(
        "a.toml",
        config(&[set("a"), set("b"), set("c"), set("d")].concat()),
    );
    place.write("a.txt", "# none\n");
    place.write("b.txt", "10.0.0.0/8\n192.168.0.0/16\n");
    place.write("c.txt", "198.51.100.1\n");
    let refused = place.run("run a.toml --duration 1s").ended(2).complaints();
    for part in [
        "3 lists refuse the start",
        "a.txt holds no entries",
        "b.txt:1: 10.0.0.0/8 covers",
        "b.txt:2: 192.168.0.0/16 covers",
        "d.txt cannot be read",
    ] {
        assert!(refused.contains(part), "no '{part}' in\n{refused}");
    }
}

#[test]
fn a_restart_holds_a_list_against_the_last_accepted_one() {
    let place = Place::new();
    place.write("a.toml", config(&set("block", "")));
    // What is there at each start, and the entries that are in force after it.
    for (list, entries, refused) in [
        (lines(1000), 1000, false),
        (lines(1000), 1000, false),
        (lines(400), 1000, true),
        (lines(600), 600, false),
        (format!("{}10.0.0.0/8\n", lines(600)), 600, true),
        ("# gone\n".to_owned(), 600, true),
        (lines(400), 400, false),
    ] {
        place.write("a.txt", &list);
        let daemon = Daemon::start(&place, "run a.toml --json");
        let facts = shown(&daemon);
        assert_eq!(facts["entries"], entries, "{facts}");
        assert_eq!(facts["refused"].is_string(), refused, "{facts}");
        daemon.stop();
    }
    // What was forced needs no force again, and neither does the next that changes little.
    place.write("a.txt", format!("{}10.0.0.0/8\n", lines(400)));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.must("set load a --force");
    place.write("a.txt", format!("{}10.0.0.0/8\n", lines(401)));
    until("the next one", || shown(&daemon)["entries"] == 402);
    daemon.stop();
    let daemon = Daemon::start(&place, "run a.toml --json");
    assert_eq!(shown(&daemon)["entries"], 402);
    daemon.stop();
}

#[test]
fn a_key_that_a_refusal_names_lets_the_list_through() {
    let place = Place::new();
    place.write("a.toml", config(&set("block", "")));
    place.write("a.txt", lines(1));
    let daemon = Daemon::start(&place, "run a.toml --json");
    for (list, key, entries) in [
        ("# none\n".to_owned(), "allow_empty = true\n", 0),
        ("10.0.0.0/8\n".to_owned(), "allow_private = true\n", 1),
        (lines(5000), "max_change = 1000\n", 5000),
    ] {
        place.write("a.txt", list);
        until("a refusal", || shown(&daemon)["refused"].is_string());
        let refused = shown(&daemon)["refused"].to_string();
        let name = key.split(' ').next().expect("a key");
        assert!(refused.contains(name), "{refused}");
        assert!(refused.contains("set load a --force"), "{refused}");
        place.write("a.toml", config(&set("block", key)));
        daemon.must("reload");
        until("it is let through", || shown(&daemon)["entries"] == entries);
    }
    daemon.stop();
}

/// The program in namespaces of its own, after `before`; none where that may not be.
fn apart(place: &Place, namespaces: &str, before: &str) -> Option<Command> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(namespaces.split_whitespace());
        command.current_dir(place.path(""));
        command
    };
    let able = unshare().args(["sh", "-c", before]).output();
    if !able.is_ok_and(|output| output.status.success()) {
        println!("skipped: no 'unshare {namespaces}' with '{before}' here");
        return None;
    }
    let mut command = unshare();
    command
        .args(["sh", "-c"])
        .arg(format!("{before} && exec \"$0\" run a.toml --json"))
        .arg(env!("CARGO_BIN_EXE_linerate"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Some(command)
}

/// Does something where the daemon is.
fn within(daemon: &Daemon<'_>, namespaces: &str, script: &str) {
    let done = Command::new("nsenter")
        .args([
            "--preserve-credentials",
            "--target",
            &daemon.id().to_string(),
        ])
        .args(namespaces.split_whitespace())
        .args(["sh", "-c", script])
        .output();
    let done = done.expect("nsenter");
    assert!(done.status.success(), "{script}: {done:?}");
}

#[test]
fn files_without_inotify_are_polled_until_there_is_one() {
    const INSTANCES: &str = "/proc/sys/user/max_inotify_instances";
    let place = Place::new();
    place.write("a.toml", config(&set("block", "")));
    place.write("a.txt", lines(1));
    let namespaces = "--user --map-root-user";
    let Some(mut command) = apart(&place, namespaces, &format!("echo 0 > {INSTANCES}")) else {
        return;
    };
    let daemon = Daemon::start_as(&place, &mut command);
    let unwatched = |daemon: &Daemon<'_>| shown(daemon)["sources"][0]["unwatched"].to_string();
    assert!(unwatched(&daemon).contains("inotify"), "{}", shown(&daemon));
    // Renamed into place, written in place, gone and back.
    for (count, renamed) in [(2, true), (3, false), (4, true)] {
        let name = if renamed { "a.new" } else { "a.txt" };
        place.write(name, lines(count));
        if renamed {
            std::fs::rename(place.path("a.new"), place.path("a.txt")).expect("renamed");
        }
        until("a poll", || shown(&daemon)["entries"] == count);
    }
    std::fs::remove_file(place.path("a.txt")).expect("removed");
    until("it is missed", || {
        shown(&daemon)["sources"][0]["error"].is_string()
    });
    place.write("a.txt", lines(5));
    until("it is back", || shown(&daemon)["entries"] == 5);
    within(&daemon, "--user", &format!("echo 100 > {INSTANCES}"));
    until("it is watched", || unwatched(&daemon) == "null");
    place.write("a.txt", lines(6));
    until("an event", || shown(&daemon)["entries"] == 6);
    let (_, log) = daemon.stop();
    let said = |what: &str| log.lines().filter(|line| line.contains(what)).count();
    assert_eq!(said("files are polled, not watched"), 1, "{log}");
    assert_eq!(said("inotify has an instance again"), 1, "{log}");
}

#[test]
fn own_addresses_are_followed() {
    let place = Place::new();
    place.write("a.toml", config("[[pipeline]]\nkeep = ['local']\n"));
    let namespaces = "--user --map-root-user --net";
    let before = "ip link set lo up && ip addr add 203.0.113.49/32 dev lo && \
                  ip link add d0 type veth peer name d1 && ip link set d1 up";
    let Some(mut command) = apart(&place, namespaces, before) else {
        return;
    };
    let daemon = Daemon::start_as(&place, &mut command);
    let has = |address: &str| daemon.ask(&format!("set test {address}")).code == 0;
    assert!(has("203.0.113.49") && !has("203.0.113.50"));
    let steps = [
        ("ip addr del 203.0.113.49/32 dev lo", "203.0.113.49", false),
        ("ip addr add 203.0.113.50/32 dev lo", "203.0.113.50", true),
        ("ip addr add 2001:db8::50/128 dev lo", "2001:db8::50", true),
        (
            "ip link set d0 up && ip addr add 192.0.2.9/24 dev d0",
            "192.0.2.9",
            true,
        ),
        ("ip route add default via 192.0.2.1", "192.0.2.1", true),
        ("ip route del default", "192.0.2.1", false),
        ("ip link del d0", "192.0.2.9", false),
    ];
    for (script, address, wanted) in steps {
        within(&daemon, "--user --net", script);
        until(script, || has(address) == wanted);
    }
    let (_, log) = daemon.stop();
    for part in [
        "203.0.113.49 is no longer an address of this machine",
        "203.0.113.50 is an address of this machine now",
        "192.0.2.1 is its gateway now",
    ] {
        assert!(log.contains(part), "no '{part}' in\n{log}");
    }
}
