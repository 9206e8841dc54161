//! How long queries took.

use frame::{Consumer, ring};
use plane::host::{Host, QueryTimes};
use traffic::Histogram;

/// Queries of one worker whose times wait for us: those of 50 ms at a million a second.
const WAITING_MAX: usize = 1 << 16;

/// Times of all queries so far, and where workers tell those of new ones.
#[derive(Default)]
pub(super) struct Timings {
    told: Vec<Consumer<QueryTimes>>,
    pub(super) connect: Histogram,
    pub(super) first_byte: Histogram,
    pub(super) whole: Histogram,
    /// Whole queries since somebody looked last.
    pub(super) recent: Histogram,
}

impl Timings {
    /// Has the hosts of all workers tell.
    pub(super) fn of(hosts: &mut [Host]) -> Self {
        let hear = |host: &mut Host| {
            let (to, from) = ring(WAITING_MAX);
            host.tell_times(to);
            from
        };
        Self {
            told: hosts.iter_mut().map(hear).collect(),
            ..Self::default()
        }
    }

    /// Takes over what was told.
    pub(super) fn take(&mut self) {
        for told in &mut self.told {
            while let Some(times) = told.pop() {
                self.connect.record(times.connect);
                self.first_byte.record(times.first_byte);
                self.whole.record(times.whole);
                self.recent.record(times.whole);
            }
        }
    }
}
