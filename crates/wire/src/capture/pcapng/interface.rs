//! The interface description block: link type, snap length and time unit of the frames that name
//! it.

use super::{INTERFACE_DESCRIPTION, Options, TimeResolution};
use crate::capture::{ByteOrder, CaptureFault, LinkType};

const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const IF_TSOFFSET: u16 = 14;

/// What a reader must know of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterfaceDescription {
    /// What frames begin with.
    pub link_type: LinkType,
    /// Most bytes kept of a frame; 0 stands for no limit.
    pub snaplen: u32,
    /// Unit of timestamps.
    pub resolution: TimeResolution,
    /// Seconds to add to every timestamp.
    pub offset_s: i64,
    /// Bytes of frame check sequence at the end of each frame, where the writer says so.
    pub fcs_bytes: Option<u8>,
}

impl InterfaceDescription {
    /// Bytes of the block that [`Self::to_bytes`] writes.
    pub const BYTES: usize = 44;

    /// Reads a description from the body of its block. An option of the wrong length is passed
    /// over, as if it were unknown.
    ///
    /// # Errors
    /// [`CaptureFault::BlockLength`] for a body that is too short, [`CaptureFault::OptionLength`].
    pub fn parse(body: &[u8], order: ByteOrder) -> Result<Self, CaptureFault> {
        let (fixed, options) = body
            .split_first_chunk::<8>()
            .ok_or(CaptureFault::BlockLength)?;
        let mut interface = Self {
            link_type: LinkType(order.u16([fixed[0], fixed[1]])),
            snaplen: order.u32([fixed[4], fixed[5], fixed[6], fixed[7]]),
            resolution: TimeResolution::MICRO,
            offset_s: 0,
            fcs_bytes: None,
        };
        for option in Options::new(options, order) {
            let option = option?;
            match (option.code, option.value) {
                (IF_TSRESOL, &[byte]) => interface.resolution = TimeResolution::from_byte(byte),
                (IF_FCSLEN, &[bytes]) => interface.fcs_bytes = Some(bytes),
                (IF_TSOFFSET, &[a, b, c, d, e, f, g, h]) => {
                    interface.offset_s = order.u64([a, b, c, d, e, f, g, h]) as i64;
                }
                _ => {}
            }
        }
        Ok(interface)
    }

    /// The whole block as bytes, with time unit and time offset as options.
    #[must_use]
    pub fn to_bytes(&self, order: ByteOrder) -> [u8; Self::BYTES] {
        let total_len = order.bytes_u32(Self::BYTES as u32);
        let offset_s = self.offset_s as u64;
        // The offset goes as two words: an integer of eight bytes in the order of the file.
        let (high, low) = ((offset_s >> 32) as u32, offset_s as u32);
        let words = match order {
            ByteOrder::Little => [low, high],
            ByteOrder::Big => [high, low],
        };
        let mut bytes = [0; Self::BYTES];
        bytes[0..4].copy_from_slice(&order.bytes_u32(INTERFACE_DESCRIPTION));
        bytes[4..8].copy_from_slice(&total_len);
        bytes[8..10].copy_from_slice(&order.bytes_u16(self.link_type.0));
        bytes[12..16].copy_from_slice(&order.bytes_u32(self.snaplen));
        bytes[16..18].copy_from_slice(&order.bytes_u16(IF_TSRESOL));
        bytes[18..20].copy_from_slice(&order.bytes_u16(1));
        bytes[20] = self.resolution.to_byte();
        bytes[24..26].copy_from_slice(&order.bytes_u16(IF_TSOFFSET));
        bytes[26..28].copy_from_slice(&order.bytes_u16(8));
        bytes[28..32].copy_from_slice(&order.bytes_u32(words[0]));
        bytes[32..36].copy_from_slice(&order.bytes_u32(words[1]));
        // 36..40: end of options, all zeros.
        bytes[40..44].copy_from_slice(&total_len);
        bytes
    }
}
