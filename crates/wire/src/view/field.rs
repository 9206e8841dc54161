//! Fields of a header by offset. Total: what is not there reads as 0 and is not written. Behind a
//! length check the optimiser sees, the checks here cost nothing.

#[inline]
pub(super) fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes
        .get(at..)
        .and_then(<[u8]>::first_chunk)
        .copied()
        .unwrap_or([0; N])
}

#[inline]
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

#[inline]
pub(super) fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(array(bytes, at))
}

#[inline]
pub(super) fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(array(bytes, at))
}

#[inline]
pub(super) fn be128(bytes: &[u8], at: usize) -> u128 {
    u128::from_be_bytes(array(bytes, at))
}

#[inline]
pub(super) fn set<const N: usize>(bytes: &mut [u8], at: usize, field: [u8; N]) {
    if let Some(place) = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = field;
    }
}

/// Bytes from `start` to `end`, clipped to what is there.
#[inline]
pub(super) fn range(bytes: &[u8], start: usize, end: usize) -> &[u8] {
    let end = end.min(bytes.len());
    bytes.get(start.min(end)..end).unwrap_or(&[])
}
