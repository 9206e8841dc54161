//! Rules under the daemon: counted, replaced by a reload or by hand, and refused with the reason.

use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;

use daemon::rpc::Client;
use daemon::rpc::answers::{RulesLoadParams, RulesLoaded};
use serde_json::Value;

use crate::Place;
use crate::daemon::{Daemon, until};
use crate::screens::blocks;

/// A bridge, switch or router behind a generator of UDP.
fn config(kind: &str, rules: &str) -> String {
    format!(
        "[[port]]\nname = 'A'\nspec = 'gen:size=64'\n\
         [[port]]\nname = 'B'\nspec = 'null:'\n\
         [control]\nsocket = 'ctl.sock'\n[state]\ndir = 'state'\n\
         [[set]]\nname = 'bad'\nsource = 'bad.txt'\naction = 'count'\nsides = 'none'\n\
         [[pipeline]]\n{kind}\n{rules}\n"
    )
}

const ROUTER: &str = "kind = 'router'\n\
                      interface = ['lan=A,10.0.0.1/24,mac=02:4c:52:00:00:02', \
                      'wan=B,10.0.1.1/24']\n\
                      neighbour = ['10.0.1.2=02:00:00:00:00:09@wan']\n\
                      route = ['default via 10.0.1.2']";

const RULES: &str =
    "policy drop\nip saddr @bad drop\ncounter\niif \"A\" udp dport 0-65535 accept\n";

fn place(kind: &str) -> Place {
    let place = Place::new();
    place.write("bad.txt", "192.0.2.0/24\n");
    place.write("rules.txt", RULES);
    place.write("a.toml", config(kind, "rules = 'rules.txt'"));
    place
}

fn shown(daemon: &Daemon) -> Value {
    let mut shown = Value::Null;
    until("rules are shown", || {
        let ran = daemon.ask("show rules --json");
        if ran.code == 0 {
            shown = ran.json();
        }
        ran.code == 0
    });
    shown
}

#[test]
fn rules_of_every_kind_of_pipeline_count() {
    for kind in ["kind = 'bridge'", "kind = 'switch'", ROUTER] {
        let place = place(kind);
        let daemon = Daemon::start(&place, "run a.toml --json");
        let mut now = Value::Null;
        until("the last rule matched", || {
            now = shown(&daemon);
            now["rules"][2]["packets"].as_u64() > Some(0)
        });
        assert_eq!(now["policy"], "drop", "{now}");
        assert_eq!(now["count"], 3, "{now}");
        assert_eq!(now["rules"][0]["packets"], 0, "{now}");
        assert_eq!(now["rules"][2]["line"], 4, "{now}");
        assert_eq!(
            now["rules"][2]["rule"], "iif \"A\" udp dport 0-65535 accept",
            "{now}"
        );
        assert!(
            now["file"]
                .as_str()
                .is_some_and(|file| file.ends_with("rules.txt"))
        );
        let text = daemon.must("show rules").text().to_owned();
        assert!(
            text.contains("policy drop") && text.contains("3 rules of"),
            "{text}"
        );
        daemon.stop();
    }
}

/// Rules, the exit code of a reload, and what it says.
const RELOADS: &[(&str, i32, &str)] = &[
    (
        "policy drop\n",
        0,
        "the rules are others: 0 rules and policy drop; before: 3 rules",
    ),
    (
        "accept\nip saddr @worse drop\n",
        1,
        "rules.txt:2:1: there is no set 'worse'",
    ),
    ("accept\ndorp\n", 1, "rules.txt:2:1"),
    ("oif \"C\" drop\n", 1, "rules.txt:1:1: there is no port 'C'"),
    (
        "ct state new drop\n",
        1,
        "rules.txt:1:1: nothing is known of flows",
    ),
    (RULES, 0, "3 rules and policy drop; before: 0 rules"),
    (RULES, 0, ""),
];

#[test]
fn a_reload_replaces_rules_whole_or_keeps_them() {
    let place = place("kind = 'bridge'");
    let daemon = Daemon::start(&place, "run a.toml --json");
    let mut before = shown(&daemon);
    for (text, code, said) in RELOADS {
        place.write("rules.txt", text);
        let told = daemon.ask("reload").ended(*code);
        let told = format!("{}{}", told.text(), told.complaints());
        assert!(told.contains(said), "{text}: {told}");
        let now = shown(&daemon);
        match code {
            0 => assert_eq!(now["count"], text.lines().count() - 1, "{now}"),
            _ => assert_eq!(now["count"], before["count"], "{now}"),
        }
        before = now;
    }
    // With sets that come and go they hold as well: their numbers are others then.
    let more = "[[set]]\nname = 'first'\naction = 'block'\n[[set]]\n";
    let whole = config("kind = 'bridge'", "rules = 'rules.txt'");
    place.write("a.toml", whole.replacen("[[set]]\n", more, 1));
    let told = daemon.must("reload").text().to_owned();
    assert!(told.contains("set first is new"), "{told}");
    assert!(told.contains("the rules are others"), "{told}");
    assert_eq!(shown(&daemon)["count"], 3);
    place.write("a.toml", config("kind = 'bridge'", ""));
    let told = daemon.must("reload").text().to_owned();
    assert!(
        told.contains("the rules are others: none; before"),
        "{told}"
    );
    let told = daemon.ask("show rules").ended(1);
    assert!(
        told.complaints().contains("has no rules"),
        "{}",
        told.complaints()
    );
    daemon.stop();
}

