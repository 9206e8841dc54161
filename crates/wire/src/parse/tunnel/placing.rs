//! What a frame is placed by: the flow of its innermost packet or of its outermost.

use core::ops::ControlFlow;

use super::TunnelPorts;
use crate::{Family, FlowKey, Fragment, Parsed, protocol};

const IPV6_BYTES: usize = 40;

/// Whose addresses and ports a frame's placement is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashHeader {
    /// The first IP header, as a NIC does: one tunnel is one flow.
    Outer,
    /// The innermost that can be read: flows inside one tunnel are told apart.
    Inner,
}

impl HashHeader {
    /// The word in options, configuration and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outer => "outer",
            Self::Inner => "inner",
        }
    }
}

/// How the flow is found that a frame is placed by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placing {
    /// Whose addresses and ports count.
    pub header: HashHeader,
    /// ESP and AH have the index of their security association (SPI) in place of ports. It differs
    /// between the directions of a tunnel: not where both must meet.
    pub spi: bool,
    /// Which UDP tunnels are known.
    pub ports: TunnelPorts,
}

impl Placing {
    /// The flow of a frame that was parsed into `outer`; `None` where no address can be read.
    #[inline]
    #[must_use]
    pub fn flow_key(&self, bytes: &[u8], outer: &Parsed) -> Option<FlowKey> {
        let plain = matches!(outer.protocol, protocol::TCP | protocol::UDP)
            && !self.ports.may_carry(outer)
            && !has_extensions(outer);
        if plain {
            return outer.flow_key();
        }
        self.other_flow_key(bytes, outer)
    }

    /// The packet whose flow a frame is of: the one that was parsed into `outer`, or the innermost
    /// inside it that has addresses.
    #[must_use]
    pub fn packet(&self, bytes: &[u8], outer: &Parsed) -> Parsed {
        self.inner(bytes, outer).unwrap_or(*outer)
    }

    /// The innermost packet inside the one that was parsed into `outer` whose flow a frame is of;
    /// `None` where it is of that of `outer`.
    #[inline]
    #[must_use]
    pub fn inner(&self, bytes: &[u8], outer: &Parsed) -> Option<Parsed> {
        let may_be = self.header == HashHeader::Inner && outer.fragment == Fragment::Whole;
        may_be.then(|| self.innermost(bytes, outer)).flatten()
    }

    fn innermost(&self, bytes: &[u8], outer: &Parsed) -> Option<Parsed> {
        let mut found = None;
        self.ports.each(bytes, outer, |tunnel| {
            if tunnel.inner.flow_key().is_none() {
                return ControlFlow::Break(());
            }
            found = Some(tunnel.inner);
            ControlFlow::Continue(())
        });
        found
    }

    /// What may be a tunnel, or has something between addresses and ports.
    fn other_flow_key(&self, bytes: &[u8], outer: &Parsed) -> Option<FlowKey> {
        let found = self.packet(bytes, outer);
        let key = found.flow_key()?;
        Some(match spi(bytes, &found).filter(|_| self.spi) {
            Some(spi) => FlowKey {
                src_port: (spi >> 16) as u16,
                dst_port: spi as u16,
                ..key
            },
            None => key,
        })
    }
}

fn has_extensions(parsed: &Parsed) -> bool {
    let straight = usize::from(parsed.l3_offset) + IPV6_BYTES;
    parsed.family == Family::V6 && usize::from(parsed.l4_offset) != straight
}

/// The security parameters index of a whole ESP or AH packet (RFC 4302, RFC 4303).
fn spi(bytes: &[u8], parsed: &Parsed) -> Option<u32> {
    if parsed.fragment != Fragment::Whole || parsed.l4_offset == 0 {
        return None;
    }
    let l4 = usize::from(parsed.l4_offset);
    let end = usize::from(parsed.l3_offset) + parsed.l3_len as usize;
    let at = match parsed.protocol {
        protocol::ESP => l4,
        protocol::AUTHENTICATION => l4 + 4,
        _ if has_extensions(parsed) => authentication_before(bytes, parsed)? + 4,
        _ => return None,
    };
    let held = bytes.get(..end.min(bytes.len()))?;
    held.get(at..)?
        .first_chunk()
        .map(|spi| u32::from_be_bytes(*spi))
}

/// The authentication header in the chain that the parser walked, up to the transport header.
fn authentication_before(bytes: &[u8], parsed: &Parsed) -> Option<usize> {
    let (from, end) = (usize::from(parsed.l3_offset), usize::from(parsed.l4_offset));
    let (mut kind, mut at) = (*bytes.get(from + 6)?, from + IPV6_BYTES);
    while at < end {
        let &[next, len] = bytes.get(at..)?.first_chunk()?;
        if kind == protocol::AUTHENTICATION {
            return Some(at);
        }
        at += match kind {
            protocol::FRAGMENT => 8,
            _ => (usize::from(len) + 1) * 8,
        };
        kind = next;
    }
    None
}
