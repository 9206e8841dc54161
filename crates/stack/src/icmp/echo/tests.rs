//! Requests as they come, and what they become.

use wire::emit::{Icmp, Ipv4, Ipv6, Network, Recipe, Transport};

use super::*;

const LINK: usize = 14;
const V4_HOSTS: [u32; 2] = [0xC000_0201, 0xC633_6401];
const V6_HOSTS: [u128; 2] = [0x2001_0DB8 << 96 | 1, 0x2001_0DB8 << 96 | 2];

fn packet(network: Network<'_>, payload: &[u8]) -> Vec<u8> {
    let recipe = Recipe {
        network,
        payload,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).unwrap();
    bytes.split_off(LINK)
}

fn echo(kind: u8, rest: u32) -> Icmp {
    Icmp {
        kind,
        code: 0,
        rest,
    }
}

fn v4([src, dst]: [u32; 2], ttl: u8, kind: u8, payload: &[u8]) -> Vec<u8> {
    let header = Ipv4 {
        src,
        dst,
        ttl,
        ..Ipv4::default()
    };
    let message = Transport::Icmp(echo(kind, 7));
    packet(Network::Ipv4(header, message), payload)
}

fn v6([src, dst]: [u128; 2], hop_limit: u8, kind: u8, payload: &[u8]) -> Vec<u8> {
    let header = Ipv6 {
        src,
        dst,
        hop_limit,
        ..Ipv6::default()
    };
    let message = Transport::Icmpv6(echo(kind, 7));
    packet(Network::Ipv6(header, message), payload)
}

fn with(mut packet: Vec<u8>, at: usize, byte: u8) -> Vec<u8> {
    packet[at] ^= byte;
    packet
}

#[test]
fn a_reply_is_what_a_host_would_write() {
    let ([a, b], [c, d]) = (V4_HOSTS, V6_HOSTS);
    for len in [0, 1, 7, 56, 1400] {
        let payload: Vec<u8> = (0..len).map(|at| (at * 7) as u8).collect();
        for (mut request, reply) in [
            (v4([a, b], 3, 8, &payload), v4([b, a], 64, 0, &payload)),
            (v6([c, d], 3, 128, &payload), v6([d, c], 64, 129, &payload)),
        ] {
            assert_eq!(echo_reply(&mut request), Some(0));
            assert_eq!(request, reply, "{len} bytes");
        }
    }
}

/// The sum of the message takes every value: the update never ends at a wrong zero.
#[test]
fn every_checksum_is_updated_rightly() {
    for word in 0..=u16::MAX {
        let payload = word.to_be_bytes();
        let mut request = v4(V4_HOSTS, 9, 8, &payload);
        assert!(echo_reply(&mut request).is_some());
        assert_eq!(checksum::checksum(&request[20..]), 0, "{word}");
        let mut request = v6(V6_HOSTS, 9, 128, &payload);
        assert!(echo_reply(&mut request).is_some());
        let len = (request.len() - 40) as u32;
        let pseudo = checksum::pseudo_v6(V6_HOSTS[0], V6_HOSTS[1], protocol::ICMPV6, len);
        assert_eq!(checksum::transport(pseudo, &request[40..]), 0, "{word}");
    }
}

#[test]
fn a_reply_has_no_options() {
    let [src, dst] = V4_HOSTS;
    let header = Ipv4 {
        src,
        dst,
        options: &[7, 7, 4, 0, 0, 0, 0, 0],
        ..Ipv4::default()
    };
    let message = Transport::Icmp(echo(8, 7));
    let mut request = packet(Network::Ipv4(header, message), b"ping");
    assert_eq!(echo_reply(&mut request), Some(8));
    assert_eq!(request[8..], v4([dst, src], 64, 0, b"ping"));
}

#[test]
fn what_is_no_sound_request_is_left_as_it_was() {
    let ([a, b], [c, d]) = (V4_HOSTS, V6_HOSTS);
    let sound = v4([a, b], 9, 8, b"ping");
    let sound_v6 = v6([c, d], 9, 128, b"ping");
    let longer = [&sound[..], &[0; 2]].concat();
    let longer_v6 = [&sound_v6[..], &[0; 2]].concat();
    for (name, packet) in [
        ("nothing", Vec::new()),
        ("a reply", v4([a, b], 9, 0, b"ping")),
        ("a reply of ICMPv6", v6([c, d], 9, 129, b"ping")),
        ("a wrong checksum", with(sound.clone(), 28, 1)),
        ("a wrong header checksum", with(sound.clone(), 10, 1)),
        ("a wrong checksum of ICMPv6", with(sound_v6.clone(), 48, 1)),
        ("a later fragment", v4_piece(8, false)),
        ("a first fragment", v4_piece(0, true)),
        ("longer than it says", longer),
        ("longer than it says, of IPv6", longer_v6),
        ("cut", sound[..30].to_vec()),
        ("cut in its message", sound[..24].to_vec()),
        ("cut, of IPv6", sound_v6[..46].to_vec()),
        ("from all", v4([u32::MAX, b], 9, 8, b"ping")),
        ("from nobody", v4([0, b], 9, 8, b"ping")),
        ("to all", v4([a, u32::MAX], 9, 8, b"ping")),
        ("to a group", v4([a, 0xE000_0001], 9, 8, b"ping")),
        ("from nobody, of IPv6", v6([0, d], 9, 128, b"ping")),
        (
            "to a group of IPv6",
            v6([c, 0xFF02 << 112 | 1], 9, 128, b"ping"),
        ),
        ("ICMPv6 in IPv4", v4([a, b], 9, 128, b"ping")),
    ] {
        let mut found = packet.clone();
        assert_eq!(echo_reply(&mut found), None, "{name}");
        assert_eq!(found, packet, "{name}");
    }
}

fn v4_piece(fragment_offset: u16, more_fragments: bool) -> Vec<u8> {
    let [src, dst] = V4_HOSTS;
    let header = Ipv4 {
        src,
        dst,
        fragment_offset,
        more_fragments,
        ..Ipv4::default()
    };
    packet(Network::Ipv4(header, Transport::Icmp(echo(8, 7))), b"ping")
}
