//! Transport headers with their checksums: UDP, TCP, ICMP, ICMPv6.

use super::EmitError;
use super::writer::Writer;
use crate::{checksum, protocol};

/// The header behind the IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport<'a> {
    /// UDP (RFC 768).
    Udp {
        /// Source port.
        src_port: u16,
        /// Destination port.
        dst_port: u16,
    },
    /// TCP (RFC 9293).
    Tcp(Tcp<'a>),
    /// ICMP (RFC 792).
    Icmp(Icmp),
    /// ICMPv6 (RFC 4443); in IPv4 its checksum covers that pseudo header.
    Icmpv6(Icmp),
    /// No header of ours: the payload is all that follows, under this protocol number. Later
    /// fragments are made so.
    Raw(u8),
}

/// A TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tcp<'a> {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgment number.
    pub acknowledgment: u32,
    /// FIN in bit 0 to CWR in bit 7.
    pub flags: u8,
    /// Window, unscaled.
    pub window: u16,
    /// Options: a multiple of 4 bytes, at most 40.
    pub options: &'a [u8],
}

/// An ICMP or ICMPv6 header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Icmp {
    /// Type of message.
    pub kind: u8,
    /// Code within the type.
    pub code: u8,
    /// The four bytes behind the checksum: identifier and sequence number of an echo.
    pub rest: u32,
}

impl Transport<'_> {
    pub(super) fn protocol(&self) -> u8 {
        match self {
            Self::Udp { .. } => protocol::UDP,
            Self::Tcp(_) => protocol::TCP,
            Self::Icmp(_) => protocol::ICMP,
            Self::Icmpv6(_) => protocol::ICMPV6,
            Self::Raw(number) => *number,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Udp { .. } | Self::Icmp(_) | Self::Icmpv6(_) => 8,
            Self::Tcp(header) => 20 + header.options.len(),
            Self::Raw(_) => 0,
        }
    }

    pub(super) fn check(&self) -> Result<(), EmitError> {
        match self {
            Self::Tcp(Tcp { options, .. })
                if !options.len().is_multiple_of(4) || options.len() > 40 =>
            {
                Err(EmitError::Unaligned("TCP options"))
            }
            _ => Ok(()),
        }
    }

    /// Writes header and payload; `pseudo` is the sum of the pseudo header.
    pub(super) fn write(&self, out: &mut Writer<'_>, pseudo: u16, payload: &[u8]) {
        let start = out.at();
        match self {
            Self::Udp { src_port, dst_port } => {
                out.put_be16(*src_port);
                out.put_be16(*dst_port);
                out.put_be16((8 + payload.len()) as u16);
                out.put_be16(0);
            }
            Self::Tcp(header) => header.write(out),
            Self::Icmp(header) | Self::Icmpv6(header) => header.write(out),
            Self::Raw(_) => {}
        }
        out.put(payload);
        let covered = out.since(start);
        match self {
            Self::Udp { .. } => {
                let sum = checksum::udp_nonzero(checksum::transport(pseudo, covered));
                out.patch_be16(start + 6, sum);
            }
            Self::Tcp(_) => out.patch_be16(start + 16, checksum::transport(pseudo, covered)),
            Self::Icmp(_) => out.patch_be16(start + 2, checksum::checksum(covered)),
            Self::Icmpv6(_) => out.patch_be16(start + 2, checksum::transport(pseudo, covered)),
            Self::Raw(_) => {}
        }
    }
}

impl Tcp<'_> {
    fn write(&self, out: &mut Writer<'_>) {
        out.put_be16(self.src_port);
        out.put_be16(self.dst_port);
        out.put_be32(self.sequence);
        out.put_be32(self.acknowledgment);
        out.put_u8((((20 + self.options.len()) / 4) << 4) as u8);
        out.put_u8(self.flags);
        out.put_be16(self.window);
        out.put_be32(0); // checksum, to be patched, and urgent pointer
        out.put(self.options);
    }
}

impl Icmp {
    fn write(&self, out: &mut Writer<'_>) {
        out.put(&[self.kind, self.code, 0, 0]);
        out.put_be32(self.rest);
    }
}
