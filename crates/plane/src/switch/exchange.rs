//! What the workers of a switch tell each other: where stations are.

use frame::{Consumer, Producer, WorkerId, ring};
use table::fdb::{Applied, Fdb, Sighting};

/// Sightings taken from one worker in one step.
const TAKEN_MAX: usize = 256;

/// A worker's rings to and from the others.
#[derive(Debug)]
pub struct Links {
    /// This worker.
    pub(super) worker: WorkerId,
    to: Vec<Producer<Sighting>>,
    from: Vec<Consumer<Sighting>>,
}

impl Links {
    /// Those of the only worker.
    #[must_use]
    pub fn alone() -> Self {
        Self {
            worker: WorkerId(0),
            to: Vec::new(),
            from: Vec::new(),
        }
    }

    /// Those of `workers` workers, from each to each, with room for `room` sightings.
    #[must_use]
    pub fn mesh(workers: u16, room: usize) -> Vec<Self> {
        let mut all: Vec<Self> = (0..workers)
            .map(|number| Self {
                worker: WorkerId(number),
                ..Self::alone()
            })
            .collect();
        for one in 0..all.len() {
            for other in (0..all.len()).filter(|&other| other != one) {
                let (to, from) = ring(room);
                all[one].to.push(to);
                all[other].from.push(from);
            }
        }
        all
    }

    /// How many workers there are, this one included.
    pub(super) fn workers(&self) -> u32 {
        u32::try_from(self.to.len()).unwrap_or(u32::MAX - 1) + 1
    }

    /// Tells the others; one that has no room for it hears of it at the station's next frame.
    #[inline]
    pub(super) fn tell(&mut self, fdb: &mut Fdb, sighting: &Sighting) {
        let mut told = true;
        for to in &mut self.to {
            told &= to.push(*sighting).is_ok();
        }
        if !told {
            fdb.not_told(sighting);
        }
    }

    /// Takes over what the others saw, and tells them where this worker knows better.
    pub(super) fn take_over(&mut self, fdb: &mut Fdb) {
        for at in 0..self.from.len() {
            for _ in 0..TAKEN_MAX {
                let Some(sighting) = self.from[at].pop() else {
                    break;
                };
                if let Applied::Outdated(Some(ours)) = fdb.apply(&sighting) {
                    self.tell(fdb, &ours);
                }
            }
        }
    }
}
