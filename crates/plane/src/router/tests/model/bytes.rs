//! Bytes of packets, one field after the other.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wire::Malformed;

use super::header_is_right;
use crate::DropReason;

/// A packet that is as long as it says.
pub(super) struct Ip {
    /// The interface that it came by.
    pub(super) from: usize,
    pub(super) is_v4: bool,
    pub(super) packet: Vec<u8>,
    /// Bytes of its header, options included.
    pub(super) header: usize,
    pub(super) hops: u8,
    pub(super) protocol: u8,
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
}

impl Ip {
    pub(super) fn read(kind: u16, bytes: &[u8]) -> Result<Self, DropReason> {
        match kind {
            0x0800 => Self::read_v4(bytes),
            0x86DD => Self::read_v6(bytes).map_err(DropReason::Malformed),
            _ => Err(DropReason::NonIp),
        }
    }

    fn read_v4(bytes: &[u8]) -> Result<Self, DropReason> {
        if bytes.len() < 20 {
            return Err(DropReason::Malformed(Malformed::Ipv4HeaderTruncated));
        }
        if bytes[0] / 16 != 4 {
            return Err(DropReason::Malformed(Malformed::Ipv4Version));
        }
        let header = usize::from(bytes[0] % 16) * 4;
        if header < 20 {
            return Err(DropReason::Malformed(Malformed::Ipv4HeaderLength));
        }
        if header > bytes.len() {
            return Err(DropReason::Malformed(Malformed::Ipv4HeaderTruncated));
        }
        if !header_is_right(bytes) {
            return Err(DropReason::HeaderChecksum);
        }
        let len = usize::from(bytes[2]) * 256 + usize::from(bytes[3]);
        if len < header {
            return Err(DropReason::Malformed(Malformed::Ipv4LengthBelowHeader));
        }
        if len > bytes.len() {
            return Err(DropReason::Malformed(Malformed::Ipv4LengthBeyondFrame));
        }
        let address =
            |at: usize| Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]);
        Ok(Self {
            from: 0,
            is_v4: true,
            packet: bytes[..len].to_vec(),
            header,
            hops: bytes[8],
            protocol: bytes[9],
            src: address(12).into(),
            dst: address(16).into(),
        })
    }

    fn read_v6(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() < 40 {
            return Err(Malformed::Ipv6HeaderTruncated);
        }
        if bytes[0] / 16 != 6 {
            return Err(Malformed::Ipv6Version);
        }
        let len = 40 + usize::from(bytes[4]) * 256 + usize::from(bytes[5]);
        if len > bytes.len() {
            return Err(Malformed::Ipv6LengthBeyondFrame);
        }
        let address =
            |at: usize| Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[at..at + 16]).unwrap());
        Ok(Self {
            from: 0,
            is_v4: false,
            packet: bytes[..len].to_vec(),
            header: 40,
            hops: bytes[7],
            protocol: bytes[6],
            src: address(8).into(),
            dst: address(24).into(),
        })
    }

    /// Whether there is a source route; or where the options are malformed.
    pub(super) fn options(&self) -> Result<bool, u8> {
        let mut at = 20;
        while self.is_v4 && at < self.header {
            match self.packet[at] {
                0 => return Ok(false),
                1 => at += 1,
                131 | 137 => return Ok(true),
                _ if at + 1 == self.header => return Err(at as u8),
                _ => {
                    let len = usize::from(self.packet[at + 1]);
                    if len < 2 || at + len > self.header {
                        return Err(at as u8);
                    }
                    at += len;
                }
            }
        }
        Ok(false)
    }

    pub(super) fn is_fragment(&self) -> bool {
        match self.is_v4 {
            true => self.packet[6] & 0x3F != 0 || self.packet[7] != 0,
            false => self.protocol == 44,
        }
    }

    /// Where its data ends in the datagram that it is a fragment of.
    pub(super) fn end_in_datagram(&self) -> usize {
        let offset = usize::from(self.packet[6] & 0x1F) * 256 + usize::from(self.packet[7]);
        offset * 8 + self.packet.len() - self.header
    }

    /// It is a fragment, and not the first.
    pub(super) fn is_later_fragment(&self) -> bool {
        self.is_v4 && (self.packet[6] & 0x1F != 0 || self.packet[7] != 0)
    }

    /// The sum over a message, with the addresses where ICMP has them.
    pub(super) fn pseudo_sum(&self, message: &[u8]) -> u16 {
        match self.is_v4 {
            true => sum(message),
            false => sum(&[
                pseudo(self.src, self.dst, 58, message.len()),
                message.to_vec(),
            ]
            .concat()),
        }
    }

    pub(super) fn is_right_udp(&self) -> bool {
        let datagram = &self.packet[self.header..];
        if datagram.len() < 8 {
            return false;
        }
        let len = usize::from(datagram[4]) * 256 + usize::from(datagram[5]);
        if len < 8 || len > datagram.len() {
            return false;
        }
        let has_none = self.is_v4 && datagram[6..8] == [0, 0];
        let whole = [
            pseudo(self.src, self.dst, 17, len),
            datagram[..len].to_vec(),
        ]
        .concat();
        has_none || sum(&whole) == 0xFFFF
    }

    /// The packet as the next hop gets it.
    pub(super) fn one_hop_on(&self) -> Vec<u8> {
        let mut packet = self.packet.clone();
        match self.is_v4 {
            true => {
                packet[8] -= 1;
                with_header_sum(&mut packet);
            }
            false => packet[7] -= 1,
        }
        packet
    }
}

