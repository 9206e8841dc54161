//! pcap: a file header of 24 bytes, then records of 16 bytes and the captured frame.
//!
//! The magic number tells byte order and resolution, four combinations in all
//! (draft-ietf-opsawg-pcap section 4).

use super::{ByteOrder, CAPTURED_BYTES_MAX, CaptureFault, LinkType};

/// Bytes of the file header.
pub const FILE_HEADER_BYTES: usize = 24;
/// Bytes before each captured frame.
pub const RECORD_HEADER_BYTES: usize = 16;

const MAGIC_MICRO: u32 = 0xa1b2_c3d4;
const MAGIC_NANO: u32 = 0xa1b2_3c4d;
const MAGIC_MODIFIED: u32 = 0xa1b2_cd34;
const VERSION_MAJOR: u16 = 2;
const VERSION_MINOR: u16 = 4;

/// The unit of the second half of a record's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// Microseconds.
    Micro,
    /// Nanoseconds.
    Nano,
}

impl Resolution {
    /// Nanoseconds in one unit.
    #[inline]
    #[must_use]
    pub const fn unit_ns(self) -> u64 {
        match self {
            Self::Micro => 1_000,
            Self::Nano => 1,
        }
    }
}

/// Byte order and resolution of a pcap by its first four bytes.
///
/// # Errors
/// [`CaptureFault::ModifiedPcap`] or [`CaptureFault::UnknownMagic`].
pub fn magic(bytes: [u8; 4]) -> Result<(ByteOrder, Resolution), CaptureFault> {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        match order.u32(bytes) {
            MAGIC_MICRO => return Ok((order, Resolution::Micro)),
            MAGIC_NANO => return Ok((order, Resolution::Nano)),
            MAGIC_MODIFIED => return Err(CaptureFault::ModifiedPcap),
            _ => {}
        }
    }
    Err(CaptureFault::UnknownMagic)
}

/// The fields of a file header that mean anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHeader {
    /// Byte order of every integer in the file.
    pub order: ByteOrder,
    /// Unit of the fraction of a second.
    pub resolution: Resolution,
    /// Most bytes kept of a frame, as stated; 0 stands for no limit. Nothing may rely on it.
    pub snaplen: u32,
    /// What frames begin with.
    pub link_type: LinkType,
    /// Bytes of frame check sequence at the end of each frame, where the writer says so.
    pub fcs_bytes: Option<u8>,
}

impl FileHeader {
    /// Reads a header from the first [`FILE_HEADER_BYTES`] bytes of a file.
    ///
    /// # Errors
    /// [`CaptureFault::TooShort`], a fault of the magic number, or [`CaptureFault::Version`].
    pub fn parse(bytes: &[u8]) -> Result<Self, CaptureFault> {
        let bytes = bytes
            .first_chunk::<FILE_HEADER_BYTES>()
            .ok_or(CaptureFault::TooShort)?;
        let (order, resolution) = magic([bytes[0], bytes[1], bytes[2], bytes[3]])?;
        if order.u16([bytes[4], bytes[5]]) != VERSION_MAJOR {
            return Err(CaptureFault::Version);
        }
        let snaplen = order.u32([bytes[16], bytes[17], bytes[18], bytes[19]]);
        let link = order.u32([bytes[20], bytes[21], bytes[22], bytes[23]]);
        // Section 4: bit 26 (F) says that the upper four bits count the FCS in 16-bit words.
        let fcs_bytes = (link & 1 << 26 != 0).then_some((link >> 28) as u8 * 2);
        let link_type = LinkType(link as u16);
        Ok(Self {
            order,
            resolution,
            snaplen,
            link_type,
            fcs_bytes,
        })
    }

