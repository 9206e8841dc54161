//! What a stateful bridge is told: who may begin flows, how many there may be, and when
//! they are over.

use frame::PortId;
use table::flows::{WhenFull, ticks};
use wire::protocol;

use super::FlowLogConfig;
use crate::Ports;

/// What a [`crate::Stateful`] is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatefulConfig {
    /// Where frames may come in that begin a flow.
    pub allow_new: Ports,
    /// Flows that are known at most, of IPv4 and as many of IPv6, by all workers together;
    /// a bucket of the 128 that packets hash to has its even part of them.
    pub flows: u32,
    /// What happens when a bucket has no room.
    pub full: WhenFull,
    /// What is sent by UDP to a group or to all may be answered by anybody, from any port: by one
    /// worker alone, since answers hash to buckets of their own.
    pub answers_from_any: bool,
    /// When flows are over.
    pub timeouts: Timeouts,
    /// What is written down of them; none where nobody reads it.
    pub log: Option<FlowLogConfig>,
}

impl StatefulConfig {
    /// The ports of a bridge of two that routers are taken to be behind: where no flow may
    /// begin, and both if it may at both.
    #[must_use]
    pub fn router_side(&self) -> Ports {
        let ports = [0, 1].map(PortId).into_iter();
        let others = ports.filter(|&port| !self.allow_new.contains(port));
        match others.fold(Ports::NONE, Ports::with) {
            Ports::NONE => Ports::ALL,
            others => others,
        }
    }
}

/// Seconds without a packet after which a flow is over, by its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// TCP that nobody has answered, or whose opening nobody has acknowledged.
    pub half_open: u32,
    /// TCP that both sides speak. RFC 5382 section 5: no less than 2 hours and 4 minutes.
    pub established: u32,
    /// TCP that one side has ended.
    pub closing: u32,
    /// TCP that was ended by both or reset by one.
    pub closed: u32,
    /// UDP that nobody has answered.
    pub udp: u32,
    /// UDP that was answered. RFC 4787 section 4.3: no less than 2 minutes.
    pub udp_answered: u32,
    /// Echoes.
    pub echo: u32,
    /// Pieces of a packet, from its first on. RFC 791: 15 seconds, as hosts wait.
    pub pieces: u32,
    /// Other protocols.
    pub other: u32,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            half_open: 30,
            established: 7440,
            closing: 120,
            closed: 10,
            udp: 30,
            udp_answered: 180,
            echo: 30,
            pieces: 15,
            other: 600,
        }
    }
}

impl Timeouts {
    pub(super) fn udp_ticks(&self) -> u32 {
        ticks(self.udp)
    }

    pub(super) fn pieces_ticks(&self) -> u32 {
        ticks(self.pieces)
    }

    /// Ticks for what is not TCP.
    pub(super) fn of(&self, number: u8, answered: bool) -> u32 {
        ticks(match (number, answered) {
            (protocol::UDP | protocol::UDP_LITE, false) => self.udp,
            (protocol::UDP | protocol::UDP_LITE, true) => self.udp_answered,
            (protocol::ICMP | protocol::ICMPV6, _) => self.echo,
            (protocol::FRAGMENT, _) => self.pieces,
            _ => self.other,
        })
    }
}
