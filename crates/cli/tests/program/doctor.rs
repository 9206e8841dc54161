//! `linerate doctor`: on the loopback, on a veth pair, on what is not there.

use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Place, Ran};

const JUDGEMENTS: [&str; 4] = ["good", "unknown", "doubtful", "wrong"];
const CLASSES: [&str; 6] = ["zero-copy", "copy", "generic", "packet", "unknown", "none"];

/// A network namespace with the pair `a` and `b` in it.
struct Pair(String);

impl Pair {
    /// `None`, with the reason printed, where it cannot be made.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: network namespaces need root");
            return None;
        }
        let pair = Self(format!("lrdoc{}", std::process::id()));
        let name = &pair.0;
        let made = ip(&format!("netns add {name}"))
            && ip(&format!("-n {name} link add name a type veth peer name b"))
            && ip(&format!("-n {name} link set dev a up"))
            && ip(&format!("-n {name} link set dev b up"));
        if !made {
            println!("skipped: no network namespace with a veth pair can be made here");
            return None;
        }
        Some(pair)
    }

    fn inside(&self, words: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0]);
        command.args(words.split_whitespace());
        command.stdin(Stdio::null());
        command
    }

    fn doctor(&self, words: &str) -> Ran {
        let words = format!("{} doctor {words}", env!("CARGO_BIN_EXE_linerate"));
        Ran::of(self.inside(&words).output().expect("ip netns exec"))
    }

    fn runs(&self, command: &str) -> bool {
        let output = self.inside(command).output();
        output.is_ok_and(|output| output.status.success())
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _gone_already = ip(&format!("netns del {}", self.0));
    }
}

fn ip(words: &str) -> bool {
    let output = Command::new("ip").args(words.split_whitespace()).output();
    output.is_ok_and(|output| output.status.success())
}

fn json(ran: &Ran) -> Value {
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The judgement of one line about an interface.
#[track_caller]
fn judgement(page: &Value, interface: &str, what: &str) -> String {
    let interfaces = page["interfaces"].as_array().expect("interfaces");
    let there = interfaces.iter().find(|there| there["name"] == interface);
    let findings = there.expect(interface)["findings"]
        .as_array()
        .expect("findings");
    let finding = findings.iter().find(|finding| finding["what"] == what);
    finding.expect(what)["judgement"]
        .as_str()
        .expect("a judgement")
        .to_owned()
}

/// The commands that mend what offloads do on the first interface.
fn remedies(page: &Value) -> impl Iterator<Item = String> + '_ {
    let findings = page["interfaces"][0]["findings"].as_array();
    let offloads = findings.into_iter().flatten();
    let named = ["merging", "vlan receive", "veth peer"];
    let offloads =
        offloads.filter(move |finding| named.iter().any(|what| finding["what"] == *what));
    offloads.filter_map(|finding| Some(finding["remedy"].as_str()?.to_owned()))
}

#[track_caller]
fn check_findings(findings: &Value) {
    let findings = findings.as_array().expect("a list of findings");
    assert!(!findings.is_empty());
    for finding in findings {
        for text in ["what", "value", "why", "judgement"] {
            assert!(finding[text].is_string(), "{text} of {finding}");
        }
        let judgement = finding["judgement"].as_str().unwrap_or_default();
        assert!(JUDGEMENTS.contains(&judgement), "{finding}");
        let remedy = &finding["remedy"];
        assert!(remedy.is_null() || remedy.is_string(), "{finding}");
        // Whoever finds fault says why.
        assert!(judgement == "good" || finding["why"] != "", "{finding}");
    }
}

#[test]
fn the_json_has_its_shape_and_the_exit_code_follows_it() {
    let ran = Place::new().run("doctor lo --json");
    let page = json(&ran);
    assert!(page["version"].is_string());
    let interfaces = page["interfaces"].as_array().expect("interfaces");
    assert_eq!(interfaces.len(), 1);
    assert_eq!(interfaces[0]["name"], "lo");
    let class = interfaces[0]["rate"]["class"].as_str().unwrap_or_default();
    assert!(CLASSES.contains(&class), "{page}");
    check_findings(&interfaces[0]["findings"]);
    check_findings(&page["machine"]);
    for count in ["wrong", "doubtful", "unknown"] {
        assert!(page[count].is_u64(), "{count}");
    }
    assert_eq!(ran.code, i32::from(page["wrong"] != 0), "{page}");
}

#[test]
fn a_page_for_people_is_at_most_100_wide() {
    let ran = Place::new().run("doctor lo");
    assert!(ran.code <= 1, "{ran:?}");
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(text.starts_with("lo: expect "), "{text}");
    assert!(
        text.contains("\nthis machine\n") && text.contains(" wrong, "),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "no colour but on a terminal");
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|widest| widest <= 100), "{text}");
}

#[test]
fn a_missing_interface_is_refused_with_those_that_are_there() {
    let ran = Place::new().run("doctor lp9 --json").ended(2);
    assert!(ran.stdout.is_empty());
    let parts = ["no interface lp9 in this network namespace", "lo"];
    for part in parts {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    let long = "x".repeat(128);
    let ran = Place::new().run(&format!("doctor {long}")).ended(2);
    assert!(ran.stderr.contains("from 1 to 15 bytes"), "{}", ran.stderr);
    let ran = Place::new().run("doctor lo@if7").ended(2);
    assert!(ran.stderr.contains("did you mean lo?"), "{}", ran.stderr);
}

#[test]
fn a_veth_pair_is_found_wanting_and_then_mended() {
    let Some(pair) = Pair::new() else {
        return;
    };
    let before = pair.doctor("a --json");
    let page = json(&before);
    assert_eq!(page["interfaces"][0]["findings"][0]["value"], "veth");
    assert_eq!(judgement(&page, "a", "veth peer"), "wrong", "{page}");
    assert_eq!(before.code, 1, "{page}");
    if !remedies(&page).all(|command| pair.runs(&command)) {
        println!("skipped: no ethtool here, or it cannot switch these off");
        return;
    }
    let after = pair.doctor("a --json");
    let page = json(&after);
    for what in ["merging", "vlan receive", "veth peer"] {
        assert_eq!(judgement(&page, "a", what), "good", "{page}");
    }
    assert_eq!(after.code, 0, "{page}");
    let all = json(&pair.doctor("--json"));
    let names = all["interfaces"].as_array().expect("interfaces");
    let names: Vec<&str> = names
        .iter()
        .filter_map(|there| there["name"].as_str())
        .collect();
    assert_eq!(&names[..2], ["a", "b"]);
    assert!(names.contains(&"lo"));
}
