//! Reading what workers write down of flows.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use frame::Consumer;
use plane::{FlowRecord, Node};
use table::flows::{TICK_NANOS, Tick};

use crate::recorded::Origin;
use crate::worker::Worker;

/// The reading end of all workers' records. Whoever has it reads it now and then: what finds no
/// room is lost, and counted.
pub struct FlowLogReader {
    readers: Vec<Consumer<FlowRecord>>,
    began: SystemTime,
    /// When that is by captures, once the first frame was read.
    origin: Option<Origin>,
}

impl FlowLogReader {
    /// Of workers that have not begun.
    pub(crate) fn of<N: Node>(workers: &mut [Worker<N>]) -> Self {
        let recorded = workers.first().and_then(|worker| worker.recorded.as_ref());
        let origin = recorded.map(|own| own.origin().clone());
        let readers = workers.iter_mut().flat_map(Worker::take_log_readers);
        Self {
            readers: readers.collect(),
            origin,
            began: SystemTime::now(),
        }
    }

    /// Takes the records that wait, of each worker in their order; returns how many. Does not wait.
    pub fn read(&mut self, mut each: impl FnMut(FlowRecord)) -> usize {
        let mut count = 0;
        for reader in &mut self.readers {
            // No more than there are now: a worker may write as fast as this reads.
            let waiting = reader.len();
            count += reader.pop_burst(waiting, &mut each);
        }
        count
    }

    /// Whether the run is over: there will be no more than waits now.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.readers.iter().all(Consumer::is_closed)
    }

    /// Whether the run is over and all is read.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.is_over() && self.readers.iter().all(Consumer::is_empty)
    }

    /// What time it was; off by a tick, 0.27 s, at most.
    #[must_use]
    pub fn time(&self, tick: Tick) -> SystemTime {
        let origin = self.origin.as_ref().and_then(Origin::get);
        let began = origin.map_or(self.began, |nanos| UNIX_EPOCH + Duration::from_nanos(nanos));
        began + Duration::from_nanos(u64::from(tick.0).saturating_mul(TICK_NANOS))
    }
}

impl fmt::Debug for FlowLogReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowLogReader")
            .field("rings", &self.readers.len())
            .finish_non_exhaustive()
    }
}
