//! Network address translation for IPv4: sources become an outside address (masquerade, pools),
//! destinations an inside one (port forwards).
//!
//! A worker owns a `Nat`, and a router calls it twice for a packet. `Nat::arrive` comes before
//! the route is looked up and says where the packet goes: the inside host, where it is of a known
//! flow or a rule forwards it. `Nat::leave` comes when the packet is about to leave, and answers
//! what it becomes. No byte changes in between, so an ICMP error of the router quotes the packet
//! as its sender knows it.
//!
//! A flow is two tuples: what its first packet was, and what answers to it are. A packet with one
//! of them gets the other's addresses and ports, exchanged. Flows of both kinds of rules, of both
//! at once and of hairpins are the same to this.
//!
//! What leaves untranslated is only what the rules leave alone. All else that has no translation
//! is dropped: packets that NAT cannot read, fragments of an unknown packet, flows without room.

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
use flow::{Flow, Hit, Origin};
use flows::Flows;
use fragments::{Addresses, Fragments};
use ports::Chooser;
use rules::Destined;
use tuple::{Read, Tuple};

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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub(crate) arrival: Arrival,
    pub(crate) out: u16,
    /// The router's own address towards the next hop.
    pub(crate) own: Option<u32>,
}

/// What NAT knows of a packet before its route is looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrived {
    /// Nothing: there is no NAT, or the packet is not of IPv4.
    Plain,
    /// It is of a flow.
    Flow(Of),
    /// It would begin one.
    New(New),
    /// It is a fragment of a packet, whose first one got these addresses where that is known.
    Piece(Option<Addresses>),
    /// It is of no flow that could be translated.
    Other(DropReason),
}

impl Arrived {
    /// Whether it is of a flow, or begins one by a rule for its destination: it is not for the
    /// router.
    pub(crate) fn is_redirected(&self) -> bool {
        match self {
            Self::Flow(_) => true,
            Self::New(new) => new.is_redirected(),
            Self::Piece(to) => to.is_some(),
            Self::Plain | Self::Other(_) => false,
        }
    }

    /// Why nobody here takes it, where it was to be of a flow.
    pub(crate) fn refusal(&self) -> Option<DropReason> {
        match *self {
            Self::Plain => None,
            Self::Flow(_) | Self::New(_) => Some(DropReason::NatUnknown),
            Self::Piece(_) => Some(DropReason::NatFragment),
            Self::Other(reason) => Some(reason),
        }
    }

    /// Whether it is a fragment whose first one is not known.
    #[inline]
    pub(crate) fn is_unknown_piece(&self) -> bool {
        matches!(self, Self::Piece(None))
    }
}

/// A packet of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Of {
    hit: Hit,
    /// What it was found by: the flow may be over when the packet leaves.
    key: Tuple,
    /// It is an ICMP error about the other direction.
    is_error: bool,
}

