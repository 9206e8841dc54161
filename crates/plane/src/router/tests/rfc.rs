//! Packets by what the RFCs say of them, one line each, and what comes of them. All that leaves has
//! right checksums, and errors quote the packet that they are about.

mod ipv4;
mod ipv6;
mod making;
mod own;

use wire::view::{Ipv4View, Ipv6View};
use wire::{checksum, protocol};

use super::bench::Bench;
use super::lab::{A, datagram, lab};
use super::model::{Fate, Leaves, Model, Outcome};
use making::{FAR, with};

/// What is said of a packet, the frame that holds it, and what comes of it.
type Line = (&'static str, fn() -> Vec<u8>, &'static str);

const TABLES: [&[Line]; 8] = [
    ipv4::FORWARDING,
    ipv4::ADDRESSES,
    ipv4::LENGTHS,
    ipv6::FORWARDING,
    ipv6::ADDRESSES,
    ipv6::LENGTHS,
    own::HOSTS,
    own::LINKS,
];

/// An outcome in words.
fn story(outcome: &Outcome) -> String {
    let mut story = match &outcome.fate {
        Fate::Sent(sent) => {
            let sent: Vec<String> = sent.iter().map(sent_story).collect();
            sent.join(" + ")
        }
        Fate::Waits => "waits".to_owned(),
        Fate::Consumed => "consumed".to_owned(),
        Fate::Dropped(reason) => reason.name().to_owned(),
    };
    if let Some(told) = &outcome.told {
        let l4 = 14 + if is_v6(told) { 40 } else { 20 };
        let (kind, code) = (told.1[l4], told.1[l4 + 1]);
        story += &format!(", told {kind},{code}");
        let mtu = u16::from_be_bytes([told.1[l4 + 6], told.1[l4 + 7]]);
        let names_mtu = if is_v6(told) {
            kind == 2
        } else {
            (kind, code) == (3, 4)
        };
        if names_mtu {
            story += &format!(" mtu{mtu}");
        }
    }
    story
}

fn is_v6(leaves: &Leaves) -> bool {
    leaves.1[14] >> 4 == 6
}

fn sent_story(leaves: &Leaves) -> String {
    let (port, bytes) = leaves;
    let packet = &bytes[14..];
    let (hops, len, l4) = match Ipv6View::new_checked(packet) {
        Ok(view) => {
            let len = 40 + usize::from(view.payload_len());
            let is_icmp = view.next_header() == protocol::ICMPV6;
            (
                format!("hl{}", view.hop_limit()),
                len,
                is_icmp.then_some(40),
            )
        }
        Err(_) => {
            let view = Ipv4View::new_checked(packet).expect("a packet");
            let len = usize::from(view.total_len());
            let is_icmp = view.protocol() == protocol::ICMP;
            (format!("ttl{}", view.ttl()), len, is_icmp.then_some(20))
        }
    };
    let mut story = format!("port{} {hops} len{len}", port.0);
    if let Some(l4) = l4 {
        story += &format!(" icmp {},{}", packet[l4], packet[l4 + 1]);
    }
    let fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3FFF;
    if !is_v6(leaves) && fragment != 0 {
        story += &format!(" frag{fragment:04x}");
    }
    story
}

/// What leaves is sound, whatever came in.
fn check(leaves: &Leaves, name: &str) {
    let packet = &leaves.1[14..];
    if is_v6(leaves) {
        let view = Ipv6View::new_checked(packet).expect(name);
        let body = &view.payload()[..usize::from(view.payload_len())];
        if view.next_header() == protocol::ICMPV6 {
            let len = body.len() as u32;
            let pseudo = checksum::pseudo_v6(view.src(), view.dst(), protocol::ICMPV6, len);
            assert_eq!(checksum::transport(pseudo, body), 0, "{name}");
        }
    } else {
        let view = Ipv4View::new_checked(packet).expect(name);
        assert!(view.checksum_is_right(), "{name}");
        if view.protocol() == protocol::ICMP {
            assert_eq!(checksum::checksum(view.payload()), 0, "{name}");
        }
    }
    assert!(leaves.1.len() >= 60, "{name}");
}

/// An error quotes its packet, as much of it as may be.
fn check_quote(told: &Leaves, about: &[u8], name: &str) {
    let (at, most) = if is_v6(told) {
        (14 + 48, 14 + 1280)
    } else {
        (14 + 28, 14 + 576)
    };
    let quoted = &told.1[at..];
    let len = quoted.len().min(about.len() - 14);
    assert_eq!(quoted[..len], about[14..14 + len], "{name}");
    assert!(told.1.len() <= most, "{name}");
}

#[test]
fn packets_fare_as_the_rfcs_say() {
    let config = lab();
    let (model, mut bench) = (Model::new(&config), Bench::new(&config));
    for (name, make, right) in TABLES.into_iter().flatten() {
        let bytes = make();
        // Errors are limited: a second for each.
        bench.now.0 += 1_000_000_000;
        let outcome = bench.one(A, &bytes);
        assert_eq!(story(&outcome), *right, "{name}");
        assert!(
            model.route(A, &bytes).contains(&outcome),
            "the model on {name}"
        );
        if let Fate::Sent(sent) = &outcome.fate {
            sent.iter().for_each(|leaves| check(leaves, name));
        }
        if let Some(told) = &outcome.told {
            check(told, name);
            check_quote(told, &bytes, name);
        }
    }
}

#[test]
fn errors_are_limited_by_source_and_in_all() {
    let mut bench = Bench::new(&lab());
    let dying = datagram(with(FAR, |own| own.ttl = 1));
    let told = (0..300)
        .filter(|_| bench.one(A, &dying).told.is_some())
        .count();
    assert_eq!(told, 100, "a tenth of what all may have");
    assert_eq!(
        (bench.count("icmp_errors"), bench.count("icmp_limited")),
        (100, 200)
    );
}
