//! A fragment as a piece of its datagram: which one, from where to where, and how to know it again.

use crate::follow::fragment_header;
use crate::{Family, Fragment, Parsed, Readable, protocol};

/// What names a datagram in pieces: RFC 791 section 2.3 and RFC 8200 section 4.5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct DatagramKey {
    /// Source address; an IPv4 address in the low 32 bits.
    pub src: u128,
    /// Destination address.
    pub dst: u128,
    /// The identification: 16 bits of IPv4, 32 of IPv6.
    pub identification: u32,
    /// The protocol of IPv4, which numbers datagrams of each by itself; 0 for IPv6, which does not.
    pub protocol: u8,
    /// The addresses' family.
    pub family: Family,
}

/// One fragment. Of a datagram it holds the bytes `start..end` behind the headers that all
/// fragments repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Whose it is.
    pub key: DatagramKey,
    /// Bytes of the datagram before it: a multiple of 8.
    pub start: u16,
    /// The byte behind its last.
    pub end: u16,
    /// No piece follows behind it.
    pub last: bool,
    /// Drawn from its first bytes: pieces that differ there differ in it, nearly always.
    pub mark: u32,
    /// Bytes from the network header to what it holds.
    pub header: u16,
}

impl Piece {
    /// Of a sound fragment whose addresses were read. `None` for whole packets, for what is
    /// malformed or cut by a capture before its data, and for a fragment of a fragment.
    #[must_use]
    #[inline]
    pub fn of(bytes: &[u8], parsed: &Parsed) -> Option<Self> {
        let sound = parsed.fault.is_none() && parsed.readable.has(Readable::ADDRESSES);
        if parsed.fragment == Fragment::Whole || !sound {
            return None;
        }
        match parsed.family {
            Family::V4 => v4(bytes, parsed),
            Family::V6 => v6(bytes, parsed),
            Family::None => None,
        }
    }

    /// Whether it is the first, which has the transport header.
    #[must_use]
    #[inline]
    pub fn is_first(&self) -> bool {
        self.start == 0
    }
}

fn v4(bytes: &[u8], parsed: &Parsed) -> Option<Piece> {
    let packet = bytes.get(usize::from(parsed.l3_offset)..)?;
    let head = packet.first_chunk::<20>()?;
    let word = u16::from_be_bytes([head[6], head[7]]);
    let header = u16::from(head[0] & 15) * 4;
    let start = (word & 0x1FFF) * 8;
    Some(Piece {
        key: DatagramKey {
            src: parsed.src,
            dst: parsed.dst,
            identification: u32::from(u16::from_be_bytes([head[4], head[5]])),
            protocol: head[9],
            family: Family::V4,
        },
        start,
        // The parser has held it against the greatest length.
        end: start.checked_add(parsed.l3_len as u16 - header)?,
        last: word & 0x2000 == 0,
        mark: mark(packet.get(usize::from(header)..)?),
        header,
    })
}

fn v6(bytes: &[u8], parsed: &Parsed) -> Option<Piece> {
    let l3 = usize::from(parsed.l3_offset);
    let at = fragment_header(bytes, l3)?;
    let head = bytes.get(at..)?.first_chunk::<8>()?;
    let word = u16::from_be_bytes([head[2], head[3]]);
    let (start, more) = (word & 0xFFF8, word & 1 != 0);
    let nested = head[0] == protocol::FRAGMENT && start == 0;
    if nested || (start == 0 && !more) {
        return None;
    }
    let header = u16::try_from(at + 8 - l3).ok()?;
    let len = u16::try_from(parsed.l3_len.checked_sub(u32::from(header))?).ok()?;
    Some(Piece {
        key: DatagramKey {
            src: parsed.src,
            dst: parsed.dst,
            identification: u32::from_be_bytes([head[4], head[5], head[6], head[7]]),
            protocol: 0,
            family: Family::V6,
        },
        start,
        end: start.checked_add(len)?,
        last: !more,
        mark: mark(bytes.get(at + 8..)?),
        header,
    })
}

/// Of the first 16 bytes: in a first piece the transport header, with its ports, its length and
/// its checksum. They are in a line that the headers have brought.
#[inline]
fn mark(data: &[u8]) -> u32 {
    let mut words = [0_u8; 16];
    let (low, high) = match data.first_chunk::<16>() {
        Some(&first) => halves(first),
        None => {
            words[..data.len()].copy_from_slice(data);
            halves(words)
        }
    };
    let product =
        u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD1B5_4A32_D192_ED03);
    let folded = product as u64 ^ (product >> 64) as u64;
    (folded ^ folded >> 32) as u32
}

#[inline]
fn halves(bytes: [u8; 16]) -> (u64, u64) {
    let word = u128::from_le_bytes(bytes);
    (word as u64, (word >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn ipv4(word: u16, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; 34];
        frame[12] = 8;
        frame[14] = 0x45;
        frame[16..18].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
        frame[18..20].copy_from_slice(&0xABCD_u16.to_be_bytes());
        frame[20..22].copy_from_slice(&word.to_be_bytes());
        frame[23] = protocol::UDP;
        frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend_from_slice(payload);
        frame
    }

    fn ipv6(word: u16, next: u8, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; 14 + 48];
        frame[12..14].copy_from_slice(&[0x86, 0xDD]);
        frame[14] = 0x60;
        frame[18..20].copy_from_slice(&(8 + payload.len() as u16).to_be_bytes());
        frame[20] = protocol::FRAGMENT;
        frame[37] = 1;
        frame[53] = 2;
        frame[54] = next;
        frame[56..58].copy_from_slice(&word.to_be_bytes());
        frame[58..62].copy_from_slice(&[1, 2, 3, 4]);
        frame.extend_from_slice(payload);
        frame
    }

    fn piece(frame: &[u8]) -> Option<Piece> {
        Piece::of(frame, &parse(frame, frame.len()))
    }

    #[test]
    fn pieces_of_both_families() {
        let found = piece(&ipv4(0x2003, &[7; 16])).expect("a piece");
        assert_eq!((found.start, found.end, found.last), (24, 40, false));
        assert_eq!(found.key.identification, 0xABCD);
        assert_eq!((found.key.protocol, found.header), (protocol::UDP, 20));
        let found = piece(&ipv6(24, protocol::UDP, &[7; 15])).expect("a piece");
        assert_eq!((found.start, found.end, found.last), (24, 39, true));
        assert_eq!(found.key.identification, 0x0102_0304);
        assert_eq!((found.key.protocol, found.header), (0, 48));
    }

    #[test]
    fn whole_packets_atomic_fragments_and_fragments_of_fragments_are_none() {
        let udp = [0, 1, 0, 2, 0, 16, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9];
        assert_eq!(piece(&ipv4(0, &udp)), None);
        assert_eq!(piece(&ipv6(0, protocol::UDP, &udp)), None);
        assert_eq!(piece(&ipv6(1, protocol::FRAGMENT, &udp)), None);
        assert!(piece(&ipv6(1, protocol::UDP, &udp)).is_some_and(|piece| piece.is_first()));
        // Every cut of a capture.
        let frame = ipv6(1, protocol::UDP, &udp);
        for len in 0..frame.len() {
            let _ = Piece::of(&frame[..len], &parse(&frame[..len], frame.len()));
        }
    }

    #[test]
    fn other_bytes_have_another_mark() {
        let of = |byte| piece(&ipv4(0x2001, &[byte; 24])).map(|piece| piece.mark);
        let marks: std::collections::HashSet<_> = (0..=255).map(of).collect();
        assert_eq!(marks.len(), 256);
    }
}
