//! The UDP header (RFC 768).

use super::{field, view};
use crate::Malformed;

view! {
    /// A UDP datagram. Its header is there; its payload may be cut.
    UdpView
}

impl<T: AsRef<[u8]>> UdpView<T> {
    /// A view of a datagram.
    ///
    /// # Errors
    /// [`Malformed::UdpTruncated`] below 8 bytes.
    #[inline]
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        if bytes.as_ref().len() < 8 {
            Err(Malformed::UdpTruncated)
        } else {
            Ok(Self(bytes))
        }
    }

    /// Source port.
    #[inline]
    pub fn src_port(&self) -> u16 {
        field::be16(self.0.as_ref(), 0)
    }

    /// Destination port.
    #[inline]
    pub fn dst_port(&self) -> u16 {
        field::be16(self.0.as_ref(), 2)
    }

    /// Length of the datagram in bytes, header included, as the field says.
    #[inline]
    pub fn datagram_len(&self) -> u16 {
        field::be16(self.0.as_ref(), 4)
    }

    /// The checksum as it stands there; 0 is none.
    #[inline]
    pub fn checksum(&self) -> u16 {
        field::be16(self.0.as_ref(), 6)
    }

    /// What follows the header, cut where the bytes end.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        field::range(self.0.as_ref(), 8, usize::from(self.datagram_len()))
    }
}
