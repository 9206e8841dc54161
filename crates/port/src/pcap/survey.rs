//! How long the frames of a capture may be, before the first is read.

use wire::capture::ETHERNET_BYTES;

use super::{CapturePath, CaptureReader, Step};

/// Bytes of a file that are read ahead at most: 64 MiB take about 20 ms from the page cache.
const SURVEY_BYTES_MAX: u64 = 64 << 20;
/// The longest frame that a capture too large to read through is believed to have: an IP packet of
/// 65,535 bytes behind an Ethernet header with eight tags.
const FRAME_BYTES_MAX: usize = 65_535 + 14 + 8 * 4;
/// The longest frame that any hint speaks of: what a host hands to a NIC that segments, as far
/// as a chunk can hold it.
const FRAME_BYTES_READ_MAX: usize = frame::STRIDE_BYTES_MAX as usize - 1_024;

/// The longest frame of the capture: exactly for a file of up to [`SURVEY_BYTES_MAX`], else what
/// its snap length permits.
pub(super) fn frame_bytes_max(path: &CapturePath, reader: &CaptureReader) -> usize {
    if let CapturePath::File(_) = path
        && reader.can_rewind()
        && let Some(longest) = longest_frame(path)
    {
        return longest.min(FRAME_BYTES_READ_MAX);
    }
    match reader.snaplen() {
        0 => FRAME_BYTES_MAX,
        snaplen => FRAME_BYTES_MAX.min(snaplen as usize + ETHERNET_BYTES),
    }
}

/// Reads the file through; `None` when it is too large for that.
fn longest_frame(path: &CapturePath) -> Option<usize> {
    let mut reader = CaptureReader::open(path).ok()?;
    let mut longest = 0;
    loop {
        match reader.next() {
            Step::Record(record) => longest = longest.max(record.bytes.len()),
            Step::LeftOut(_) => {}
            Step::Waiting => return None,
            Step::Ended => return Some(longest),
        }
        if reader.bytes_consumed() > SURVEY_BYTES_MAX {
            return None;
        }
    }
}
