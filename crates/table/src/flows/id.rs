//! Which conversation a packet belongs to.

use crate::address::Address;
use zerocopy::FromZeros;

/// A conversation between two ends, the same for packets of both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, FromZeros)]
#[repr(C)]
pub struct FlowId<A> {
    low: A,
    high: A,
    /// Ports of `low`, then of `high`.
    ports: [u16; 2],
    protocol: u8,
}

/// Which end of a conversation sent a packet.
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
    /// The conversation of a packet, and which end sent it. Ports are 0 where the protocol has
    /// none; the identifier of an ICMP echo serves as both.
    #[inline]
    #[must_use]
    pub fn of(src: (A, u16), dst: (A, u16), protocol: u8) -> (Self, End) {
        let (low, high, end) = if src <= dst {
            (src, dst, End::Low)
        } else {
            (dst, src, End::High)
        };
        let id = Self {
            low: low.0,
            high: high.0,
            ports: [low.1, high.1],
            protocol,
        };
        (id, end)
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
