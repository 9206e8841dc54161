//! The header ICMP (RFC 792) and ICMPv6 (RFC 4443) share.

use super::{field, view};
use crate::Malformed;

view! {
    /// An ICMP or ICMPv6 message.
    IcmpView
}

impl<T: AsRef<[u8]>> IcmpView<T> {
    /// A view of a message.
    ///
    /// # Errors
    /// [`Malformed::IcmpTruncated`] below 8 bytes, of ICMPv6 too.
    #[inline]
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        if bytes.as_ref().len() < 8 {
            Err(Malformed::IcmpTruncated)
        } else {
            Ok(Self(bytes))
        }
    }

    /// Type of message.
    #[inline]
    pub fn kind(&self) -> u8 {
        field::byte(self.0.as_ref(), 0)
    }

    /// Code within the type.
    #[inline]
    pub fn code(&self) -> u8 {
        field::byte(self.0.as_ref(), 1)
    }

    /// The checksum as it stands there.
    #[inline]
    pub fn checksum(&self) -> u16 {
        field::be16(self.0.as_ref(), 2)
    }

    /// The four bytes behind the checksum: identifier and sequence number of an echo.
    #[inline]
    pub fn rest(&self) -> u32 {
        field::be32(self.0.as_ref(), 4)
    }

    /// What follows the first 8 bytes.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        field::range(self.0.as_ref(), 8, usize::MAX)
    }
}
