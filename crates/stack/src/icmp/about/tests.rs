//! Packets of every kind, by the sections that speak of them.

use wire::emit::{Extension, Icmp, Ipv4, Ipv6, Network, Recipe, Transport};

use super::*;

const LINK: usize = 14;
const UDP: Transport<'_> = Transport::Udp {
    src_port: 5,
    dst_port: 7,
};
/// Whether time exceeded is said, and too big.
const BOTH: [bool; 2] = [true; 2];
const NONE: [bool; 2] = [false; 2];
const TOO_BIG_ALONE: [bool; 2] = [false, true];
const TOO_BIG: Report = Report::TooBig { mtu: 1280 };

fn packet(network: Network<'_>) -> Vec<u8> {
    let recipe = Recipe {
        network,
        payload: &[0; 16],
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).unwrap();
    bytes.split_off(LINK)
}

fn v4(src: [u8; 4], dst: [u8; 4], transport: Transport<'_>) -> Vec<u8> {
    let header = Ipv4 {
        src: u32::from_be_bytes(src),
        dst: u32::from_be_bytes(dst),
        ..Ipv4::default()
    };
    packet(Network::Ipv4(header, transport))
}

fn v6(src: u128, dst: u128, extensions: &[Extension<'_>], transport: Transport<'_>) -> Vec<u8> {
    let header = Ipv6 {
        src,
        dst,
        extensions,
        ..Ipv6::default()
    };
    packet(Network::Ipv6(header, transport))
}

fn icmp(kind: u8) -> Icmp {
    Icmp {
        kind,
        ..Icmp::default()
    }
}

#[test]
fn ipv4_as_rfc_1812_section_4_3_2_7() {
    let (host, other) = ([192, 0, 2, 1], [198, 51, 100, 1]);
    let from = |src| v4(src, other, UDP);
    let to = |dst| v4(host, dst, UDP);
    let of = |kind| v4(host, other, Transport::Icmp(icmp(kind)));
    let piece = |fragment_offset, more_fragments| {
        let header = Ipv4 {
            src: u32::from_be_bytes(host),
            dst: u32::from_be_bytes(other),
            fragment_offset,
            more_fragments,
            ..Ipv4::default()
        };
        packet(Network::Ipv4(header, UDP))
    };
    for (name, packet, expected) in [
        ("UDP", from(host), true),
        ("an echo request", of(8), true),
        ("an echo reply", of(0), true),
        ("a timestamp", of(13), true),
        ("unreachable", of(3), false),
        ("source quench", of(4), false),
        ("redirect", of(5), false),
        ("time exceeded", of(11), false),
        ("parameter problem", of(12), false),
        ("ICMP without a type", of(8)[..20].to_vec(), false),
        ("the first fragment", piece(0, true), true),
        ("a later fragment", piece(1480, true), false),
        ("the last fragment", piece(1480, false), false),
        ("from 0.0.0.0", from([0; 4]), false),
        ("from this network", from([0, 1, 2, 3]), false),
        ("from loopback", from([127, 0, 0, 1]), false),
        ("from a group", from([224, 0, 0, 5]), false),
        ("from class E", from([240, 0, 0, 1]), false),
        ("from all", from([255; 4]), false),
        ("to a group", to([239, 1, 1, 1]), false),
        ("to all", to([255; 4]), false),
        ("nothing", Vec::new(), false),
        ("half a header", from(host)[..19].to_vec(), false),
    ] {
        for report in [Report::NoRoute, Report::TimeExceeded, TOO_BIG] {
            assert_eq!(
                may_be_reported(report, &packet),
                expected,
                "{name} {report:?}"
            );
        }
    }
}

#[test]
fn ipv6_as_rfc_4443_section_2_4() {
    let (host, other) = (0x2001_0DB8 << 96 | 1, 0x2001_0DB8 << 96 | 2);
    let group = 0xFF02 << 112 | 5;
    let of = |kind| v6(host, other, &[], Transport::Icmpv6(icmp(kind)));
    let body = [0; 6];
    let options = Extension::Generic {
        protocol: protocol::DESTINATION_OPTIONS,
        body: &body,
    };
    let long = Extension::Authentication { body: &[0; 14] };
    let piece = |offset| Extension::Fragment {
        offset,
        more: true,
        identification: 9,
    };
    let behind = |extensions: &[Extension<'_>], kind| {
        v6(host, other, extensions, Transport::Icmpv6(icmp(kind)))
    };
    let cut = |len| behind(&[options], 1)[..len].to_vec();
    let to_group = v6(host, group, &[], Transport::Icmpv6(icmp(1)));
    for (name, packet, expected) in [
        ("UDP", v6(host, other, &[], UDP), BOTH),
        ("an echo request", of(128), BOTH),
        ("a solicitation", of(135), BOTH),
        ("unreachable", of(1), NONE),
        ("too big", of(2), NONE),
        ("an unknown error", of(127), NONE),
        ("redirect", of(137), NONE),
        ("an error behind options", behind(&[options; 3], 1), NONE),
        ("an error behind AH", behind(&[long], 1), NONE),
        ("an echo behind AH", behind(&[long], 128), BOTH),
        ("an echo behind too many", behind(&[options; 9], 128), NONE),
        ("an error in a fragment", behind(&[piece(0)], 3), NONE),
        ("a later fragment", behind(&[piece(8)], 3), BOTH),
        ("without a type", of(128)[..40].to_vec(), NONE),
        ("cut in an extension header", cut(44), NONE),
        ("cut behind an extension header", cut(48), NONE),
        ("from nobody", v6(0, other, &[], UDP), NONE),
        ("from loopback", v6(1, other, &[], UDP), NONE),
        ("from a group", v6(group, other, &[], UDP), NONE),
        ("to a group", v6(host, group, &[], UDP), TOO_BIG_ALONE),
        ("an error to a group", to_group, NONE),
        ("half a header", of(128)[..39].to_vec(), NONE),
    ] {
        let found = [Report::TimeExceeded, TOO_BIG].map(|report| may_be_reported(report, &packet));
        assert_eq!(found, expected, "{name}");
    }
}
