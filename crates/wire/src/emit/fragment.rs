//! Packets cut into fragments (RFC 791 section 3.2, RFC 8200 section 4.5).

use core::ops::Range;

use crate::{Family, Fragment, Parsed, checksum, protocol};

/// Writes to `out` the fragment of the sound whole packet in `frame`, which parses to `parsed`,
/// that holds the bytes `range` behind the network header: its length. More fragments follow
/// unless the range ends with the packet.
///
/// `None` where it cannot be: the packet is a fragment or no IP, has IPv6 extension headers or
/// IPv4 options, the range begins at no multiple of 8 or reaches past the packet, or `out` is too
/// short. What it holds and where it ends is otherwise the caller's choice, good or bad.
#[must_use]
pub fn fragment(
    (frame, parsed): (&[u8], &Parsed),
    range: Range<usize>,
    identification: u32,
    out: &mut [u8],
) -> Option<usize> {
    let l3 = usize::from(parsed.l3_offset);
    let header = usize::from(parsed.l4_offset).checked_sub(l3)?;
    let plain = match parsed.family {
        Family::V4 => header == 20,
        Family::V6 => header == 40,
        Family::None => false,
    };
    let data = frame.get(l3 + header..l3 + parsed.l3_len as usize)?;
    let sound = parsed.fault.is_none() && parsed.fragment == Fragment::Whole;
    if !plain || !sound || !range.start.is_multiple_of(8) {
        return None;
    }
    let more = range.end < data.len();
    let word = range.start as u16 | u16::from(more);
    let part = data.get(range)?;
    let extension = if parsed.family == Family::V6 { 8 } else { 0 };
    let len = l3 + header + extension + part.len();
    let out = out.get_mut(..len)?;
    out[..l3 + header].copy_from_slice(&frame[..l3 + header]);
    out[l3 + header + extension..].copy_from_slice(part);
    let (head, behind) = out[l3..].split_at_mut(header);
    if parsed.family == Family::V6 {
        head[4..6].copy_from_slice(&(8 + part.len() as u16).to_be_bytes());
        behind[..2].copy_from_slice(&[head[6], 0]);
        behind[2..4].copy_from_slice(&word.to_be_bytes());
        behind[4..8].copy_from_slice(&identification.to_be_bytes());
        head[6] = protocol::FRAGMENT;
    } else {
        let word = (word & 0xFFF8) >> 3 | u16::from(more) << 13;
        head[2..4].copy_from_slice(&(20 + part.len() as u16).to_be_bytes());
        head[4..6].copy_from_slice(&(identification as u16).to_be_bytes());
        head[6..8].copy_from_slice(&word.to_be_bytes());
        head[10..12].copy_from_slice(&[0, 0]);
        let sum = checksum::checksum(head);
        head[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    Some(len)
}
