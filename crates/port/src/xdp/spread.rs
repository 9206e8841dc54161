//! Which of a worker's sockets a frame leaves by.

use wire::ether_type;

/// Both addresses of Ethernet.
const ADDRESSES_BYTES: usize = 12;
const TAG_BYTES: usize = 4;
/// Tags that are looked behind.
const TAGS_MAX: usize = 2;

/// The place of a frame's socket among `several`: that of all frames of its two addresses, so that
/// each flow keeps its order, fragments without ports among it.
pub(super) fn place(bytes: &[u8], several: usize) -> usize {
    // The upper half of the product is below `several`, and every bit of the hash counts.
    ((u64::from(hash(addresses(bytes))) * several as u64) >> 32) as usize
}

/// The addresses of IP, else those of Ethernet.
fn addresses(bytes: &[u8]) -> &[u8] {
    let mut at = ADDRESSES_BYTES;
    for _ in 0..=TAGS_MAX {
        let packet = at + 2;
        let addresses = match ether_type_at(bytes, at) {
            Some(ether_type::IPV4) => packet + 12..packet + 20,
            Some(ether_type::IPV6) => packet + 8..packet + 40,
            Some(tag) if ether_type::is_vlan(tag) => {
                at += TAG_BYTES;
                continue;
            }
            _ => break,
        };
        if let Some(addresses) = bytes.get(addresses) {
            return addresses;
        }
        break;
    }
    &bytes[..bytes.len().min(ADDRESSES_BYTES)]
}

fn ether_type_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// Four bytes at a time, by an odd constant near 2^64 divided by the golden ratio. Whoever knows it
/// can have many flows leave by one socket, as with one queue; more is not to be had by it.
fn hash(bytes: &[u8]) -> u32 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = 0_u64;
    for chunk in bytes.chunks(4) {
        let word = chunk
            .iter()
            .fold(0, |word, &byte| word << 8 | u64::from(byte));
        state = (state ^ word).wrapping_mul(SPREAD);
        state ^= state >> 29;
    }
    (state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame with these tags before an IPv4 or IPv6 packet whose every other byte is `filler`.
    fn frame(tags: usize, kind: u16, addresses: &[u8], filler: u8) -> Vec<u8> {
        let before = if kind == ether_type::IPV4 { 12 } else { 8 };
        let mut bytes = vec![filler; ADDRESSES_BYTES];
        for _ in 0..tags {
            bytes.extend(ether_type::VLAN.to_be_bytes());
            bytes.extend([filler; 2]);
        }
        bytes.extend(kind.to_be_bytes());
        bytes.extend(vec![filler; before]);
        bytes.extend(addresses);
        bytes.extend([filler; 20]);
        bytes
    }

    #[test]
    fn a_flow_has_one_place_whatever_else_is_in_its_frames() {
        for (kind, len) in [(ether_type::IPV4, 8), (ether_type::IPV6, 32)] {
            for flow in 0..50_u8 {
                let addresses = vec![flow; len];
                let expect = place(&frame(0, kind, &addresses, 0), 7);
                for (tags, filler) in [(0, 1), (0, 255), (1, 0), (2, 9)] {
                    let other = frame(tags, kind, &addresses, filler);
                    assert_eq!(place(&other, 7), expect, "{tags} tags");
                }
            }
        }
    }

    #[test]
    fn flows_are_spread_evenly() {
        for several in [2, 3, 8] {
            let mut counts = vec![0_u32; several];
            for flow in 0..10_000_u32 {
                let [_, _, c, d] = flow.to_be_bytes();
                let addresses = [10, 0, c, d, 10, 1, 0, 1];
                counts[place(&frame(0, ether_type::IPV4, &addresses, 0), several)] += 1;
            }
            let fair = 10_000 / several as u32;
            let near = |&count: &u32| count.abs_diff(fair) < fair / 5;
            assert!(counts.iter().all(near), "{counts:?}");
        }
    }

    #[test]
    fn any_bytes_have_a_place() {
        let whole = frame(2, ether_type::IPV6, &[3; 32], 0x81);
        for end in 0..whole.len() {
            assert!(place(&whole[..end], 5) < 5);
        }
        assert!(place(&[0x81; 64], 3) < 3);
    }
}
