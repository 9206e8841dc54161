//! The IPv6 header and extension headers (RFC 8200).

use super::writer::Writer;
use super::{EmitError, Transport};
use crate::{checksum, protocol};

const HEADER_BYTES: usize = 40;

/// An IPv6 header; lengths, version and next-header fields follow from the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv6<'a> {
    /// Source address.
    pub src: u128,
    /// Destination address.
    pub dst: u128,
    /// Hop limit.
    pub hop_limit: u8,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// Flow label: the low 20 bits.
    pub flow_label: u32,
    /// Extension headers, in order.
    pub extensions: &'a [Extension<'a>],
}

impl Default for Ipv6<'_> {
    fn default() -> Self {
        Self {
            src: 0,
            dst: 0,
            hop_limit: 64,
            traffic_class: 0,
            flow_label: 0,
            extensions: &[],
        }
    }
}

/// An IPv6 extension header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extension<'a> {
    /// Any header that counts its length in 8 bytes, the first 8 left out: hop-by-hop, routing,
    /// destination options, mobility, HIP, Shim6.
    Generic {
        /// The header's own protocol number.
        protocol: u8,
        /// What follows the length byte: 6, 14, 22 ... bytes.
        body: &'a [u8],
    },
    /// A fragment header.
    Fragment {
        /// Place of this fragment in the packet, in bytes: a multiple of 8.
        offset: u16,
        /// More fragments follow.
        more: bool,
        /// Identification of the packet.
        identification: u32,
    },
    /// An authentication header (RFC 4302): it counts in 4 bytes, the first 8 left out.
    Authentication {
        /// What follows the length byte: 10, 14, 18 ... bytes.
        body: &'a [u8],
    },
}

impl Extension<'_> {
    fn protocol(&self) -> u8 {
        match self {
            Self::Generic { protocol, .. } => *protocol,
            Self::Fragment { .. } => protocol::FRAGMENT,
            Self::Authentication { .. } => protocol::AUTHENTICATION,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Generic { body, .. } | Self::Authentication { body } => 2 + body.len(),
            Self::Fragment { .. } => 8,
        }
    }

    fn check(&self) -> Result<(), EmitError> {
        let fits = match self {
            Self::Generic { .. } => {
                self.len().is_multiple_of(8) && (8..=2048).contains(&self.len())
            }
            Self::Authentication { .. } => {
                self.len().is_multiple_of(4) && (12..=1028).contains(&self.len())
            }
            Self::Fragment { offset, .. } => offset.is_multiple_of(8),
        };
        if fits {
            Ok(())
        } else {
            Err(EmitError::Unaligned("IPv6 extension header"))
        }
    }

    fn write(&self, out: &mut Writer<'_>, next: u8) {
        out.put_u8(next);
        match self {
            Self::Generic { body, .. } => {
                out.put_u8((self.len() / 8 - 1) as u8);
                out.put(body);
            }
            Self::Authentication { body } => {
                out.put_u8((self.len() / 4 - 2) as u8);
                out.put(body);
            }
            Self::Fragment {
                offset,
                more,
                identification,
            } => {
                out.put_u8(0);
                out.put_be16(*offset | u16::from(*more));
                out.put_be32(*identification);
            }
        }
    }
}

impl Ipv6<'_> {
    pub(super) fn len(&self) -> usize {
        HEADER_BYTES + self.extensions_len()
    }

    fn extensions_len(&self) -> usize {
        self.extensions.iter().map(Extension::len).sum()
    }

    pub(super) fn check(&self, inner: usize) -> Result<(), EmitError> {
        self.extensions.iter().try_for_each(Extension::check)?;
        if self.extensions_len() + inner > usize::from(u16::MAX) {
            return Err(EmitError::TooLong("IPv6 payload length"));
        }
        Ok(())
    }

    pub(super) fn write(&self, out: &mut Writer<'_>, transport: &Transport<'_>, payload: &[u8]) {
        let inner = transport.len() + payload.len();
        let class_and_label = u32::from(self.traffic_class) << 20 | self.flow_label & 0xF_FFFF;
        out.put_be32(6 << 28 | class_and_label);
        out.put_be16((self.extensions_len() + inner) as u16);
        let kinds = self.extensions.iter().map(Extension::protocol);
        let mut next = kinds.chain([transport.protocol()]);
        out.put_u8(next.next().unwrap_or(protocol::NO_NEXT_HEADER));
        out.put_u8(self.hop_limit);
        out.put(&self.src.to_be_bytes());
        out.put(&self.dst.to_be_bytes());
        for extension in self.extensions {
            extension.write(out, next.next().unwrap_or(protocol::NO_NEXT_HEADER));
        }
        let number = transport.protocol();
        transport.write(
            out,
            checksum::pseudo_v6(self.src, self.dst, number, inner as u32),
            payload,
        );
    }
}
