//! The TCP header (RFC 9293).

use super::{field, view};
use crate::Malformed;

view! {
    /// A TCP segment. Its header, options too, is there.
    TcpView
}

impl<T: AsRef<[u8]>> TcpView<T> {
    /// A view of a segment.
    ///
    /// # Errors
    /// [`Malformed::TcpTruncated`] or [`Malformed::TcpDataOffset`].
    #[inline]
    pub fn new_checked(bytes: T) -> Result<Self, Malformed> {
        let found = bytes.as_ref();
        if found.len() < 20 {
            return Err(Malformed::TcpTruncated);
        }
        let header = usize::from(found[12] >> 4) * 4;
        if header < 20 || header > found.len() {
            return Err(Malformed::TcpDataOffset);
        }
        Ok(Self(bytes))
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

    /// Sequence number.
    #[inline]
    pub fn sequence(&self) -> u32 {
        field::be32(self.0.as_ref(), 4)
    }

    /// Acknowledgment number.
    #[inline]
    pub fn acknowledgment(&self) -> u32 {
        field::be32(self.0.as_ref(), 8)
    }

    /// Length of the header in bytes, options included.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(field::byte(self.0.as_ref(), 12) >> 4) * 4
    }

    /// FIN in bit 0 to CWR in bit 7.
    #[inline]
    pub fn flags(&self) -> u8 {
        field::byte(self.0.as_ref(), 13)
    }

    /// Window, unscaled.
    #[inline]
    pub fn window(&self) -> u16 {
        field::be16(self.0.as_ref(), 14)
    }

    /// The checksum as it stands there.
    #[inline]
    pub fn checksum(&self) -> u16 {
        field::be16(self.0.as_ref(), 16)
    }

    /// Options, none or up to 40 bytes.
    #[inline]
    pub fn options(&self) -> &[u8] {
        field::range(self.0.as_ref(), 20, self.header_len())
    }

    /// What follows the header.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        field::range(self.0.as_ref(), self.header_len(), usize::MAX)
    }
}
