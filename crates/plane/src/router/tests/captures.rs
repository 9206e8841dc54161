//! Packets that a capture cut: what is not there is neither made up nor called wrong.

use frame::PortId;

use super::super::*;
use super::bench::Bench;
use super::lab::{A, datagram, header, lab};
use super::model::{Fate, Outcome};
use crate::DropReason;

/// What comes of a frame of which a capture has `len` bytes, and how long that was on the wire.
fn cut(config: &RouterConfig, bytes: &[u8], len: usize) -> (Outcome, u32) {
    Bench::new(config).cut(A, &bytes[..len], bytes.len() as u32)
}

fn sent(outcome: &Outcome) -> Option<&[u8]> {
    match &outcome.fate {
        Fate::Sent(sent) => Some(&sent[0].1),
        _ => None,
    }
}

#[test]
fn a_cut_packet_leaves_as_it_is_and_is_as_long_as_before() {
    let whole = datagram(header("10.9.1.1"));
    for len in [34, 42, 50, 59, 60, 61, 80] {
        let (outcome, wire_len) = cut(&lab(), &whole, len);
        let bytes = sent(&outcome).expect("it leaves");
        assert_eq!((bytes.len(), wire_len), (len, whole.len() as u32), "{len}");
        assert_eq!(bytes[34..], whole[34..len]);
    }
}

#[test]
fn a_tag_makes_it_longer() {
    let mut config = lab();
    config.interfaces[1].tags = InterfaceTags::Vlan(7);
    let whole = datagram(header("10.9.1.1"));
    let (outcome, wire_len) = cut(&config, &whole, 50);
    let bytes = sent(&outcome).expect("it leaves");
    assert_eq!((bytes.len(), wire_len), (54, whole.len() as u32 + 4));
}

#[test]
fn padding_that_was_cut_is_gone() {
    let padded = [datagram(header("10.9.1.1")), vec![0; 20]].concat();
    let (outcome, wire_len) = cut(&lab(), &padded, 50);
    assert_eq!(sent(&outcome).map(<[u8]>::len), Some(50));
    assert_eq!(wire_len, padded.len() as u32 - 20);
}

#[test]
fn what_would_need_the_rest_is_not_done() {
    // A packet that is to be cut into pieces.
    let long = super::lab::frame(
        wire::emit::Network::Ipv4(header("10.9.8.1"), super::lab::DATAGRAM),
        &[7; 1472],
    );
    let (outcome, _) = cut(&lab(), &long, 200);
    assert_eq!(outcome.fate, Fate::Dropped(DropReason::NoFrameRoom));
    // A ping whose checksum cannot be checked.
    let message = wire::emit::Transport::Icmp(wire::emit::Icmp {
        kind: 8,
        code: 0,
        rest: 1,
    });
    let ping = super::lab::frame(
        wire::emit::Network::Ipv4(header("10.0.0.1"), message),
        &[7; 100],
    );
    let (outcome, _) = cut(&lab(), &ping, 80);
    assert_eq!(outcome.fate, Fate::Dropped(DropReason::Local));
    // One that is too big is reported, with what there is of it.
    let mut header = header("10.9.8.1");
    header.dont_fragment = true;
    let long = super::lab::frame(
        wire::emit::Network::Ipv4(header, super::lab::DATAGRAM),
        &[7; 1472],
    );
    let (outcome, _) = cut(&lab(), &long, 200);
    assert_eq!(outcome.fate, Fate::Dropped(DropReason::TooBig));
    let (port, error) = outcome.told.expect("an error");
    assert_eq!((port, error.len()), (PortId(0), 14 + 28 + 186));
}
