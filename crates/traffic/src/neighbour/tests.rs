//! Which addresses are answered for, and what is kept of requests.

use wire::emit::{Arp, Network, Recipe};

use super::*;

const OURS: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn v4(text: &str) -> u32 {
    text.parse::<Ipv4Addr>().expect("an address").to_bits()
}

fn v6(text: &str) -> u128 {
    text.parse::<Ipv6Addr>().expect("an address").to_bits()
}

/// A request by ARP of 192.0.2.1, or of whom else.
fn request(sender: &str, target: &str) -> Vec<u8> {
    let message = Arp {
        operation: 1,
        sender: v4(sender),
        target: v4(target),
        ..Arp::default()
    };
    let recipe = Recipe {
        network: Network::Arp(message),
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("room");
    bytes
}

#[test]
fn single_addresses_and_small_ranges_are_answered_for() {
    use Choice::{Fixed, Random, Range};
    let list = Choice::List([v4("10.0.0.1")].into());
    let (wide4, wide6) = (Range(0, u32::MAX), Range(0, u128::MAX));
    let link = Range(v6("2001:db8::"), v6("2001:db8::ffff:ffff:ffff:ffff"));
    let table = [
        (Fixed(v4("10.0.0.1")), Random, "10.0.0.1", true),
        (Fixed(v4("10.0.0.1")), Random, "10.0.0.2", false),
        (
            Range(v4("10.0.0.0"), v4("10.0.255.255")),
            Random,
            "10.0.255.255",
            true,
        ),
        (
            Range(v4("10.0.0.0"), v4("10.1.0.0")),
            Random,
            "10.0.0.1",
            false,
        ),
        (Random, Random, "10.0.0.1", false),
        (list, Random, "10.0.0.1", false),
        (wide4, wide6, "10.0.0.1", false),
        (Random, Fixed(v6("2001:db8::1")), "2001:db8::1", true),
        (Random, link.clone(), "2001:db8::99", true),
        (Random, link, "2001:db8:0:1::99", false),
        // Addresses of one family are none of the other.
        (Random, Fixed(1), "0.0.0.1", false),
    ];
    for (of_v4, of_v6, address, expected) in table {
        let mut neighbour = Neighbour::new(OURS);
        neighbour.add_choices(&of_v4, &of_v6);
        let said = neighbour.answers_for(ip(address));
        assert_eq!(said, expected, "{of_v4:?} {of_v6:?} {address}");
    }
}

#[test]
fn what_the_host_answers_for_is_left_out() {
    let mut neighbour = Neighbour::new(OURS);
    assert!(!neighbour.has_addresses());
    neighbour.add(ip("192.0.2.2"), ip("192.0.2.2"));
    assert!(neighbour.has_addresses());
    neighbour.leave_out(ip("192.0.2.2"));
    assert!(!neighbour.has_addresses() && !neighbour.answers_for(ip("192.0.2.2")));
    neighbour.add(ip("192.0.2.0"), ip("192.0.2.9"));
    assert!(neighbour.has_addresses() && neighbour.answers_for(ip("192.0.2.3")));
    assert!(!neighbour.answers_for(ip("192.0.2.2")));
}

#[test]
fn requests_are_answered_or_named() {
    let mut neighbour = Neighbour::new(OURS);
    neighbour.add(ip("192.0.2.2"), ip("192.0.2.2"));
    let own = Some(&neighbour);
    let mut room = [0; ANSWER_BYTES_MAX];
    let mut controls = Controls::default();
    let table = [
        ("192.0.2.1", "192.0.2.2", own, Some(60)),
        ("192.0.2.1", "192.0.2.3", own, None),
        ("192.0.2.1", "192.0.2.2", None, None),
        // Probes, which are not answered, and named neither.
        ("0.0.0.0", "192.0.2.2", own, None),
        ("192.0.2.2", "192.0.2.2", own, None),
    ];
    for (sender, target, own, expected) in table {
        let answer = controls.take(&request(sender, target), own, &mut room);
        assert_eq!(answer, expected, "{sender} {target}");
    }
    assert_eq!(controls.take(&[0; 60], own, &mut room), None);
    controls.answer(1);
    controls.announce(1);
    let kinds: Vec<_> = controls.kinds().collect();
    assert_eq!(kinds, [(Control::ArpRequest, 5)]);
    assert_eq!((controls.answered(), controls.sent()), (1, 2));
    let named = [(ip("192.0.2.3"), 1), (ip("192.0.2.2"), 1)];
    assert_eq!(controls.unanswered(), named);
    let mut sum = controls.clone();
    sum.merge(&controls);
    assert_eq!(sum.kinds().next(), Some((Control::ArpRequest, 10)));
    assert_eq!(sum.unanswered()[0], (ip("192.0.2.3"), 2));
}

#[test]
fn what_the_host_answers_for_is_not_asked_for_in_vain() {
    let mut host = Neighbour::new(OURS);
    host.leave_out(ip("192.0.2.2"));
    let mut silent = Neighbour::new(OURS);
    silent.add(ip("192.0.2.2"), ip("192.0.2.2"));
    silent.silent = true;
    for (own, target, vain) in [
        (&host, "192.0.2.2", 0),
        (&host, "192.0.2.3", 1),
        (&silent, "192.0.2.2", 1),
    ] {
        let (mut room, mut controls) = ([0; ANSWER_BYTES_MAX], Controls::default());
        let answer = controls.take(&request("192.0.2.1", target), Some(own), &mut room);
        assert_eq!(
            (answer, controls.unanswered().len()),
            (None, vain),
            "{own:?} {target}"
        );
    }
    assert!(silent.is_at(ip("192.0.2.2")) && silent.has_sources());
}

#[test]
fn a_flood_of_requests_takes_no_memory() {
    let mut controls = Controls::default();
    for host in 1..=200 {
        let frame = request("192.0.2.1", &format!("192.0.2.{host}"));
        controls.take(&frame, None, &mut [0; ANSWER_BYTES_MAX]);
    }
    assert_eq!(controls.unanswered().len(), UNANSWERED_MAX);
    // The first asks for itself, which is an announcement.
    assert_eq!(controls.unanswered_others(), 199 - UNANSWERED_MAX as u64);
}

/// What a host sends about a UDP packet of `about`: no program has its port.
fn port_unreachable(from: &str, about: &str) -> Vec<u8> {
    use wire::emit::{Icmp, Ipv4, Transport};
    let ports = Transport::Udp {
        src_port: 1,
        dst_port: 2,
    };
    let emit = |src: &str, transport: Transport<'_>, payload: &[u8]| {
        let ip = Ipv4 {
            src: v4(src),
            ..Ipv4::default()
        };
        let recipe = Recipe {
            network: Network::Ipv4(ip, transport),
            payload,
            ..Recipe::default()
        };
        let mut bytes = vec![0; recipe.frame_len()];
        recipe.emit(&mut bytes).expect("room");
        bytes
    };
    let sent = emit(about, ports, &[]);
    let message = Icmp {
        kind: 3,
        code: 3,
        rest: 0,
    };
    emit(from, Transport::Icmp(message), &sent[14..])
}

