//! What travels beside a frame: the receive record.

use crate::ids::{PortId, QueueId};
use crate::time::Nanos;

/// What is known of a frame but not written in it. It lies in an array beside the chunks of the
/// pool and is there only when somebody has set it since the frame was allocated.
///
/// Aligned to its size, so that a record is always in one cache line and never in two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(32))]
pub struct FrameMeta {
    /// When the frame was received: nanoseconds on the clock of its source (for captures the
    /// time since 1970), or where `by_nic` is set on the kernel's monotonic clock; 0 when unknown.
    pub time_ns: u64,
    /// Length on the wire in bytes, without FCS; more than the frame's length when a capture cut
    /// it. 0 when unknown: then the frame is whole.
    pub original_len: u32,
    /// The receive hash of the hardware or the generator; 0 when unknown. For placement only.
    pub rss_hash: u32,
    /// The port it was received on.
    pub port: PortId,
    /// Whether `time_ns` is what the interface's own clock said, made a time of the kernel's
    /// monotonic clock.
    pub by_nic: bool,
    /// The queue of that port.
    pub queue: QueueId,
    /// TPID of a VLAN tag the hardware stripped; 0 when none was.
    pub vlan_tpid: u16,
    /// TCI of a VLAN tag the hardware stripped.
    pub vlan_tci: u16,
    /// Which datagram it is a fragment of, as the worker says that gathered it; 0 where none did.
    pub datagram: u64,
}

impl FrameMeta {
    /// When the interface's own clock says that the frame came, on the kernel's monotonic clock.
    #[inline]
    #[must_use]
    pub fn nic_time(&self) -> Option<Nanos> {
        (self.by_nic && self.time_ns != 0).then_some(Nanos(self.time_ns))
    }
}

const _: () = assert!(size_of::<FrameMeta>() == 32, "two records a cache line");
