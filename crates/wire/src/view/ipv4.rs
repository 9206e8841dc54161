//! The IPv4 header (RFC 791).

use super::{field, view};
use crate::{Malformed, checksum};

view! {
    /// An IPv4 packet. Its header is there; its payload may be cut.
    Ipv4View
}

impl<T: AsRef<[u8]>> Ipv4View<T> {
    /// A view of a packet whose whole header, options too, is in `bytes`. The total length is not
    /// held against `bytes`, which may be a cut capture.
    ///
    /// # Errors
    /// [`Malformed::Ipv4HeaderTruncated`], [`Malformed::Ipv4Version`] or
    /// [`Malformed::Ipv4HeaderLength`].
    #[inline]
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        let found = bytes.as_ref();
        if found.len() < 20 {
            return Err(Malformed::Ipv4HeaderTruncated);
        }
        if found[0] >> 4 != 4 {
            return Err(Malformed::Ipv4Version);
        }
        match usize::from(found[0] & 15) * 4 {
            0..20 => Err(Malformed::Ipv4HeaderLength),
            header if header > found.len() => Err(Malformed::Ipv4HeaderTruncated),
            _ => Ok(Self(bytes)),
        }
    }

    /// Length of the header in bytes, options included.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(field::byte(self.0.as_ref(), 0) & 15) * 4
    }

    /// DSCP and ECN.
    #[inline]
    pub fn tos(&self) -> u8 {
        field::byte(self.0.as_ref(), 1)
    }

    /// Length of the packet in bytes, header included, as the field says.
    #[inline]
    pub fn total_len(&self) -> u16 {
        field::be16(self.0.as_ref(), 2)
    }

    /// Identification of the datagram.
    #[inline]
    pub fn identification(&self) -> u16 {
        field::be16(self.0.as_ref(), 4)
    }

    /// Routers must not cut the packet.
    #[inline]
    pub fn dont_fragment(&self) -> bool {
        field::byte(self.0.as_ref(), 6) & 0x40 != 0
    }

    /// More fragments follow.
    #[inline]
    pub fn more_fragments(&self) -> bool {
        field::byte(self.0.as_ref(), 6) & 0x20 != 0
    }

    /// Place of this fragment in the datagram, in bytes.
    #[inline]
    pub fn fragment_offset(&self) -> u16 {
        (field::be16(self.0.as_ref(), 6) & 0x1FFF) << 3
    }

    /// Time to live.
    #[inline]
    pub fn ttl(&self) -> u8 {
        field::byte(self.0.as_ref(), 8)
    }

    /// Protocol number of what follows.
    #[inline]
    pub fn protocol(&self) -> u8 {
        field::byte(self.0.as_ref(), 9)
    }

    /// The header checksum as it stands there.
    #[inline]
    pub fn checksum(&self) -> u16 {
        field::be16(self.0.as_ref(), 10)
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> u32 {
        field::be32(self.0.as_ref(), 12)
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> u32 {
        field::be32(self.0.as_ref(), 16)
    }

    /// Options, none or up to 40 bytes.
    #[inline]
    pub fn options(&self) -> &[u8] {
        field::range(self.0.as_ref(), 20, self.header_len())
    }

    /// What follows the header, without padding, cut where the bytes end.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        field::range(
            self.0.as_ref(),
            self.header_len(),
            usize::from(self.total_len()),
        )
    }

    /// True when the header checksum is right.
    #[inline]
    pub fn checksum_is_right(&self) -> bool {
        checksum::checksum(field::range(self.0.as_ref(), 0, self.header_len())) == 0
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Ipv4View<T> {
    /// Sets the length of the header, a multiple of 4 bytes from 20 to 60.
    #[inline]
    pub fn set_header_len(&mut self, bytes: usize) {
        field::set(self.0.as_mut(), 0, [0x40 | (bytes / 4) as u8 & 15]);
    }

    /// Sets where the fragment is in its datagram, a multiple of 8 bytes, and whether more follow;
    /// routers may cut it.
    #[inline]
    pub fn set_fragment(&mut self, offset: u16, more: bool) {
        let word = (offset / 8) | (u16::from(more) << 13);
        field::set(self.0.as_mut(), 6, word.to_be_bytes());
    }

    /// Takes 1 from the time to live, which must not be 0, and brings the header checksum in line
    /// by what changed (RFC 1624).
    #[inline]
    pub fn decrement_ttl(&mut self) {
        let old = field::be16(self.0.as_ref(), 8);
        let new = old.wrapping_sub(0x0100);
        let sum = checksum::update(self.checksum(), old, new);
        field::set(self.0.as_mut(), 8, new.to_be_bytes());
        self.set_checksum(sum);
    }

    /// Sets the total length.
    #[inline]
    pub fn set_total_len(&mut self, len: u16) {
        field::set(self.0.as_mut(), 2, len.to_be_bytes());
    }

    /// Sets the time to live.
    #[inline]
    pub fn set_ttl(&mut self, ttl: u8) {
        field::set(self.0.as_mut(), 8, [ttl]);
    }

    /// Sets the header checksum.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        field::set(self.0.as_mut(), 10, checksum.to_be_bytes());
    }

    /// Sets the source address.
    #[inline]
    pub fn set_src(&mut self, address: u32) {
        field::set(self.0.as_mut(), 12, address.to_be_bytes());
    }

    /// Sets the destination address.
    #[inline]
    pub fn set_dst(&mut self, address: u32) {
        field::set(self.0.as_mut(), 16, address.to_be_bytes());
    }

    /// Computes the header checksum anew and sets it.
    #[inline]
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let sum = checksum::checksum(field::range(self.0.as_ref(), 0, self.header_len()));
        self.set_checksum(sum);
    }
}
