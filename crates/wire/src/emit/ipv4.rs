//! The IPv4 header (RFC 791) with its checksum.

use super::writer::Writer;
use super::{EmitError, Transport};
use crate::checksum;

const HEADER_BYTES: usize = 20;

/// An IPv4 header; lengths, version and checksum follow from the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv4<'a> {
    /// Source address.
    pub src: u32,
    /// Destination address.
    pub dst: u32,
    /// Time to live.
    pub ttl: u8,
    /// DSCP and ECN: the second byte of the header.
    pub tos: u8,
    /// Identification of the datagram.
    pub identification: u16,
    /// Routers must not cut the packet.
    pub dont_fragment: bool,
    /// More fragments follow.
    pub more_fragments: bool,
    /// Place of this fragment in the datagram, in bytes: a multiple of 8.
    pub fragment_offset: u16,
    /// Options: a multiple of 4 bytes, at most 40.
    pub options: &'a [u8],
}

impl Default for Ipv4<'_> {
    fn default() -> Self {
        Self {
            src: 0,
            dst: 0,
            ttl: 64,
            tos: 0,
            identification: 0,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            options: &[],
        }
    }
}

impl Ipv4<'_> {
    pub(super) fn len(&self) -> usize {
        HEADER_BYTES + self.options.len()
    }

    pub(super) fn check(&self, inner: usize) -> Result<(), EmitError> {
        if !self.options.len().is_multiple_of(4) || self.options.len() > 40 {
            return Err(EmitError::Unaligned("IPv4 options"));
        }
        if !self.fragment_offset.is_multiple_of(8) {
            return Err(EmitError::Unaligned("IPv4 fragment offset"));
        }
        if self.len() + inner > usize::from(u16::MAX) {
            return Err(EmitError::TooLong("IPv4 total length"));
        }
        Ok(())
    }

    pub(super) fn write(&self, out: &mut Writer<'_>, transport: &Transport<'_>, payload: &[u8]) {
        let start = out.at();
        let inner = transport.len() + payload.len();
        out.put_u8(0x40 | (self.len() / 4) as u8);
        out.put_u8(self.tos);
        out.put_be16((self.len() + inner) as u16);
        out.put_be16(self.identification);
        let flags = u16::from(self.dont_fragment) << 14 | u16::from(self.more_fragments) << 13;
        out.put_be16(flags | (self.fragment_offset / 8));
        out.put_u8(self.ttl);
        out.put_u8(transport.protocol());
        out.put_be16(0);
        out.put_be32(self.src);
        out.put_be32(self.dst);
        out.put(self.options);
        let header = checksum::checksum(out.since(start));
        out.patch_be16(start + 10, header);
        let pseudo = checksum::pseudo_v4(self.src, self.dst, transport.protocol(), inner as u16);
        transport.write(out, pseudo, payload);
    }
}
