//! The Ethernet header.

use super::{field, view};
use crate::{MacAddress, Malformed};

view! {
    /// An Ethernet header: two addresses and a type or length.
    EthernetView
}

impl EthernetView<()> {
    /// Length of the header in bytes.
    pub const BYTES: usize = 14;
}

impl<T: AsRef<[u8]>> EthernetView<T> {
    /// A view of a frame.
    ///
    /// # Errors
    /// [`Malformed::EthernetTruncated`] below 14 bytes.
    #[inline]
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        if bytes.as_ref().len() < EthernetView::BYTES {
            return Err(Malformed::EthernetTruncated);
        }
        Ok(Self(bytes))
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> MacAddress {
        MacAddress(field::array(self.0.as_ref(), 0))
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> MacAddress {
        MacAddress(field::array(self.0.as_ref(), 6))
    }

    /// What follows the header.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        field::range(self.0.as_ref(), EthernetView::BYTES, usize::MAX)
    }
}
