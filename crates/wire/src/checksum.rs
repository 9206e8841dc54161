//! The Internet checksum: RFC 1071, incremental update by RFC 1624, pseudo headers of IPv4
//! (RFC 9293 section 3.1, RFC 768) and IPv6 (RFC 8200 section 8.1).
//!
//! A *sum* is the folded 16-bit one's complement sum of big-endian words; sums add up with
//! [`combine`]. A *checksum* is the complement of a sum, as it stands in a header.

/// Sum of `bytes`; an odd last byte counts as if a zero byte followed.
///
/// The sum is 0 only when every byte is 0; otherwise zero appears as 0xFFFF.
#[inline]
#[must_use]
pub fn ones_complement(bytes: &[u8]) -> u16 {
    // The sum does not depend on byte order but for a swap at the end (RFC 1071 section 2), so
    // native loads do; 32-bit words into 64 bits leave room for 16 GiB of carries.
    let mut words = bytes.chunks_exact(4);
    let mut sum = 0u64;
    for word in &mut words {
        sum += u64::from(u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
    }
    let mut last = [0; 4];
    let rest = words.remainder();
    last[..rest.len()].copy_from_slice(rest);
    sum += u64::from(u32::from_ne_bytes(last));
    u16::from_be(fold(sum))
}

/// Sum of two sums, the second over bytes that start at an even distance from the first.
#[inline]
#[must_use]
pub const fn combine(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + carry as u16
}

/// Sum of two sums, the second over bytes that start at an odd distance from the first.
#[inline]
#[must_use]
pub const fn combine_odd(a: u16, b: u16) -> u16 {
    combine(a, b.swap_bytes())
}

/// The checksum of `bytes`: what a header holds in its checksum field, that field being 0 in
/// `bytes`. Over bytes that hold a right checksum the answer is 0.
#[inline]
#[must_use]
pub fn checksum(bytes: &[u8]) -> u16 {
    !ones_complement(bytes)
}

/// `checksum` after a 16-bit word it covers changed from `old` to `new`: RFC 1624 equation 3,
/// HC' = ~(~HC + ~m + m').
///
/// Equal to computing anew, but when all that is covered becomes 0 (no IP header can): the answer
/// is 0x0000 then and 0xFFFF anew, which mean the same.
#[inline]
#[must_use]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    !combine(combine(!checksum, !old), new)
}

/// What a 32-bit field at an even place adds to the sum of what covers it when it changes from
/// `old` to `new`: differences add up with [`combine`], and the complement of one is that of the
/// way back.
#[inline]
#[must_use]
pub const fn difference_u32(old: u32, new: u32) -> u16 {
    fold(!old as u64 + new as u64)
}

/// `checksum` after words that it covers changed by a `difference`: RFC 1624 equation 3, the same
/// as [`update`] for each of them.
#[inline]
#[must_use]
pub const fn add_difference(checksum: u16, difference: u16) -> u16 {
    !combine(!checksum, difference)
}

/// Sum of the pseudo header in front of a transport header and payload of `len` bytes in IPv4.
#[inline]
#[must_use]
pub const fn pseudo_v4(src: u32, dst: u32, protocol: u8, len: u16) -> u16 {
    fold(src as u64 + dst as u64 + protocol as u64 + len as u64)
}

/// Sum of the pseudo header in front of a transport header and payload of `len` bytes in IPv6;
/// `protocol` is that of the transport header, also behind extension headers.
#[inline]
#[must_use]
pub const fn pseudo_v6(src: u128, dst: u128, protocol: u8, len: u32) -> u16 {
    let addresses = combine(sum_u128(src), sum_u128(dst));
    combine(addresses, fold(protocol as u64 + len as u64))
}

/// The checksum of a transport header and payload `segment` (its checksum field being 0) behind
/// the pseudo header with sum `pseudo`.
#[inline]
#[must_use]
pub fn transport(pseudo: u16, segment: &[u8]) -> u16 {
    !combine(pseudo, ones_complement(segment))
}

/// A UDP checksum as it is sent: 0 would say that there is none, so all ones stand for it
/// (RFC 768).
#[inline]
#[must_use]
pub const fn udp_nonzero(checksum: u16) -> u16 {
    if checksum == 0 { 0xFFFF } else { checksum }
}

const fn sum_u128(wide: u128) -> u16 {
    fold(
        (wide >> 96) as u32 as u64
            + (wide >> 64) as u32 as u64
            + (wide >> 32) as u32 as u64
            + wide as u32 as u64,
    )
}

/// Adds the carries above 16 bits back in until none are left.
#[inline]
const fn fold(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xFFFF_FFFF);
    let sum = (sum >> 16) + (sum & 0xFFFF);
    let sum = (sum >> 16) + (sum & 0xFFFF);
    let sum = (sum >> 16) + (sum & 0xFFFF);
    sum as u16
}

#[cfg(test)]
mod tests;
