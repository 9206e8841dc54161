//! What `show nat` tells.

use std::net::{Ipv4Addr, SocketAddrV4};

use frame::Nanos;

use super::config::NatConfig;
use super::flow::{Flow, Origin};
use super::{Nat, NatProtocol, NatTable, TICK_BITS, tick};

/// Flows of a page at most.
pub const NAT_PAGE: usize = 256;

/// One flow. Of an echo, ports are its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NatEntry {
    /// Its protocol.
    pub protocol: NatProtocol,
    /// Who began it.
    pub from: SocketAddrV4,
    /// Where it was sent to; `None`: this is the mapping of an inside address and port.
    pub to: Option<SocketAddrV4>,
    /// The source that it has behind the router.
    pub new_from: SocketAddrV4,
    /// The destination that it has behind the router.
    pub new_to: Option<SocketAddrV4>,
    /// `new`, `established`, `closing`, `echo` or `mapping`.
    pub state: &'static str,
    /// Since its last packet, seconds.
    pub idle_seconds: u64,
    /// Until it is over if nothing comes, seconds.
    pub left_seconds: u64,
}

/// NAT of a worker as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NatTotals {
    /// Flows and mappings now.
    pub flows: u64,
    /// As many as there can be.
    pub flows_max: u64,
    /// Flows begun since the start.
    pub begun: u64,
    /// Flows ended since the start.
    pub ended: u64,
    /// Of those, by other rules or other addresses of the router.
    pub revoked: u64,
    /// Packets translated since the start.
    pub translated: u64,
}

impl Nat {
    pub(crate) fn totals(&self, config: &NatConfig) -> NatTotals {
        NatTotals {
            flows: self.flows.len() as u64,
            flows_max: config.flows_max.into(),
            begun: self.counts.begun,
            ended: self.counts.ended,
            revoked: self.counts.revoked,
            translated: self.counts.translated,
        }
    }

    /// Adds flows from a place on, as many as `entries` has memory for. The place behind them;
    /// `None`: there are no more.
    pub(crate) fn page(
        &self,
        table: &NatTable,
        now: Nanos,
        from: usize,
        entries: &mut Vec<NatEntry>,
    ) -> Option<usize> {
        for (number, flow) in self.flows.iter_from(from) {
            if entries.len() == entries.capacity() {
                return Some(number);
            }
            if !flow.is_over(table, tick(now)) {
                entries.push(entry(flow, table, tick(now)));
            }
        }
        None
    }
}

fn entry(flow: &Flow, table: &NatTable, tick: u32) -> NatEntry {
    let seconds = |ticks: u32| (u64::from(ticks) << TICK_BITS) / 1_000_000_000;
    let is_echo = flow.original.protocol == NatProtocol::EchoRequest;
    let is_mapping = flow.origin == Origin::Mapping;
    let at = |address, port| SocketAddrV4::new(Ipv4Addr::from_bits(address), port);
    let to = |address, port, id| match is_echo {
        true => at(address, id),
        false => at(address, port),
    };
    let (original, reply) = (&flow.original, &flow.reply);
    let idle = tick.saturating_sub(flow.seen);
    NatEntry {
        protocol: original.protocol,
        from: at(original.src, original.src_port),
        to: (!is_mapping).then(|| to(original.dst, original.dst_port, original.src_port)),
        new_from: at(reply.dst, reply.dst_port),
        new_to: (!is_mapping).then(|| to(reply.src, reply.src_port, reply.dst_port)),
        state: match is_mapping {
            true => "mapping",
            false => flow.class.name(),
        },
        idle_seconds: seconds(idle),
        left_seconds: seconds(table.timeout(flow.class).saturating_sub(idle)),
    }
}
