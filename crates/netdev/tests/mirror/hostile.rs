//! Messages that are cut, bent or odd: no panic, a reason, and all else as before.

use std::os::unix::ffi::OsStrExt;

use netdev::routing::{Change, LinkKind, Mirror, Reason, TableChoice};

use crate::made::{From, NEW_LINK, NEW_ROUTE, attribute, link, message};
use crate::recorded::{PORT, datagrams};

fn mirror() -> Mirror {
    let mut mirror = Mirror::new(PORT, TableChoice::All);
    let _request = mirror.request();
    mirror
}

/// What is wrong with a message, where something is.
fn fault(kind: u16, body: &[u8]) -> Option<Reason> {
    let mut changes = Vec::new();
    mirror().receive(&message(kind, 0, From::default(), body), &mut changes);
    changes.iter().find_map(|change| match change {
        Change::Unreadable(fault) => {
            assert_eq!(fault.message, kind);
            assert!(!fault.to_string().is_empty());
            Some(fault.reason)
        }
        _ => None,
    })
}

#[test]
fn what_is_recorded_may_end_anywhere_and_have_any_bit_turned() {
    for (_, whole) in datagrams() {
        for end in 0..whole.len() {
            mirror().receive(&whole[..end], &mut Vec::new());
        }
        let mut bent = whole.clone();
        for at in 0..whole.len() {
            for bit in [0x01, 0x10, 0x80, 0xFF] {
                bent[at] ^= bit;
                mirror().receive(&bent, &mut Vec::new());
                bent[at] = whole[at];
            }
        }
    }
}

#[test]
fn a_cut_datagram_is_named() {
    let (_, whole) = &datagrams()[0];
    let mut changes = Vec::new();
    mirror().receive(&whole[..whole.len() - 1], &mut changes);
    assert!(
        matches!(changes[..], [Change::Unreadable(fault)] if fault.reason == Reason::Truncated)
    );
}

const CUT: Option<Reason> = Some(Reason::Truncated);
const ATTRIBUTE: Option<Reason> = Some(Reason::Attribute);
const VALUE: Option<Reason> = Some(Reason::Value);
const ANONYMOUS: Option<Reason> = Some(Reason::Anonymous);

/// A message about an IPv4 route with these attributes.
fn v4(attributes: &[u8]) -> Vec<u8> {
    [&[2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0], attributes].concat()
}

/// One with a hop that says that it has this length.
fn hop(length: u16, rest: &[u8]) -> Vec<u8> {
    let hop = [&length.to_ne_bytes()[..], &[0, 0, 1, 0, 0, 0], rest].concat();
    v4(&attribute(9, &hop))
}

#[test]
fn each_fault_of_a_route_is_named() {
    let of = |kind, value: &[u8]| v4(&attribute(kind, value));
    let first = |bytes: [u8; 2]| [&bytes, &v4(&[])[2..]].concat();
    let table: [(&str, Vec<u8>, Option<Reason>); 18] = [
        ("empty", vec![], CUT),
        ("half", vec![2, 24, 0, 0, 254, 3], CUT),
        ("to all", v4(&[]), None),
        ("33 bits", first([2, 33]), VALUE),
        ("another family", first([28, 33]), None),
        ("an attribute of no length", v4(&[0, 0, 1, 0]), ATTRIBUTE),
        ("one of 3 bytes", v4(&[3, 0, 1, 0]), ATTRIBUTE),
        ("one past the end", v4(&[9, 0, 1, 0, 1, 2, 3, 4]), ATTRIBUTE),
        ("half an attribute", v4(&[8, 0]), ATTRIBUTE),
        ("an unknown one", of(999, &[1, 2, 3]), None),
        ("a short address", of(1, &[20, 0]), VALUE),
        ("one of IPv6", of(1, &[0; 16]), VALUE),
        ("a short number", of(6, &[0; 2]), VALUE),
        ("a hop of no length", hop(0, &[]), ATTRIBUTE),
        ("a hop past the end", hop(20, &[0; 4]), ATTRIBUTE),
        ("a bent hop", hop(12, &[9, 0, 5, 0]), ATTRIBUTE),
        ("a hop", hop(16, &attribute(5, &[10, 0, 0, 1])), None),
        ("a gateway of no family", of(18, &[3, 0, 1]), VALUE),
    ];
    for (what, body, reason) in table {
        assert_eq!(fault(NEW_ROUTE, &body), reason, "{what}");
    }
}

