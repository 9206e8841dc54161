//! A router: packets leave by the interface that the longest matching route leads to.
//!
//! A worker owns a [`Router`]. What is set for it is a [`RouterTable`], which never changes. What
//! happens to a frame, in this order:
//!
//! 1. Its tags and port say by which interface it came (`arrive.rs`); its destination must be the
//!    router's Ethernet address, or a group.
//! 2. ARP and neighbour discovery are heard and answered (`hear.rs`).
//! 3. The IP header is checked (`packet.rs`): version, lengths, header checksum, options. What is
//!    above is nobody's business here.
//! 4. Martians and packets of one link alone are dropped (`scope.rs`).
//! 5. The destination is looked up, all those of a burst at once. What is for the router itself is
//!    answered or dropped (`local.rs`).
//! 6. The reverse path, then the route's kind, then the TTL, then the MTU of the interface that it
//!    leaves by decide (`forward.rs`); IPv4 packets that are too long are cut (`fragment.rs`).
//! 7. The next hop's Ethernet address is looked up, or asked for: the frame waits (`wait.rs`).
//!
//! With NAT, a packet's flow is looked up before step 5, which then looks the destination up that
//! it is to have, and the packet is rewritten before it is cut or leaves in step 6 (`nat.rs`).
//!
//! What cannot be forwarded is reported by ICMP (`report.rs`).

mod arrive;
mod check;
mod config;
mod control;
mod follow;
mod forward;
mod fragment;
mod hear;
mod hops;
mod link;
mod local;
mod nat;
mod packet;
mod poll;
mod prefix;
mod process;
mod punt;
mod report;
mod route_book;
mod route_table;
mod scope;
// Under Miri the root of a table of routes takes minutes to make.
#[cfg(all(test, not(miri)))]
mod tests;
mod wait;

use std::any::Any;
use std::collections::TryReserveError;
use std::sync::Arc;

use frame::{Burst, Frame, FramePool, Nanos, PortId};
use stack::Limiter;
use stack::neighbours::{Heard, NeighbourSettings, Neighbours, StaticRange};

use crate::links::Links;
use crate::nat::Nat;
use crate::{Forwarding, LinkDown, Node, Verdicts};
use follow::Kernel;
use process::Columns;
use wait::Waiting;

pub use check::RouterConfigError;
pub use config::{
    InterfaceAddress, InterfaceId, InterfaceTags, NextHop, ReversePath, Route, RouteAction,
    RouterConfig, RouterInterface, StaticNeighbours, VrfId,
};
pub use control::{KnownNeighbour, ROUTER_PAGE, RouterRequest};
pub use follow::{FOLLOWED_MAX, Followed, Wanted, Wants};
pub use hops::{Hop, HopSet};
pub(crate) use packet::{Kind, Options, Packet};
pub use prefix::Prefix;
pub use route_book::{RouteBook, RouteChanges, Way};
pub use route_table::{RouterTable, RouterTableError, Target};
pub use stack::neighbours::Told;

/// What a router did, beside the verdicts.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    forwarded_v4: u64,
    forwarded_v6: u64,
    local: u64,
    punted: u64,
    requests: u64,
    answers: u64,
    echo_replies: u64,
    icmp_errors: u64,
    icmp_limited: u64,
    fragmented: u64,
    fragments: u64,
}

/// The router of one worker.
#[derive(Debug)]
pub struct Router {
    table: Arc<RouterTable>,
    neighbours: Neighbours,
    links: Links<Heard>,
    /// Where the kernel finds neighbours and has the own addresses.
    kernel: Option<Kernel>,
    waiting: Waiting,
    errors: Limiter,
    columns: Columns,
    /// Where NAT is asked for.
    nat: Option<Box<Nat>>,
    /// Pieces of the packet that is cut.
    pieces: Vec<Frame>,
    counts: Counts,
    /// Own addresses that stations were told of so far; `usize::MAX` when all were.
    announced: usize,
    /// When it was called last.
    now: Nanos,
}

