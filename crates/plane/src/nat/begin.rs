//! Flows begin: where they go, and which source they get.

use super::arrive::New;
use super::config::{NatRange, NatTarget, SourcePool};
use super::flow::{Class, Flow, NONE, Origin};
use super::ports::Wanted;
use super::rewrite::Delta;
use super::tuple::{NatProtocol, Tuple};
use super::{Arrival, Departure, Destined, Nat, NatTable, Rewrite, tick};
use crate::DropReason;

impl New {
    /// Whether it goes elsewhere than where it was sent to.
    pub(super) fn is_redirected(&self) -> bool {
        (self.dst, self.dst_port) != (self.tuple.dst, self.tuple.dst_port)
    }
}

/// Where the source that a flow gets is taken from.
struct Source<'a> {
    pool: &'a SourcePool,
    addresses: NatRange<u32>,
}

impl Nat {
    /// Where a packet goes that would begin a flow.
    pub(super) fn new_flow(&mut self, table: &NatTable, arrival: &Arrival, tuple: &Tuple) -> New {
        let new = |target: NatTarget, origin, mapping| New {
            tuple: *tuple,
            dst: target.address,
            dst_port: target.port.unwrap_or(tuple.dst_port),
            origin,
            mapping,
        };
        match table.destination_of(arrival.from, tuple) {
            Destined::To(target) => return new(target, Origin::Rules, NONE),
            Destined::Hairpin(target) => return new(target, Origin::Hairpin, NONE),
            Destined::Same => {}
        }
        if table.has_mappings
            && let Some((mapping, origin)) = self.mapping_at(table, arrival, tuple)
        {
            let inside = self.flows.get(mapping).original;
            let target = NatTarget {
                address: inside.src,
                port: Some(inside.src_port),
            };
            return new(target, origin, mapping);
        }
        let same = NatTarget {
            address: tuple.dst,
            port: None,
        };
        new(same, Origin::Rules, NONE)
    }

    /// The mapping whose outside address and port a packet was sent to.
    fn mapping_at(
        &mut self,
        table: &NatTable,
        arrival: &Arrival,
        tuple: &Tuple,
    ) -> Option<(u32, Origin)> {
        let key = wildcard(tuple.inverse()).inverse();
        let hit = self.find(&key, table, tick(arrival.now))?;
        match self.flows.get(hit.flow).out == arrival.from {
            true => Some((hit.flow, Origin::Rules)),
            false if table.config().hairpin => Some((hit.flow, Origin::Hairpin)),
            false => None,
        }
    }

    /// Begins a flow, if rules translate it; else the packet leaves as it is, if it may.
    pub(super) fn begin(
        &mut self,
        table: &NatTable,
        departure: &Departure<'_>,
        new: &New,
    ) -> Result<Option<Rewrite>, DropReason> {
        let tuple = &new.tuple;
        if !new.is_redirected() && is_unwanted(table, departure, tuple) {
            return Err(DropReason::NatUnknown);
        }
        let mut flow = self.first_of(departure, new);
        let pool = match new.origin {
            Origin::Hairpin => Some(SourcePool {
                addresses: Some(NatRange::one(tuple.dst)),
                ports: None,
                endpoint_independent: false,
            }),
            _ => table.source_of(departure.out, &flow.reply.inverse()),
        };
        match &pool {
            None if !new.is_redirected() => return Ok(None),
            // A reply begins nothing: its request took another way.
            _ if tuple.protocol == NatProtocol::EchoReply => return Err(DropReason::NatUnknown),
            None if self.is_taken(table, &flow) => return Err(DropReason::NatPorts),
            None => {}
            Some(_) if self.flows.is_full() => return Err(DropReason::NatFull),
            Some(pool) => {
                if self.flows.count_of(tuple.src) >= table.config().flows_per_address {
                    return Err(DropReason::NatLimit);
                }
                flow.is_counted = true;
                self.give_source(table, departure, pool, &mut flow)?;
            }
        }
        let number = self.flows.add(flow).ok_or(DropReason::NatFull)?;
        self.counts.begun += 1;
        Ok(Some(self.flows.get(number).rewrite(false)))
    }

    /// A flow with its first packet, whose source stays.
    fn first_of(&self, departure: &Departure<'_>, new: &New) -> Flow {
        let inner = Tuple {
            dst: new.dst,
            dst_port: new.dst_port,
            ..new.tuple
        };
        let tick = tick(departure.arrival.now);
        Flow {
            original: new.tuple,
            reply: inner.inverse(),
            seen: tick,
            placed: tick,
            before: NONE,
            after: NONE,
            mapping: new.mapping,
            flows: 0,
            version: self.version,
            delta: Delta::default(),
            life: 0,
            from: departure.arrival.from,
            out: departure.out,
            class: Class::first(new.tuple.protocol),
            origin: new.origin,
            is_answered: false,
            closed: [false; 2],
            is_counted: false,
        }
    }

