//! The indirection table: which worker each bucket belongs to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use frame::WorkerId;

use super::Move;

/// Buckets at least, and unless more are asked for: what most NICs have.
pub const BUCKETS_MIN: usize = 128;
/// Buckets at most.
pub const BUCKETS_MAX: usize = 4096;

/// The table's one writer, on the control side; workers hold [`Owners`] of it.
#[derive(Debug)]
pub struct Indirection {
    owners: Owners,
}

/// What workers read: two plain loads a frame, no lock and no read-modify-write.
#[derive(Clone, Debug)]
pub struct Owners {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Odd while entries change, so that a copy of all of them can be told from a mixture.
    version: AtomicU64,
    /// A power of two of them.
    entries: Box<[AtomicU16]>,
}

impl Indirection {
    /// `buckets`, rounded up to a power of two and held to [`BUCKETS_MIN`] and [`BUCKETS_MAX`],
    /// dealt out to `workers` in turn.
    #[must_use]
    pub fn dealt(buckets: usize, workers: u16) -> Self {
        let buckets = buckets.clamp(BUCKETS_MIN, BUCKETS_MAX).next_power_of_two();
        let owner = |bucket: usize| AtomicU16::new((bucket % usize::from(workers.max(1))) as u16);
        let shared = Shared {
            version: AtomicU64::new(0),
            entries: (0..buckets).map(owner).collect(),
        };
        let owners = Owners {
            shared: Arc::new(shared),
        };
        Self { owners }
    }

    /// What a worker is given.
    #[must_use]
    pub fn owners(&self) -> Owners {
        self.owners.clone()
    }

    /// Gives buckets to other workers, all by one version, which is returned; buckets that do not
    /// exist are passed over.
    ///
    /// A worker sees the new owner at its next frame: whoever calls this has made the old owner
    /// drain the bucket, or sees to it that the new one waits for that.
    pub fn apply(&mut self, moves: &[Move]) -> u64 {
        let Shared { version, entries } = &*self.owners.shared;
        let before = version.load(Ordering::Relaxed);
        version.store(before + 1, Ordering::Relaxed);
        std::sync::atomic::fence(Ordering::Release);
        for change in moves {
            if let Some(entry) = entries.get(usize::from(change.bucket)) {
                entry.store(change.to.0, Ordering::Relaxed);
            }
        }
        version.store(before + 2, Ordering::Release);
        self.version()
    }

    /// How often [`apply`](Self::apply) was called.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.owners.version()
    }
}

impl Owners {
    /// How many buckets there are: a power of two.
    #[inline]
    #[must_use]
    pub fn buckets(&self) -> usize {
        self.shared.entries.len()
    }

    /// The bucket of an RSS hash: its low bits, as NICs have it.
    #[inline]
    #[must_use]
    pub fn bucket(&self, hash: u32) -> u16 {
        (hash as usize & (self.buckets() - 1)) as u16
    }

    /// Whose bucket it is; numbers beyond the last begin again at the first.
    #[inline]
    #[must_use]
    pub fn owner(&self, bucket: u16) -> WorkerId {
        let entries = &self.shared.entries;
        WorkerId(entries[usize::from(bucket) & (entries.len() - 1)].load(Ordering::Relaxed))
    }

    /// How often the table has changed: a worker that finds it unchanged may keep what it copied.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u64 {
        self.shared.version.load(Ordering::Acquire) / 2
    }

    /// All owners as one version has them, and which one that is.
    #[must_use]
    pub fn copy(&self) -> (u64, Vec<WorkerId>) {
        loop {
            let before = self.shared.version.load(Ordering::Acquire);
            let entries = self.shared.entries.iter();
            let owners = entries.map(|entry| WorkerId(entry.load(Ordering::Relaxed)));
            let owners: Vec<_> = owners.collect();
            std::sync::atomic::fence(Ordering::Acquire);
            let after = self.shared.version.load(Ordering::Relaxed);
            if before == after && before.is_multiple_of(2) {
                return (before / 2, owners);
            }
            std::hint::spin_loop();
        }
    }
}
