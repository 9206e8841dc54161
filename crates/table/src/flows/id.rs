//! Which flow a packet belongs to.

use crate::address::Address;
use std::hint::select_unpredictable;
use zerocopy::FromZeros;

/// A flow between two ends, the same for packets of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, FromZeros)]
#[repr(C)]
pub struct FlowId<A> {
    pub(super) low: A,
    pub(super) high: A,
    /// Ports of `low`, then of `high`.
    pub(super) ports: [u16; 2],
    pub(super) protocol: u8,
}

/// Which end of a flow sent a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum End {
    /// The one with the lower address, or the lower port where the addresses are equal.
    #[default]
    Low,
    /// The other one.
    High,
}

impl End {
    /// 0 or 1.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

impl<A: Address> FlowId<A> {
    /// The flow of a packet, and which end sent it. Ports are 0 where the protocol has
    /// none; the identifier of an ICMP echo serves as both.
    #[inline]
    #[must_use]
    pub fn of(src: (A, u16), dst: (A, u16), protocol: u8) -> (Self, End) {
        // No branch: which end is lower is as good as drawn, and guessed wrong every other time.
        let in_order = (src.0 < dst.0) | ((src.0 == dst.0) & (src.1 <= dst.1));
        let id = Self {
            low: select_unpredictable(in_order, src.0, dst.0),
            high: select_unpredictable(in_order, dst.0, src.0),
            ports: [
                select_unpredictable(in_order, src.1, dst.1),
                select_unpredictable(in_order, dst.1, src.1),
            ],
            protocol,
        };
        (id, select_unpredictable(in_order, End::Low, End::High))
    }

    /// Address and port of an end.
    #[must_use]
    pub fn end(&self, end: End) -> (A, u16) {
        match end {
            End::Low => (self.low, self.ports[0]),
            End::High => (self.high, self.ports[1]),
        }
    }

    /// Protocol number of the transport header.
    #[must_use]
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// What a hash is made of: both addresses, and the rest.
    #[inline(always)]
    pub(crate) fn words(&self) -> (u128, u128, u64) {
        let ports = u64::from(self.ports[0]) << 16 | u64::from(self.ports[1]);
        let rest = ports << 8 | u64::from(self.protocol);
        (self.low.widen(), self.high.widen(), rest)
    }
}
