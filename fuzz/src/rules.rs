//! Rules of packets: as text, and as nft prints them in JSON.

use list::rules::{Rules, Scope, import, read};
use serde_json::Value;
use table::classify::{Classifier, Key, matches};

/// Entries that a classifier is made of here, at most: the rest is a matter of time.
const ENTRIES_MAX: usize = 64;

/// A file of rules: refused with places, or printed so that it reads back to the same; a packet
/// matches as many entries as rule by rule.
pub fn rules(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match read("fuzz", text) {
        Ok(rules) => sound(&rules),
        Err(error) => shown(&error.to_string()),
    }
}

/// What nft prints: refused with a sentence, or rules that are read, of which each stands in the
/// JSON.
pub fn nft_rules(bytes: &[u8]) {
    let Ok(json) = std::str::from_utf8(bytes) else {
        return;
    };
    match import(json) {
        Ok(imported) => {
            let rules = read("fuzz", &imported.text).expect("what is imported is read");
            assert!(rules.main.len() <= given(json), "rules that nobody gave");
            let left_out = imported.left_out.iter();
            left_out.for_each(|sentence| shown(sentence));
            sound(&rules);
        }
        Err(sentence) => shown(&sentence),
    }
}

/// How many rules stand in the JSON.
fn given(json: &str) -> usize {
    let document: Value = serde_json::from_str(json).expect("it was read");
    let objects = document["nftables"].as_array().expect("it was read");
    let rules = objects.iter().filter(|object| object.get("rule").is_some());
    rules.count()
}

fn sound(rules: &Rules) {
    let printed = rules.to_string();
    let again = read("fuzz", &printed).expect("what is printed is read");
    assert_eq!(again.to_string(), printed);
    let scope = Scope {
        ports: vec![vec!["A".to_owned()], vec!["B".to_owned()]],
        sets: vec!["bad".to_owned()],
        stateful: true,
        is_pair: true,
    };
    let entries = match rules.entries(&scope) {
        Ok(entries) => entries,
        Err(fault) => return shown(&fault.to_string()),
    };
    if entries.len() > ENTRIES_MAX {
        return;
    }
    let Ok(classifier) = Classifier::new(&entries) else {
        return;
    };
    for key in keys() {
        let mut found = Vec::new();
        classifier.each_match(&key, |entry| {
            found.push(entry);
            std::ops::ControlFlow::Continue(())
        });
        let wanted = entries.iter().enumerate();
        let wanted = wanted.filter(|(_, entry)| matches(entry, &key));
        let wanted: Vec<usize> = wanted.map(|(number, _)| number).collect();
        assert_eq!(found, wanted, "{printed}{key:?}");
    }
}

/// Packets that differ in what rules look at most.
fn keys() -> [Key; 3] {
    let v4 = Key {
        family: 4,
        src: Some(0x0A00_0001),
        dst: Some(0xC000_0201),
        protocol: Some(6),
        src_port: Some(4096),
        dst_port: Some(22),
        tcp_flags: Some(2),
        in_port: Some(1),
        fragment: Some(0),
        flow_state: Some(0),
        dscp: Some(0),
        src_sets: 1,
        ..Key::default()
    };
    let v6 = Key {
        family: 6,
        src: Some(1 << 125),
        dst: Some(u128::MAX),
        protocol: Some(58),
        icmp_type: Some(128),
        icmp_code: Some(0),
        vlan: Some(9),
        fragment: Some(1),
        ..Key::default()
    };
    [v4, v6, Key::default()]
}

/// Lines that a terminal can show.
fn shown(sentence: &str) {
    assert!(!sentence.is_empty() && sentence.lines().count() <= 1000);
    let unfit = |char: char| char.is_control() && char != '\n';
    assert!(!sentence.contains(unfit), "{sentence:?}");
}
