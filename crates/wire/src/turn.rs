//! Sending a frame back to where it came from: its addresses change places.
//!
//! Source and destination are exchanged in Ethernet, IPv4 or IPv6, and the ports of UDP and TCP.
//! Sums of 16-bit words do not depend on their order, so every checksum stays right. What is
//! something else keeps all but its MAC addresses.

use crate::ether_type::{IPV4, IPV6, is_vlan};
use crate::protocol::{TCP, UDP};

/// Bytes of a MAC address.
const MAC: usize = 6;
/// More VLAN tags than these are not looked through.
const TAGS_MAX: usize = 4;

/// Exchanges the addresses of a frame in place; fields that are not there whole are left alone.
///
/// Extension headers of IPv6 are not looked through: ports behind them stay as they are.
pub fn turn_around(frame: &mut [u8]) {
    exchange(frame, 0, MAC);
    let mut at = 2 * MAC;
    for _ in 0..=TAGS_MAX {
        let Some(ether_type) = word(frame, at) else {
            return;
        };
        at += 2;
        match ether_type {
            IPV4 => return turn_v4(frame, at),
            IPV6 => return turn_v6(frame, at),
            tag if is_vlan(tag) => at += 2,
            _ => return,
        }
    }
}

fn turn_v4(frame: &mut [u8], at: usize) {
    let (Some(&first), Some(&protocol)) = (frame.get(at), frame.get(at + 9)) else {
        return;
    };
    exchange(frame, at + 12, 4);
    // Only the first fragment has ports: offset 0.
    let fragment = word(frame, at + 6).map_or(0, |word| word & 0x1fff);
    if fragment == 0 {
        turn_ports(frame, at + usize::from(first & 0x0f) * 4, protocol);
    }
}

fn turn_v6(frame: &mut [u8], at: usize) {
    let Some(&next_header) = frame.get(at + 6) else {
        return;
    };
    exchange(frame, at + 8, 16);
    turn_ports(frame, at + 40, next_header);
}

fn turn_ports(frame: &mut [u8], at: usize, protocol: u8) {
    if matches!(protocol, UDP | TCP) {
        exchange(frame, at, 2);
    }
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    let bytes = frame.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Two fields of `len` bytes, one behind the other, change places.
#[inline]
fn exchange(frame: &mut [u8], at: usize, len: usize) {
    if let Some(both) = frame.get_mut(at..at + 2 * len) {
        let (first, second) = both.split_at_mut(len);
        first.swap_with_slice(second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v4(tags: usize) -> Vec<u8> {
        let mut frame = vec![1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2];
        for _ in 0..tags {
            frame.extend([0x81, 0x00, 0x00, 0x05]);
        }
        frame.extend([0x08, 0x00]);
        let header = [0x45, 0, 0, 40, 0, 0, 0, 0, 64, 17, 0xaa, 0xbb];
        frame.extend(header);
        frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x11, 0x11, 0x22, 0x22, 0, 20, 0xcc, 0xdd]);
        frame.extend([9; 12]);
        frame
    }

    #[test]
    fn addresses_and_ports_change_places_and_nothing_else_does() {
        for tags in 0..4 {
            let sent = v4(tags);
            let mut back = sent.clone();
            turn_around(&mut back);
            let ip = 14 + 4 * tags;
            assert_eq!(&back[..12], [2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1]);
            assert_eq!(back[12..ip + 12], sent[12..ip + 12]);
            assert_eq!(back[ip + 12..ip + 20], [10, 0, 0, 2, 10, 0, 0, 1]);
            assert_eq!(back[ip + 20..ip + 24], [0x22, 0x22, 0x11, 0x11]);
            assert_eq!(back[ip + 24..], sent[ip + 24..]);
            turn_around(&mut back);
            assert_eq!(back, sent, "twice is not at all");
        }
    }

    #[test]
    fn fragments_have_no_ports_and_v6_has_long_addresses() {
        let mut fragment = v4(0);
        fragment[14 + 7] = 1;
        let sent = fragment.clone();
        turn_around(&mut fragment);
        assert_eq!(fragment[34..38], sent[34..38]);
        let mut v6 = vec![0; 14 + 40 + 8];
        (v6[12], v6[13], v6[14 + 6], v6[14 + 8], v6[14 + 24]) = (0x86, 0xdd, TCP, 7, 8);
        v6[54] = 1;
        turn_around(&mut v6);
        assert_eq!((v6[14 + 8], v6[14 + 24], v6[54], v6[56]), (8, 7, 0, 1));
    }

    #[test]
    fn any_prefix_of_a_frame_is_no_panic() {
        let whole = v4(2);
        for len in 0..whole.len() {
            turn_around(&mut whole[..len].to_vec());
        }
        // A header length that points behind the end.
        let mut odd = v4(0);
        odd[14] = 0x4f;
        odd.truncate(40);
        turn_around(&mut odd);
    }
}
