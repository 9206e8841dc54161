//! What [`crate::parse`] found: offsets, addresses, ports, and what is wrong.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::{Family, FlowKey, Malformed};

/// Which fields of a [`Parsed`] hold what the frame said, rather than 0 for unknown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Readable(u8);

impl Readable {
    /// Nothing was readable.
    pub const NONE: Self = Self(0);
    /// The source address.
    pub const SRC: Self = Self(1);
    /// The destination address.
    pub const DST: Self = Self(2);
    /// Both ports.
    pub const PORTS: Self = Self(4);
    /// Both addresses.
    pub const ADDRESSES: Self = Self(3);

    /// True when all of `other` is readable.
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// True when the source address was read.
    #[inline]
    #[must_use]
    pub const fn src(self) -> bool {
        self.has(Self::SRC)
    }

    /// True when the destination address was read.
    #[inline]
    #[must_use]
    pub const fn dst(self) -> bool {
        self.has(Self::DST)
    }

    /// True when both ports were read.
    #[inline]
    #[must_use]
    pub const fn ports(self) -> bool {
        self.has(Self::PORTS)
    }

    /// What either can read.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The part of a packet a frame carries.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Fragment {
    /// The whole packet (also an IPv6 packet with a fragment header and nothing to follow).
    #[default]
    Whole,
    /// Its first fragment: the transport header is here.
    First,
    /// A later fragment: no transport header, no ports.
    Later,
}

/// One frame as fields. Numbers are in host byte order; 0 where not readable or unknown.
///
/// Every offset that is not 0 lies within the captured bytes or just behind them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parsed {
    /// Source address; an IPv4 address in the low 32 bits.
    pub src: u128,
    /// Destination address; an IPv4 address in the low 32 bits.
    pub dst: u128,
    /// Length in bytes of the IP packet, header and all, as its own length field says.
    pub l3_len: u32,
    /// Source port (TCP, UDP, UDP-Lite, SCTP, DCCP); see [`Readable::PORTS`].
    pub src_port: u16,
    /// Destination port, with the same rule.
    pub dst_port: u16,
    /// Offset in bytes of what follows the link header, its tags and LLC/SNAP.
    pub l3_offset: u16,
    /// Offset in bytes of the transport header; 0 in later fragments, which have none.
    pub l4_offset: u16,
    /// Ether type behind all tags, also from SNAP; below 0x0600 the length of an 802.3 frame.
    pub ether_type: u16,
    /// Tag control information (priority, DEI, VLAN id) of the outermost VLAN tag.
    pub vlan_tci: u16,
    /// Number of VLAN tags, at most 8.
    pub vlan_tags: u8,
    /// Protocol number of the transport header; where an IPv6 header chain ends early, the number
    /// of the header it ends at.
    pub protocol: u8,
    /// Flags of a TCP header, FIN in bit 0 to CWR in bit 7 (RFC 9293 section 3.1).
    pub tcp_flags: u8,
    /// The addresses' family.
    pub family: Family,
    /// Which of addresses and ports were there.
    pub readable: Readable,
    /// Whole packet or fragment.
    pub fragment: Fragment,
    /// The first fault, if any.
    pub fault: Option<Malformed>,
    /// The capture ended before the frame did: what is missing is unknown, not malformed.
    pub snapped: bool,
}

/// What an untagged, whole, sound IPv4 packet without options, with UDP or TCP, is looked up by,
/// as in its [`Parsed`]: what [`crate::parse_into`] returns in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlainV4 {
    /// Source address.
    pub src: u32,
    /// Destination address.
    pub dst: u32,
    /// Destination port.
    pub dst_port: u16,
}

const _: () = assert!(size_of::<Parsed>() <= 64, "one cache line a frame");

impl Parsed {
    /// True when the frame says that it carries IPv4 or IPv6.
    #[inline]
    #[must_use]
    pub const fn is_ip(&self) -> bool {
        !matches!(self.family, Family::None)
    }

    /// Whether a capture cut the packet before the end of its addresses, or so early that it is not
    /// known whether it has any.
    #[must_use]
    pub fn addresses_cut(&self) -> bool {
        let unread = match self.is_ip() {
            true => self.src_ip().is_none() || self.dst_ip().is_none(),
            false => self.ether_type == 0,
        };
        self.snapped && self.fault.is_none() && unread
    }

    /// The IPv4 source address, or `None` when there is none to read.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub const fn src_v4(&self) -> Option<u32> {
        match self.family {
            Family::V4 if self.readable.src() => Some(self.src as u32),
            _ => None,
        }
    }

    /// The IPv4 destination address, or `None` when there is none to read.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub const fn dst_v4(&self) -> Option<u32> {
        match self.family {
            Family::V4 if self.readable.dst() => Some(self.dst as u32),
            _ => None,
        }
    }

    /// The IPv6 source address, or `None` when there is none to read.
    #[inline]
    #[must_use]
    pub const fn src_v6(&self) -> Option<u128> {
        match self.family {
            Family::V6 if self.readable.src() => Some(self.src),
            _ => None,
        }
    }

    /// The IPv6 destination address, or `None` when there is none to read.
    #[inline]
    #[must_use]
    pub const fn dst_v6(&self) -> Option<u128> {
        match self.family {
            Family::V6 if self.readable.dst() => Some(self.dst),
            _ => None,
        }
    }

    /// The source address as the standard library writes it.
    #[must_use]
    pub fn src_ip(&self) -> Option<IpAddr> {
        let v4 = self
            .src_v4()
            .map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)));
        v4.or_else(|| {
            self.src_v6()
                .map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)))
        })
    }

    /// The destination address as the standard library writes it.
    #[must_use]
    pub fn dst_ip(&self) -> Option<IpAddr> {
        let v4 = self
            .dst_v4()
            .map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)));
        v4.or_else(|| {
            self.dst_v6()
                .map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)))
        })
    }

    /// The flow this packet belongs to: `None` unless both addresses were readable.
    ///
    /// Fragments have no ports in their key, so that all pieces of a datagram share one.
    #[inline]
    #[must_use]
    pub const fn flow_key(&self) -> Option<FlowKey> {
        if !self.readable.has(Readable::ADDRESSES) {
            return None;
        }
        let whole = matches!(self.fragment, Fragment::Whole);
        let (src_port, dst_port) = if whole {
            (self.src_port, self.dst_port)
        } else {
            (0, 0)
        };
        Some(FlowKey {
            src: self.src,
            dst: self.dst,
            src_port,
            dst_port,
            protocol: self.protocol,
            family: self.family,
        })
    }
}
