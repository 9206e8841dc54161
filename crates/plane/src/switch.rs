//! A switch: frames leave by the ports that their VLAN and destination ask for.
//!
//! A worker owns a [`Switch`]. It learns behind which port stations are (`table::fdb`), forwards
//! frames to known ones by one port and floods the others to all ports of their VLAN. What is set
//! for it is a [`SwitchTable`], which never changes: a reload brings another one.
//!
//! The rules are those of IEEE 802.1Q, and of Linux' bridge where that is silent. One of those: a
//! frame whose source has a static entry at another port is forwarded and teaches nothing.

mod admit;
mod check;
mod config;
mod control;
mod exchange;
mod forward;
mod moves;
mod quiet;
mod storm;
mod tag;
#[cfg(test)]
mod tests;
mod vlan_table;

use std::any::Any;
use std::ops::AddAssign;
use std::sync::Arc;

use frame::{Burst, Nanos, PortId};
use table::CompileError;
use table::fdb::{Fdb, Sighting};

use crate::{Forwarding, LinkDown, Links, Node, Verdicts};
use forward::Seen;
use moves::Moves;
use quiet::Quiet;
use storm::Storm;

pub use admit::Admitted;
pub use check::SwitchConfigError;
pub use config::{Accept, Mac, StaticStation, SwitchConfig, SwitchPort, VLAN_MAX, Vlan, VlanMode};
pub use control::{SWITCH_PAGE_LINES, SwitchRequest};
pub use moves::Looping;
pub use vlan_table::SwitchTable;

/// What a switch did, beside the verdicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCounts {
    /// Stations that were new.
    pub learned: u64,
    /// Stations that went to another port.
    pub moved: u64,
    /// Stations that were forgotten, not seen for the age.
    pub expired: u64,
    /// Stations that gave way to a newer one of their port.
    pub evicted: u64,
    /// Sources that were not learned: no room, or a static entry at another port.
    pub refused: u64,
    /// Frames to all ports of their VLAN.
    pub flooded: u64,
    /// Copies that were made of them, beside the frame itself.
    pub copies: u64,
    /// Copies that were not made: no free chunk, no room in one or in the outbox.
    pub copies_failed: u64,
    /// How often a port became quiet, since a loop was noticed at it.
    pub quietened: u64,
}

impl AddAssign for SwitchCounts {
    fn add_assign(&mut self, other: Self) {
        self.learned += other.learned;
        self.moved += other.moved;
        self.expired += other.expired;
        self.evicted += other.evicted;
        self.refused += other.refused;
        self.flooded += other.flooded;
        self.copies += other.copies;
        self.copies_failed += other.copies_failed;
        self.quietened += other.quietened;
    }
}

/// VLAN numbers, those that no VLAN has included.
const VLANS: usize = 1 << 12;

/// Frames of one VLAN; in modes without VLANs all are of VLAN 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VlanFrames {
    /// Frames that were taken in.
    pub received: u64,
    /// Frames that were given to ports to send, copies included.
    pub sent: u64,
}

/// The switch of one worker.
#[derive(Debug)]
pub struct Switch {
    table: Arc<SwitchTable>,
    fdb: Fdb,
    links: Links<Sighting>,
    /// By ingress port.
    storms: Vec<Storm>,
    /// What was read of a burst's frames.
    seen: Vec<Seen>,
    moves: Moves,
    quiet: Quiet,
    /// By VLAN.
    vlan_frames: Box<[VlanFrames; VLANS]>,
    flooded: u64,
    copies: u64,
    copies_failed: u64,
}

impl Switch {
    /// The switch of the worker that has `links`. `key` chooses the places in its database:
    /// it should be drawn at random.
    ///
    /// # Errors
    ///
    /// The memory is not there.
    pub fn new(
        table: Arc<SwitchTable>,
        key: [u64; 2],
        links: Links<Sighting>,
    ) -> Result<Self, CompileError> {
        let mut switch = Self {
            fdb: Fdb::new(table.limits(), key, links.worker)?,
            storms: Vec::new(),
            seen: Vec::with_capacity(frame::BURST_MAX),
            moves: Moves::default(),
            quiet: Quiet::default(),
            vlan_frames: Box::new([VlanFrames::default(); VLANS]),
            flooded: 0,
            copies: 0,
            copies_failed: 0,
            links,
            table,
        };
        switch.follow(&[]);
        Ok(switch)
    }

