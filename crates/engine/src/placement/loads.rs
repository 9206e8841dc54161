//! What each bucket brought: one worker's counters, read by the control side.

use std::ops::{Add, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Frames and bytes of one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BucketLoad {
    /// Frames.
    pub frames: u64,
    /// Bytes in memory: Ethernet without FCS.
    pub bytes: u64,
}

impl Add for BucketLoad {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            frames: self.frames.wrapping_add(other.frames),
            bytes: self.bytes.wrapping_add(other.bytes),
        }
    }
}

impl Sub for BucketLoad {
    type Output = Self;

    /// What came since `earlier`; 0 where that has more.
    fn sub(self, earlier: Self) -> Self {
        Self {
            frames: self.frames.saturating_sub(earlier.frames),
            bytes: self.bytes.saturating_sub(earlier.bytes),
        }
    }
}

/// Frames and bytes side by side, so that one line is touched a frame: four buckets a line.
#[derive(Debug, Default)]
struct Cell {
    frames: AtomicU64,
    bytes: AtomicU64,
}

/// The writing end: one worker's alone. Not `Clone`, so its plain stores lose nothing.
#[derive(Debug)]
pub struct BucketLoads {
    cells: Arc<[Cell]>,
}

/// The reading end of one worker's counters.
#[derive(Clone, Debug)]
pub struct BucketReader {
    cells: Arc<[Cell]>,
}

impl BucketLoads {
    /// Counters at 0 of `buckets` buckets, a power of two, and who reads them.
    ///
    /// # Panics
    /// When `buckets` is no power of two.
    #[must_use]
    pub fn new(buckets: usize) -> (Self, BucketReader) {
        assert!(buckets.is_power_of_two(), "{buckets} is no power of two");
        let cells: Arc<[Cell]> = (0..buckets).map(|_| Cell::default()).collect();
        let reader = BucketReader {
            cells: Arc::clone(&cells),
        };
        (Self { cells }, reader)
    }

    /// Counts one frame of `bytes`; buckets beyond the last begin again at the first.
    #[inline]
    pub fn count(&mut self, bucket: u16, bytes: u32) {
        let cell = &self.cells[usize::from(bucket) & (self.cells.len() - 1)];
        let raise = |word: &AtomicU64, by: u64| {
            word.store(
                word.load(Ordering::Relaxed).wrapping_add(by),
                Ordering::Relaxed,
            );
        };
        raise(&cell.frames, 1);
        raise(&cell.bytes, u64::from(bytes));
    }
}

impl BucketReader {
    /// How many buckets are counted.
    #[must_use]
    pub fn buckets(&self) -> usize {
        self.cells.len()
    }

    /// All that was counted, by bucket. A frame counted meanwhile may show in one number alone.
    pub fn totals(&self) -> impl Iterator<Item = BucketLoad> {
        self.cells.iter().map(|cell| BucketLoad {
            frames: cell.frames.load(Ordering::Relaxed),
            bytes: cell.bytes.load(Ordering::Relaxed),
        })
    }

    /// The totals of all `workers` together, by bucket; as many as the first worker has.
    #[must_use]
    pub fn sum(workers: &[Self]) -> Vec<BucketLoad> {
        let mut sums = vec![BucketLoad::default(); workers.first().map_or(0, Self::buckets)];
        for worker in workers {
            for (sum, total) in sums.iter_mut().zip(worker.totals()) {
                *sum = *sum + total;
            }
        }
        sums
    }
}
