//! The IPv6 header (RFC 8200).

use super::{field, view};
use crate::Malformed;

view! {
    /// An IPv6 packet. Its fixed header is there; what follows may be cut.
    Ipv6View
}

impl<T: AsRef<[u8]>> Ipv6View<T> {
    /// A view of a packet whose fixed header is in `bytes`.
    ///
    /// # Errors
    /// [`Malformed::Ipv6HeaderTruncated`] or [`Malformed::Ipv6Version`].
    #[inline]
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        let found = bytes.as_ref();
        if found.len() < 40 {
            return Err(Malformed::Ipv6HeaderTruncated);
        }
        if found[0] >> 4 != 6 {
            Err(Malformed::Ipv6Version)
        } else {
            Ok(Self(bytes))
        }
    }

    /// DSCP and ECN.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        (field::be16(self.0.as_ref(), 0) >> 4) as u8
    }

    /// Flow label, 20 bits.
    #[inline]
    pub fn flow_label(&self) -> u32 {
        field::be32(self.0.as_ref(), 0) & 0xF_FFFF
    }

    /// Length in bytes of all that follows the fixed header, as the field says.
    #[inline]
    pub fn payload_len(&self) -> u16 {
        field::be16(self.0.as_ref(), 4)
    }

    /// Protocol number of the first header behind the fixed one.
    #[inline]
    pub fn next_header(&self) -> u8 {
        field::byte(self.0.as_ref(), 6)
    }

    /// Hop limit.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        field::byte(self.0.as_ref(), 7)
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> u128 {
        field::be128(self.0.as_ref(), 8)
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> u128 {
        field::be128(self.0.as_ref(), 24)
    }

    /// What follows the fixed header, without padding, cut where the bytes end.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        field::range(self.0.as_ref(), 40, 40 + usize::from(self.payload_len()))
    }
}

impl<T: AsMut<[u8]>> Ipv6View<T> {
    /// Sets the payload length.
    #[inline]
    pub fn set_payload_len(&mut self, len: u16) {
        field::set(self.0.as_mut(), 4, len.to_be_bytes());
    }

    /// Sets the next-header number.
    #[inline]
    pub fn set_next_header(&mut self, protocol: u8) {
        field::set(self.0.as_mut(), 6, [protocol]);
    }

    /// Sets the hop limit.
    #[inline]
    pub fn set_hop_limit(&mut self, hop_limit: u8) {
        field::set(self.0.as_mut(), 7, [hop_limit]);
    }

    /// Sets the source address.
    #[inline]
    pub fn set_src(&mut self, address: u128) {
        field::set(self.0.as_mut(), 8, address.to_be_bytes());
    }

    /// Sets the destination address.
    #[inline]
    pub fn set_dst(&mut self, address: u128) {
        field::set(self.0.as_mut(), 24, address.to_be_bytes());
    }
}
