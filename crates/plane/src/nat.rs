//! Network address translation for IPv4: sources become an outside address (masquerade, pools),
//! destinations an inside one (port forwards).
//!
//! A worker owns a `Nat`, and a router calls it twice for a packet. `Nat::arrive` comes before
//! the route is looked up and says where the packet goes: the inside host, where it is of a known
//! flow or a rule forwards it. `Nat::leave` comes when the packet is about to leave, and rewrites
//! it. No byte changes in between, so an ICMP error of the router quotes the packet
//! as its sender knows it.
//!
//! A flow is two tuples: what its first packet was, and what answers to it are. A packet with one
//! of them gets the other's addresses and ports, exchanged. Flows of both kinds of rules, of both
//! at once and of hairpins are the same to this.
//!
//! What leaves untranslated is only what the rules leave alone. All else that has no translation
//! is dropped: packets that NAT cannot read, fragments of an unknown packet, flows without room.

mod arrive;
mod begin;
mod check;
mod config;
mod diverted;
mod flow;
mod flows;
mod fragments;
mod hosts;
mod index;
mod listing;
mod ports;
mod revoke;
mod rewrite;
mod rules;
#[cfg(test)]
mod tests;
mod tuple;

use std::collections::TryReserveError;

use frame::Nanos;
use stack::KeyedHash;

use crate::DropReason;
use arrive::{New, Of};
use flow::{Flow, Hit, Origin};
use flows::Flows;
use fragments::{Addresses, Fragments};
use ports::Chooser;
use rules::Destined;
use tuple::{Read, Tuple};

pub(crate) use arrive::{Arrived, Asked};
pub use check::NatConfigError;
pub use config::{
    DestinationRule, NatConfig, NatMatch, NatMatchProtocol, NatRange, NatTarget, NatTimeouts,
    SourceAction, SourcePool, SourceRule,
};
pub use diverted::Diverted;
pub use listing::{NAT_PAGE, NatEntry, NatTotals};
pub(crate) use rewrite::Rewrite;
pub use rules::NatTable;
pub use tuple::NatProtocol;

/// A tick has 2 to this power nanoseconds, 67 ms: what timeouts are measured by.
const TICK_BITS: u32 = 26;
/// Flows of each state that end in a step at most.
const ENDED_AT_ONCE: usize = 16;

/// Where a packet came by, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) from: u16,
    pub(crate) now: Nanos,
}

/// Where a packet leaves by.
#[derive(Clone, Copy)]
pub(crate) struct Departure<'a> {
    pub(crate) arrival: Arrival,
    pub(crate) out: u16,
    /// The router's own address towards the next hop: only what begins a flow asks for it.
    pub(crate) own: &'a dyn Fn() -> Option<u32>,
}

/// What it did, since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NatCounts {
    pub(crate) translated: u64,
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    /// Of those, by other rules or other addresses.
    pub(crate) revoked: u64,
}

/// NAT of one worker.
#[derive(Debug)]
pub(crate) struct Nat {
    flows: Flows,
    fragments: Fragments,
    chooser: Chooser,
    /// Counts replacements of the rules.
    version: u32,
    /// The first record that is not yet held against the rules of this version.
    sweep: Option<usize>,
    pub(crate) counts: NatCounts,
}

impl Nat {
    /// Memory for as many flows as `config` allows. `key` should be drawn at random.
    pub(crate) fn new(config: &NatConfig, key: [u64; 2]) -> Result<Self, TryReserveError> {
        Ok(Self {
            flows: Flows::new(config.flows_max as usize, key)?,
            fragments: Fragments::new(KeyedHash(key)),
            chooser: Chooser::new(key),
            version: 0,
            sweep: None,
            counts: NatCounts::default(),
        })
    }

    /// Ends some of the flows that are over, or that rules no longer allow.
    pub(crate) fn poll(&mut self, table: &NatTable, now: Nanos) {
        self.counts.ended += self.flows.expire(table, tick(now), ENDED_AT_ONCE);
        self.sweep(table, tick(now));
    }

    /// Makes a packet what it leaves as. Whether it was translated.
    ///
    /// # Errors
    /// It must not leave.
    pub(crate) fn leave(
        &mut self,
        table: &NatTable,
        departure: &Departure<'_>,
        arrived: &Arrived,
        packet: &mut [u8],
    ) -> Result<bool, DropReason> {
        let first = fragments::first_of(packet);
        let is_translated = match arrived {
            Arrived::Plain => return Ok(false),
            Arrived::Flow(of) => self.go_on(table, departure, of, packet)?,
            Arrived::New(new) => self.go_on_or_begin(table, departure, new, packet)?,
            Arrived::Piece(Some(to)) => follow_first(packet, to),
            Arrived::Piece(None) => {
                must_not_leak(table, departure, packet, DropReason::NatFragment)?
            }
            Arrived::Other(reason) => must_not_leak(table, departure, packet, *reason)?,
        };
        if let Some(first) = first {
            let tick = tick(departure.arrival.now);
            self.fragments.note(first, &Tuple::bare(packet), tick);
        }
        self.counts.translated += u64::from(is_translated);
        Ok(is_translated)
    }

