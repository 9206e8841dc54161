//! Settings of a switch: each key is applied by giving workers another table, or refused by name.

use std::path::Path;

use super::{Config, fixed, switch};

/// VLANs and other keys, and what is told when they replace `vlan = ['10=A,Bt']` alone.
const CASES: &[(&str, &str, &str)] = &[
    ("'10=A,Bt', '20=B'", "", "VLAN 20 is new"),
    ("'20=A,Bt'", "", "VLAN 10 is gone"),
    ("'10=A,B'", "", "VLAN 10 has other members"),
    (
        "'10=A,Bt'",
        "pvid = ['A=none']",
        "port A has other settings",
    ),
    (
        "'10=A,Bt'",
        "priority = ['A=1']",
        "port A has other settings",
    ),
    (
        "'10=A,Bt'",
        "accept = ['B=tagged']",
        "port B has other settings",
    ),
    (
        "'10=A,Bt'",
        "filter = ['B=off']",
        "port B has other settings",
    ),
    (
        "'10=A,Bt'",
        "tpid = ['B=88a8']",
        "port B has other settings",
    ),
    ("'10=A,Bt'", "tunnel = ['A']", "port A has other settings"),
    ("'10=A,Bt'", "isolated = ['A']", "port A has other settings"),
    ("'10=A,Bt'", "hairpin = ['A']", "port A has other settings"),
    ("'10=A,Bt'", "storm = ['A=5']", "port A has other settings"),
    (
        "'10=A,Bt'",
        "port_stations = ['A=5']",
        "port A has other settings",
    ),
    (
        "'10=A,Bt'",
        "static = ['02:00:00:00:00:01@10=A']",
        "static stations: 1 more, 0 fewer",
    ),
    (
        "'10=A,Bt'",
        "age = '20s'",
        "stations are forgotten after 20s",
    ),
    (
        "'10=A,Bt'",
        "loop_quiet = '60s'",
        "a port of a loop is left out for 1m",
    ),
    (
        "'10=A,Bt'",
        "forward_reserved = true",
        "frames to 01-80-C2-00-00-00 to 0F are forwarded",
    ),
];

fn parse(text: &str) -> Config {
    let read = Config::parse(Path::new("/etc/linerate/a.toml"), text);
    read.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn every_key_of_a_switch_is_applied_or_refused() {
    let ports = "[[port]]\nname = 'A'\nspec = 'gen:'\n[[port]]\nname = 'B'\nspec = 'null:'\n";
    let of = |vlans: &str, more: &str| {
        let pipeline = "[[pipeline]]\nkind = 'switch'\n";
        parse(&format!("{ports}{pipeline}vlan = [{vlans}]\n{more}\n"))
    };
    let old = of("'10=A,Bt'", "");
    let changed = |new: &Config| {
        let [before, after] = [&old, new].map(|config| {
            let table = config.switch_table().expect("sound");
            table.expect("a switch").config().clone()
        });
        switch::changes((&before, &after), &["A".to_owned(), "B".to_owned()])
    };
    for (vlans, more, said) in CASES {
        let new = of(vlans, more);
        assert_eq!(fixed(&old, &new), None, "{vlans} {more}");
        let told = changed(&new);
        assert!(
            told.iter().any(|told| told == said),
            "{told:?} without {said}"
        );
    }
    assert_eq!(changed(&old), [""; 0]);
    let fewer = of("'10=A,Bt'", "stations = 10");
    assert_eq!(fixed(&old, &fewer), Some("stations of [[pipeline]]"));
    for other in [
        format!("{ports}[[pipeline]]\nkind = 'switch'\nvlan = ['10=A,Bt']\ndefault = 'drop'\n"),
        ports.to_owned(),
    ] {
        assert_eq!(fixed(&old, &parse(&other)), Some("[[pipeline]]"), "{other}");
    }
    let grouped = parse(&format!(
        "{ports}[[pipeline]]\nkind = 'switch'\ngroup = ['A,B']\n"
    ));
    assert_eq!(fixed(&old, &grouped), None);
    let told = changed(&grouped);
    assert!(
        told.contains(&"the VLAN mode is another".to_owned()),
        "{told:?}"
    );
    assert!(
        told.contains(&"the groups of ports are others".to_owned()),
        "{told:?}"
    );
}
