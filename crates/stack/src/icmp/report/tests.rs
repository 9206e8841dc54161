//! Errors byte by byte.

use wire::view::IcmpView;
use wire::{IcmpError, checksum, protocol};

use super::*;

const ROUTER_V4: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const ROUTER_V6: IpAddr = IpAddr::V6(std::net::Ipv6Addr::new(0x2001, 0xDB8, 0, 0, 0, 0, 0, 1));

fn about(network: Network<'_>, len: usize) -> Vec<u8> {
    let recipe = Recipe {
        network,
        payload: &vec![0xA5; len],
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).unwrap();
    bytes.split_off(LINK_BYTES)
}

const UDP: Transport<'_> = Transport::Udp {
    src_port: 5,
    dst_port: 7,
};

fn about_v4(tos: u8, len: usize) -> Vec<u8> {
    let header = Ipv4 {
        src: 0xC633_6407,
        dst: 0xCB00_7109,
        tos,
        dont_fragment: true,
        ..Ipv4::default()
    };
    about(Network::Ipv4(header, UDP), len)
}

fn about_v6(len: usize) -> Vec<u8> {
    let header = Ipv6 {
        src: 0x2001_0DB8 << 96 | 7,
        dst: 0x2001_0DB8 << 96 | 9,
        ..Ipv6::default()
    };
    about(Network::Ipv6(header, UDP), len)
}

fn written(report: Report, from: IpAddr, packet: &[u8]) -> Vec<u8> {
    let mut out = vec![0xEE; REPORT_BYTES_MAX];
    let len = write_report(report, from, packet, &mut out).expect("room");
    out.truncate(len);
    out.split_off(LINK_BYTES.min(len))
}

#[test]
fn each_report_has_its_type_code_and_second_word() {
    use Report as R;
    let (short_v4, short_v6) = (about_v4(0, 8), about_v6(8));
    for (report, v4, v6) in [
        (R::NoRoute, (3, 0, 0), (1, 0, 0)),
        (R::Unreachable, (3, 1, 0), (1, 0, 0)),
        (R::Prohibited, (3, 13, 0), (1, 1, 0)),
        (R::HostUnreachable, (3, 1, 0), (1, 3, 0)),
        (R::ProtocolUnreachable { at: 6 }, (3, 2, 0), (4, 1, 6)),
        (R::PortUnreachable, (3, 3, 0), (1, 4, 0)),
        (R::TooBig { mtu: 1400 }, (3, 4, 1400), (2, 0, 1400)),
        (R::TimeExceeded, (11, 0, 0), (3, 0, 0)),
        (R::ParameterProblem { at: 8 }, (12, 0, 8 << 24), (4, 0, 8)),
    ] {
        let packet = written(report, ROUTER_V4, &short_v4);
        let view = Ipv4View::new_checked(&packet[..]).unwrap();
        assert_eq!((view.ttl(), view.protocol()), (64, protocol::ICMP));
        assert!(view.checksum_is_right() && !view.dont_fragment());
        assert_eq!(checksum::checksum(view.payload()), 0);
        let icmp = IcmpView::new_checked(view.payload()).unwrap();
        assert_eq!((icmp.kind(), icmp.code(), icmp.rest()), v4, "{report:?}");
        assert_eq!(icmp.payload(), short_v4, "{report:?}");

        let packet = written(report, ROUTER_V6, &short_v6);
        let view = Ipv6View::new_checked(&packet[..]).unwrap();
        assert_eq!(
            (view.hop_limit(), view.next_header()),
            (64, protocol::ICMPV6)
        );
        let icmp = IcmpView::new_checked(view.payload()).unwrap();
        assert_eq!((icmp.kind(), icmp.code(), icmp.rest()), v6, "{report:?}");
        assert_eq!(icmp.payload(), short_v6, "{report:?}");
    }
}

/// Each row: bytes behind the UDP header, length of the error's packet (RFC 1812 section 4.3.2.3,
/// RFC 4443 section 2.4 c).
#[test]
fn as_much_is_quoted_as_fits() {
    for (len, expected) in [(0, 56), (100, 156), (520, 576), (521, 576), (1472, 576)] {
        let packet = about_v4(0, len);
        let error = written(Report::TimeExceeded, ROUTER_V4, &packet);
        assert_eq!(error.len(), expected, "{len} bytes of IPv4");
        assert_eq!(error[28..], packet[..expected - 28]);
    }
    for (len, expected) in [(0, 96), (1184, 1280), (1185, 1280), (1452, 1280)] {
        let packet = about_v6(len);
        let error = written(Report::TimeExceeded, ROUTER_V6, &packet);
        assert_eq!(error.len(), expected, "{len} bytes of IPv6");
        assert_eq!(error[48..], packet[..expected - 48]);
    }
}

/// RFC 1812 section 4.3.2.5: precedence 6, the type of service of the packet.
#[test]
fn the_type_of_service_is_taken_over_and_the_precedence_is_not() {
    for (tos, expected) in [
        (0, 0xC0),
        (0x10, 0xD0),
        (0xB8, 0xD8),
        (0xE0, 0xC0),
        (0xFF, 0xDE),
    ] {
        let error = written(Report::NoRoute, ROUTER_V4, &about_v4(tos, 8));
        assert_eq!(error[1], expected, "{tos:#x}");
    }
}

#[test]
fn an_error_goes_from_the_router_to_the_source() {
    for (router, packet, source) in [
        (ROUTER_V4, about_v4(0, 8), "198.51.100.7"),
        (ROUTER_V6, about_v6(8), "2001:db8::7"),
    ] {
        let mut frame = vec![0; REPORT_BYTES_MAX];
        let len = write_report(Report::NoRoute, router, &packet, &mut frame).unwrap();
        let kind: [u8; 2] = if router.is_ipv4() {
            [8, 0]
        } else {
            [0x86, 0xDD]
        };
        frame[12..14].copy_from_slice(&kind);
        let error = IcmpError::read(&frame[..len]).expect("an error");
        assert_eq!(
            (error.from, error.about.to_string().as_str()),
            (router, source)
        );
    }
}

#[test]
fn what_cannot_be_written_is_not_written_in_part() {
    let (v4, v6) = (about_v4(0, 8), about_v6(8));
    for (name, from, packet) in [
        ("nothing", ROUTER_V4, &[][..]),
        ("another family", ROUTER_V4, &v6),
        ("another family", ROUTER_V6, &v4),
        ("half a header", ROUTER_V4, &v4[..19]),
        ("half a header", ROUTER_V6, &v6[..39]),
    ] {
        assert_eq!(written(Report::NoRoute, from, packet), [], "{name}");
    }
    let mut short = [0; 60];
    assert!(write_report(Report::NoRoute, ROUTER_V4, &v4, &mut short).is_err());
}
