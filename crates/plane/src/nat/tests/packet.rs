//! Packets made and taken apart by code of their own, with checksums summed word by word.

use super::ip;

pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMP: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const ACK: u8 = 16;
pub(super) const FIN: u8 = 1;
pub(super) const RST: u8 = 4;

/// A packet. An echo has its identifier at both ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) protocol: u8,
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) src_port: u16,
    pub(super) dst_port: u16,
    /// Of TCP.
    pub(super) flags: u8,
    /// Of an echo: it is the reply.
    pub(super) is_reply: bool,
    pub(super) payload: Vec<u8>,
}

impl Packet {
    /// `tcp`, `udp` or `echo`, from an address and port to others.
    pub(super) fn new(protocol: u8, from: (&str, u16), to: (&str, u16)) -> Self {
        Self {
            protocol,
            src: ip(from.0),
            dst: ip(to.0),
            src_port: from.1,
            dst_port: if protocol == ICMP { from.1 } else { to.1 },
            flags: SYN,
            is_reply: false,
            payload: b"payload".to_vec(),
        }
    }

    pub(super) fn tcp(from: (&str, u16), to: (&str, u16)) -> Self {
        Self::new(TCP, from, to)
    }

    pub(super) fn udp(from: (&str, u16), to: (&str, u16)) -> Self {
        Self::new(UDP, from, to)
    }

    pub(super) fn echo(from: &str, to: &str, id: u16) -> Self {
        Self::new(ICMP, (from, id), (to, id))
    }

    /// What answers it.
    pub(super) fn answer(&self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            flags: if self.protocol == TCP { SYN | ACK } else { SYN },
            is_reply: self.protocol == ICMP && !self.is_reply,
            ..self.clone()
        }
    }

    pub(super) fn with_flags(&self, flags: u8) -> Self {
        Self {
            flags,
            ..self.clone()
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut segment = Vec::new();
        match self.protocol {
            ICMP => {
                segment.extend([if self.is_reply { 0 } else { 8 }, 0, 0, 0]);
                segment.extend(self.src_port.to_be_bytes());
                segment.extend([0, 9]);
            }
            protocol => {
                segment.extend(self.src_port.to_be_bytes());
                segment.extend(self.dst_port.to_be_bytes());
                match protocol {
                    UDP => {
                        let len = 8 + self.payload.len() as u16;
                        segment.extend(len.to_be_bytes());
                        segment.extend([0, 0]);
                    }
                    _ => {
                        segment.extend([0, 0, 0, 1, 0, 0, 0, 2, 0x50, self.flags]);
                        segment.extend([1, 0, 0, 0, 0, 0]);
                    }
                }
            }
        }
        segment.extend(&self.payload);
        let sum = transport_sum(self.src, self.dst, self.protocol, &segment);
        let at = sum_at(self.protocol);
        segment[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        ipv4(self.protocol, self.src, self.dst, &segment)
    }

    /// Takes a packet apart whose checksums must be right.
    pub(super) fn read(bytes: &[u8]) -> Self {
        assert_eq!(sum(&bytes[..20]), 0, "the header's checksum is wrong");
        let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let long = |at: usize| u32::from(word(at)) << 16 | u32::from(word(at + 2));
        assert_eq!(usize::from(word(2)), bytes.len());
        let (protocol, src, dst) = (bytes[9], long(12), long(16));
        let segment = &bytes[20..];
        let rest = transport_sum(src, dst, protocol, segment);
        assert!(matches!(rest, 0 | 0xFFFF), "a checksum is wrong: {rest:#x}");
        let is_echo = protocol == ICMP;
        Self {
            protocol,
            src,
            dst,
            src_port: if is_echo { word(24) } else { word(20) },
            dst_port: if is_echo { word(24) } else { word(22) },
            flags: if protocol == TCP { bytes[33] } else { SYN },
            is_reply: is_echo && bytes[20] == 0,
            payload: segment[if protocol == TCP { 20 } else { 8 }..].to_vec(),
        }
    }
}

/// An IPv4 packet.
pub(super) fn ipv4(protocol: u8, src: u32, dst: u32, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len()) as u16;
    let mut bytes = vec![0x45, 0];
    bytes.extend(len.to_be_bytes());
    bytes.extend([0, 7, 0, 0, 64, protocol, 0, 0]);
    bytes.extend(src.to_be_bytes());
    bytes.extend(dst.to_be_bytes());
    set_header_sum(&mut bytes);
    bytes.extend(payload);
    bytes
}

pub(super) fn set_header_sum(bytes: &mut [u8]) {
    bytes[10..12].fill(0);
    let own = sum(&bytes[..20]);
    bytes[10..12].copy_from_slice(&own.to_be_bytes());
}

/// An ICMP error from `src` to the source of the packet that it quotes.
pub(super) fn error(kind: u8, code: u8, src: u32, quote: &[u8]) -> Vec<u8> {
    let mut message = vec![kind, code, 0, 0, 0, 0, 5, 0];
    message.extend(quote);
    let own = sum(&message);
    message[2..4].copy_from_slice(&own.to_be_bytes());
    let to = u32::from_be_bytes(quote[12..16].try_into().expect("four bytes"));
    ipv4(ICMP, src, to, &message)
}

/// Where a protocol's checksum is.
fn sum_at(protocol: u8) -> usize {
    match protocol {
        TCP => 16,
        UDP => 6,
        _ => 2,
    }
}

/// A packet without checksums that may be 0 or all ones for the same.
pub(super) fn without_sums(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = 20 + sum_at(bytes[9]);
    if let Some(place) = bytes.get_mut(at..at + 2) {
        place.fill(0);
    }
    bytes
}

pub(super) fn transport_sum(src: u32, dst: u32, protocol: u8, segment: &[u8]) -> u16 {
    let mut bytes = Vec::new();
    if protocol != ICMP {
        bytes.extend(src.to_be_bytes());
        bytes.extend(dst.to_be_bytes());
        bytes.extend([0, protocol]);
        bytes.extend((segment.len() as u16).to_be_bytes());
    }
    bytes.extend(segment);
    sum(&bytes)
}

/// The checksum, word by word.
pub(super) fn sum(bytes: &[u8]) -> u16 {
    let mut total = 0u32;
    for pair in bytes.chunks(2) {
        let low = pair.get(1).copied().unwrap_or(0);
        total += u32::from(pair[0]) << 8 | u32::from(low);
        if total > 0xFFFF {
            total -= 0xFFFF;
        }
    }
    !(total as u16)
}
