//! Whose a packet is, by frames made of fields, and whatever the bytes are.

use super::*;
use crate::emit::{Icmp, Ipv4, Network, Recipe, Transport};
use crate::parse;

fn frame(network: Network<'_>, payload: &[u8]) -> Vec<u8> {
    let recipe = Recipe {
        network,
        payload,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

fn udp() -> Vec<u8> {
    let ip = Ipv4 {
        src: 1,
        dst: 2,
        ..Ipv4::default()
    };
    let ports = Transport::Udp {
        src_port: 7,
        dst_port: 9,
    };
    frame(Network::Ipv4(ip, ports), &[0; 64])
}

fn of(bytes: &[u8]) -> Follow {
    follow(bytes, &parse(bytes, bytes.len()))
}

#[test]
fn errors_are_of_what_they_quote() {
    let sent = udp();
    let ip = Ipv4 {
        src: 3,
        dst: 1,
        ..Ipv4::default()
    };
    let error = |kind, quote: &[u8]| {
        let icmp = Icmp {
            kind,
            code: 1,
            rest: 0,
        };
        frame(Network::Ipv4(ip, Transport::Icmp(icmp)), quote)
    };
    let key = FlowKey::v4(1, 2, 7, 9, protocol::UDP);
    assert_eq!(of(&sent), Follow::Of(key));
    assert_eq!(of(&error(3, &sent[14..14 + 28])), Follow::Error(key));
    assert_eq!(of(&error(3, &sent[14..14 + 20])), Follow::None);
    assert_eq!(of(&error(13, &sent[14..14 + 28])), Follow::None);
    let echo = FlowKey::v4(3, 1, 0, 0, protocol::ICMP);
    assert_eq!(of(&error(8, &[])), Follow::Of(echo));
    assert_eq!(of(&error(0, &[])), Follow::Answer(echo));
}

#[test]
fn pieces_are_known_by_their_identification() {
    let mut first = udp();
    (first[18], first[19], first[20]) = (0xAB, 0xCD, 0x20);
    let mut later = first.clone();
    later[21] = 9;
    let of_first = of(&first);
    let Follow::First { of: key, pieces } = of_first else {
        panic!("{of_first:?}");
    };
    assert_eq!(key, FlowKey::v4(1, 2, 7, 9, protocol::UDP));
    assert_eq!(pieces, FlowKey::v4(1, 2, 0, 0xABCD, PIECES));
    assert_eq!(of(&later), Follow::Later(pieces));
}

#[test]
fn any_bytes_give_an_answer() {
    let sent = udp();
    for len in 0..sent.len() {
        for value in [0, 1, 58, 0x45, 0x60, 0xFF] {
            for place in [14, 20, 21, 23, 34] {
                let mut bytes = sent[..len].to_vec();
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = value;
                }
                of(&bytes);
            }
        }
    }
}
