//! Rules over captures and as they are checked, and the page about them.

use std::path::Path;
use std::process::Command;

use wire::emit::{Ipv4, Network, Recipe, Tcp, Transport};

use crate::Place;
use crate::capture::{frames, pcap};

const PAGE: &str = include_str!("../../../../docs/rules.md");

fn tcp(src: [u8; 4], dst_port: u16) -> Vec<u8> {
    let header = Ipv4 {
        src: u32::from_be_bytes(src),
        dst: u32::from_be_bytes([198, 51, 100, 1]),
        ..Ipv4::default()
    };
    let segment = Tcp {
        src_port: 4096,
        dst_port,
        flags: 2,
        ..Tcp::default()
    };
    let recipe = Recipe {
        network: Network::Ipv4(header, Transport::Tcp(segment)),
        len_min: 60,
        ..Recipe::default()
    };
    let mut frame = vec![0; recipe.frame_len()];
    recipe.emit(&mut frame).expect("room for it");
    frame
}

/// A place with rules, a set, and a capture of three packets.
fn place(rules: &str) -> Place {
    let place = Place::new();
    place.write("rules.txt", rules);
    place.write("bad.txt", "192.0.2.0/24\n");
    let sent = [
        tcp([192, 0, 2, 1], 443),
        tcp([10, 0, 0, 1], 443),
        tcp([10, 0, 0, 1], 25),
    ];
    place.write("in.pcap", pcap(&sent));
    place
}

const RULES: &str = "policy drop\nip saddr @bad drop\ncounter\ntcp dport 443 accept\n";

#[test]
fn the_first_rule_that_matches_decides_and_each_counts() {
    for command in [
        "bridge pcap:in=in.pcap pcap:out=out.pcap",
        "switch A=pcap:in=in.pcap B=pcap:out=out.pcap",
    ] {
        let place = place(RULES);
        let words = format!("{command} --rules rules.txt --set bad=bad.txt --json");
        let report = place.run(&words).ended(0).json();
        assert_eq!(frames(&place.read("out.pcap")).len(), 1, "{report}");
        assert_eq!(report["frames"]["dropped"]["rule"], 2, "{report}");
        let rules = &report["rules"];
        let packets = |rule: usize| rules["rules"][rule]["packets"].as_u64();
        let counted = [packets(0), packets(1), packets(2)];
        assert_eq!(counted, [Some(1), Some(2), Some(1)], "{rules}");
        assert_eq!(
            (&rules["policy"], &rules["policy_packets"]),
            (&"drop".into(), &1.into())
        );
        assert_eq!(rules["rules"][2]["rule"], "tcp dport 443 accept");
        assert_eq!(rules["rules"][0]["bytes"], 60);
    }
}

#[test]
fn the_report_for_people_names_rules() {
    let place = place(RULES);
    let bridge = "bridge pcap:in=in.pcap null: --rules rules.txt --block bad=bad.txt";
    let text = place.run(bridge).ended(0).text().to_owned();
    assert!(text.contains("Rules (2 of 3 matched)"), "{text}");
    assert!(text.contains("tcp dport 443 accept"), "{text}");
    let dry = place
        .run(&format!("{bridge} --dry-run"))
        .ended(0)
        .text()
        .to_owned();
    assert!(dry.contains("3 rules, drop by policy"), "{dry}");
}

#[test]
fn a_router_drops_by_rules() {
    let place = place(RULES);
    let report = place
        .run(
            "route A=pcap:in=in.pcap B=pcap:out=out.pcap --interface a=A,10.0.0.2/24 \
             --interface b=B,198.51.100.2/24 --rules rules.txt --set bad=bad.txt --json",
        )
        .ended(0)
        .json();
    assert_eq!(report["frames"]["dropped"]["rule"], 2, "{report}");
}

#[test]
fn what_cannot_hold_is_refused() {
    for (rules, words, said) in [
        (
            "ip saddr @worse drop",
            "",
            "rules.txt:1:1: there is no set 'worse'",
        ),
        (
            "accept\niif \"C\" drop",
            "",
            "rules.txt:2:1: there is no port 'C'",
        ),
        (
            "ct state new accept",
            "",
            "rules.txt:1:1: nothing is known of flows here",
        ),
        (
            "tcp dport 22 goto servers",
            "",
            "rules.txt:1:14: 'goto' is not known here",
        ),
        (
            "accept",
            "--rules nowhere.txt",
            "cannot be used multiple times",
        ),
    ] {
        let place = place(rules);
        let bridge = "bridge pcap:in=in.pcap null: --rules rules.txt --set bad=bad.txt";
        let ran = place.run(&format!("{bridge} {words}")).ended(2);
        assert!(ran.stderr.contains(said), "{rules}: {}", ran.stderr);
    }
    let place = place("oif \"2\" accept");
    let words = "switch A=pcap:in=in.pcap B=null: --rules rules.txt";
    let ran = place.run(words).ended(2);
    assert!(
        ran.stderr.contains("is not known before it is switched"),
        "{}",
        ran.stderr
    );
}

#[test]
fn rules_are_checked() {
    let place = place(
        "tcp dport 1-100 drop\ntcp dport 22 ip saddr 10.0.0.1 accept\n\
         ip saddr 10.0.0.1 ip saddr 10.0.0.2 drop\nchain unused {\naccept\n}\n",
    );
    let check = place.run("rules check rules.txt --json").ended(0).json();
    let dead = check["unreachable"].as_array().expect("a list");
    let lines: Vec<_> = dead
        .iter()
        .map(|dead| (&dead["line"], &dead["behind_line"]))
        .collect();
    let null = serde_json::Value::Null;
    assert_eq!(
        lines,
        [
            (&2.into(), &1.into()),
            (&3.into(), &null),
            (&5.into(), &null)
        ]
    );
    let text = place
        .run("rules check rules.txt")
        .ended(0)
        .text()
        .to_owned();
    assert!(
        text.contains("line 2 can never match (line 1 decides"),
        "{text}"
    );
    let printed = place
        .run("rules check rules.txt --print")
        .ended(0)
        .text()
        .to_owned();
    place.write("again.txt", &printed);
    let again = place
        .run("rules check again.txt --print")
        .ended(0)
        .text()
        .to_owned();
    assert_eq!(again, printed);
}

