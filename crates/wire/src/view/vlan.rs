//! A VLAN tag behind its TPID (IEEE 802.1Q clause 9.6).

use super::{field, view};
use crate::Malformed;

view! {
    /// Tag control information and the type that follows it: the four bytes behind a TPID.
    VlanView
}

impl<T: AsRef<[u8]>> VlanView<T> {
    /// A view of what follows a TPID.
    ///
    /// # Errors
    /// [`Malformed::VlanTagTruncated`] below 4 bytes.
    #[inline]
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        if bytes.as_ref().len() < 4 {
            Err(Malformed::VlanTagTruncated)
        } else {
            Ok(Self(bytes))
        }
    }

    /// VLAN id, 12 bits.
    #[inline]
    pub fn id(&self) -> u16 {
        field::be16(self.0.as_ref(), 0) & 0x0FFF
    }

    /// Priority code point, 3 bits.
    #[inline]
    pub fn priority(&self) -> u8 {
        field::byte(self.0.as_ref(), 0) >> 5
    }

    /// Drop eligible indicator.
    #[inline]
    pub fn drop_eligible(&self) -> bool {
        field::byte(self.0.as_ref(), 0) & 0x10 != 0
    }

    /// The ether type (or another TPID, or a length) behind the tag.
    #[inline]
    pub fn inner_type(&self) -> u16 {
        field::be16(self.0.as_ref(), 2)
    }

    /// What follows the tag.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        field::range(self.0.as_ref(), 4, usize::MAX)
    }
}

impl<T: AsMut<[u8]>> VlanView<T> {
    /// Sets priority, drop eligible indicator and VLAN id in one word.
    #[inline]
    pub fn set_tci(&mut self, tci: u16) {
        field::set(self.0.as_mut(), 0, tci.to_be_bytes());
    }

    /// Sets the type behind the tag.
    #[inline]
    pub fn set_inner_type(&mut self, ether_type: u16) {
        field::set(self.0.as_mut(), 2, ether_type.to_be_bytes());
    }
}