/// Cuts a packet of IPv4 (RFC 791 section 3.2).
pub(super) fn cut(packet: &[u8], mtu: usize) -> Vec<Vec<u8>> {
    let header = usize::from(packet[0] % 16) * 4;
    let (flags, offset) = (
        packet[6] & 0xE0,
        u16::from_be_bytes([packet[6] & 0x1F, packet[7]]),
    );
    let part = (mtu - header) / 8 * 8;
    let chunks: Vec<&[u8]> = packet[header..].chunks(part).collect();
    let piece = |(at, data): (usize, &&[u8])| {
        let mut piece = [&packet[..header], data].concat();
        if at != 0 {
            forget_options(&mut piece[20..header]);
        }
        let len = piece.len() as u16;
        piece[2..4].copy_from_slice(&len.to_be_bytes());
        let place = offset + (at * part / 8) as u16;
        piece[6..8].copy_from_slice(&place.to_be_bytes());
        piece[6] |= flags;
        if at + 1 < chunks.len() {
            piece[6] |= 0x20;
        }
        with_header_sum(&mut piece);
        piece
    };
    chunks.iter().enumerate().map(piece).collect()
}

/// Options that are not copied on fragmentation become no-operations.
fn forget_options(options: &mut [u8]) {
    let mut at = 0;
    while at < options.len() && options[at] != 0 {
        let len = match options[at] {
            1 => 1,
            _ => usize::from(options[at + 1]),
        };
        if options[at] < 128 {
            options[at..at + len].fill(1);
        }
        at += len;
    }
}

/// A packet of the router's own around a message of ICMP, whose checksum is 0 yet.
pub(super) fn own_header(
    from: IpAddr,
    to: IpAddr,
    message: &[u8],
    change: impl FnOnce(&mut [u8]),
) -> Vec<u8> {
    let mut message = message.to_vec();
    let (header, whole) = match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let len = (20 + message.len()) as u16;
            let start = [
                [0x45, 0],
                len.to_be_bytes(),
                [0, 0],
                [0, 0],
                [64, 1],
                [0, 0],
            ];
            let header = [&start.concat()[..], &from.octets(), &to.octets()].concat();
            (header, message.clone())
        }
        (IpAddr::V6(from_v6), IpAddr::V6(to_v6)) => {
            let len = (message.len() as u16).to_be_bytes();
            let start = [0x60, 0, 0, 0, len[0], len[1], 58, 64];
            let header = [&start[..], &from_v6.octets(), &to_v6.octets()].concat();
            (
                header,
                [pseudo(from, to, 58, message.len()), message.clone()].concat(),
            )
        }
        _ => panic!("one family"),
    };
    message[2..4].copy_from_slice(&(!sum(&whole)).to_be_bytes());
    let mut packet = [header, message].concat();
    change(&mut packet);
    if packet[0] / 16 == 4 {
        with_header_sum(&mut packet);
    }
    packet
}

fn with_header_sum(packet: &mut [u8]) {
    let header = usize::from(packet[0] % 16) * 4;
    packet[10..12].fill(0);
    let right = !sum(&packet[..header]);
    packet[10..12].copy_from_slice(&right.to_be_bytes());
}

/// What the addresses add to a checksum.
fn pseudo(src: IpAddr, dst: IpAddr, protocol: u8, len: usize) -> Vec<u8> {
    let octets = |address: IpAddr| match address {
        IpAddr::V4(own) => own.octets().to_vec(),
        IpAddr::V6(own) => own.octets().to_vec(),
    };
    let rest = [
        (len as u32).to_be_bytes(),
        u32::from(protocol).to_be_bytes(),
    ];
    [octets(src), octets(dst), rest.concat()].concat()
}

/// The sum of RFC 1071.
pub(super) fn sum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) * 256 + u32::from(*pair.get(1).unwrap_or(&0));
    let total: u32 = bytes.chunks(2).map(word).sum();
    let once = total % 65536 + total / 65536;
    (once % 65536 + once / 65536) as u16
}

pub(super) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    let word = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([word[0], word[1]]))
}
