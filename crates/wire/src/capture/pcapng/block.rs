//! The frame around every block: kind, total length, body, total length again.

use super::SECTION_HEADER;
use crate::capture::{ByteOrder, CaptureFault};

/// Bytes a [`BlockHead`] is read from: kind, length, and the byte-order magic of a section header.
/// Every block has as many, since the smallest is twelve bytes long.
pub const BLOCK_HEAD_BYTES: usize = 12;
/// Bytes of a block that are not its body.
pub const BLOCK_OVERHEAD_BYTES: usize = 12;

pub(super) const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Kind and length of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHead {
    /// Kind of the block.
    pub kind: u32,
    /// Bytes of the whole block, a multiple of four and at least twelve.
    pub total_len: u32,
    /// Byte order of the section: a section header brings its own.
    pub order: ByteOrder,
}

impl BlockHead {
    /// Reads the head of a block in a section of the given order.
    ///
    /// # Errors
    /// [`CaptureFault::TooShort`] below [`BLOCK_HEAD_BYTES`], [`CaptureFault::ByteOrderMagic`],
    /// [`CaptureFault::BlockLength`].
    #[inline]
    pub fn parse(bytes: &[u8], section_order: ByteOrder) -> Result<Self, CaptureFault> {
        let bytes = bytes
            .first_chunk::<BLOCK_HEAD_BYTES>()
            .ok_or(CaptureFault::TooShort)?;
        let word = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let kind = section_order.u32(word(0));
        let order = if kind == SECTION_HEADER {
            magic_order(word(8))?
        } else {
            section_order
        };
        let total_len = order.u32(word(4));
        if total_len < BLOCK_OVERHEAD_BYTES as u32 || total_len % 4 != 0 {
            return Err(CaptureFault::BlockLength);
        }
        Ok(Self {
            kind,
            total_len,
            order,
        })
    }
}

fn magic_order(bytes: [u8; 4]) -> Result<ByteOrder, CaptureFault> {
    [ByteOrder::Little, ByteOrder::Big]
        .into_iter()
        .find(|order| order.u32(bytes) == BYTE_ORDER_MAGIC)
        .ok_or(CaptureFault::ByteOrderMagic)
}

/// The body of the block that `bytes` begins with, after its two lengths were compared.
///
/// # Errors
/// [`CaptureFault::TooShort`] while the block is not whole, [`CaptureFault::BlockLength`] if the
/// lengths differ.
#[inline]
pub fn body(bytes: &[u8], head: BlockHead) -> Result<&[u8], CaptureFault> {
    let total_len = head.total_len as usize;
    let block = bytes.get(..total_len).ok_or(CaptureFault::TooShort)?;
    let trailer_at = total_len.checked_sub(4).ok_or(CaptureFault::BlockLength)?;
    if head.order.u32_at(block, trailer_at) != Some(head.total_len) {
        return Err(CaptureFault::BlockLength);
    }
    block.get(8..trailer_at).ok_or(CaptureFault::BlockLength)
}
