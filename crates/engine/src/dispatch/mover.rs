//! The control side of moving buckets: who owns them, what each brought, and when some ought to
//! move.

use std::fmt;
use std::sync::Arc;

use frame::{Nanos, WorkerId};

use super::BUCKETS;
use super::handover::Handover;
use super::pressure::{Demand, Look};
use crate::counters::Counters;
use crate::placement::{
    Balancer, BucketLoad, BucketLoads, BucketReader, Elephant, Indirection, Move, Outcome,
    Pressure, Thresholds,
};

/// One bucket: whose it is, and what it brought since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketStatus {
    /// The worker that owns it.
    pub owner: WorkerId,
    /// Frames and bytes received, by all workers.
    pub load: BucketLoad,
}

/// Why buckets were not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveError {
    /// The moves before are not done: some microseconds, and as long as a worker sleeps or hangs.
    UnderWay,
    /// There is no bucket of this number.
    NoBucket(u16),
    /// There is no worker of this number.
    NoWorker(WorkerId),
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnderWay => write!(f, "buckets are being moved: try again in a millisecond"),
            Self::NoBucket(bucket) => write!(
                f,
                "there is no bucket {bucket}: they are numbered from 0 to {}",
                BUCKETS - 1
            ),
            Self::NoWorker(worker) => write!(
                f,
                "there is no worker {worker} to move a bucket to: `linerate show workers` names all"
            ),
        }
    }
}

impl std::error::Error for MoveError {}

/// The only writer of the indirection.
pub(crate) struct Mover {
    indirection: Indirection,
    pub(crate) handover: Arc<Handover>,
    readers: Vec<BucketReader>,
    /// None where nothing moves by itself.
    balancer: Option<Balancer>,
    /// What the last look saw, to be compared with the next.
    last: Option<Look>,
    /// Frames a worker receives at a time at most.
    burst_max: usize,
    /// Buckets moved since the start.
    pub(crate) moved: u64,
    /// Those of the last look.
    pub(crate) elephants: Vec<Elephant>,
}

impl Mover {
    /// Buckets dealt out to `workers` in turn, and what each worker counts them by.
    pub(crate) fn new(
        ports: usize,
        workers: usize,
        (thresholds, burst_max): (Option<Thresholds>, usize),
    ) -> (Self, Vec<BucketLoads>) {
        let indirection = Indirection::dealt(BUCKETS, workers as u16);
        let handover = Arc::new(Handover::new(indirection.owners(), ports, workers));
        let (loads, readers) = (0..workers).map(|_| BucketLoads::new(BUCKETS)).unzip();
        let mover = Self {
            indirection,
            handover,
            readers,
            balancer: thresholds.map(|thresholds| Balancer::new(BUCKETS, thresholds)),
            last: None,
            burst_max,
            moved: 0,
            elephants: Vec::new(),
        };
        (mover, loads)
    }

    /// Every bucket now.
    pub(crate) fn buckets(&self) -> Vec<BucketStatus> {
        let (_, owners) = self.handover.owners.copy();
        let loads = BucketReader::sum(&self.readers);
        let status = |(owner, load)| BucketStatus { owner, load };
        owners.into_iter().zip(loads).map(status).collect()
    }

    /// Gives buckets to other workers, all at once; they have them when the old ones have drained.
    pub(crate) fn apply(&mut self, moves: &[(u16, WorkerId)]) -> Result<(), MoveError> {
        if !self.handover.is_complete() {
            return Err(MoveError::UnderWay);
        }
        let mut changes = Vec::new();
        for &(bucket, to) in moves {
            if usize::from(bucket) >= BUCKETS {
                return Err(MoveError::NoBucket(bucket));
            }
            if usize::from(to.0) >= self.readers.len() {
                return Err(MoveError::NoWorker(to));
            }
            let from = self.handover.owners.owner(bucket);
            if from != to {
                changes.push(Move { bucket, from, to });
            }
        }
        if !changes.is_empty() {
            self.moved += changes.len() as u64;
            self.indirection.apply(&changes);
        }
        Ok(())
    }

    /// Compares the load with that of the last look and moves buckets where one worker has too
    /// much. `workers` are the counters of each, `missed` and `dropped` the frames lost because it
    /// was behind, in its queues and on the way from other workers. Returns an elephant that was
    /// not there before.
    pub(crate) fn look(
        &mut self,
        at: Nanos,
        workers: Vec<Counters>,
        (missed, dropped): (Vec<u64>, Vec<u64>),
    ) -> Option<Elephant> {
        self.balancer.as_ref()?;
        let now = Look {
            at,
            buckets: self
                .readers
                .iter()
                .map(|own| own.totals().collect())
                .collect(),
            workers,
            missed,
            dropped,
        };
        let before = self.last.replace(now)?;
        let now = self.last.as_ref()?;
        let demand = Demand::between(&before, now, self.burst_max);
        let (_, owners) = self.handover.owners.copy();
        let seen = Pressure {
            buckets: &demand.buckets,
            fixed: &demand.fixed,
            busy: &demand.busy,
        };
        let proposal = self.balancer.as_mut()?.plan(&seen, &owners, at);
        let new = proposal.elephants.iter().find(|elephant| {
            let mut known = self.elephants.iter();
            !known.any(|known| known.bucket == elephant.bucket)
        });
        let new = new.copied();
        if proposal.outcome != Outcome::Calm {
            self.elephants = proposal.elephants;
        }
        let moves = proposal
            .moves
            .iter()
            .map(|change| (change.bucket, change.to));
        let moves: Vec<_> = moves.collect();
        if self.apply(&moves).is_err()
            && let Some(balancer) = &mut self.balancer
        {
            balancer.refuse(&proposal.moves);
        }
        new
    }
}
