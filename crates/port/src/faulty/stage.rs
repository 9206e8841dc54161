//! One direction of a faulty queue.

use std::collections::VecDeque;

use frame::{Burst, Frame, FramePool};
use traffic::Random;

use super::{FaultCounts, Faults};

/// Most frames inside a stage: those held back, and those that are due and found no room. A stage
/// that holds as many passes on instead of holding back.
const HELD_MAX: usize = 64;

/// A frame inside, and how many more must overtake it before it is due.
struct Held {
    frame: Frame,
    waits_for: u64,
    overtaken: bool,
}

impl Held {
    fn new(frame: Frame, waits_for: u64) -> Self {
        Self {
            frame,
            waits_for,
            overtaken: false,
        }
    }
}

pub(super) struct Stage {
    faults: Faults,
    random: Random,
    held: VecDeque<Held>,
    counts: FaultCounts,
}

impl Stage {
    pub(super) fn new(faults: Faults, seed: u64, stream: u64) -> Self {
        Self {
            faults,
            random: Random::new(seed, stream),
            // One frame passes at a time and can add its copy.
            held: VecDeque::with_capacity(HELD_MAX + 2),
            counts: FaultCounts::default(),
        }
    }

    pub(super) const fn counts(&self) -> FaultCounts {
        self.counts
    }

    /// Frames inside.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    fn is_full(&self) -> bool {
        self.held.len() >= HELD_MAX
    }

    /// Takes a frame in, unless it is lost.
    pub(super) fn pass(&mut self, mut frame: Frame, pool: &mut FramePool) {
        // Always four draws, so that one fault's share does not move where another strikes.
        let [loss, corruption, duplication, reordering] =
            std::array::from_fn(|_| self.random.next());
        if self.faults.loss.takes(loss >> 32) {
            self.counts.lost += 1;
            pool.free(frame);
            return;
        }
        if self.faults.corruption.takes(corruption >> 32) {
            self.flip(&mut frame);
        }
        let copy = self
            .faults
            .duplication
            .takes(duplication >> 32)
            .then(|| copy(&frame, pool));
        // Of two of the same only the later could be late, and would be a duplicate.
        let holds =
            self.faults.reordering.takes(reordering >> 32) && copy.is_none() && !self.is_full();
        let waits_for = if holds {
            1 + self.random.below(Faults::OVERTAKEN_BY_MAX)
        } else {
            0
        };
        self.held.push_back(Held::new(frame, waits_for));
        if let Some(Some(frame)) = copy {
            self.counts.duplicated += 1;
            self.held.push_back(Held::new(frame, 0));
        }
    }

    fn flip(&mut self, frame: &mut Frame) {
        let bit = self.random.below(frame.len() as u64 * 8);
        if let Some(byte) = frame.bytes_mut().get_mut(bit as usize / 8) {
            *byte ^= 1 << (bit % 8);
            self.counts.corrupted += 1;
        }
    }

    /// Gives out what is due, while `burst` is below `end`.
    pub(super) fn give_due(&mut self, burst: &mut Burst, end: usize) {
        let mut index = 0;
        while burst.len() < end && index < self.held.len() {
            if self.held[index].waits_for > 0 {
                index += 1;
            } else if let Some(held) = self.held.remove(index) {
                self.overtake(index);
                give(held.frame, burst, &mut self.held);
                index = 0; // what this one overtook may be due
            }
        }
    }

    /// Takes note that a frame left which stood behind the first `count`, all of which wait.
    fn overtake(&mut self, count: usize) {
        for held in self.held.range_mut(..count) {
            held.waits_for -= 1;
            self.counts.reordered += u64::from(!held.overtaken);
            held.overtaken = true;
        }
    }

    /// Gives out all there is, while `burst` is below `end`.
    pub(super) fn give_all(&mut self, burst: &mut Burst, end: usize) {
        for held in &mut self.held {
            held.waits_for = 0;
        }
        self.give_due(burst, end);
    }
}

/// Puts a frame into a burst with room; without, it goes back in front.
fn give(frame: Frame, burst: &mut Burst, held: &mut VecDeque<Held>) {
    if let Err(frame) = burst.push(frame) {
        held.push_front(Held::new(frame, 0));
    }
}

/// The same frame once more, record included, if the pool has a chunk for it.
fn copy(frame: &Frame, pool: &mut FramePool) -> Option<Frame> {
    let mut copy = pool.alloc()?;
    if copy.copy_from(frame.bytes()).is_err() {
        pool.free(copy);
        return None;
    }
    if let Some(meta) = frame.meta() {
        *copy.meta_mut() = *meta;
    }
    Some(copy)
}
