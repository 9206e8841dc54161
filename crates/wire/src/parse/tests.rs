//! The fast path and the general walk give the same answer on everything.

use proptest::collection::vec;
use proptest::prelude::*;

use super::{fast, parse, parse_general, parse_into};
use crate::emit::{Icmp, Ipv4, Ipv6, Network, Recipe, Tag, Tcp, Transport};
use crate::{Family, Fragment, Parsed};

fn tags() -> impl Strategy<Value = Vec<Tag>> {
    let tpid = prop::sample::select(vec![0x8100u16, 0x88A8, 0x9100, 0x9200]);
    vec(
        (tpid, any::<u16>()).prop_map(|(tpid, tci)| Tag { tpid, tci }),
        0..4,
    )
}

fn transport() -> impl Strategy<Value = Transport<'static>> {
    let options = prop::sample::select(vec![&[][..], &[1; 4], &[1; 8], &[1; 40]]);
    (0u8..7, any::<(u16, u16)>(), options).prop_map(|(kind, (src_port, dst_port), options)| {
        match kind {
            0..3 => Transport::Udp { src_port, dst_port },
            3..6 => Transport::Tcp(Tcp {
                src_port,
                dst_port,
                options,
                ..Tcp::default()
            }),
            _ => Transport::Icmp(Icmp::default()),
        }
    })
}

fn network() -> impl Strategy<Value = Network<'static>> {
    (transport(), any::<bool>(), any::<(u128, u128)>()).prop_map(|(transport, six, (src, dst))| {
        if six {
            return Network::Ipv6(
                Ipv6 {
                    src,
                    dst,
                    ..Ipv6::default()
                },
                transport,
            );
        }
        let (src, dst) = (src as u32, dst as u32);
        Network::Ipv4(
            Ipv4 {
                src,
                dst,
                ..Ipv4::default()
            },
            transport,
        )
    })
}

/// Frames of the kinds the fast path takes, and near misses.
fn seed() -> impl Strategy<Value = Vec<u8>> {
    let payload = prop_oneof![Just(Vec::new()), vec(any::<u8>(), 0..40)];
    let len_min = prop::sample::select(vec![0usize, 60]);
    (tags(), network(), payload, len_min).prop_map(|(tags, network, payload, len_min)| {
        let recipe = Recipe {
            tags: &tags,
            network,
            payload: &payload,
            ..Recipe::default()
        };
        let mut frame = vec![0; recipe.frame_len()];
        assert_eq!(recipe.emit(&mut frame), Ok(frame.len()));
        frame.resize(frame.len().max(len_min), 0);
        frame
    })
}

/// A change of one byte from the ether type on: a bit, a small step, or anything.
fn change() -> impl Strategy<Value = (usize, u8, u8)> {
    (12usize..85, 0u8..3, any::<u8>())
}

fn apply(frame: &mut [u8], (at, kind, byte): (usize, u8, u8)) {
    if let Some(place) = frame.get_mut(at) {
        *place = match kind {
            0 => *place ^ 1 << (byte % 8),
            1 => place.wrapping_add(byte % 5).wrapping_sub(2),
            _ => byte,
        };
    }
}

/// Lengths on both sides of the frame's own.
fn original_len() -> impl Strategy<Value = isize> {
    prop_oneof![3 => Just(0isize), 2 => -3isize..4, 1 => -60isize..60]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30_000))]

    #[test]
    fn both_paths_agree(
        frame in seed(),
        changes in vec(change(), 0..3),
        cut in proptest::option::of(0usize..100),
        beyond in original_len(),
    ) {
        let mut frame = frame;
        for change in changes {
            apply(&mut frame, change);
        }
        let original = frame.len().saturating_add_signed(beyond);
        frame.truncate(cut.unwrap_or(usize::MAX));
        let general = parse_general(&frame, original);
        prop_assert_eq!(parse(&frame, original), general);
        let mut placed = Parsed { src: 1, snapped: true, ..Parsed::default() };
        let plain = parse_into(&frame, original, &mut placed);
        prop_assert_eq!(placed, general);
        let fast = fast::untagged_v4(&frame, original);
        prop_assert_eq!(plain.is_some(), fast.is_some());
        if let Some(plain) = plain {
            prop_assert_eq!((Some(plain.src), Some(plain.dst)), (placed.src_v4(), placed.dst_v4()));
            prop_assert_eq!(plain.dst_port, placed.dst_port);
            let sound = placed.readable.ports() && placed.fault.is_none();
            prop_assert!(sound && placed.vlan_tags == 0 && placed.fragment == Fragment::Whole);
        }
    }

    #[test]
    fn both_paths_agree_on_any_bytes(bytes in vec(any::<u8>(), 0..120), original in 0usize..200) {
        prop_assert_eq!(parse(&bytes, original), parse_general(&bytes, original));
    }

    #[test]
    fn both_paths_agree_on_fragments(
        (src, dst) in any::<(u32, u32)>(),
        protocol in prop_oneof![Just(6u8), Just(17), any::<u8>()],
        (start, more) in (0u16..8192, any::<bool>()),
        payload in vec(any::<u8>(), 0..60),
        changes in vec(change(), 0..2),
        cut in proptest::option::of(0usize..100),
        beyond in original_len(),
    ) {
        // Half of them near the beginning, where a transport header may be.
        let start = if start < 4096 { start % 8 } else { start };
        let mut frame = vec![0; 34];
        (frame[12], frame[14], frame[23]) = (8, 0x45, protocol);
        frame[16..18].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
        frame[20..22].copy_from_slice(&(start | u16::from(more) << 13).to_be_bytes());
        frame[26..30].copy_from_slice(&src.to_be_bytes());
        frame[30..34].copy_from_slice(&dst.to_be_bytes());
        frame.extend_from_slice(&payload);
        for change in changes {
            apply(&mut frame, change);
        }
        let original = frame.len().saturating_add_signed(beyond);
        frame.truncate(cut.unwrap_or(usize::MAX));
        prop_assert_eq!(parse(&frame, original), parse_general(&frame, original));
    }

    #[test]
    fn sound_first_fragments_take_the_fast_path(
        protocol in prop::sample::select(vec![6u8, 17]),
        payload in vec(any::<u8>(), 0..60),
    ) {
        let mut frame = vec![0; 34];
        (frame[12], frame[14], frame[20], frame[23]) = (8, 0x45, 0x20, protocol);
        frame[16..18].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
        frame.extend_from_slice(&payload);
        let general = parse_general(&frame, frame.len());
        let sound = general.fault.is_none();
        prop_assert_eq!(fast::first_ipv4(&frame, frame.len()), sound.then_some(general));
    }

    #[test]
    fn sound_udp_and_tcp_take_the_fast_path(frame in seed()) {
        let len = frame.len();
        let general = parse_general(&frame, len);
        let fast = fast::untagged(&frame, len).or_else(|| fast::tagged(&frame, len));
        let plain = general.readable.ports() && general.vlan_tags < 3;
        prop_assert_eq!(fast, plain.then_some(general));
        let untagged = plain && general.vlan_tags == 0;
        let of = |family| (untagged && general.family == family).then_some(general);
        prop_assert_eq!(fast::untagged_v4(&frame, len), of(Family::V4));
        prop_assert_eq!(fast::untagged_v6(&frame, len), of(Family::V6));
    }
}
