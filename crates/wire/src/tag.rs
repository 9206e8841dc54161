//! A VLAN tag, and where the outermost of a frame stands (IEEE 802.1Q-2022, 9.5 and 9.6).

use crate::{Malformed, ether_type};

/// The bits that number the VLAN.
const ID: u16 = 0x0FFF;
/// Where the priority code point begins.
const PRIORITY_SHIFT: u32 = 13;

/// A VLAN tag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag {
    /// Tag protocol identifier, one of those of [`ether_type::is_vlan`].
    pub tpid: u16,
    /// Priority (3 bits), drop eligible (1 bit), VLAN id (12 bits).
    pub tci: u16,
}

impl Tag {
    /// Bytes of a tag.
    pub const BYTES: usize = 4;
    /// Offset of the outermost tag: behind the two addresses.
    pub const OFFSET: usize = 12;

    /// An 802.1Q tag of priority 0.
    #[must_use]
    pub const fn vlan(id: u16) -> Self {
        Self {
            tpid: ether_type::VLAN,
            tci: id & ID,
        }
    }

    /// An 802.1ad service tag of priority 0.
    #[must_use]
    pub const fn service(id: u16) -> Self {
        Self {
            tpid: ether_type::VLAN_SERVICE,
            tci: id & ID,
        }
    }

    /// An 802.1Q tag that names a priority (0 to 7) and no VLAN.
    #[must_use]
    pub const fn priority(priority: u8) -> Self {
        Self {
            tpid: ether_type::VLAN,
            tci: (priority as u16) << PRIORITY_SHIFT,
        }
    }

    /// The outermost tag of a frame, if it is of this type.
    ///
    /// # Errors
    /// [`Malformed::EthernetTruncated`] below 14 bytes, [`Malformed::VlanTagTruncated`] where the
    /// tag or the type behind it is cut.
    #[inline]
    pub fn outermost(frame: &[u8], tpid: u16) -> Result<Option<Self>, Malformed> {
        let header = frame.get(Self::OFFSET..).unwrap_or(&[]);
        let Some(&kind) = header.first_chunk() else {
            return Err(Malformed::EthernetTruncated);
        };
        if u16::from_be_bytes(kind) != tpid {
            return Ok(None);
        }
        match header.first_chunk() {
            Some(&[_, _, high, low, _, _]) => Ok(Some(Self {
                tpid,
                tci: u16::from_be_bytes([high, low]),
            })),
            None => Err(Malformed::VlanTagTruncated),
        }
    }

    /// The VLAN; 0 names none.
    #[must_use]
    #[inline]
    pub const fn id(self) -> u16 {
        self.tci & ID
    }

    /// This tag with another type and VLAN: priority and drop eligible are kept.
    #[must_use]
    #[inline]
    pub const fn renamed(self, tpid: u16, id: u16) -> Self {
        Self {
            tpid,
            tci: self.tci & !ID | id & ID,
        }
    }

    /// The tag as it stands in a frame.
    #[must_use]
    #[inline]
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let ([a, b], [c, d]) = (self.tpid.to_be_bytes(), self.tci.to_be_bytes());
        [a, b, c, d]
    }
}

#[cfg(test)]
mod tests {
    use super::Tag;
    use crate::Malformed;

    #[test]
    fn bits_of_a_tag() {
        let tag = Tag {
            tpid: 0x8100,
            tci: 0xB00A,
        };
        for (tag, bytes) in [
            (tag, [0x81, 0, 0xB0, 10]),
            (tag.renamed(0x88A8, 4094), [0x88, 0xA8, 0xBF, 0xFE]),
            // A number beyond 12 bits changes no priority.
            (tag.renamed(0x8100, 0xF001), [0x81, 0, 0xB0, 1]),
            (Tag::priority(7), [0x81, 0, 0xE0, 0]),
            (Tag::service(0xFFFF), [0x88, 0xA8, 0x0F, 0xFF]),
        ] {
            assert_eq!(tag.to_bytes(), bytes, "{tag:?}");
            assert_eq!(tag.id(), u16::from_be_bytes([bytes[2], bytes[3]]) & 0xFFF);
        }
    }

    #[test]
    fn the_outermost_tag_of_a_frame_cut_anywhere() {
        let mut frame = vec![0xAA; 12];
        frame.extend([0x81, 0, 0x60, 5, 8, 0]);
        let tag = Tag {
            tpid: 0x8100,
            tci: 0x6005,
        };
        for len in 0..=frame.len() {
            let (right, of_other_type) = match len {
                0..14 => (Err(Malformed::EthernetTruncated), None),
                14..18 => (Err(Malformed::VlanTagTruncated), Some(Ok(None))),
                _ => (Ok(Some(tag)), Some(Ok(None))),
            };
            assert_eq!(Tag::outermost(&frame[..len], 0x8100), right, "{len}");
            let of_other_type = of_other_type.unwrap_or(Err(Malformed::EthernetTruncated));
            assert_eq!(
                Tag::outermost(&frame[..len], 0x88A8),
                of_other_type,
                "{len}"
            );
        }
    }
}
