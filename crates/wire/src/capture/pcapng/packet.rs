//! The three blocks that hold a frame: enhanced, simple, and the obsolete packet block.

use super::{ENHANCED_PACKET, padding};
use crate::capture::{ByteOrder, CAPTURED_BYTES_MAX, CaptureFault};

/// Bytes of an enhanced or obsolete packet block before the frame.
pub const ENHANCED_HEAD_BYTES: usize = 28;
/// Bytes of a simple packet block before the frame.
pub const SIMPLE_HEAD_BYTES: usize = 12;
/// Most bytes of an enhanced packet block behind the frame: padding and length.
pub const ENHANCED_TAIL_BYTES_MAX: usize = 7;

/// A captured frame and what its block says of it. Its time is still in ticks of its interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketRecord<'a> {
    /// Index of the interface within the section.
    pub interface: u32,
    /// Ticks of the interface's clock; `None` in a simple packet block, which has no time.
    pub ticks: Option<u64>,
    /// Bytes the frame had on the wire, as stated.
    pub original_len: u32,
    /// What was captured of the frame.
    pub bytes: &'a [u8],
}

/// Reads an enhanced packet block from its body. Its options are passed over.
///
/// # Errors
/// [`CaptureFault::BlockLength`] for a body that is too short, [`CaptureFault::CapturedLength`].
#[inline]
pub fn parse_enhanced(body: &[u8], order: ByteOrder) -> Result<PacketRecord<'_>, CaptureFault> {
    let interface = order.u32_at(body, 0).ok_or(CaptureFault::BlockLength)?;
    parse_timed(body, order, interface)
}

/// Reads an obsolete packet block from its body: the enhanced one, but for its first word, which
/// holds a short interface index and a count of drops.
///
/// # Errors
/// As [`parse_enhanced`].
pub fn parse_obsolete(body: &[u8], order: ByteOrder) -> Result<PacketRecord<'_>, CaptureFault> {
    let interface = order.u16_at(body, 0).ok_or(CaptureFault::BlockLength)?;
    parse_timed(body, order, interface.into())
}

#[inline]
fn parse_timed(
    body: &[u8],
    order: ByteOrder,
    interface: u32,
) -> Result<PacketRecord<'_>, CaptureFault> {
    let (fixed, rest) = body
        .split_first_chunk::<20>()
        .ok_or(CaptureFault::BlockLength)?;
    let field = |at: usize| order.u32([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    // High word first in either byte order.
    let ticks = u64::from(field(4)) << 32 | u64::from(field(8));
    let bytes = captured(rest, field(12))?;
    Ok(PacketRecord {
        interface,
        ticks: Some(ticks),
        original_len: field(16),
        bytes,
    })
}

/// Reads a simple packet block from its body: it belongs to interface 0, whose snap length (0: no
/// limit) says how much of the frame is there.
///
/// # Errors
/// [`CaptureFault::BlockLength`] for a body that is too short, [`CaptureFault::CapturedLength`] if
/// it holds less than that.
pub fn parse_simple(
    body: &[u8],
    order: ByteOrder,
    snaplen: u32,
) -> Result<PacketRecord<'_>, CaptureFault> {
    let (fixed, rest) = body
        .split_first_chunk::<4>()
        .ok_or(CaptureFault::BlockLength)?;
    let original_len = order.u32(*fixed);
    let limit = if snaplen == 0 { u32::MAX } else { snaplen };
    let bytes = captured(rest, original_len.min(limit))?;
    Ok(PacketRecord {
        interface: 0,
        ticks: None,
        original_len,
        bytes,
    })
}

#[inline]
fn captured(bytes: &[u8], captured_len: u32) -> Result<&[u8], CaptureFault> {
    if captured_len > CAPTURED_BYTES_MAX {
        return Err(CaptureFault::CapturedLength);
    }
    bytes
        .get(..captured_len as usize)
        .ok_or(CaptureFault::CapturedLength)
}

/// What stands before the frame in an enhanced packet block without options. `captured_len` is at
/// most [`CAPTURED_BYTES_MAX`]; a longer one wraps, and no reader will believe it.
#[inline]
#[must_use]
pub fn enhanced_head(
    order: ByteOrder,
    interface: u32,
    ticks: u64,
    captured_len: u32,
    original_len: u32,
) -> [u8; ENHANCED_HEAD_BYTES] {
    let words = [
        ENHANCED_PACKET,
        enhanced_len(captured_len),
        interface,
        (ticks >> 32) as u32,
        ticks as u32,
        captured_len,
        original_len,
    ];
    let mut bytes = [0; ENHANCED_HEAD_BYTES];
    for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&order.bytes_u32(word));
    }
    bytes
}

/// What stands behind the frame in an enhanced packet block, and how many of its bytes count.
#[inline]
#[must_use]
pub fn enhanced_tail(
    order: ByteOrder,
    captured_len: u32,
) -> ([u8; ENHANCED_TAIL_BYTES_MAX], usize) {
    let pad = padding(captured_len as usize);
    let mut bytes = [0; ENHANCED_TAIL_BYTES_MAX];
    bytes[pad..pad + 4].copy_from_slice(&order.bytes_u32(enhanced_len(captured_len)));
    (bytes, pad + 4)
}

const fn enhanced_len(captured_len: u32) -> u32 {
    let padded = captured_len.wrapping_add(padding(captured_len as usize) as u32);
    padded.wrapping_add(ENHANCED_HEAD_BYTES as u32 + 4)
}

/// Writes a whole enhanced packet block and returns its length.
///
/// # Errors
/// [`CaptureFault::NoRoom`], with nothing written; [`CaptureFault::CapturedLength`].
pub fn emit_enhanced(
    place: &mut [u8],
    order: ByteOrder,
    packet: &PacketRecord<'_>,
) -> Result<usize, CaptureFault> {
    let captured_len = u32::try_from(packet.bytes.len()).unwrap_or(u32::MAX);
    if captured_len > CAPTURED_BYTES_MAX {
        return Err(CaptureFault::CapturedLength);
    }
    let ticks = packet.ticks.unwrap_or(0);
    let head = enhanced_head(
        order,
        packet.interface,
        ticks,
        captured_len,
        packet.original_len,
    );
    let (tail, tail_len) = enhanced_tail(order, captured_len);
    let frame_end = head.len() + packet.bytes.len();
    let place = place
        .get_mut(..frame_end + tail_len)
        .ok_or(CaptureFault::NoRoom)?;
    place[..head.len()].copy_from_slice(&head);
    place[head.len()..frame_end].copy_from_slice(packet.bytes);
    place[frame_end..].copy_from_slice(&tail[..tail_len]);
    Ok(frame_end + tail_len)
}
