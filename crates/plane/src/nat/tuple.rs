//! What tells packets of one flow from those of others: addresses, protocol, ports.

use stack::KeyedHash;
use std::hash::{BuildHasher, Hasher};
use wire::view::Ipv4View;
use wire::{Malformed, protocol};

use crate::DropReason;

const ECHO_REQUEST: u8 = 8;
const ECHO_REPLY: u8 = 0;
/// Bytes of a TCP header, of a UDP header and of an ICMP message at least.
const TCP_HEADER: usize = 20;
const SHORT_HEADER: usize = 8;

/// What is above IPv4, as far as NAT tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NatProtocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP echo requests, whose source port is their identifier.
    EchoRequest,
    /// The replies to them, whose destination port is their identifier.
    EchoReply,
    /// All else, which NAT does not translate.
    Other,
}

/// One direction of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuple {
    pub(super) src: u32,
    pub(super) dst: u32,
    pub(super) src_port: u16,
    pub(super) dst_port: u16,
    pub(super) protocol: NatProtocol,
}

/// What a packet is to NAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// It is of the flow with this tuple; it may be the first fragment of a packet.
    Flow(Tuple),
    /// It is an ICMP error; the tuple is that of answers to the packet that it is about.
    Error(Tuple),
    /// It is a fragment without ports.
    Piece,
    /// It is of no flow that could be translated, for a reason.
    Other(DropReason),
}

impl Tuple {
    /// The tuple of the answer.
    #[inline]
    #[must_use]
    pub(super) fn inverse(&self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            protocol: match self.protocol {
                NatProtocol::EchoRequest => NatProtocol::EchoReply,
                NatProtocol::EchoReply => NatProtocol::EchoRequest,
                other => other,
            },
        }
    }

    /// The tuple without ports of a packet that has none.
    pub(super) fn bare(packet: &[u8]) -> Self {
        let (src, dst, number) = match Ipv4View::new_checked(packet) {
            Ok(view) => (view.src(), view.dst(), view.protocol()),
            Err(_) => (0, 0, 0),
        };
        Self {
            src,
            dst,
            src_port: 0,
            dst_port: 0,
            protocol: match number {
                protocol::TCP => NatProtocol::Tcp,
                protocol::UDP => NatProtocol::Udp,
                protocol::ICMP => NatProtocol::EchoRequest,
                _ => NatProtocol::Other,
            },
        }
    }

    #[inline]
    pub(super) fn hash(&self, key: &KeyedHash) -> u64 {
        let addresses = u64::from(self.src) << 32 | u64::from(self.dst);
        let ports = u64::from(self.src_port) << 16 | u64::from(self.dst_port);
        let mut hasher = key.build_hasher();
        hasher.write_u64(addresses);
        hasher.write_u64(ports << 8 | self.protocol as u64);
        hasher.finish()
    }
}

impl Read {
    /// Reads an IPv4 packet, whose header is sound.
    #[inline]
    pub(super) fn of(packet: &[u8]) -> Self {
        let Ok(view) = Ipv4View::new_checked(packet) else {
            return Self::Other(DropReason::Malformed(Malformed::Ipv4HeaderTruncated));
        };
        if view.fragment_offset() != 0 {
            return Self::Piece;
        }
        let payload = view.payload();
        let short = |fault| Self::Other(DropReason::Malformed(fault));
        match view.protocol() {
            protocol::TCP if payload.len() < TCP_HEADER => short(Malformed::TcpTruncated),
            protocol::UDP if payload.len() < SHORT_HEADER => short(Malformed::UdpTruncated),
            protocol::ICMP if payload.len() < SHORT_HEADER => short(Malformed::IcmpTruncated),
            protocol::ICMP if is_error(payload[0]) => match quoted(&view) {
                Some(tuple) => Self::Error(tuple.inverse()),
                None => Self::Other(DropReason::NatUnrelated),
            },
            _ => match tuple(&view) {
                Some(tuple) => Self::Flow(tuple),
                None => Self::Other(DropReason::NatProtocol),
            },
        }
    }
}

/// Destination unreachable, source quench, time exceeded, parameter problem.
fn is_error(kind: u8) -> bool {
    matches!(kind, 3 | 4 | 11 | 12)
}

/// The tuple of the packet that a sound ICMP error is about.
#[cold]
fn quoted(error: &Ipv4View<&[u8]>) -> Option<Tuple> {
    let message = error.payload();
    // What is said of other flows must not be believed when it is damaged, or is a part.
    let is_whole = !error.more_fragments()
        && error.header_len() + message.len() == usize::from(error.total_len());
    if !is_whole || wire::checksum::checksum(message) != 0 {
        return None;
    }
    let quote = Ipv4View::new_checked(message.get(SHORT_HEADER..)?).ok()?;
    // Only who sent a packet is told about it.
    match quote.fragment_offset() {
        0 if quote.src() == error.dst() => tuple(&quote),
        _ => None,
    }
}

/// The tuple of a packet of which 8 bytes of payload are there.
#[inline]
fn tuple(view: &Ipv4View<&[u8]>) -> Option<Tuple> {
    let &[a, b, c, d, e, f, _, _] = view.payload().first_chunk::<SHORT_HEADER>()?;
    let word = |high, low| u16::from_be_bytes([high, low]);
    let (src_port, dst_port, protocol) = match (view.protocol(), a) {
        (protocol::TCP, _) => (word(a, b), word(c, d), NatProtocol::Tcp),
        (protocol::UDP, _) => (word(a, b), word(c, d), NatProtocol::Udp),
        (protocol::ICMP, ECHO_REQUEST) => (word(e, f), 0, NatProtocol::EchoRequest),
        (protocol::ICMP, ECHO_REPLY) => (0, word(e, f), NatProtocol::EchoReply),
        _ => return None,
    };
    Some(Tuple {
        src: view.src(),
        dst: view.dst(),
        src_port,
        dst_port,
        protocol,
    })
}
