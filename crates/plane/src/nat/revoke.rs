//! Flows end that other rules, or other addresses of the router, no longer allow.

use super::flow::{Flow, Hit, NONE, Origin};
use super::tuple::Tuple;
use super::{Destined, Nat, NatTable};

/// Flows that are held against other rules in a step at most, beside those that get packets.
const SWEPT_AT_ONCE: usize = 64;

impl Nat {
    /// The rules are others from now on: each flow is held against them at its next packet, or
    /// when its turn comes.
    pub(crate) fn rules_changed(&mut self) {
        self.version = self.version.wrapping_add(1);
        self.sweep = Some(0);
    }

    /// Holds some of the flows against other rules.
    pub(super) fn sweep(&mut self, table: &NatTable, tick: u32) {
        let Some(first) = self.sweep else {
            return;
        };
        let records = self.flows.records();
        let end = records.min(first + SWEPT_AT_ONCE);
        for number in first..end {
            let flow = self.flows.get(number as u32);
            if flow.is_there() && flow.version != self.version {
                let hit = Hit {
                    flow: number as u32,
                    is_reply: false,
                };
                self.find_by_new_rules(hit, table, tick);
            }
        }
        self.sweep = (end < records).then_some(end);
    }

    /// A flow of rules before these: it goes on where these would allow it, too, and ends else.
    #[cold]
    pub(super) fn find_by_new_rules(
        &mut self,
        hit: Hit,
        table: &NatTable,
        tick: u32,
    ) -> Option<Hit> {
        let flow = *self.flows.get(hit.flow);
        let is_allowed = match flow.origin {
            Origin::Mapping => is_source_allowed(table, &flow),
            _ => self.is_destination_allowed(table, &flow) && is_source_allowed(table, &flow),
        };
        if is_allowed {
            self.flows.get_mut(hit.flow).version = self.version;
            return Some(hit);
        }
        // A mapping ends behind its flows; until then nobody begins another by it.
        if flow.flows == 0 {
            self.flows.end(hit.flow, tick);
            self.counts.ended += 1;
            self.counts.revoked += 1;
        }
        None
    }

    fn is_destination_allowed(&self, table: &NatTable, flow: &Flow) -> bool {
        let (tuple, goes_to) = (&flow.original, (flow.reply.src, flow.reply.src_port));
        let target = match table.destination_of(flow.from, tuple) {
            Destined::Same => None,
            Destined::To(target) if flow.origin == Origin::Rules => Some(target),
            Destined::Hairpin(target) if flow.origin == Origin::Hairpin => Some(target),
            Destined::To(_) | Destined::Hairpin(_) => return false,
        };
        match target {
            Some(to) => goes_to == (to.address, to.port.unwrap_or(tuple.dst_port)),
            None if goes_to == (tuple.dst, tuple.dst_port) => true,
            // It was sent to a mapping.
            None => flow.mapping != NONE && is_source_allowed(table, self.flows.get(flow.mapping)),
        }
    }
}

/// Whether rules would give a flow the source that it has.
fn is_source_allowed(table: &NatTable, flow: &Flow) -> bool {
    let has = (flow.reply.dst, flow.reply.dst_port);
    if flow.origin == Origin::Hairpin {
        return table.config().hairpin;
    }
    let inner = Tuple {
        dst: flow.reply.src,
        dst_port: flow.reply.src_port,
        ..flow.original
    };
    match table.source_of(flow.out, &inner) {
        None => has == (flow.original.src, flow.original.src_port),
        Some(pool) => {
            let has_address = match pool.addresses {
                Some(range) => range.has(has.0),
                None => table.is_own_of(flow.out, has.0),
            };
            let is_mapping = flow.origin == Origin::Mapping || flow.mapping != NONE;
            has_address
                && table
                    .ports_of(&pool, flow.original.protocol)
                    .is_none_or(|ports| ports.has(has.1))
                && pool.endpoint_independent == is_mapping
        }
    }
}