#[test]
fn errors_about_frames_of_this_end_are_named_with_who_sent_them() {
    let mut neighbour = Neighbour::new(OURS);
    neighbour.add(ip("10.0.0.1"), ip("10.0.0.9"));
    neighbour.leave_out(ip("192.0.2.7"));
    let mut controls = Controls::default();
    let mut room = [0; ANSWER_BYTES_MAX];
    for (from, about) in [
        ("198.51.100.1", "10.0.0.1"),
        ("198.51.100.1", "10.0.0.2"),
        // The host answers for this one, and frames may come from it.
        ("198.51.100.2", "192.0.2.7"),
        // Somebody else's.
        ("198.51.100.1", "10.0.0.10"),
    ] {
        let frame = port_unreachable(from, about);
        assert_eq!(controls.take(&frame, Some(&neighbour), &mut room), None);
        assert_eq!(controls.take(&frame, None, &mut room), None);
    }
    let mut sum = controls.clone();
    sum.merge(&controls);
    let kind = IcmpErrorKind::PortUnreachable;
    let expected = [(kind, ip("198.51.100.1"), 4), (kind, ip("198.51.100.2"), 2)];
    assert_eq!(sum.errors(), expected);
    for host in 0..100 {
        let frame = port_unreachable(&format!("203.0.113.{host}"), "10.0.0.1");
        controls.take(&frame, Some(&neighbour), &mut room);
    }
    assert_eq!(controls.errors().len(), ERRORS_MAX);
    assert_eq!(controls.errors_others(), 102 - ERRORS_MAX as u64);
}

#[test]
fn an_announcement_has_room() {
    let length = Neighbour::new(OURS).announcement(&mut [0; ANSWER_BYTES_MAX]);
    assert_eq!(length, Some(60));
}
