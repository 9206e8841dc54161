//! What can be wrong with settings: each mistake and its sentence.

use std::time::Duration;

use frame::PortId;

use super::super::*;
use super::bench::{A, B, config, ports, station};
use crate::Ports;

fn vlan(id: u16, untagged: &[PortId], tagged: &[PortId]) -> Vlan {
    Vlan {
        id,
        untagged: ports(untagged),
        tagged: ports(tagged),
    }
}

fn fixed(mac: Mac, vlan: u16, port: PortId) -> StaticStation {
    StaticStation { mac, vlan, port }
}

/// VLANs 10 and 20; two ports.
fn right() -> SwitchConfig {
    let mut right = config(VlanMode::Dot1q, 2);
    right.vlans = vec![vlan(10, &[A], &[B]), vlan(20, &[], &[B])];
    right.ports[0].pvid = Some(10);
    right
}

type Mistake = fn(&mut SwitchConfig);

/// A mistake, and how the sentence about it begins.
const MISTAKES: &[(Mistake, &str)] = &[
    (|c| c.vlans[1].id = 0, "0 is no VLAN"),
    (|c| c.vlans[1].id = 4095, "4095 is no VLAN"),
    (|c| c.vlans[1].id = 10, "VLAN 10 is given twice"),
    (
        |c| c.vlans[1] = vlan(20, &[PortId(5)], &[]),
        "VLAN 20 has the member port 6, which",
    ),
    (
        |c| c.vlans[1] = vlan(20, &[B], &[B]),
        "port 2 is a member of VLAN 20 both",
    ),
    (
        |c| c.ports[1].pvid = Some(30),
        "the PVID of port 2, 30, is not",
    ),
    (|c| c.ports[1].priority = 8, "8 is no priority for port 2"),
    (
        |c| c.ports[1].tpid = 0x0800,
        "0x0800 cannot be the type of tags of port 2",
    ),
    (|c| c.ports[1].tpid = 0x86DD, "0x86dd cannot be"),
    (|c| c.ports[1].tpid = 64, "0x0040 cannot be"),
    (|c| c.ports[0].storm = Some(0), "a storm limit of 0"),
    (|c| c.groups.push(ports(&[A, B])), "groups of ports need"),
    (
        |c| c.statics.push(fixed([1, 0, 0, 0, 0, 1], 10, A)),
        "01:00:00:00:00:01 is no address",
    ),
    (
        |c| c.statics.push(fixed([0; 6], 10, A)),
        "00:00:00:00:00:00 is no address",
    ),
    (
        |c| c.statics.push(fixed(station(1), 30, A)),
        "the static entry of 02:00:00:00:00:01 is in",
    ),
    (
        |c| c.statics.push(fixed(station(1), 20, A)),
        "the static entry of 02:00:00:00:00:01 is at",
    ),
    (
        |c| c.statics.push(fixed(station(1), 20, PortId(9))),
        "the static entry of",
    ),
    (
        |c| c.statics = vec![fixed(station(1), 10, A); 2],
        "02:00:00:00:00:01 has two static",
    ),
    (|c| c.age = Duration::ZERO, "0ns is no age"),
    (
        |c| c.age = Duration::from_secs(1_000_001),
        "1000001s is no age",
    ),
    (
        |c| c.loop_quiet = Some(Duration::ZERO),
        "a port of a loop cannot be left out for 0ns",
    ),
    (|c| c.stations = 0, "0 stations cannot"),
    (|c| c.stations = u32::MAX, "4294967295 stations cannot"),
];

#[test]
fn every_mistake_has_a_sentence_with_a_remedy() {
    assert_eq!(right().check(), Ok(()));
    for (mistake, begin) in MISTAKES {
        let mut wrong = right();
        mistake(&mut wrong);
        let errors = wrong.check().expect_err(begin);
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(
            said.len() == 1 && said[0].starts_with(begin),
            "{begin}: {said:?}"
        );
        assert!(said[0].contains(": "), "a remedy: {said:?}");
    }
}

#[test]
fn what_needs_another_mode_is_named() {
    let needs: &[(VlanMode, Mistake, &str)] = &[
        (
            VlanMode::Default,
            |c| c.ports[0].pvid = Some(1),
            "a PVID needs VLANs",
        ),
        (
            VlanMode::Port,
            |c| c.ports[0].tunnel = true,
            "a tunnel port needs VLANs",
        ),
        (
            VlanMode::Default,
            |c| c.ports[0].priority = 1,
            "a priority needs VLANs",
        ),
        (
            VlanMode::Default,
            |c| c.ports[0].tpid = 0x88A8,
            "a type of tags needs VLANs",
        ),
        (
            VlanMode::Default,
            |c| c.ports[1].accept = Accept::Tagged,
            "which frames a port takes",
        ),
        (
            VlanMode::Port,
            |c| c.vlans.push(vlan(1, &[A], &[])),
            "a VLAN table needs VLANs",
        ),
        (
            VlanMode::Default,
            |c| c.groups.push(ports(&[A, B])),
            "groups of ports need",
        ),
        (
            VlanMode::Port,
            |c| c.groups.push(ports(&[A])),
            "group 1 has fewer than two",
        ),
        (
            VlanMode::Port,
            |c| c.groups.push(ports(&[A, PortId(9)])),
            "group 1 has the member",
        ),
        (
            VlanMode::Port,
            |c| c.statics.push(fixed(station(1), 1, A)),
            "the static entry of",
        ),
    ];
    for (mode, mistake, begin) in needs {
        let mut wrong = config(*mode, 2);
        mistake(&mut wrong);
        let errors = wrong.check().expect_err(begin);
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(
            said.len() == 1 && said[0].starts_with(begin),
            "{begin}: {said:?}"
        );
    }
}

#[test]
fn all_mistakes_are_found_at_once_and_ports_have_the_names_of_the_caller() {
    let mut wrong = right();
    wrong.ports[0].storm = Some(0);
    wrong.vlans[0].id = 0;
    let errors = SwitchTable::new(wrong).expect_err("three mistakes");
    let name = |port: PortId| ["uplink", "lab"][port.index()].to_owned();
    let said: Vec<String> = errors.iter().map(|error| error.sentence(&name)).collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[1].contains("the PVID of uplink"), "{said:?}");
}

#[test]
fn any_number_of_ports_is_answered() {
    for (count, begin) in [
        (0, "a switch needs"),
        (65, "65 ports are"),
        (300, "300 ports are"),
    ] {
        let errors = config(VlanMode::Default, count).check().expect_err(begin);
        assert!(errors[0].to_string().starts_with(begin), "{errors:?}");
    }
    assert_eq!(config(VlanMode::Default, Ports::MAX).check(), Ok(()));
}
