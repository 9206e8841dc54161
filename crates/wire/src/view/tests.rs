//! Views: what they refuse, what they give on lying bytes, setters against getters.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::emit::{Ipv4, Network, Recipe, Tag, Tcp, Transport};
use crate::{Malformed, parse};

fn tcp_frame(tags: &[Tag]) -> Vec<u8> {
    let header = Tcp {
        src_port: 1,
        dst_port: 2,
        sequence: 3,
        acknowledgment: 4,
        flags: 0x12,
        window: 5,
        options: &[2, 4, 5, 0xB4],
    };
    let ip = Ipv4 {
        src: 6,
        dst: 7,
        ttl: 8,
        tos: 9,
        identification: 10,
        ..Ipv4::default()
    };
    let network = Network::Ipv4(
        Ipv4 {
            dont_fragment: true,
            ..ip
        },
        Transport::Tcp(header),
    );
    let recipe = Recipe {
        tags,
        network,
        payload: b"abc",
        len_min: 90,
        ..Recipe::default()
    };
    let mut frame = vec![0; recipe.frame_len()];
    assert_eq!(recipe.emit(&mut frame), Ok(frame.len()));
    frame
}

#[test]
fn fields_read_as_they_were_written() {
    let frame = tcp_frame(&[Tag {
        tpid: 0x8100,
        tci: 0xB123,
    }]);
    let link = EthernetView::new_checked(&frame).expect("sound");
    assert_eq!((link.dst().0[5], link.src().0[5]), (2, 1));
    let packet = Ipv4View::new_checked(&link.payload()[Tag::BYTES..]).expect("sound");
    assert_eq!(
        (packet.src(), packet.dst(), packet.ttl(), packet.tos()),
        (6, 7, 8, 9)
    );
    assert_eq!((packet.identification(), packet.fragment_offset()), (10, 0));
    assert!(packet.dont_fragment() && !packet.more_fragments());
    let segment = TcpView::new_checked(packet.payload()).expect("sound");
    assert_eq!((segment.src_port(), segment.dst_port()), (1, 2));
    assert_eq!((segment.sequence(), segment.acknowledgment()), (3, 4));
    assert_eq!(
        (segment.flags(), segment.window(), segment.header_len()),
        (0x12, 5, 24)
    );
    assert_eq!(
        (segment.options(), segment.payload()),
        (&[2, 4, 5, 0xB4][..], &b"abc"[..])
    );
}

#[test]
fn setters_write_what_getters_and_parse_read() {
    let mut frame = tcp_frame(&[]);
    let mut packet = Ipv4View::new_checked(&mut frame[14..]).expect("sound");
    packet.set_src(0x0A00_0001);
    packet.set_dst(0x0A00_0002);
    packet.set_ttl(1);
    assert!(!packet.checksum_is_right());
    packet.fill_checksum();
    assert!(packet.checksum_is_right());
    let parsed = parse(&frame, frame.len());
    assert_eq!(
        (parsed.src_v4(), parsed.dst_v4()),
        (Some(0x0A00_0001), Some(0x0A00_0002))
    );
    assert_eq!(parsed.fault, None);
}

#[test]
fn short_headers_are_refused_by_name() {
    let frame = tcp_frame(&[]);
    let packet = &frame[14..];
    assert_eq!(
        EthernetView::new_checked(&frame[..13]),
        Err(Malformed::EthernetTruncated)
    );
    assert_eq!(ArpView::new_checked([0; 7]), Err(Malformed::ArpTruncated));
    assert_eq!(ArpView::new_checked([0; 8]), Ok(None));
    assert_eq!(
        Ipv4View::new_checked(&packet[..19]),
        Err(Malformed::Ipv4HeaderTruncated)
    );
    assert_eq!(
        Ipv4View::new_checked([0x4F; 40]),
        Err(Malformed::Ipv4HeaderTruncated)
    );
    assert_eq!(
        Ipv4View::new_checked([0x44; 40]),
        Err(Malformed::Ipv4HeaderLength)
    );
    assert_eq!(
        Ipv4View::new_checked([0x65; 40]),
        Err(Malformed::Ipv4Version)
    );
    assert_eq!(
        Ipv6View::new_checked([0x60; 39]),
        Err(Malformed::Ipv6HeaderTruncated)
    );
    assert_eq!(
        Ipv6View::new_checked([0x40; 40]),
        Err(Malformed::Ipv6Version)
    );
    assert_eq!(UdpView::new_checked([0; 7]), Err(Malformed::UdpTruncated));
    assert_eq!(
        TcpView::new_checked([0x50; 19]),
        Err(Malformed::TcpTruncated)
    );
    assert_eq!(
        TcpView::new_checked([0x40; 20]),
        Err(Malformed::TcpDataOffset)
    );
    assert_eq!(
        TcpView::new_checked([0x60; 20]),
        Err(Malformed::TcpDataOffset)
    );
    assert_eq!(IcmpView::new_checked([0; 7]), Err(Malformed::IcmpTruncated));
}

proptest! {
    #[test]
    fn no_bytes_make_an_accessor_panic(bytes in vec(any::<u8>(), 0..100), version in 4u8..7) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = version << 4 | *first & 15;
        }
        if let Ok(view) = Ipv4View::new_checked(&bytes) {
            let _ = (view.options(), view.payload(), view.checksum_is_right());
            prop_assert!(view.payload().len() <= bytes.len());
        }
        if let Ok(view) = Ipv6View::new_checked(&bytes) {
            let _ = (view.payload(), view.flow_label(), view.traffic_class(), view.dst());
        }
        if let Ok(view) = TcpView::new_checked(&bytes) {
            let _ = (view.options(), view.payload(), view.window());
        }
        if let Ok(view) = UdpView::new_checked(&bytes) {
            let _ = (view.payload(), view.checksum());
        }
        if let Ok(Some(view)) = ArpView::new_checked(&bytes) {
            let _ = (view.target(), view.target_mac());
        }
    }
}
