//! A worker's turns, one after another: a step, and around it what it does now and then.

use std::time::Duration;

use frame::Nanos;
use plane::Node;

use crate::clock::{Clock, cpu_time_nanos};
use crate::counters::Count;
use crate::doze::doze;
use crate::idle::Idle;
use crate::status;
use crate::worker::Worker;

/// How often the counters are shown to others, nanoseconds.
const SHOW_EVERY_NANOS: u64 = 1_000_000;

/// Where a worker is in its turns.
pub(crate) struct Turns {
    idle: Idle,
    /// When the next turn begins.
    pub(crate) begun: Nanos,
    /// When the counters were shown last, and what the worker holds.
    shown: Nanos,
    held: Nanos,
}

impl<N: Node> Worker<N> {
    /// Takes turns until told to stop.
    pub(crate) fn work(mut self, clock: &impl Clock) -> Self {
        let mut turns = self.begin(clock);
        while !self.control.stops() {
            self.turn(&mut turns, clock);
        }
        self.settle();
        self.counters.add(Count::CpuNanos, cpu_time_nanos());
        self.show_all();
        self
    }

    /// Before the first turn.
    pub(crate) fn begin(&mut self, clock: &impl Clock) -> Turns {
        let now = clock.now();
        self.beat(clock);
        self.requests.attend(&mut self.bridge, &mut self.node);
        Turns {
            idle: Idle::new(self.idle),
            begun: now,
            shown: now,
            held: now,
        }
    }

    /// One turn; how many frames moved. The clock is read once, twice in one that moved nothing.
    #[inline]
    pub(crate) fn turn(&mut self, turns: &mut Turns, clock: &impl Clock) -> usize {
        self.now = turns.begun;
        let moved = self.step(clock);
        let ended = clock.now();
        turns.begun = if moved != 0 {
            self.counters
                .add(Count::BusyNanos, ended.since(turns.begun));
            self.active_until = ended;
            turns.idle.reset();
            ended
        } else {
            let called = turns.idle.rest(|nap| self.nap(nap));
            self.counters.add(Count::Sleeps, u64::from(called));
            clock.now()
        };
        if ended.since(turns.shown) >= SHOW_EVERY_NANOS {
            turns.shown = ended;
            self.attend(turns, clock);
        }
        moved
    }

    /// Shows what it did, and does what it was given to do.
    fn attend(&mut self, turns: &mut Turns, clock: &impl Clock) {
        // What may leave does not wait for what is done now.
        if self.defers() {
            self.flush();
        }
        self.counters.set(Count::ShownAt, turns.shown.0);
        self.show();
        self.requests.attend(&mut self.bridge, &mut self.node);
        self.beat(clock);
        if turns.shown.since(turns.held) >= status::SHOW_EVERY_NANOS {
            turns.held = turns.shown;
            self.show_hold();
        }
    }

    /// After the last turn: has sent what ports gather.
    pub(crate) fn settle(&mut self) {
        for attachment in &mut self.attachments {
            attachment.settle(&mut self.pool, &mut self.counters);
        }
    }

    /// Shows all that others may see of it.
    pub(crate) fn show_all(&mut self) {
        self.show_hold();
        self.show();
    }

    /// Tells the queues that somebody is at work.
    fn beat(&mut self, clock: &impl Clock) {
        let queues = self.attachments.iter_mut();
        for queue in queues.filter_map(|place| place.queue.as_mut()) {
            queue.beat(clock.kernel());
        }
    }

    /// Sleeps; then at the newest version.
    fn nap(&mut self, nap: Duration) {
        let attachments = std::mem::take(&mut self.attachments);
        self.change(|versions| versions.offline(|| doze(&attachments, nap)));
        self.attachments = attachments;
    }
}
