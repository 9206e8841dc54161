//! The IP header of a packet, as far as a router looks at it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wire::view::{Ipv4View, Ipv6View};
use wire::{Malformed, ether_type};

use super::hops::flow_hash;
use crate::DropReason;

const V6_HEADER: usize = 40;

/// The families, with what only one of them has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    V4 {
        /// The packet may not be cut.
        dont_fragment: bool,
        /// What is wrong with its options, or that they name routers to take.
        options: Options,
    },
    V6,
}

/// What the options of an IPv4 header ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Options {
    /// Nothing that a router must do.
    Plain,
    /// To go by certain routers.
    SourceRoute,
    /// They are malformed at this byte of the packet.
    Malformed(u8),
}

/// A packet whose header is sound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) kind: Kind,
    /// Where it begins in the frame.
    pub(crate) l3: usize,
    /// Bytes of its header; of IPv6 without extensions.
    pub(crate) header_len: usize,
    /// Bytes of it all, on the wire.
    pub(crate) len: usize,
    /// TTL or hop limit.
    pub(crate) hops: u8,
    /// The protocol, or the next header.
    pub(crate) protocol: u8,
    /// It is a fragment, the first one too.
    pub(crate) is_fragment: bool,
    /// Addresses; of IPv4 the lower 32 bits.
    pub(crate) src: u128,
    pub(crate) dst: u128,
}

impl Packet {
    /// Reads the packet at `l3` of a frame that had `wire_len` bytes on the wire.
    #[inline]
    pub(crate) fn read(
        ether_type: u16,
        bytes: &[u8],
        l3: usize,
        wire_len: usize,
    ) -> Result<Self, DropReason> {
        let packet = bytes.get(l3..).unwrap_or_default();
        let room = wire_len.saturating_sub(l3);
        match ether_type {
            ether_type::IPV4 => Self::read_v4(packet, l3, room),
            ether_type::IPV6 => Self::read_v6(packet, l3, room),
            _ => Err(DropReason::NonIp),
        }
    }

    fn read_v4(packet: &[u8], l3: usize, room: usize) -> Result<Self, DropReason> {
        let view = Ipv4View::new_checked(packet).map_err(DropReason::Malformed)?;
        let (header_len, len) = (view.header_len(), usize::from(view.total_len()));
        if !view.checksum_is_right() {
            return Err(DropReason::HeaderChecksum);
        }
        if len < header_len {
            return Err(DropReason::Malformed(Malformed::Ipv4LengthBelowHeader));
        }
        if len > room {
            return Err(DropReason::Malformed(Malformed::Ipv4LengthBeyondFrame));
        }
        Ok(Self {
            kind: Kind::V4 {
                dont_fragment: view.dont_fragment(),
                options: Options::read(view.options()),
            },
            l3,
            header_len,
            len,
            hops: view.ttl(),
            protocol: view.protocol(),
            is_fragment: view.more_fragments() || view.fragment_offset() != 0,
            src: view.src().into(),
            dst: view.dst().into(),
        })
    }

    fn read_v6(packet: &[u8], l3: usize, room: usize) -> Result<Self, DropReason> {
        let view = Ipv6View::new_checked(packet).map_err(DropReason::Malformed)?;
        let len = V6_HEADER + usize::from(view.payload_len());
        if len > room {
            return Err(DropReason::Malformed(Malformed::Ipv6LengthBeyondFrame));
        }
        Ok(Self {
            kind: Kind::V6,
            l3,
            header_len: V6_HEADER,
            len,
            hops: view.hop_limit(),
            protocol: view.next_header(),
            is_fragment: view.next_header() == wire::protocol::FRAGMENT,
            src: view.src(),
            dst: view.dst(),
        })
    }

    #[inline]
    pub(crate) fn is_v4(&self) -> bool {
        matches!(self.kind, Kind::V4 { .. })
    }

    pub(crate) fn source(&self) -> IpAddr {
        self.address(self.src)
    }

    #[inline]
    pub(crate) fn destination(&self) -> IpAddr {
        self.address(self.dst)
    }

    #[inline]
    fn address(&self, bits: u128) -> IpAddr {
        match self.kind {
            Kind::V4 { .. } => IpAddr::V4(Ipv4Addr::from_bits(bits as u32)),
            Kind::V6 => IpAddr::V6(Ipv6Addr::from_bits(bits)),
        }
    }

    /// Its bytes, as far as they were captured.
    #[inline]
    pub(crate) fn bytes<'a>(&self, frame: &'a [u8]) -> &'a [u8] {
        let end = frame.len().min(self.l3 + self.len);
        frame.get(self.l3..end).unwrap_or_default()
    }

    /// The same, to be written.
    #[inline]
    pub(crate) fn bytes_mut<'a>(&self, frame: &'a mut [u8]) -> &'a mut [u8] {
        let end = frame.len().min(self.l3 + self.len);
        frame.get_mut(self.l3..end).unwrap_or_default()
    }

    /// The hash of its flow: addresses and protocol, and the ports of a packet that is whole.
    pub(super) fn flow(&self, frame: &[u8]) -> u64 {
        let has_ports = matches!(
            self.protocol,
            wire::protocol::TCP | wire::protocol::UDP | wire::protocol::SCTP
        );
        let ports = self.bytes(frame).get(self.header_len..);
        let ports = ports.and_then(<[u8]>::first_chunk::<4>).copied();
        let ports = ports.filter(|_| has_ports && !self.is_fragment);
        flow_hash((self.src, self.dst, self.protocol, ports))
    }
}

impl Options {
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    const LOOSE: u8 = 131;
    const STRICT: u8 = 137;
    const HEADER: usize = 20;

    #[inline]
    fn read(options: &[u8]) -> Self {
        if options.is_empty() {
            return Self::Plain;
        }
        Self::walk(options)
    }

    #[cold]
    fn walk(options: &[u8]) -> Self {
        let mut at = 0;
        while let Some(&kind) = options.get(at) {
            match kind {
                Self::END => break,
                Self::NO_OPERATION => at += 1,
                Self::LOOSE | Self::STRICT => return Self::SourceRoute,
                _ => {
                    let len = options.get(at + 1).map_or(0, |&len| usize::from(len));
                    if len < 2 || at + len > options.len() {
                        return Self::Malformed((Self::HEADER + at) as u8);
                    }
                    at += len;
                }
            }
        }
        Self::Plain
    }
}
