//! Words that mean settings, and words that are refused.

use frame::PortId;
use plane::Ports;
use plane::switch::Accept;

use super::super::NamedPort;
use super::*;

fn names() -> PortNames {
    let ports = ["A=null:", "B=null:", "C=null:"].map(NamedPort::parse);
    PortNames::new(ports.to_vec()).expect("three names")
}

fn words(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn access() -> SwitchWords {
    SwitchWords {
        vlan: words(&["10=A,Bt", "20=B,C"]),
        ..SwitchWords::default()
    }
}

/// The ports of letters.
fn ports(letters: &str) -> Ports {
    let port = |letter: u8| PortId(letter - b'A');
    letters.bytes().map(port).fold(Ports::NONE, Ports::with)
}

#[test]
fn vlans_say_their_members_and_the_ports_own() {
    let table = access().table(&names()).expect("sound");
    let config = table.config();
    assert_eq!(config.mode, VlanMode::Dot1q);
    let members: Vec<_> = config
        .vlans
        .iter()
        .map(|vlan| (vlan.id, vlan.untagged, vlan.tagged))
        .collect();
    let expected = [(10, ports("A"), ports("B")), (20, ports("BC"), Ports::NONE)];
    assert_eq!(members, expected);
    let pvids: Vec<_> = config.ports.iter().map(|port| port.pvid).collect();
    assert_eq!(pvids, [Some(10), Some(20), Some(20)]);
    assert!(config.ports.iter().all(|port| port.ingress_filter));
    let many = SwitchWords {
        vlan: words(&["10-12=A,B", "13=At"]),
        pvid: words(&["A=11", "B=none"]),
        ..SwitchWords::default()
    };
    let table = many.table(&names()).expect("sound");
    let pvids: Vec<_> = table.config().ports.iter().map(|port| port.pvid).collect();
    assert_eq!(pvids, [Some(11), None, None]);
    assert_eq!(table.config().vlans.len(), 4);
}

#[test]
fn ports_have_what_was_set_for_them() {
    let all = SwitchWords {
        accept: words(&["A=tagged", "B=untagged"]),
        filter: words(&["A=off"]),
        priority: words(&["C=7"]),
        tpid: words(&["B=0x88a8"]),
        tunnel: words(&["C"]),
        isolated: words(&["A,B"]),
        hairpin: words(&["C"]),
        storm: words(&["100", "B=7"]),
        port_stations: words(&["A=5"]),
        r#static: words(&["02:00:00:00:00:01@20=C"]),
        age: Some(Duration::from_secs(20)),
        stations: Some(9),
        ..access()
    };
    let table = all.table(&names()).expect("sound");
    let config = table.config();
    let [a, b, c] = &config.ports[..] else {
        panic!("three ports");
    };
    assert_eq!(
        (a.accept, b.accept, c.accept),
        (Accept::Tagged, Accept::Untagged, Accept::All)
    );
    assert_eq!((a.ingress_filter, b.ingress_filter), (false, true));
    assert_eq!((a.priority, c.priority), (0, 7));
    assert_eq!((a.tpid, b.tpid, c.tunnel), (0x8100, 0x88A8, true));
    assert_eq!(
        (a.isolated, b.isolated, c.isolated, c.hairpin),
        (true, true, false, true)
    );
    assert_eq!((a.storm, b.storm), (Some(100), Some(7)));
    assert_eq!((a.stations, b.stations, config.stations), (5, 9, 9));
    assert_eq!(
        (config.statics[0].vlan, config.statics[0].port),
        (20, PortId(2))
    );
    assert_eq!(config.age, Duration::from_secs(20));
}

#[test]
fn what_cannot_be_read_is_named_with_its_option() {
    let with = |set: fn(&mut SwitchWords)| {
        let mut words = access();
        set(&mut words);
        let mut errors = words.table(&names()).expect_err("refused");
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors.remove(0)
    };
    type Change = fn(&mut SwitchWords);
    let bad: [(Change, Option<&str>, &str); 16] = [
        (|w| w.vlan = words(&["10"]), Some("vlan"), "no members"),
        (|w| w.vlan = words(&["0=A"]), Some("vlan"), "0 is no VLAN"),
        (|w| w.vlan = words(&["4095=A"]), Some("vlan"), "4095"),
        (|w| w.vlan = words(&["+1=A"]), Some("vlan"), "'+1'"),
        (|w| w.vlan = words(&["9-3=A"]), Some("vlan"), "write 3-9"),
        (|w| w.vlan = words(&["1=A", "1=B"]), Some("vlan"), "twice"),
        (
            |w| w.vlan = words(&["1=A,At"]),
            Some("vlan"),
            "tagged and untagged",
        ),
        (|w| w.pvid = words(&["A"]), Some("pvid"), "PORT=VALUE"),
        (|w| w.pvid = words(&["A=30"]), Some("pvid"), "30"),
        (|w| w.pvid = words(&["A=10", "A=20"]), Some("pvid"), "twice"),
        (|w| w.accept = words(&["A=some"]), Some("accept"), "'some'"),
        (
            |w| w.priority = words(&["D=1"]),
            Some("priority"),
            "no port is called 'D'",
        ),
        (|w| w.tpid = words(&["A=88"]), Some("tpid"), "'88'"),
        (|w| w.storm = words(&["fast"]), Some("storm"), "'fast'"),
        (
            |w| w.r#static = words(&["02:00@10=A"]),
            Some("static"),
            "MAC address",
        ),
        (|w| w.group = words(&["A,B"]), Some("group"), "group"),
    ];
    for (set, key, part) in bad {
        let error = with(set);
        assert_eq!(error.key, key, "{error}");
        assert!(error.sentence.contains(part), "{error} has no {part}");
    }
}

#[test]
fn all_words_that_cannot_be_read_are_named_at_once() {
    let bad = SwitchWords {
        vlan: words(&["10=A,Bt", "x=A", "20=D"]),
        pvid: words(&["A=10", "B=y", "A=10"]),
        storm: words(&["B=1", "fast"]),
        tunnel: words(&["A", "E=88a8"]),
        ..SwitchWords::default()
    };
    let errors = bad.table(&names()).expect_err("refused");
    let named: Vec<_> = errors.iter().map(|one| (one.key, one.index)).collect();
    let expected = [
        (Some("vlan"), Some(1)),
        (Some("vlan"), Some(2)),
        (Some("pvid"), Some(1)),
        (Some("pvid"), Some(2)),
        (Some("tunnel"), Some(1)),
        (Some("storm"), Some(1)),
    ];
    assert_eq!(named, expected);
}
