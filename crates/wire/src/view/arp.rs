//! An ARP message for IPv4 over Ethernet (RFC 826).

use super::{field, view};
use crate::{MacAddress, Malformed};

view! {
    /// An ARP message with Ethernet and IPv4 addresses.
    ArpView
}

impl<T: AsRef<[u8]>> ArpView<T> {
    /// A view of an ARP message; `Ok(None)` when it is sound and about other kinds of address.
    ///
    /// # Errors
    /// [`Malformed::ArpTruncated`] when the message is shorter than its addresses.
    pub fn new_checked(bytes: T) -> Result<Option<Self>, Malformed> {
        let found = bytes.as_ref();
        let [hardware_len, protocol_len] = field::array(found, 4);
        let needed = 8 + 2 * (usize::from(hardware_len) + usize::from(protocol_len));
        if found.len() < needed {
            return Err(Malformed::ArpTruncated);
        }
        let known = field::array(found, 0) == [0, 1, 8, 0, 6, 4];
        Ok(known.then_some(Self(bytes)))
    }

    /// 1 asks, 2 answers.
    #[inline]
    pub fn operation(&self) -> u16 {
        field::be16(self.0.as_ref(), 6)
    }

    /// Ethernet address of the sender.
    #[inline]
    pub fn sender_mac(&self) -> MacAddress {
        MacAddress(field::array(self.0.as_ref(), 8))
    }

    /// IPv4 address of the sender.
    #[inline]
    pub fn sender(&self) -> u32 {
        field::be32(self.0.as_ref(), 14)
    }

    /// Ethernet address of the target.
    #[inline]
    pub fn target_mac(&self) -> MacAddress {
        MacAddress(field::array(self.0.as_ref(), 18))
    }

    /// IPv4 address of the target.
    #[inline]
    pub fn target(&self) -> u32 {
        field::be32(self.0.as_ref(), 24)
    }
}