#[test]
fn each_fault_of_a_link_or_a_group_is_named() {
    let group = |value: &[u8]| [&[0; 8][..], &attribute(2, value)].concat();
    let table: [(&str, u16, Vec<u8>, Option<Reason>); 6] = [
        ("a link of no name", NEW_LINK, link(7, &[]), ANONYMOUS),
        ("an empty name", NEW_LINK, link(7, &[(3, b"\0")]), VALUE),
        ("a name in two", NEW_LINK, link(7, &[(3, b"a\0b\0")]), VALUE),
        ("link 0", NEW_LINK, link(0, &[(3, b"a\0")]), ANONYMOUS),
        ("a link", NEW_LINK, link(7, &[(3, b"a\0")]), None),
        ("a group of 7 bytes", 104, group(&[0; 7]), VALUE),
    ];
    for (what, kind, body, reason) in table {
        assert_eq!(fault(kind, &body), reason, "{what}");
    }
}

#[test]
fn an_object_or_neighbour_without_what_names_it_is_named() {
    for (kind, body) in [
        (104, vec![2, 0, 0, 0, 0, 0, 0, 0]),
        (105, vec![2, 0, 0, 0, 0, 0, 0, 0]),
        (28, vec![2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]),
        (20, vec![2, 24, 0, 0, 1, 0, 0, 0]),
    ] {
        assert_eq!(fault(kind, &body), Some(Reason::Anonymous), "{kind}");
        assert_eq!(
            fault(kind, &body[..body.len() - 1]),
            Some(Reason::Truncated),
            "{kind}"
        );
    }
}

#[test]
fn links_are_read_whatever_their_names_are_and_vlans_with_their_parents() {
    let vlan = |protocol: u16| {
        let data = [
            attribute(1, &12_u16.to_ne_bytes()),
            attribute(5, &protocol.to_be_bytes()),
        ];
        [attribute(1, b"vlan\0"), attribute(2, &data.concat())].concat()
    };
    let parent = 3_u32.to_ne_bytes();
    let outside = 0_u32.to_ne_bytes();
    let kind = |protocol, parent| LinkKind::Vlan {
        parent,
        id: 12,
        protocol,
    };
    for (attributes, right) in [
        (
            vec![(18, vlan(0x8100)), (5, parent.to_vec())],
            kind(0x8100, Some(3)),
        ),
        (
            vec![(5, parent.to_vec()), (18, vlan(0x88A8))],
            kind(0x88A8, Some(3)),
        ),
        (
            vec![
                (5, parent.to_vec()),
                (37, outside.to_vec()),
                (18, vlan(0x8100)),
            ],
            kind(0x8100, None),
        ),
        (vec![(5, parent.to_vec())], LinkKind::Device),
        (
            vec![(18, attribute(1, b"dummy\0"))],
            LinkKind::Other("dummy".into()),
        ),
    ] {
        let mut all = vec![(3, &b"bad\xff\0"[..])];
        all.extend(attributes.iter().map(|(kind, value)| (*kind, &value[..])));
        let mut mirror = mirror();
        let bytes = message(NEW_LINK, 0, From::default(), &link(9, &all));
        let mut changes = Vec::new();
        mirror.receive(&bytes, &mut changes);
        assert_eq!(changes, [Change::Link(9)]);
        let link = mirror.link(9).expect("it is known");
        assert_eq!(
            (link.name.as_bytes(), &link.kind),
            (&b"bad\xff"[..], &right)
        );
    }
}

/// A listing that the kernel refuses is named, asked for again, and never believed to be empty.
#[test]
fn a_refused_listing_is_not_an_empty_one() {
    let refused = |error: i32| {
        message(
            2,
            0,
            From {
                port: PORT,
                sequence: 1,
            },
            &(-error).to_ne_bytes(),
        )
    };
    let mut mirror = mirror();
    let mut changes = Vec::new();
    mirror.receive(&refused(12), &mut changes);
    assert!(
        matches!(changes[..], [Change::Unreadable(fault)] if fault.reason == Reason::Refused(12))
    );
    assert!(!mirror.is_complete() && mirror.request().is_none());
    assert!(mirror.repeated_request().is_some());
    // The first answer is still to come.
    mirror.receive(&refused(16), &mut changes);
    assert_eq!(changes.len(), 1);
    assert!(mirror.repeated_request().is_some());
}

/// A listing during which changes were lost or entries moved is not believed, but made anew.
#[test]
fn a_broken_listing_is_made_anew() {
    let answers: Vec<Vec<u8>> = datagrams()
        .into_iter()
        .filter_map(|(is_answer, bytes)| is_answer.then_some(bytes))
        .collect();
    for overruns in [true, false] {
        let mut mirror = mirror();
        let mut changes = Vec::new();
        mirror.receive(&answers[0], &mut changes);
        let mut next = answers[1].clone();
        match overruns {
            true => mirror.overrun(),
            // NLM_F_DUMP_INTR
            false => next[6] |= 16,
        }
        mirror.receive(&next, &mut changes);
        mirror.receive(&answers[2], &mut changes);
        assert_eq!((mirror.links().count(), &changes[..]), (0, &[][..]));
        let request = mirror.request().expect("once more");
        assert_eq!(request[4..6], 18_u16.to_ne_bytes(), "links");
        assert_eq!(mirror.overruns(), u64::from(overruns));
    }
}
