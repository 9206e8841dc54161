//! What an end of a link reads and says.

use std::net::IpAddr;

use frame::Nanos;
use stack::icmp::{REPORT_BYTES_MAX, Report, echo_reply, may_be_reported, write_report};
use stack::neighbours::{Heard, How, Key, Lookup, NeighbourSettings, Neighbours, StaticRange};
use wire::neighbour::{NeighbourKind, NeighbourMessage, Speaker};
use wire::{MacAddress, ether_type};

const LINK: usize = 14;
const MESSAGE_BYTES: usize = 94;
const OURS: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
/// Few, so that there is no room often.
const NEIGHBOURS_MAX: usize = 16;

/// Behind the first byte: a packet, which is read as a message, reported and answered, or what
/// happens to a table of neighbours.
pub fn stack(bytes: &[u8]) {
    match bytes.split_first() {
        Some((0, packet)) => {
            listen(packet);
            report(packet);
            answer(packet);
        }
        Some((_, steps)) => remember(steps),
        None => {}
    }
}

/// A message that is read is answered by one that is read too.
fn listen(packet: &[u8]) {
    for kind in [ether_type::ARP, ether_type::IPV6] {
        let Some(message) = NeighbourMessage::read(kind, packet) else {
            continue;
        };
        let speaker = Speaker {
            mac: OURS,
            tags: &[],
            is_router: true,
        };
        let to = message.mac.unwrap_or(OURS);
        let mut out = [0; MESSAGE_BYTES];
        let len = speaker
            .answer(message.target, message.sender, to, &mut out)
            .expect("room");
        let answer = NeighbourMessage::read(kind, &out[LINK..len]).expect("an answer");
        assert_eq!((answer.target, answer.mac), (message.target, Some(OURS)));
        assert_ne!(answer.kind, NeighbourKind::Request);
    }
}

/// An error is within its bound, well formed, quotes the packet as it came, and is not reported
/// itself.
fn report(packet: &[u8]) {
    let at = packet.len() as u32 & 0xFF;
    let reports = [
        Report::NoRoute,
        Report::TimeExceeded,
        Report::TooBig { mtu: 1280 },
        Report::ParameterProblem { at },
    ];
    for report in reports {
        if !may_be_reported(report, packet) {
            continue;
        }
        let router = match packet.first().map(|first| first >> 4) {
            Some(4) => IpAddr::from([192, 0, 2, 1]),
            _ => IpAddr::from([0x2001, 0xDB8, 0, 0, 0, 0, 0, 1]),
        };
        let mut out = [0; REPORT_BYTES_MAX];
        let len = write_report(report, router, packet, &mut out).expect("room");
        let kind = if router.is_ipv4() {
            ether_type::IPV4
        } else {
            ether_type::IPV6
        };
        out[LINK - 2..LINK].copy_from_slice(&kind.to_be_bytes());
        let parsed = wire::parse(&out[..len], len);
        assert_eq!(parsed.fault, None);
        let quoted = &out[usize::from(parsed.l4_offset) + 8..len];
        assert!(packet.starts_with(quoted) && !quoted.is_empty());
        assert!(!may_be_reported(report, &out[LINK..len]));
    }
}

/// A reply is none that asks again; what gets none stays as it was.
fn answer(packet: &[u8]) {
    let mut reply = packet.to_vec();
    match echo_reply(&mut reply) {
        Some(begin) => assert_eq!(echo_reply(&mut reply[begin..]), None),
        None => assert_eq!(reply, packet),
    }
}

fn key(byte: u8) -> Key {
    Key {
        interface: u16::from(byte >> 7),
        address: IpAddr::from([10, 0, 0, byte & 0x7F]),
    }
}

/// Steps of three bytes: what happens, to whom, and by which Ethernet address or after what time.
fn remember(steps: &[u8]) {
    let settings = NeighbourSettings {
        max: NEIGHBOURS_MAX,
        ..NeighbourSettings::default()
    };
    let fixed = StaticRange {
        interface: 0,
        first: key(100).address,
        last: key(110).address,
        mac: OURS,
    };
    let mut table = Neighbours::new(settings, vec![fixed], [3, 5]);
    let mut now = Nanos::ZERO;
    for step in steps.chunks_exact(3) {
        let (key, byte) = (key(step[1]), step[2]);
        match step[0] & 7 {
            0 => drop(table.want(key, now)),
            1 => now = now.after(u64::from(byte) << 28),
            2 => while table.poll(now).is_some() {},
            how => table.hear(&heard(key, how, byte), now),
        }
        if let Lookup::Known(mac) = table.lookup(&key, now) {
            assert!(!mac.is_multicast() && mac.0 != [0; 6]);
        }
        assert_eq!(table.lookup(&self::key(105), now), Lookup::Known(OURS));
        assert!(table.len() <= NEIGHBOURS_MAX);
    }
}

fn heard(key: Key, how: u8, byte: u8) -> Heard {
    let how = match how {
        3 => How::Request { of_us: true },
        4 => How::Request { of_us: false },
        _ => How::Answer {
            solicited: how & 1 != 0,
            overrides: byte & 0x10 != 0,
        },
    };
    let mac = MacAddress([byte & 7, 0, 0, 0, 0, byte & 8]);
    Heard {
        key,
        mac: (byte & 0x20 == 0).then_some(mac),
        how,
    }
}