/// A packet that would begin a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    tuple: Tuple,
    /// Where it goes.
    dst: u32,
    dst_port: u16,
    origin: Origin,
    /// The mapping that it was sent to, or [`flow::NONE`].
    mapping: u32,
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

    /// What is known of an IPv4 packet that came in.
    pub(crate) fn arrive(&mut self, table: &NatTable, arrival: &Arrival, packet: &[u8]) -> Arrived {
        let tick = tick(arrival.now);
        let of = |hit, key, is_error| Arrived::Flow(Of { hit, key, is_error });
        match Read::of(packet) {
            Read::Flow(key) => match self.find(&key, table, tick) {
                Some(hit) => of(hit, key, false),
                None => Arrived::New(self.new_flow(table, arrival, &key)),
            },
            Read::Error(about) => match self.find(&about.inverse(), table, tick) {
                Some(hit) => of(hit, about.inverse(), true),
                None => Arrived::Other(DropReason::NatUnrelated),
            },
            Read::Piece => Arrived::Piece(self.fragments.find(packet, tick)),
            Read::Other(reason) => Arrived::Other(reason),
        }
    }

    /// Where a packet goes; `None`: where it says.
    pub(crate) fn destination(&self, arrived: &Arrived) -> Option<u32> {
        match arrived {
            Arrived::Flow(Of { hit, .. }) => {
                Some(self.flows.get(hit.flow).translation(hit.is_reply).1.dst)
            }
            Arrived::New(new) => Some(new.dst),
            Arrived::Piece(to) => to.map(|to| to.dst),
            Arrived::Plain | Arrived::Other(_) => None,
        }
    }

    /// What a packet becomes that leaves; `None`: it stays as it is.
    ///
    /// # Errors
    /// It must not leave.
    pub(crate) fn leave(
        &mut self,
        table: &NatTable,
        departure: &Departure,
        arrived: &Arrived,
        packet: &[u8],
    ) -> Result<Option<Rewrite>, DropReason> {
        let rewrite = match arrived {
            Arrived::Plain => return Ok(None),
            Arrived::Flow(of) => Some(self.go_on(table, departure, of, packet)?),
            Arrived::New(new) => self.go_on_or_begin(table, departure, new, packet)?,
            Arrived::Piece(Some(to)) => as_first(packet, to),
            Arrived::Piece(None) => {
                must_not_leak(table, departure, packet, DropReason::NatFragment)?
            }
            Arrived::Other(reason) => must_not_leak(table, departure, packet, *reason)?,
        };
        if !matches!(arrived, Arrived::Piece(_)) {
            let to = rewrite.map_or_else(|| Tuple::bare(packet), |rewrite| rewrite.to);
            let tick = tick(departure.arrival.now);
            self.fragments.note(packet, &to, tick);
        }
        self.counts.translated += u64::from(rewrite.is_some());
        Ok(rewrite)
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
        Some(Rewrite {
            from,
            to,
            is_error: false,
        })
    }

    /// The flow of a tuple, if the rules still allow it.
    #[inline]
    fn find(&mut self, tuple: &Tuple, table: &NatTable, tick: u32) -> Option<Hit> {
        let hit = self.flows.find(tuple, table, tick)?;
        if self.flows.get(hit.flow).version == self.version {
            return Some(hit);
        }
        self.find_by_new_rules(hit, table, tick)
    }

    /// Notes a packet of a flow.
    #[inline]
    fn go_on(
        &mut self,
        table: &NatTable,
        departure: &Departure,
        of: &Of,
        packet: &[u8],
    ) -> Result<Rewrite, DropReason> {
        let Of { hit, is_error, .. } = *of;
        let flow = self.flows.get_mut(hit.flow);
        if !flow.is_there() || *flow.key(hit.is_reply) != of.key {
            // A packet of the same burst ended it.
            return Err(DropReason::NatUnknown);
        }
        let (from, to) = flow.translation(hit.is_reply);
        if is_error {
            // An error keeps no flow alive (RFC 5508, section 4.3).
            return Ok(Rewrite { from, to, is_error });
        }
        if !hit.is_reply && flow.out != departure.out && flow.changes_source() {
            return self.begin_elsewhere(table, departure, hit.flow);
        }
        let class = flow.class_after(hit.is_reply, packet);
        let tick = tick(departure.arrival.now);
        self.flows.touch(hit.flow, class, table, tick);
        Ok(Rewrite { from, to, is_error })
    }

    /// A packet that began no flow yet when it came in: one of the same burst may have begun it.
    fn go_on_or_begin(
        &mut self,
        table: &NatTable,
        departure: &Departure,
        new: &New,
        packet: &[u8],
    ) -> Result<Option<Rewrite>, DropReason> {
        let key = new.tuple;
        let Some(hit) = self.find(&key, table, tick(departure.arrival.now)) else {
            return self.begin(table, departure, new);
        };
        if self.flows.get(hit.flow).translation(hit.is_reply).1.dst != new.dst {
            return Err(DropReason::NatUnknown);
        }
        let of = Of {
            hit,
            key,
            is_error: false,
        };
        self.go_on(table, departure, &of, packet).map(Some)
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

/// A fragment gets the addresses of the first one.
fn as_first(packet: &[u8], to: &Addresses) -> Option<Rewrite> {
    let from = Tuple::bare(packet);
    let to = Tuple {
        src: to.src,
        dst: to.dst,
        ..from
    };
    (from != to).then_some(Rewrite {
        from,
        to,
        is_error: false,
    })
}

/// Lets a packet pass as it is, unless rules would have given it, or an answer to it, another
/// source.
fn must_not_leak(
    table: &NatTable,
    departure: &Departure,
    packet: &[u8],
    reason: DropReason,
) -> Result<Option<Rewrite>, DropReason> {
    let tuple = Tuple::bare(packet);
    let would_be = table.may_translate(departure.out, &tuple)
        || table.may_translate(departure.arrival.from, &tuple.inverse())
        || table.is_of_pool(tuple.dst);
    match would_be {
        true => Err(reason),
        false => Ok(None),
    }
}
