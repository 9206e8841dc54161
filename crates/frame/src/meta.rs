//! What travels beside a frame: the receive record.

use crate::ids::{PortId, QueueId};

/// What is known of a frame but not written in it. It lies in an array beside the chunks of the
/// pool and is there only when somebody has set it since the frame was allocated.
///
/// Aligned to its size, so that a record is always in one cache line and never in two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct FrameMeta {
    /// When the frame was received: nanoseconds on the clock of its source (for captures the
    /// time since 1970); 0 when unknown.
    pub time_ns: u64,
    /// Length on the wire in bytes, without FCS; more than the frame's length when a capture cut
    /// it. 0 when unknown: then the frame is whole.
    pub original_len: u32,
    /// The receive hash of the hardware or the generator; 0 when unknown. For placement only.
    pub rss_hash: u32,
    /// The port it was received on.
    pub port: PortId,
    /// The queue of that port.
    pub queue: QueueId,
    /// TPID of a VLAN tag the hardware stripped; 0 when none was.
    pub vlan_tpid: u16,
    /// TCI of a VLAN tag the hardware stripped.
    pub vlan_tci: u16,
    /// When the interface's own clock says that it came, as a time of the kernel's monotonic clock
    /// in nanoseconds; 0 when that was not told.
    pub hardware_ns: u64,
}

const _: () = assert!(size_of::<FrameMeta>() == 32, "two records a cache line");
