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
    /// What else is told of it.
    pub note: FrameNote,
}

/// One of two things told of a frame: when the interface says that it came, or of which datagram
/// it is a fragment. They share a word, so that two records fill a cache line: who gathers
/// fragments judges them, and asks for no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameNote(u64);

impl FrameNote {
    /// Set where it tells a datagram. Times reach this bit 292 years after the machine's start.
    const DATAGRAM: u64 = 1 << 63;

    /// When the interface's own clock says that the frame came, as a time of the kernel's monotonic
    /// clock in nanoseconds.
    #[inline]
    #[must_use]
    pub const fn hardware_time(nanos: u64) -> Self {
        Self(nanos & !Self::DATAGRAM)
    }

    /// The number, of 63 bits, that the worker which gathered the fragment knows its datagram by.
    #[inline]
    #[must_use]
    pub const fn of_datagram(number: u64) -> Self {
        Self(number | Self::DATAGRAM)
    }

    /// The hardware's time in nanoseconds of the kernel's monotonic clock; 0 where it was not told.
    #[inline]
    #[must_use]
    pub const fn hardware_ns(self) -> u64 {
        match self.datagram() {
            Some(_) => 0,
            None => self.0,
        }
    }

    /// The datagram's number; none where nobody gathered the frame.
    #[inline]
    #[must_use]
    pub const fn datagram(self) -> Option<u64> {
        match self.0 & Self::DATAGRAM {
            0 => None,
            _ => Some(self.0 & !Self::DATAGRAM),
        }
    }
}

const _: () = assert!(size_of::<FrameMeta>() == 32, "two records a cache line");