    /// Goes by another table from now on. Ports keep their numbers. What was learned behind a
    /// port that is gone, or that left a VLAN or group, is forgotten; the number of stations cannot
    /// grow. Returns the table before, which may be large to free.
    pub fn replace(&mut self, table: Arc<SwitchTable>) -> Arc<SwitchTable> {
        let before = std::mem::replace(&mut self.table, table);
        self.fdb.set_limits(self.table.limits());
        for port in self.table.left_since(&before).iter() {
            self.fdb.forget_port(port);
        }
        self.follow(&before.config().statics);
        before
    }

    /// Brings limits and static entries to what the table says, where they were as `before`.
    fn follow(&mut self, before: &[StaticStation]) {
        let table = Arc::clone(&self.table);
        let statics = &table.config().statics;
        for old in before.iter().filter(|old| !statics.contains(old)) {
            self.fdb.forget(old.vlan, &old.mac);
        }
        for new in statics.iter().filter(|new| !before.contains(new)) {
            self.fdb.set_static(new.vlan, &new.mac, new.port);
        }
        let workers = self.links.workers();
        let limits = table.config().ports.iter().map(|port| port.storm);
        self.storms = limits.map(|limit| Storm::new(limit, workers)).collect();
    }

    /// Takes over what other workers learned, and frees the places of old entries: a bounded
    /// part of both. For every step of the worker.
    pub fn poll(&mut self, now: Nanos) {
        self.fdb.set_now(now);
        exchange::take_over(&mut self.links, &mut self.fdb);
        self.fdb.sweep(now);
    }

    /// Forgets what was learned behind a port: its link is down, or it was taken away.
    pub fn forget_port(&mut self, port: PortId) {
        self.fdb.forget_port(port);
    }

    /// What it goes by.
    #[must_use]
    pub fn table(&self) -> &Arc<SwitchTable> {
        &self.table
    }

    /// The stations that it knows.
    #[must_use]
    pub fn fdb(&self) -> &Fdb {
        &self.fdb
    }

    /// What it did so far.
    #[must_use]
    pub fn counts(&self) -> SwitchCounts {
        let fdb = self.fdb.counts();
        SwitchCounts {
            learned: fdb.learned,
            moved: fdb.moved,
            expired: fdb.expired,
            evicted: fdb.evicted,
            refused: fdb.refused,
            flooded: self.flooded,
            copies: self.copies,
            copies_failed: self.copies_failed,
            quietened: self.quiet.begun(),
        }
    }
}

impl Node for Switch {
    const NAME: &'static str = "switch";
    const COUNTS: &'static [&'static str] = &[
        "learned",
        "moved",
        "expired",
        "evicted",
        "refused",
        "flooded",
        "copies",
        "copies_failed",
        "quietened",
    ];

    #[inline]
    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        self.forward(cx, burst, verdicts);
    }

    fn poll(&mut self, cx: &mut Forwarding<'_>) {
        Self::poll(self, cx.now);
    }

    fn control(&mut self, request: &mut dyn Any) {
        if let Some(request) = request.downcast_mut() {
            self.carry_out(request);
        } else if let Some(&LinkDown(port)) = request.downcast_ref() {
            self.forget_port(port);
        }
    }

    fn counts(&self, out: &mut [u64]) {
        let counts = Self::counts(self);
        let counts = [
            counts.learned,
            counts.moved,
            counts.expired,
            counts.evicted,
            counts.refused,
            counts.flooded,
            counts.copies,
            counts.copies_failed,
            counts.quietened,
        ];
        for (shown, count) in out.iter_mut().zip(counts) {
            *shown = count;
        }
    }
}