    /// The header as bytes, version 2.4.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; FILE_HEADER_BYTES] {
        let magic = match self.resolution {
            Resolution::Micro => MAGIC_MICRO,
            Resolution::Nano => MAGIC_NANO,
        };
        let fcs = self
            .fcs_bytes
            .map_or(0, |fcs| 1 << 26 | u32::from((fcs / 2) & 15) << 28);
        let mut bytes = [0; FILE_HEADER_BYTES];
        bytes[0..4].copy_from_slice(&self.order.bytes_u32(magic));
        bytes[4..6].copy_from_slice(&self.order.bytes_u16(VERSION_MAJOR));
        bytes[6..8].copy_from_slice(&self.order.bytes_u16(VERSION_MINOR));
        bytes[16..20].copy_from_slice(&self.order.bytes_u32(self.snaplen));
        let link = u32::from(self.link_type.0) | fcs;
        bytes[20..24].copy_from_slice(&self.order.bytes_u32(link));
        bytes
    }
}

/// Whether what should be a record begins as a file of this kind does. As a record it would be of
/// one moment of the year 2055.
#[inline]
fn begins_file(
    bytes: &[u8; RECORD_HEADER_BYTES],
    order: ByteOrder,
    resolution: Resolution,
) -> bool {
    let magic = match resolution {
        Resolution::Micro => MAGIC_MICRO,
        Resolution::Nano => MAGIC_NANO,
    };
    order.u32([bytes[0], bytes[1], bytes[2], bytes[3]]) == magic
        && order.u16([bytes[4], bytes[5]]) == VERSION_MAJOR
        && order.u16([bytes[6], bytes[7]]) == VERSION_MINOR
}

/// What stands before each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordHeader {
    /// Time of capture, nanoseconds since 1970.
    pub time_ns: u64,
    /// Bytes of the frame that follow.
    pub captured_len: u32,
    /// Bytes the frame had on the wire, as stated.
    pub original_len: u32,
}

impl RecordHeader {
    /// Reads a record header from its [`RECORD_HEADER_BYTES`] bytes.
    ///
    /// # Errors
    /// [`CaptureFault::TooShort`], [`CaptureFault::SecondHeader`], or
    /// [`CaptureFault::CapturedLength`] above [`CAPTURED_BYTES_MAX`].
    #[inline]
    pub fn parse(
        bytes: &[u8],
        order: ByteOrder,
        resolution: Resolution,
    ) -> Result<Self, CaptureFault> {
        let bytes = bytes
            .first_chunk::<RECORD_HEADER_BYTES>()
            .ok_or(CaptureFault::TooShort)?;
        let field = |at: usize| order.u32([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let captured_len = field(8);
        if begins_file(bytes, order, resolution) {
            return Err(CaptureFault::SecondHeader);
        }
        if captured_len > CAPTURED_BYTES_MAX {
            return Err(CaptureFault::CapturedLength);
        }
        // At most 4.3e18 + 4.3e12: no overflow, whatever the fields say.
        let time_ns =
            u64::from(field(0)) * 1_000_000_000 + u64::from(field(4)) * resolution.unit_ns();
        Ok(Self {
            time_ns,
            captured_len,
            original_len: field(12),
        })
    }

    /// The header as bytes. The format ends in the year 2106: later times are written as its last
    /// second. Microseconds cut what is below them.
    #[inline]
    #[must_use]
    pub fn to_bytes(&self, order: ByteOrder, resolution: Resolution) -> [u8; RECORD_HEADER_BYTES] {
        let seconds = u32::try_from(self.time_ns / 1_000_000_000).unwrap_or(u32::MAX);
        let fraction = (self.time_ns % 1_000_000_000 / resolution.unit_ns()) as u32;
        let mut bytes = [0; RECORD_HEADER_BYTES];
        bytes[0..4].copy_from_slice(&order.bytes_u32(seconds));
        bytes[4..8].copy_from_slice(&order.bytes_u32(fraction));
        bytes[8..12].copy_from_slice(&order.bytes_u32(self.captured_len));
        bytes[12..16].copy_from_slice(&order.bytes_u32(self.original_len));
        bytes
    }
}