#[test]
fn rules_are_loaded_by_hand_until_a_reload() {
    let place = place("kind = 'bridge'");
    let daemon = Daemon::start(&place, "run a.toml --json");
    shown(&daemon);
    place.write("other.txt", "tcp dport 22 accept\n");
    let told = daemon.must("rules load other.txt --json").json();
    assert_eq!(
        (&told["rules"], &told["before"]),
        (&1.into(), &3.into()),
        "{told}"
    );
    let now = shown(&daemon);
    assert_eq!(now["rules"][0]["rule"], "tcp dport 22 accept", "{now}");
    for (text, said) in [
        ("tcp dprot 22 accept\n", "bad.rules:1:5"),
        (
            "ip saddr @worse drop\n",
            "bad.rules:1:1: there is no set 'worse'",
        ),
        ("\u{0}", "bad.rules:1:1"),
    ] {
        place.write("bad.rules", text);
        let told = daemon.ask("rules load bad.rules").ended(1);
        assert!(
            told.complaints().contains(said),
            "{text}: {}",
            told.complaints()
        );
        assert_eq!(shown(&daemon)["rules"], now["rules"], "{text}");
    }
    daemon.ask("rules load absent.rules").ended(2);
    let told = daemon.must("reload").text().to_owned();
    assert!(
        told.contains("3 rules and policy drop; before: 1 rule"),
        "{told}"
    );
    daemon.stop();
}

/// Two files that say the same of every packet, by other rules.
const ALIKE: [&str; 2] = [
    "ip saddr 0.0.0.0/1 drop\naccept\n",
    "policy drop\nip saddr != 0.0.0.0/1 accept\n",
];

/// A frame that is tried by half of one file and half of the other would pass, or be dropped,
/// against both.
#[test]
fn no_frame_is_judged_by_half_of_two_files() {
    let place = place("kind = 'bridge'");
    let low = "[[set]]\nname = 'low'\nsource = 'low.txt'\naction = 'count'\nsides = 'source'\n\
               allow_private = true\n";
    place.write("low.txt", "0.0.0.0/1\n");
    for (name, text) in ["0.rules", "1.rules"].iter().zip(ALIKE) {
        place.write(name, text);
    }
    let whole = config("kind = 'bridge'", "rules = '0.rules'");
    place.write("a.toml", format!("{whole}{low}"));
    let daemon = Daemon::start(&place, "run a.toml --json");
    daemon.await_sent(1);
    let mut client = Client::connect(&place.path("ctl.sock")).expect("a connection");
    client.allow(Duration::from_secs(60));
    for number in 0..100 {
        let file = format!("{}.rules", 1 - number % 2);
        let opened = File::open(place.path(&file)).expect("rules");
        let params = RulesLoadParams { file };
        let sent = client.send_file("rules.load", &params, opened.as_fd());
        let loaded = sent.and_then(|sent| client.wait::<RulesLoaded>(sent));
        assert_eq!(loaded.expect("rules").before, Some(2 - (number % 2)));
    }
    daemon.await_sent(1);
    let (report, _) = daemon.stop();
    let sets = report["sets"].as_array().expect("sets");
    let low = sets.iter().find(|set| set["name"] == "low").expect("a set");
    let (received, low) = (report["frames"]["rx"].as_u64(), low["hits_src"].as_u64());
    assert!(low > Some(0) && low < received, "{report}");
    assert_eq!(
        report["frames"]["dropped"]["rule"].as_u64(),
        low,
        "{report}"
    );
    assert_eq!(report["rules"]["policy"], "accept", "{report}");
}

#[test]
fn a_daemon_does_not_start_with_rules_that_are_wrong() {
    let place = place("kind = 'bridge'");
    for (text, said) in [
        ("accept\ndorp\n", "rules in [[pipeline]]: "),
        (
            "ip saddr @worse drop\n",
            "rules.txt:1:1: there is no set 'worse'",
        ),
    ] {
        place.write("rules.txt", text);
        for command in ["run --check a.toml", "run a.toml --duration 1s"] {
            let ran = place.run(command).ended(2);
            assert!(
                ran.complaints().contains(said),
                "{command}: {}",
                ran.complaints()
            );
        }
    }
}

#[test]
fn the_configuration_of_the_page_is_read() {
    let place = place("kind = 'bridge'");
    let page = include_str!("../../../../docs/rules.md");
    place.write("rules.txt", blocks(page, "rules")[0]);
    for text in blocks(page, "toml") {
        place.write("page.toml", text);
        place.run("run --check page.toml").ended(0);
    }
}