    /// The first packet of a flow left by another interface: the flow begins anew there.
    #[cold]
    pub(super) fn begin_elsewhere(
        &mut self,
        table: &NatTable,
        departure: &Departure<'_>,
        flow: u32,
    ) -> Result<Rewrite, DropReason> {
        let old = *self.flows.get(flow);
        let inner = old.reply.inverse();
        let new = New {
            tuple: old.original,
            dst: inner.dst,
            dst_port: inner.dst_port,
            origin: old.origin,
            mapping: NONE,
        };
        self.flows.end(flow, tick(departure.arrival.now));
        self.counts.ended += 1;
        let begun = self.begin(table, departure, &new)?;
        // Where it is not to be translated any more, it is of no use to the other end.
        begun.ok_or(DropReason::NatUnknown)
    }

    /// Gives a flow its outside address and port.
    fn give_source(
        &mut self,
        table: &NatTable,
        departure: &Departure<'_>,
        pool: &SourcePool,
        flow: &mut Flow,
    ) -> Result<(), DropReason> {
        let own = (departure.own)().map(NatRange::one);
        let addresses = pool.addresses.or(own).ok_or(DropReason::NatAddress)?;
        let source = Source { pool, addresses };
        let (address, port) = match pool.endpoint_independent {
            true => self.mapped_source(table, &source, flow)?,
            false => self.free_source(table, &source, flow)?,
        };
        flow.reply.dst = address;
        flow.reply.dst_port = port;
        match self.is_taken(table, flow) {
            true => Err(DropReason::NatPorts),
            false => Ok(()),
        }
    }

    fn free_source(
        &mut self,
        table: &NatTable,
        source: &Source<'_>,
        flow: &Flow,
    ) -> Result<(u32, u16), DropReason> {
        let wanted = Wanted {
            inner: &flow.reply.inverse(),
            ports: table.ports_of(source.pool, flow.original.protocol),
            addresses: source.addresses,
        };
        let flows = &mut self.flows;
        let is_free = |address, port| {
            let reply = Tuple {
                dst: address,
                dst_port: port,
                ..flow.reply
            };
            let is_mapping = || {
                table
                    .has_mappings
                    .then(|| wildcard(reply.inverse()).inverse())
            };
            reply != flow.original
                && flows.find(&reply, table, flow.seen).is_none()
                && is_mapping().is_none_or(|key| flows.find(&key, table, flow.seen).is_none())
        };
        let found = self.chooser.choose(&wanted, is_free);
        found.ok_or(DropReason::NatPorts)
    }

    /// The outside address and port of the inside ones, which they keep for all they speak to.
    fn mapped_source(
        &mut self,
        table: &NatTable,
        source: &Source<'_>,
        flow: &mut Flow,
    ) -> Result<(u32, u16), DropReason> {
        let key = wildcard(flow.original);
        let known = self.find(&key, table, flow.seen).map(|hit| hit.flow);
        let known = known.filter(|&known| {
            let known = self.flows.get(known);
            known.out == flow.out && source.addresses.has(known.reply.dst)
        });
        let mapping = match known {
            Some(known) => known,
            None => self.add_mapping(table, source, flow)?,
        };
        // A flow that came by a mapping of another host counts for that one already.
        if flow.mapping == NONE {
            flow.mapping = mapping;
        }
        let reply = self.flows.get(mapping).reply;
        Ok((reply.dst, reply.dst_port))
    }

    fn add_mapping(
        &mut self,
        table: &NatTable,
        source: &Source<'_>,
        flow: &Flow,
    ) -> Result<u32, DropReason> {
        let original = wildcard(flow.original);
        let mut mapping = Flow {
            original,
            reply: original.inverse(),
            class: Class::of_mapping(flow.original.protocol),
            origin: Origin::Mapping,
            mapping: NONE,
            is_counted: false,
            ..*flow
        };
        // One of another interface is over when it has no flow more.
        if let Some(hit) = self.flows.find(&original, table, flow.seen) {
            if self.flows.get(hit.flow).flows != 0 {
                return Err(DropReason::NatPorts);
            }
            self.flows.end(hit.flow, flow.seen);
        }
        let (address, port) = self.free_source(table, source, &mapping)?;
        mapping.reply.dst = address;
        mapping.reply.dst_port = port;
        self.flows.add(mapping).ok_or(DropReason::NatFull)
    }

    /// Whether answers to a flow would be of another one, or look like its own packets.
    fn is_taken(&mut self, table: &NatTable, flow: &Flow) -> bool {
        flow.reply == flow.original || self.flows.find(&flow.reply, table, flow.seen).is_some()
    }
}

/// Whether a packet that begins a flow and has its own destination must not go there: it is for
/// an address of a pool, or for one that is hidden from where it came from.
fn is_unwanted(table: &NatTable, departure: &Departure<'_>, tuple: &Tuple) -> bool {
    let from = departure.arrival.from;
    table.is_of_pool(tuple.dst) || table.source_of(from, &tuple.inverse()).is_some()
}

/// The tuple of a mapping: the other end may be anybody.
fn wildcard(tuple: Tuple) -> Tuple {
    Tuple {
        dst: 0,
        dst_port: 0,
        ..tuple
    }
}
