//! pcapng: a sequence of blocks, each with its length before and behind.
//!
//! A reader takes a [`BlockHead`] from the next twelve bytes, skips kinds it does not know by their
//! length, and takes the [`body`] of the others once the whole block is there. A section header
//! begins anew: byte order and interfaces of the section before are forgotten.

mod block;
mod emit;
mod interface;
mod options;
mod packet;
mod resolution;
mod section;

pub use block::{BLOCK_HEAD_BYTES, BLOCK_OVERHEAD_BYTES, BlockHead, body};
pub use emit::{TEXT_BYTES_MAX, emit_commented, emit_named_interface};
pub use interface::InterfaceDescription;
pub use options::{Options, RawOption};
pub use packet::{
    ENHANCED_HEAD_BYTES, ENHANCED_TAIL_BYTES_MAX, PacketRecord, SIMPLE_HEAD_BYTES, emit_enhanced,
    enhanced_head, enhanced_tail, parse_enhanced, parse_obsolete, parse_simple,
};
pub use resolution::TimeResolution;
pub use section::{SECTION_HEADER_BYTES, SectionHeader};

/// Kind of a section header block; reads the same in either byte order.
pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// Kind of an interface description block.
pub const INTERFACE_DESCRIPTION: u32 = 1;
/// Kind of the obsolete packet block.
pub const OBSOLETE_PACKET: u32 = 2;
/// Kind of a simple packet block.
pub const SIMPLE_PACKET: u32 = 3;
/// Kind of an enhanced packet block.
pub const ENHANCED_PACKET: u32 = 6;

/// Bytes up to the next multiple of four.
const fn padding(len: usize) -> usize {
    len.wrapping_neg() & 3
}
