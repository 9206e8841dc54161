//! What the control side asks of the router of a worker.

use std::net::IpAddr;
use std::sync::Arc;

use wire::MacAddress;

use super::{Followed, InterfaceId, Router, RouterTable};
use crate::nat::{NAT_PAGE, NatEntry, NatTotals};

/// Neighbours of a page at most: some microseconds of a worker's time.
pub const ROUTER_PAGE: usize = 256;

/// One request, with room for its answer.
#[derive(Debug)]
pub enum RouterRequest {
    /// Neighbours, a page at a time, in no order. Static ones are those of the settings.
    Neighbours {
        /// Where to go on: 0 at first. Back: where the next page begins; `None` at the end.
        from: Option<usize>,
        /// Back: who is known.
        entries: Vec<KnownNeighbour>,
    },
    /// Flows of NAT, a page at a time, in no order. Without NAT there are none.
    Nat {
        /// Where to go on: 0 at first. Back: where the next page begins; `None` at the end.
        from: Option<usize>,
        /// Back: who is known.
        entries: Vec<NatEntry>,
        /// Back: of all.
        totals: NatTotals,
    },
    /// Routes to go by from now on, with the interfaces that there are and perhaps more. Back:
    /// those before; the same where it has fewer interfaces, or NAT another number of flows.
    Replace(Arc<RouterTable>),
    /// What the kernel told of neighbours, [`super::FOLLOWED_MAX`] at most.
    Follow(Vec<Followed>),
}

/// What is known of an address of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownNeighbour {
    /// The interface that it is behind.
    pub interface: InterfaceId,
    /// The address.
    pub address: IpAddr,
    /// Its Ethernet address, where it has told one.
    pub mac: Option<MacAddress>,
    /// As `ip neighbour` names it, in small letters.
    pub state: &'static str,
    /// Since the state began, milliseconds.
    pub age_ms: u64,
}

impl RouterRequest {
    /// Asks for the page of neighbours that begins there.
    #[must_use]
    pub fn neighbours(from: usize) -> Self {
        Self::Neighbours {
            from: Some(from),
            entries: Vec::with_capacity(ROUTER_PAGE),
        }
    }
}

impl RouterRequest {
    /// Asks for the page of NAT's flows that begins there.
    #[must_use]
    pub fn nat(from: usize) -> Self {
        Self::Nat {
            from: Some(from),
            entries: Vec::with_capacity(NAT_PAGE),
            totals: NatTotals::default(),
        }
    }
}

impl Router {
    /// Carries a request out.
    pub fn carry_out(&mut self, request: &mut RouterRequest) {
        match request {
            RouterRequest::Neighbours { from, entries } => self.tell_page(from, entries),
            RouterRequest::Nat {
                from,
                entries,
                totals,
            } => {
                let start = from.take().unwrap_or(usize::MAX);
                if let (Some(nat), Some(table)) = (&self.nat, &self.table.nat) {
                    *totals = nat.totals(table.config());
                    *from = nat.page(table, self.now, start, entries);
                }
            }
            RouterRequest::Replace(table) => {
                let interfaces = |table: &RouterTable| table.config().interfaces.len();
                let flows = |table: &RouterTable| {
                    let nat = table.config().nat.as_ref();
                    nat.map(|nat| nat.flows_max)
                };
                let own = &*self.table;
                if interfaces(table) >= interfaces(own) && flows(table) == flows(own) {
                    // Routes alone leave flows as they are.
                    let is_other = table.nat != self.table.nat;
                    std::mem::swap(table, &mut self.table);
                    if is_other {
                        self.nat_rules_changed();
                    }
                }
            }
            RouterRequest::Follow(news) => self.follow(news),
        }
    }

    fn tell_page(&self, from: &mut Option<usize>, entries: &mut Vec<KnownNeighbour>) {
        let start = from.unwrap_or(usize::MAX);
        let now = self.now.0;
        let page = self.neighbours.iter().skip(start).take(ROUTER_PAGE);
        // A worker does not allocate.
        for (key, state, mac, since) in page.take(entries.capacity()) {
            entries.push(KnownNeighbour {
                interface: InterfaceId(key.interface),
                address: key.address,
                mac,
                state: state.name(),
                age_ms: now.saturating_sub(since.0) / 1_000_000,
            });
        }
        let next = start.saturating_add(entries.len());
        *from = Some(next).filter(|&next| next < self.neighbours.len());
    }
}
