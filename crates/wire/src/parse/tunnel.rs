//! Packets inside packets: what a tunnel carries, read as the frame itself is read.
//!
//! IP in IP (RFC 2003, 4213, 2473), GRE (RFC 2784, 2890), VXLAN (RFC 7348), GENEVE (RFC 8926) and
//! GTP-U (3GPP TS 29.281), at most [`TUNNELS_MAX`] deep. Rules beside those of [`crate::parse`]:
//!
//! * What carries a sound packet is held to its lengths: nothing behind its end is read.
//! * Where IP is carried, its faults are faults of the frame. Other frames inside a tunnel are
//!   nobody's business, however short.
//! * Of an outer packet in pieces only the first is opened, and only if it holds both inner
//!   addresses; what the other pieces hold is unknown, not malformed.
//! * UDP tunnels are known by destination port and by what their header says of itself: a port is
//!   no proof, so a datagram that does not look like the tunnel of its port is plain.

mod headers;
mod placing;
mod ports;

use core::ops::ControlFlow;

use super::walk::{Stop, Walk};
use super::{Fragment, Parsed, Readable, ethernet, fast, ipv4, ipv6};
use crate::{Family, Malformed, ether_type, protocol};

pub use placing::{HashHeader, Placing};
pub use ports::{TUNNEL_PORTS_MAX, TunnelPortError, TunnelPorts};

/// Most packets inside each other, the outermost not counted. A mobile network's GTP-U in VXLAN is
/// two; a bound keeps the work bounded, and a packet beyond it is malformed so that nothing hides
/// in a fifth.
pub const TUNNELS_MAX: usize = 4;

/// What kind of tunnel a packet is carried by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TunnelKind {
    /// IPv4 in IPv4.
    Ipip,
    /// IPv6 in IPv4.
    SixInFour,
    /// IPv4 in IPv6.
    FourInSix,
    /// IPv6 in IPv6.
    SixInSix,
    /// GRE with IPv4, IPv6 or Ethernet (TEB) inside.
    Gre,
    /// VXLAN, Ethernet inside.
    Vxlan,
    /// GENEVE with IPv4, IPv6 or Ethernet inside.
    Geneve,
    /// GTP-U, a user's IPv4 or IPv6 packet inside.
    GtpU,
}

impl TunnelKind {
    /// The name in options, tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ipip => "ipip",
            Self::SixInFour => "6in4",
            Self::FourInSix => "4in6",
            Self::SixInSix => "6in6",
            Self::Gre => "gre",
            Self::Vxlan => "vxlan",
            Self::Geneve => "geneve",
            Self::GtpU => "gtp-u",
        }
    }

    /// IP straight inside IP.
    const fn of_families(outer: Family, inner: Carried) -> Self {
        match (outer, inner) {
            (Family::V6, Carried::V6) => Self::SixInSix,
            (Family::V6, _) => Self::FourInSix,
            (_, Carried::V6) => Self::SixInFour,
            _ => Self::Ipip,
        }
    }
}

/// One packet inside another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tunnel {
    /// How it is carried.
    pub kind: TunnelKind,
    /// Offset in bytes of the tunnel's own header, from the first byte of the frame.
    pub offset: u16,
    /// Bytes of that header; 0 for IP in IP, which has none.
    pub len: u16,
    /// The key of GRE, the network identifier of VXLAN and GENEVE, the tunnel endpoint of GTP-U.
    pub id: Option<u32>,
    /// What is inside; offsets count from the first byte of the frame.
    pub inner: Parsed,
}

/// What a tunnel header says follows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Carried {
    V4,
    V6,
    Ethernet,
}

/// A tunnel header that was read, and where what it carries lies.
#[derive(Clone, Copy)]
struct Opened<'a> {
    kind: TunnelKind,
    offset: usize,
    id: Option<u32>,
    carried: Carried,
    at: usize,
    /// Ends where the carried packet must.
    walk: Walk<'a>,
}

impl TunnelPorts {
    /// Whether a packet may carry another: without a branch, for every frame. Others surely do not.
    #[inline(always)]
    #[must_use]
    pub fn may_carry(&self, outer: &Parsed) -> bool {
        const IN_IP: u64 = 1 << protocol::IPV4
            | 1 << protocol::IPV6
            | 1 << protocol::GRE
            | 1 << protocol::AUTHENTICATION;
        let number = outer.protocol;
        // Numbers above 63 may be taken for those.
        let in_ip = IN_IP >> (number & 63) & 1 != 0;
        in_ip | ((number == protocol::UDP) & self.may_contain(outer.dst_port))
    }

