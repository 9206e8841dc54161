//! When buckets ought to move: pressure over time, with memory of what was moved last.

use frame::{Nanos, WorkerId};

use super::even::{self, Move, Task};

/// When a balancer acts. Shares are per mille.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// A worker this busy has too much.
    pub overloaded: u16,
    /// Nothing moves unless another worker is at most this busy: where all are, moving helps none.
    pub spare: u16,
    /// How far above the mean a worker may stay: what is left out to move fewer buckets.
    pub tolerance: u16,
    /// What a plan must take off the heaviest worker, of its load, to be worth it.
    pub gain: u16,
    /// How many looks in a row must find a worker overloaded: one may have met a burst.
    pub looks: u32,
    /// Nanoseconds between two plans at least: the load must be seen anew after each.
    pub interval_ns: u64,
    /// Nanoseconds that a bucket stays where it was moved to, so that none goes back and forth.
    pub rest_ns: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            overloaded: 900,
            spare: 800,
            tolerance: 50,
            gain: 50,
            looks: 2,
            interval_ns: 1_000_000_000,
            rest_ns: 5_000_000_000,
        }
    }
}

/// What was seen since the last look.
#[derive(Clone, Copy, Debug)]
pub struct Pressure<'a> {
    /// What each bucket brought, also what was then dropped: frames, or any unit that adds up.
    pub buckets: &'a [u64],
    /// What stays with each worker wherever buckets go, in the same unit: receiving for others.
    pub fixed: &'a [u64],
    /// How busy each worker was, per mille; 1000 for one that dropped for want of time.
    pub busy: &'a [u16],
}

/// A bucket that alone is more than a fair share: no placement evens it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elephant {
    /// Which bucket.
    pub bucket: u16,
    /// Whose it is and stays.
    pub worker: WorkerId,
    /// Its part of all load, per mille.
    pub share: u16,
}

/// Why a proposal has moves, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No worker is overloaded.
    Calm,
    /// One is, and no other has room.
    NoRoom,
    /// One is, seen too few times or too soon after the last plan.
    Waiting,
    /// One is, and no moves would help enough.
    NoGain,
    /// The moves of this proposal.
    Moves,
}

/// What a look led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The fewest buckets that even the load; none unless the outcome is [`Outcome::Moves`].
    pub moves: Vec<Move>,
    /// Those of overloaded workers.
    pub elephants: Vec<Elephant>,
    /// Why.
    pub outcome: Outcome,
}

/// Decides from looks at the load; the same looks at the same times give the same proposals.
#[derive(Clone, Debug)]
pub struct Balancer {
    thresholds: Thresholds,
    /// Looks in a row that found a worker overloaded.
    streak: u32,
    planned: Option<Nanos>,
    /// When each bucket was moved.
    moved: Vec<Option<Nanos>>,
}

impl Balancer {
    /// One that has seen nothing, for `buckets` buckets.
    #[must_use]
    pub fn new(buckets: usize, thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            streak: 0,
            planned: None,
            moved: vec![None; buckets],
        }
    }

    /// What to do about `seen`. Moves are taken for done: a caller that refuses them says so by
    /// [`refuse`](Self::refuse).
    ///
    /// # Panics
    /// When `seen` and `owners` differ in length, or name a worker that `seen` has nothing about.
    pub fn plan(&mut self, seen: &Pressure<'_>, owners: &[WorkerId], now: Nanos) -> Proposal {
        assert_eq!(seen.buckets.len(), owners.len(), "a load for each bucket");
        assert_eq!(seen.fixed.len(), seen.busy.len(), "as many workers");
        let Some(task) = self.task(seen, owners, now) else {
            return none(Outcome::Calm, Vec::new());
        };
        let elephants = elephants(&task, seen, owners, self.thresholds.overloaded);
        if seen.busy.iter().all(|busy| *busy > self.thresholds.spare) {
            return none(Outcome::NoRoom, elephants);
        }
        let soon = |planned: Nanos| now.since(planned) < self.thresholds.interval_ns;
        if self.streak < self.thresholds.looks || self.planned.is_some_and(soon) {
            return none(Outcome::Waiting, elephants);
        }
        // Also where it comes to nothing: it is no work to be done at every look.
        self.planned = Some(now);
        let moves = task.moves();
        if !self.gains(&task, &moves) {
            return none(Outcome::NoGain, elephants);
        }
        self.streak = 0;
        for change in &moves {
            self.moved[usize::from(change.bucket)] = Some(now);
        }
        Proposal {
            moves,
            elephants,
            outcome: Outcome::Moves,
        }
    }

    /// Forgets that `moves` were made: those buckets may be moved at the next look.
    pub fn refuse(&mut self, moves: &[Move]) {
        for change in moves {
            if let Some(moved) = self.moved.get_mut(usize::from(change.bucket)) {
                *moved = None;
            }
        }
    }

    /// Counts the look; none when no worker is overloaded.
    fn task<'a>(
        &mut self,
        seen: &Pressure<'a>,
        owners: &'a [WorkerId],
        now: Nanos,
    ) -> Option<Task<'a>> {
        if seen
            .busy
            .iter()
            .all(|busy| *busy < self.thresholds.overloaded)
        {
            self.streak = 0;
            return None;
        }
        self.streak += 1;
        let rests = |moved: &Option<Nanos>| {
            moved.is_some_and(|moved| now.since(moved) < self.thresholds.rest_ns)
        };
        Some(Task {
            loads: seen.buckets,
            fixed: seen.fixed,
            owners,
            tolerance: self.thresholds.tolerance,
            resting: self.moved.iter().map(rests).collect(),
            busy: seen
                .busy
                .iter()
                .map(|busy| *busy >= self.thresholds.overloaded)
                .collect(),
        })
    }

    fn gains(&self, task: &Task<'_>, moves: &[Move]) -> bool {
        let heaviest = |workers: Vec<u64>| workers.into_iter().max().unwrap_or(0);
        let before = heaviest(task.workers());
        let after = heaviest(even::workers_after(task, moves));
        let least = u128::from(before) * u128::from(self.thresholds.gain) / 1000;
        before > after && u128::from(before - after) >= least
    }
}

fn none(outcome: Outcome, elephants: Vec<Elephant>) -> Proposal {
    Proposal {
        moves: Vec::new(),
        elephants,
        outcome,
    }
}

fn elephants(
    task: &Task<'_>,
    seen: &Pressure<'_>,
    owners: &[WorkerId],
    overloaded: u16,
) -> Vec<Elephant> {
    let total = task.total().max(1);
    let found = owners.iter().zip(seen.buckets).enumerate();
    let found = found.filter(|(_, (owner, load))| {
        seen.busy[usize::from(owner.0)] >= overloaded && task.is_elephant(**load)
    });
    let elephant = |(bucket, (owner, load)): (usize, (&WorkerId, &u64))| Elephant {
        bucket: bucket as u16,
        worker: *owner,
        share: (u128::from(*load) * 1000 / total) as u16,
    };
    found.map(elephant).collect()
}