#[test]
fn what_nft_prints_is_imported() {
    let place = Place::new();
    let json = r#"{"nftables":[{"chain":{"family":"ip","table":"t","name":"f","type":"filter",
        "hook":"forward","policy":"drop"}},{"rule":{"family":"ip","table":"t","chain":"f",
        "handle":3,"expr":[{"match":{"op":"==","left":{"payload":{"protocol":"tcp",
        "field":"dport"}},"right":22}},{"accept":null}]}}LOG]}"#;
    let log = r#",{"rule":{"family":"ip","table":"t","chain":"f","handle":4,"expr":[{"log":{}}]}}"#;
    for (left_out, code) in [("", 0), (log, 1)] {
        place.write("nft.json", json.replace("LOG", left_out));
        let ran = place.run("rules import nft.json").ended(code);
        assert!(ran.text().starts_with("policy drop\ntcp dport 22 accept\n"));
        assert_eq!(
            ran.stderr.contains("rule 4 of chain f"),
            code == 1,
            "{}",
            ran.stderr
        );
        place.write("rules.txt", ran.text());
        place.run("rules check rules.txt").ended(0);
    }
    place.write("nft.json", "[");
    place.run("rules import nft.json").ended(2);
}

/// Rules for `explain`: each ending, a jump, and no rule.
const EXPLAINED: &str = "policy drop\nip saddr @bad drop\ncounter\ntcp dport 443 jump web\n\
                         chain web {\nip daddr 198.51.100.1 accept\n}\n";

#[test]
fn explain_names_the_rule_that_decided() {
    // The rule's number and line, the policy, and the numbers of those before it.
    let wanted = [
        (Some((1, 2)), None, vec![]),
        (Some((4, 6)), None, vec![2, 3]),
        (None, Some("drop"), vec![2]),
    ];
    let place = place(EXPLAINED);
    let rules = "--rules rules.txt --set bad=bad.txt --json";
    for command in [
        "explain pcap:in.pcap",
        "bridge null: null: --explain pcap:in.pcap",
        "switch A=null: B=null: --explain pcap:in.pcap",
    ] {
        let told = place.run(&format!("{command} {rules}")).ended(0).json();
        for (frame, (decided, policy, passed)) in wanted.iter().enumerate() {
            let facts = &told["frames"][frame];
            let rules = &facts["rules"];
            let rule = &rules["decided"];
            let number = rule["number"].as_u64().zip(rule["line"].as_u64());
            assert_eq!(number, *decided, "{command}: {facts}");
            assert_eq!(rules["policy"].as_str(), *policy, "{command}: {facts}");
            let before = rules["passed"].as_array().expect("a list").iter();
            let before: Vec<_> = before.filter_map(|rule| rule["number"].as_u64()).collect();
            assert_eq!(before, *passed, "{command}: {facts}");
        }
    }
    let text = "explain pcap:in.pcap --rules rules.txt --set bad=bad.txt";
    let text = place.run(text).ended(0).text().to_owned();
    for line in [
        "1, line 2: ip saddr @bad drop",
        "3, line 4: tcp dport 443 jump web (goes on)",
        "4, line 6: ip daddr 198.51.100.1 accept",
        "no rule: policy drop",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // A set decides before rules are tried.
    let words = "explain pcap:in.pcap:1 --rules rules.txt --block bad=bad.txt --json";
    let told = place.run(words).ended(0).json();
    assert!(told["frames"][0]["rules"].is_null(), "{told}");
    for (words, said) in [
        ("--ports eth1", "--ports names two ports and 1 are given"),
        (
            "--ports eth1,eth2 --rules other.txt",
            "there is no port 'eth3'",
        ),
    ] {
        place.write("other.txt", "iif \"eth3\" accept\n");
        let rules = if words.contains("--rules") {
            ""
        } else {
            "--rules rules.txt --set bad=bad.txt"
        };
        let ran = place
            .run(&format!("explain pcap:in.pcap {rules} {words}"))
            .ended(2);
        assert!(ran.stderr.contains(said), "{words}: {}", ran.stderr);
    }
}

/// The blocks of the page of one kind.
fn blocks(kind: &str) -> Vec<String> {
    let parts = PAGE.split("```");
    let own = parts.filter_map(|part| part.strip_prefix(kind)?.strip_prefix('\n'));
    own.map(str::to_owned).collect()
}

#[test]
fn the_page_has_the_table_of_matches_and_its_examples_run() {
    let rules = blocks("rules");
    let place = place(&rules[0]);
    let table = place.run("rules matches").ended(0).text().to_owned();
    assert!(
        PAGE.contains(&table),
        "the page's table is not that of the program:\n{table}"
    );
    let program = Path::new(env!("CARGO_BIN_EXE_linerate"));
    let folder = program.parent().expect("a folder").display().to_string();
    let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
    for commands in blocks("sh") {
        let mut shell = Command::new("sh");
        shell.args(["-e", "-c", &commands]).env("PATH", &path);
        let ran = shell.current_dir(place.path("")).output().expect("a shell");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{commands}\n{said}");
    }
}