    /// What `outer`, which was parsed from `bytes`, carries: nothing that can be read, one packet,
    /// or a fault of the tunnel's own header. The inner packet's faults are in it.
    ///
    /// # Errors
    /// A tunnel header that contradicts itself or the packet around it.
    pub fn open(&self, bytes: &[u8], outer: &Parsed) -> Result<Option<Tunnel>, Malformed> {
        let readable = outer.fault.is_none() && outer.fragment != Fragment::Later;
        if !readable || outer.l4_offset == 0 || !self.may_carry(outer) {
            return Ok(None);
        }
        let end = usize::from(outer.l3_offset) + outer.l3_len as usize;
        let walk = match outer.fragment {
            // Where the whole packet ends is unknown.
            Fragment::First => Walk {
                bytes: bytes.get(..end).unwrap_or(bytes),
                end: usize::MAX / 2,
            },
            _ => Walk { bytes, end },
        };
        let opened = match headers::open(walk, outer, self) {
            Ok(Some(opened)) => opened,
            Ok(None) | Err(Stop::Snapped) => return Ok(None),
            Err(Stop::Fault(fault)) => return Err(fault),
        };
        if opened.walk.remaining(opened.at) == 0 {
            return Ok(None);
        }
        let inner = read(&opened, outer.fragment == Fragment::First);
        let whole = outer.fragment == Fragment::Whole;
        if !whole && !inner.readable.has(Readable::ADDRESSES) {
            return Ok(None);
        }
        let known = |at: usize| u16::try_from(at).unwrap_or(0);
        Ok(Some(Tunnel {
            kind: opened.kind,
            offset: known(opened.offset),
            len: known(opened.at - opened.offset),
            id: opened.id,
            inner,
        }))
    }

    /// Tells each packet inside `outer`, from the outside in, until told to stop; gives the fault
    /// that ended the walk, if one did: of a tunnel header, of an inner packet, or that there are
    /// too many.
    pub fn each(
        &self,
        bytes: &[u8],
        outer: &Parsed,
        mut each: impl FnMut(&Tunnel) -> ControlFlow<()>,
    ) -> Option<Malformed> {
        let mut around = *outer;
        for depth in 0..=TUNNELS_MAX {
            let tunnel = match self.open(bytes, &around) {
                Ok(Some(_)) if depth == TUNNELS_MAX => return Some(Malformed::TooManyTunnels),
                Ok(Some(tunnel)) => tunnel,
                Ok(None) => return None,
                Err(fault) => return Some(fault),
            };
            if each(&tunnel).is_break() {
                return None;
            }
            around = tunnel.inner;
            if around.fault.is_some() {
                return around.fault;
            }
        }
        None
    }
}

/// Reads what an opened tunnel carries.
fn read(opened: &Opened<'_>, cut: bool) -> Parsed {
    let Opened { at, walk, .. } = *opened;
    let plain = match opened.carried {
        Carried::V4 if !cut => fast::ipv4_inside(at, walk.bytes, walk.end),
        Carried::V6 if !cut => fast::ipv6_inside(at, walk.bytes, walk.end),
        _ => None,
    };
    if let Some(plain) = plain {
        return plain;
    }
    let mut parsed = Parsed {
        snapped: walk.bytes.len() < walk.end,
        ..Parsed::default()
    };
    let network = match opened.carried {
        Carried::V4 => Some((Family::V4, ether_type::IPV4)),
        Carried::V6 => Some((Family::V6, ether_type::IPV6)),
        Carried::Ethernet => None,
    };
    if let Some((family, kind)) = network {
        parsed.l3_offset = walk.offset(at);
        (parsed.family, parsed.ether_type) = (family, kind);
    }
    let judged = match opened.carried {
        Carried::V4 => ipv4::walk(walk, at, &mut parsed),
        Carried::V6 => ipv6::walk(walk, at, &mut parsed),
        Carried::Ethernet => ethernet::walk(walk, at, &mut parsed),
    };
    if let Err(Stop::Fault(fault)) = judged
        && parsed.is_ip()
    {
        parsed.fault = Some(fault);
    }
    parsed
}
