//! From a record of the kernel's ring to the frame as it was on the wire.

use frame::{Frame, FrameMeta};
use libc::{TP_STATUS_TS_RAW_HARDWARE, TP_STATUS_VLAN_TPID_VALID, TP_STATUS_VLAN_VALID};
use wire::checksum;

use crate::nic_clock::ClockReader;
use crate::sys::packet_ring::{CHECKSUM_UNFINISHED, Offload, Received};

/// The two addresses, before which no tag stands.
const ADDRESSES_BYTES: usize = 12;
const TAG_BYTES: usize = 4;
/// 802.1Q, which a tag without a TPID of its own has.
const TPID_DEFAULT: u16 = 0x8100;
/// Where the checksum lies in a UDP header: the only one in which 0 means that there is none.
const UDP_CHECKSUM_OFFSET: u16 = 6;

/// Why a received frame is not the wire's or cannot be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfit {
    /// The kernel or the sender's offload merged several into it.
    Merged,
    /// It is longer than a chunk, or than what the ring keeps.
    TooLong,
    /// It left by the interface.
    Outgoing,
}

/// The VLAN tag that the kernel keeps beside a frame.
fn tag(received: &Received<'_>) -> Option<[u8; TAG_BYTES]> {
    if received.status & TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let has_tpid = received.status & TP_STATUS_VLAN_TPID_VALID != 0;
    let tpid = if has_tpid {
        received.vlan_tpid
    } else {
        TPID_DEFAULT
    };
    let [a, b] = tpid.to_be_bytes();
    let [c, d] = received.vlan_tci.to_be_bytes();
    Some([a, b, c, d])
}

/// How frames of one ring are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taking<'a> {
    /// The ring has those that leave, too.
    pub(super) sees_outgoing: bool,
    /// The NIC's clock, where it stamps frames.
    pub(super) clock: Option<&'a ClockReader>,
    /// What the record of each frame says beside what the ring tells.
    pub(super) meta: FrameMeta,
}

impl Taking<'_> {
    /// The time of a frame, and whether it is the NIC's: the status of its record says which.
    fn time(&self, received: &Received<'_>) -> (u64, bool) {
        let by_nic = received.status & TP_STATUS_TS_RAW_HARDWARE != 0;
        match self.clock {
            Some(clock) if by_nic => (clock.kernel_time(received.time_ns).unwrap_or(0), true),
            _ => (received.time_ns, false),
        }
    }
}

/// Makes `frame` what was on the wire: tag in its place, checksum finished. Returns whether the
/// checksum had to be.
#[inline]
pub(super) fn fill(
    frame: &mut Frame,
    received: &Received<'_>,
    taking: &Taking<'_>,
) -> Result<bool, Unfit> {
    if taking.sees_outgoing && received.outgoing {
        return Err(Unfit::Outgoing);
    }
    if received.offload.segmentation != 0 {
        return Err(Unfit::Merged);
    }
    let bytes = received.bytes;
    if bytes.len() < received.len {
        return Err(Unfit::TooLong);
    }
    let inserted = match tag(received) {
        Some(tag) if bytes.len() >= ADDRESSES_BYTES => {
            let len = bytes.len() + TAG_BYTES;
            frame.set_len(len).map_err(|_| Unfit::TooLong)?;
            let (before, behind) = bytes.split_at(ADDRESSES_BYTES);
            let place = frame.bytes_mut();
            place[..ADDRESSES_BYTES].copy_from_slice(before);
            place[ADDRESSES_BYTES..ADDRESSES_BYTES + TAG_BYTES].copy_from_slice(&tag);
            place[ADDRESSES_BYTES + TAG_BYTES..].copy_from_slice(behind);
            TAG_BYTES
        }
        _ => {
            frame.copy_from(bytes).map_err(|_| Unfit::TooLong)?;
            0
        }
    };
    let (time_ns, by_nic) = taking.time(received);
    *frame.meta_mut() = FrameMeta {
        time_ns,
        by_nic,
        rss_hash: received.hash,
        ..taking.meta
    };
    let unfinished = received.offload.flags & CHECKSUM_UNFINISHED != 0;
    if unfinished {
        finish_checksum(frame.bytes_mut(), received.offload, inserted);
    }
    Ok(unfinished)
}

/// Sums up what the sender left to the hardware: its field holds the sum of the pseudo header.
#[cold]
fn finish_checksum(bytes: &mut [u8], offload: Offload, inserted: usize) {
    let start = usize::from(offload.checksum_start) + inserted;
    let field = start + usize::from(offload.checksum_offset);
    if start >= bytes.len() || field + 2 > bytes.len() {
        return;
    }
    let mut sum = checksum::checksum(&bytes[start..]);
    if offload.checksum_offset == UDP_CHECKSUM_OFFSET {
        sum = checksum::udp_nonzero(sum);
    }
    bytes[field..field + 2].copy_from_slice(&sum.to_be_bytes());
}
