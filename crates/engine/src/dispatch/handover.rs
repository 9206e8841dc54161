//! How buckets change hands while frames go by, and no flow is reordered.
//!
//! The control side writes a new version of the indirection table. From then on:
//!
//! 1. Each worker *adopts* it between two steps, when it has put all that it placed by the old one
//!    into rings, and says how many frames it has put into each by then: its marks.
//!    Until it has adopted, it takes of others' rings only what they put there before they did:
//!    frames of the new table could be of a bucket that it does not know to come.
//! 2. A worker that loses buckets has *drained* when it has decided on every frame below the marks
//!    of all workers, and what it decided has left it: no frame of those buckets comes to it any
//!    more, and none of them is on its way to a port.
//! 3. A worker that gets buckets keeps their frames back, in the order in which they come, until
//!    every worker that loses some to it has drained. It then decides on them before any later one
//!    of theirs, and has *settled*.
//!
//! There is no next version before all have settled. Each word has one writer. A mark is a count
//! of frames, so that rings hold frames and nothing else. What a worker may keep back is bounded:
//! it takes no more from a ring, beyond the mark, than it has room for, and receives nothing more;
//! then the ring is full, and its sender drops by name or waits. A ring below its mark is always
//! emptied, so those who wait for each other's marks are never kept waiting by a full one.

use std::sync::atomic::{AtomicU64, Ordering};

use frame::WorkerId;

use crate::placement::Owners;

/// What one worker says, on lines that no other writes.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Seat {
    adopted: AtomicU64,
    drained: AtomicU64,
    settled: AtomicU64,
}

/// What all workers share of it.
#[derive(Debug)]
pub(crate) struct Handover {
    pub(crate) owners: Owners,
    seats: Box<[Seat]>,
    /// By port, and from worker to worker.
    marks: Box<[AtomicU64]>,
}

impl Handover {
    pub(crate) fn new(owners: Owners, ports: usize, workers: usize) -> Self {
        let marks = ports * workers * workers;
        Self {
            owners,
            seats: (0..workers).map(|_| Seat::default()).collect(),
            marks: (0..marks).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn seat(&self, worker: WorkerId) -> &Seat {
        &self.seats[usize::from(worker.0)]
    }

    fn mark_of(&self, port: usize, from: WorkerId, to: usize) -> &AtomicU64 {
        let workers = self.seats.len();
        &self.marks[(port * workers + usize::from(from.0)) * workers + to]
    }

    /// `from` has put `frames` frames into its ring of `port` to `to`, all by the old table.
    pub(crate) fn set_mark(&self, port: usize, from: WorkerId, to: usize, frames: u64) {
        self.mark_of(port, from, to)
            .store(frames, Ordering::Relaxed);
    }

    /// The mark; means something only where `from` has adopted the version.
    pub(crate) fn mark(&self, port: usize, from: WorkerId, to: WorkerId) -> u64 {
        self.mark_of(port, from, usize::from(to.0))
            .load(Ordering::Relaxed)
    }

    /// Release: whoever sees it sees the marks, and the frames below them in the rings.
    pub(crate) fn adopt(&self, worker: WorkerId, version: u64) {
        self.seat(worker).adopted.store(version, Ordering::Release);
    }

    pub(crate) fn has_adopted(&self, worker: WorkerId, version: u64) -> bool {
        self.seat(worker).adopted.load(Ordering::Acquire) >= version
    }

    pub(crate) fn all_adopted(&self, version: u64) -> bool {
        let mut seats = self.seats.iter();
        seats.all(|seat| seat.adopted.load(Ordering::Acquire) >= version)
    }

    /// Release: whoever sees it comes after all that the worker gave to ports.
    pub(crate) fn drain(&self, worker: WorkerId, version: u64) {
        self.seat(worker).drained.store(version, Ordering::Release);
    }

    pub(crate) fn has_drained(&self, worker: WorkerId, version: u64) -> bool {
        self.seat(worker).drained.load(Ordering::Acquire) >= version
    }

    pub(crate) fn settle(&self, worker: WorkerId, version: u64) {
        self.seat(worker).settled.store(version, Ordering::Release);
    }

    /// Whether every worker is done with the newest version: the next may be made.
    pub(crate) fn is_complete(&self) -> bool {
        let version = self.owners.version();
        let done = |word: &AtomicU64| word.load(Ordering::Acquire) >= version;
        let mut seats = self.seats.iter();
        seats.all(|seat| done(&seat.adopted) && done(&seat.drained) && done(&seat.settled))
    }
}
