//! The section header block: byte order and version of what follows.

use super::SECTION_HEADER;
use super::block::BYTE_ORDER_MAGIC;
use crate::capture::{ByteOrder, CaptureFault};

/// Bytes of a section header without options, as [`SectionHeader::to_bytes`] writes it.
pub const SECTION_HEADER_BYTES: usize = 28;

const VERSION_MAJOR: u16 = 1;

/// A section header. Its byte order is that of its [`super::BlockHead`]; its length is not used,
/// since sections are walked block by block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionHeader {
    /// Byte order of the section.
    pub order: ByteOrder,
}

impl SectionHeader {
    /// Reads a section header from the body of its block.
    ///
    /// # Errors
    /// [`CaptureFault::BlockLength`] for a body that is too short, [`CaptureFault::Version`].
    pub fn parse(body: &[u8], order: ByteOrder) -> Result<Self, CaptureFault> {
        // Magic, version, section length: sixteen bytes, then options that nothing here needs.
        let body = body.first_chunk::<16>().ok_or(CaptureFault::BlockLength)?;
        if order.u16([body[4], body[5]]) != VERSION_MAJOR {
            return Err(CaptureFault::Version);
        }
        Ok(Self { order })
    }

    /// The whole block as bytes: version 1.0, length not specified, no options.
    #[must_use]
    pub fn to_bytes(self) -> [u8; SECTION_HEADER_BYTES] {
        let order = self.order;
        let total_len = order.bytes_u32(SECTION_HEADER_BYTES as u32);
        let mut bytes = [0xff; SECTION_HEADER_BYTES];
        bytes[0..4].copy_from_slice(&order.bytes_u32(SECTION_HEADER));
        bytes[4..8].copy_from_slice(&total_len);
        bytes[8..12].copy_from_slice(&order.bytes_u32(BYTE_ORDER_MAGIC));
        bytes[12..14].copy_from_slice(&order.bytes_u16(VERSION_MAJOR));
        bytes[14..16].copy_from_slice(&order.bytes_u16(0));
        // 16..24: section length -1, "not specified".
        bytes[24..28].copy_from_slice(&total_len);
        bytes
    }
}
