//! Errors that are believed, and those that are not.

use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};

use super::*;
use crate::icmp::{REPORT_BYTES_MAX, Report, write_report};

const LINK: usize = 14;
const UDP: Transport<'_> = Transport::Udp {
    src_port: 40_000,
    dst_port: 9,
};

/// A packet of ours to port 9 of another host.
fn sent(is_v4: bool) -> Vec<u8> {
    let network = match is_v4 {
        true => Network::Ipv4(
            Ipv4 {
                src: 0xC000_0202,
                dst: 0xC000_0201,
                ..Ipv4::default()
            },
            UDP,
        ),
        false => Network::Ipv6(
            Ipv6 {
                src: 0xFD << 120 | 2,
                dst: 0xFD << 120 | 1,
                ..Ipv6::default()
            },
            UDP,
        ),
    };
    let recipe = Recipe {
        network,
        payload: &[7; 32],
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("room");
    bytes.split_off(LINK)
}

/// The error that the other host answers a packet with.
fn answer(report: Report, about: &[u8]) -> Vec<u8> {
    let from: IpAddr = match about[0] >> 4 {
        4 => "192.0.2.1".parse().expect("an address"),
        _ => "fd00::1".parse().expect("an address"),
    };
    let mut out = vec![0; REPORT_BYTES_MAX];
    let len = write_report(report, from, about, &mut out).expect("room");
    out.truncate(len);
    out.split_off(LINK)
}

#[test]
fn an_error_names_the_ends_of_the_packet_it_is_about() {
    use IcmpErrorKind as Kind;
    for (report, v4, v6) in [
        (
            Report::PortUnreachable,
            Kind::PortUnreachable,
            Kind::PortUnreachable,
        ),
        (
            Report::HostUnreachable,
            Kind::HostUnreachable,
            Kind::HostUnreachable,
        ),
        (Report::TooBig { mtu: 1280 }, Kind::TooBig, Kind::TooBig),
        (Report::TimeExceeded, Kind::TimeExceeded, Kind::TimeExceeded),
        (Report::NoRoute, Kind::NetUnreachable, Kind::NetUnreachable),
    ] {
        for (is_v4, kind) in [(true, v4), (false, v6)] {
            let read = ErrorAbout::read(&answer(report, &sent(is_v4)));
            let (local, remote) = match is_v4 {
                true => ("192.0.2.2:40000", "192.0.2.1:9"),
                false => ("[fd00::2]:40000", "[fd00::1]:9"),
            };
            let expected = ErrorAbout {
                kind,
                protocol: protocol::UDP,
                local: local.parse().expect("an end"),
                remote: remote.parse().expect("an end"),
            };
            assert_eq!(read, Some(expected), "{report:?}");
        }
    }
}

/// Each row: what is changed of an error, by the byte of the packet.
#[test]
fn what_does_not_hold_is_not_believed() {
    for (is_v4, changed, name) in [
        (true, 20, "another type, and so a wrong checksum"),
        (true, 22, "a wrong checksum"),
        (true, 9, "another protocol"),
        (
            true,
            19,
            "sent to another address than the packet came from",
        ),
        (true, 6, "a fragment"),
        (true, 28 + 6, "about a later fragment, and a wrong checksum"),
        (false, 40, "another type, and so a wrong checksum"),
        (false, 42, "a wrong checksum"),
        (false, 6, "another protocol"),
        (false, 39, "sent to another address"),
    ] {
        let mut bytes = answer(Report::PortUnreachable, &sent(is_v4));
        bytes[changed] ^= 0x25;
        assert_eq!(ErrorAbout::read(&bytes), None, "{name}");
    }
}

#[test]
fn what_is_cut_is_not_believed_and_nothing_panics() {
    for is_v4 in [true, false] {
        let header = if is_v4 { 20 } else { 40 };
        let headers = 2 * (header + 8);
        let about = sent(is_v4);
        for len in header..=about.len() {
            let bytes = answer(Report::PortUnreachable, &about[..len]);
            let has_ports = bytes.len() >= headers;
            assert_eq!(ErrorAbout::read(&bytes).is_some(), has_ports, "{len} bytes");
        }
        let whole = answer(Report::PortUnreachable, &about);
        for len in 0..whole.len() {
            assert_eq!(ErrorAbout::read(&whole[..len]), None, "cut to {len} bytes");
        }
    }
}

#[test]
fn an_echo_reply_is_no_error() {
    let mut bytes = answer(Report::PortUnreachable, &sent(true));
    bytes[20..24].fill(0);
    let sum = checksum::checksum(&bytes[20..]).to_be_bytes();
    bytes[22..24].copy_from_slice(&sum);
    assert_eq!(ErrorAbout::read(&bytes), None);
}