    /// What makes a packet that was translated the one that came in, where its flow is known.
    pub(crate) fn original(
        &mut self,
        table: &NatTable,
        now: Nanos,
        packet: &[u8],
    ) -> Option<Rewrite> {
        let Read::Flow(from) = Read::of(packet) else {
            return None;
        };
        let hit = self.flows.find(&from.inverse(), table, tick(now))?;
        // The tuple of the one direction, exchanged, is what the other one leaves with.
        let to = *self.flows.get(hit.flow).key(!hit.is_reply);
        Some(Rewrite::between(from, to))
    }

    /// The flow of a tuple, if the rules still allow it.
    fn find(&mut self, tuple: &Tuple, table: &NatTable, tick: u32) -> Option<Hit> {
        self.find_from(self.flows.home(tuple), tuple, table, tick)
    }

    /// The same, from the tuple's place in the index.
    #[inline]
    fn find_from(
        &mut self,
        home: usize,
        tuple: &Tuple,
        table: &NatTable,
        tick: u32,
    ) -> Option<Hit> {
        let hit = self.flows.find_from(home, tuple, table, tick)?;
        if self.flows.get(hit.flow).version == self.version {
            return Some(hit);
        }
        self.find_by_new_rules(hit, table, tick)
    }

    /// Notes a packet of a flow, and rewrites it.
    #[inline]
    fn go_on(
        &mut self,
        table: &NatTable,
        departure: &Departure<'_>,
        of: &Of,
        packet: &mut [u8],
    ) -> Result<bool, DropReason> {
        let Of { hit, is_error, .. } = *of;
        let flow = self.flows.get_mut(hit.flow);
        if !flow.is_there() || flow.life != of.life {
            return self.go_on_anew(table, departure, of, packet);
        }
        if is_error {
            // An error keeps no flow alive (RFC 5508, section 4.3).
            flow.rewrite(hit.is_reply).apply_to_error(packet);
            return Ok(true);
        }
        if !hit.is_reply && flow.out != departure.out && flow.changes_source() {
            let rewrite = self.begin_elsewhere(table, departure, hit.flow)?;
            rewrite.apply(packet);
            return Ok(true);
        }
        let class = flow.class_after(hit.is_reply, packet);
        flow.translate(hit.is_reply, packet);
        let tick = tick(departure.arrival.now);
        self.flows.touch(hit.flow, class, table, tick);
        Ok(true)
    }

    /// A packet of a flow that one of the same burst ended: it may have begun anew.
    #[cold]
    fn go_on_anew(
        &mut self,
        table: &NatTable,
        departure: &Departure<'_>,
        of: &Of,
        packet: &mut [u8],
    ) -> Result<bool, DropReason> {
        match self.arrive(table, &departure.arrival, packet) {
            Arrived::Flow(now) if now.dst == of.dst => self.go_on(table, departure, &now, packet),
            _ => Err(DropReason::NatUnknown),
        }
    }

    /// A packet that began no flow yet when it came in: one of the same burst may have begun it.
    fn go_on_or_begin(
        &mut self,
        table: &NatTable,
        departure: &Departure<'_>,
        new: &New,
        packet: &mut [u8],
    ) -> Result<bool, DropReason> {
        let key = new.tuple;
        let Some(hit) = self.find(&key, table, tick(departure.arrival.now)) else {
            let rewrite = self.begin(table, departure, new)?;
            if let Some(rewrite) = &rewrite {
                rewrite.apply(packet);
            }
            return Ok(rewrite.is_some());
        };
        let of = self.of(hit, false);
        if of.dst != new.dst {
            return Err(DropReason::NatUnknown);
        }
        self.go_on(table, departure, &of, packet)
    }
}

impl Flow {
    fn changes_source(&self) -> bool {
        self.origin == Origin::Rules
            && (self.reply.dst, self.reply.dst_port) != (self.original.src, self.original.src_port)
    }
}

fn tick(now: Nanos) -> u32 {
    (now.0 >> TICK_BITS) as u32
}

/// Gives a fragment the addresses of the first one. Whether those are others than it has.
fn follow_first(packet: &mut [u8], to: &Addresses) -> bool {
    let from = Tuple::bare(packet);
    let to = Tuple {
        src: to.src,
        dst: to.dst,
        ..from
    };
    Rewrite::between(from, to).apply(packet);
    from != to
}

/// Lets a packet pass as it is, unless rules would have given it, or an answer to it, another
/// source.
fn must_not_leak(
    table: &NatTable,
    departure: &Departure<'_>,
    packet: &[u8],
    reason: DropReason,
) -> Result<bool, DropReason> {
    let tuple = Tuple::bare(packet);
    let would_be = table.may_translate(departure.out, &tuple)
        || table.may_translate(departure.arrival.from, &tuple.inverse())
        || table.is_of_pool(tuple.dst);
    match would_be {
        true => Err(reason),
        false => Ok(false),
    }
}