impl Counts {
    #[inline]
    fn count_forwarded(&mut self, is_v4: bool) {
        match is_v4 {
            true => self.forwarded_v4 += 1,
            false => self.forwarded_v6 += 1,
        }
    }
}

impl Router {
    /// The router of the worker that has `links`. `key` chooses places in its tables: it should be
    /// drawn at random.
    ///
    /// # Errors
    /// There is no memory for the flows of NAT.
    pub fn new(
        table: Arc<RouterTable>,
        key: [u64; 2],
        links: Links<Heard>,
    ) -> Result<Self, TryReserveError> {
        let config = table.config();
        let settings = NeighbourSettings {
            max: config.neighbours_max as usize,
            ..NeighbourSettings::default()
        };
        let statics = config.neighbours.iter().map(|one| StaticRange {
            interface: one.interface.0,
            first: one.first,
            last: one.last,
            mac: one.mac,
        });
        let nat = config.nat.as_ref().map(|own| Nat::new(own, key));
        Ok(Self {
            nat: nat.transpose()?.map(Box::new),
            neighbours: Neighbours::new(settings, statics.collect(), key),
            errors: Limiter::new(config.errors_per_second, key),
            waiting: Waiting::default(),
            kernel: None,
            columns: Columns::default(),
            pieces: Vec::new(),
            counts: Counts::default(),
            // The first worker speaks for all.
            announced: match config.announces && links.worker.0 == 0 {
                true => 0,
                false => usize::MAX,
            },
            now: Nanos::ZERO,
            links,
            table,
        })
    }

    /// What it goes by.
    #[must_use]
    pub fn table(&self) -> &Arc<RouterTable> {
        &self.table
    }

    /// Forgets the neighbours of a port whose link went down: others may be there when it is up.
    fn forget_port(&mut self, port: PortId) {
        // The kernel forgets them by itself, and says so.
        if self.kernel.is_some() {
            return;
        }
        let numbered = (0..=u16::MAX).zip(&self.table.config().interfaces);
        for (interface, _) in numbered.filter(|(_, one)| one.port == port) {
            self.neighbours.forget(interface);
        }
    }

    /// The neighbours that it knows.
    #[must_use]
    pub fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }
}

impl Node for Router {
    const NAME: &'static str = "router";
    const COUNTS: &'static [&'static str] = &[
        "forwarded_v4",
        "forwarded_v6",
        "local",
        "punted",
        "requests",
        "answers",
        "echo_replies",
        "icmp_errors",
        "icmp_limited",
        "fragmented",
        "fragments",
        "nat_translated",
        "nat_begun",
        "nat_ended",
        "nat_revoked",
    ];
    const HELD_MAX: usize = wait::HELD_MAX;

    #[inline]
    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        self.route(cx, burst, verdicts);
    }

    fn poll(&mut self, cx: &mut Forwarding<'_>) {
        Self::poll(self, cx);
    }

    fn keep(&mut self, frame: Frame) -> Result<(), Frame> {
        self.waiting.keep(frame)
    }

    fn held(&self) -> usize {
        self.waiting.held()
    }

    fn control(&mut self, request: &mut dyn Any) {
        if let Some(&LinkDown(port)) = request.downcast_ref() {
            self.forget_port(port);
        } else if let Some(request) = request.downcast_mut() {
            self.carry_out(request);
        }
    }

    fn give_up(&mut self, pool: &mut FramePool) {
        self.waiting.give_up(pool);
    }

    fn counts(&self, out: &mut [u64]) {
        let counts = &self.counts;
        let nat = self.nat.as_ref().map(|nat| nat.counts).unwrap_or_default();
        let counts = [
            counts.forwarded_v4,
            counts.forwarded_v6,
            counts.local,
            counts.punted,
            counts.requests,
            counts.answers,
            counts.echo_replies,
            counts.icmp_errors,
            counts.icmp_limited,
            counts.fragmented,
            counts.fragments,
            nat.translated,
            nat.begun,
            nat.ended,
            nat.revoked,
        ];
        for (shown, count) in out.iter_mut().zip(counts) {
            *shown = count;
        }
    }
}
