//! The record of a flow.

use super::wheel::Spot;
use super::{End, FlowId};
use crate::address::Address;
use zerocopy::FromZeros;

/// A tick is 2^28 ns, 268 ms: times of flows are kept in ticks.
pub const TICK_NANOS: u64 = 1 << TICK_BITS;
pub(crate) const TICK_BITS: u32 = 28;

/// What is known of a flow. One cache line for IPv4, two for IPv6.
#[derive(Clone, Copy, Debug, FromZeros)]
#[repr(C, align(64))]
pub struct Flow<A> {
    low: A,
    high: A,
    ports: [u16; 2],
    protocol: u8,
    /// What its owner makes of it, as the state of a TCP connection.
    pub state: u8,
    /// 1 when the higher end sent the first packet.
    by_high: u8,
    unused: u8,
    /// Where on the wheel it is.
    pub(crate) spot: Spot,
    /// Ticks without a packet after which it is over.
    timeout: u32,
    /// The tick of the last packet.
    last: u32,
    /// The tick of the first packet.
    begun: u32,
    frames: [u64; 2],
    bytes: [u64; 2],
}

impl<A: Address> Flow<A> {
    pub(crate) fn new(id: FlowId<A>, first: End, now: u32) -> Self {
        Self {
            low: id.low,
            high: id.high,
            ports: id.ports,
            protocol: id.protocol,
            state: 0,
            by_high: u8::from(first == End::High),
            unused: 0,
            spot: Spot(0),
            timeout: 0,
            last: now,
            begun: now,
            frames: [0; 2],
            bytes: [0; 2],
        }
    }

    /// Which flow it is.
    #[inline]
    #[must_use]
    pub fn id(&self) -> FlowId<A> {
        FlowId {
            low: self.low,
            high: self.high,
            ports: self.ports,
            protocol: self.protocol,
        }
    }

    /// True when it is flow `id`. All is compared: a branch for each part that differs
    /// costs more than it saves where nearly all are equal.
    #[inline(always)]
    pub(crate) fn is(&self, id: &FlowId<A>) -> bool {
        (self.low == id.low)
            & (self.high == id.high)
            & (u32_of(self.ports) == u32_of(id.ports))
            & (self.protocol == id.protocol)
    }

    /// The end that sent the first packet seen.
    #[must_use]
    pub fn first(&self) -> End {
        if self.by_high == 0 {
            End::Low
        } else {
            End::High
        }
    }

    /// Packets of each end, the lower one first.
    #[must_use]
    pub fn frames(&self) -> [u64; 2] {
        self.frames
    }

    /// Bytes of each end, the lower one first, without FCS.
    #[must_use]
    pub fn bytes(&self) -> [u64; 2] {
        self.bytes
    }

    /// When the first packet came.
    #[inline]
    #[must_use]
    pub fn begun(&self) -> Tick {
        Tick(self.begun)
    }

    /// When the last packet came.
    #[inline]
    #[must_use]
    pub fn last(&self) -> Tick {
        Tick(self.last)
    }

    /// Ticks from the first packet to the last one.
    #[must_use]
    pub fn lasted(&self) -> u32 {
        self.last - self.begun
    }

    /// Counts a packet that `end` sent at `now`, of so many bytes.
    #[inline(always)]
    pub fn count(&mut self, end: End, bytes: u32, now: Tick) {
        self.last = now.0;
        self.frames[end.index()] += 1;
        self.bytes[end.index()] += u64::from(bytes);
    }

    /// It is over when no packet came for so many ticks. A shorter time than before holds from the
    /// next look at the flow on, which is within the longer one.
    #[inline(always)]
    pub fn set_timeout(&mut self, ticks: u32) {
        self.timeout = ticks;
    }

    /// True when its time is over: it is still there because nobody has looked at it since.
    #[inline(always)]
    #[must_use]
    pub fn is_over(&self, now: Tick) -> bool {
        self.over_at() <= now.0
    }

    /// The tick at which it is over if nothing comes.
    #[inline(always)]
    pub(crate) fn over_at(&self) -> u32 {
        self.last.saturating_add(self.timeout)
    }
}

#[inline(always)]
fn u32_of([low, high]: [u16; 2]) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

/// A time in ticks since the origin of the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tick(pub u32);

impl From<frame::Nanos> for Tick {
    #[inline]
    fn from(now: frame::Nanos) -> Self {
        Self((now.0 >> TICK_BITS) as u32)
    }
}

/// Ticks that are no less than so many seconds.
#[must_use]
pub const fn ticks(seconds: u32) -> u32 {
    (seconds as u64 * 1_000_000_000).div_ceil(TICK_NANOS) as u32
}

const _: () = assert!(size_of::<Flow<u32>>() == 64);
const _: () = assert!(size_of::<Flow<u128>>() == 128);
