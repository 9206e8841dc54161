//! The fewest buckets that even the load of workers.
//!
//! Between two workers the answer is exact, as far as loads are told apart ([`UNITS`]): how few
//! buckets bring about each difference is found by dynamic programming over all sums. More than two
//! are taken in pairs, the heaviest with the lightest.

use frame::WorkerId;

/// One bucket's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Which bucket.
    pub bucket: u16,
    /// Whose it was.
    pub from: WorkerId,
    /// Whose it is to be.
    pub to: WorkerId,
}

/// Parts that the load of two workers is cut into: finer would cost more time than rounding costs
/// evenness, 128 buckets and a part of 1/4096 being off by 1.5 % at the very most.
const UNITS: u64 = 4096;

/// What is to be evened.
pub(super) struct Task<'a> {
    pub(super) loads: &'a [u64],
    pub(super) fixed: &'a [u64],
    pub(super) owners: &'a [WorkerId],
    /// Per mille above the mean.
    pub(super) tolerance: u16,
    /// Buckets that stay; may be shorter.
    pub(super) resting: Vec<bool>,
    /// Workers that are given nothing, but in exchange for more; may be shorter. What has the least
    /// load may be what gets the least done, for want of its CPU.
    pub(super) busy: Vec<bool>,
}

/// Two workers, and what may go from one to the other.
struct Pair {
    donor: Side,
    acceptor: Side,
    /// Load of one unit.
    unit: u64,
    items: Vec<Item>,
    /// The acceptor must not exceed its goal, since others may have room.
    bounded: bool,
}

struct Side {
    worker: WorkerId,
    load: u64,
    goal: u64,
}

struct Item {
    bucket: u16,
    /// What the donor loses: negative for a bucket of the acceptor.
    units: i64,
}

impl Task<'_> {
    pub(super) fn total(&self) -> u128 {
        let all = self.loads.iter().chain(self.fixed);
        all.map(|load| u128::from(*load)).sum()
    }

    /// The load of each worker.
    pub(super) fn workers(&self) -> Vec<u64> {
        workers_of(self, self.owners)
    }

    /// Whether a bucket is more than a worker's fair share by itself.
    pub(super) fn is_elephant(&self, load: u64) -> bool {
        load > self.ceiling(0)
    }

    /// What a worker may have: the mean, or what cannot leave it, and the tolerance.
    fn ceiling(&self, stays: u64) -> u64 {
        let mean = (self.total() / self.fixed.len().max(1) as u128) as u64;
        let wide = u128::from(mean.max(stays)) * (1000 + u128::from(self.tolerance)) / 1000;
        wide as u64
    }

    fn movable(&self, bucket: usize) -> bool {
        let load = self.loads[bucket];
        load > 0 && !self.is_elephant(load) && !self.resting.get(bucket).is_some_and(|rest| *rest)
    }

    fn side(&self, worker: usize, load: u64, owners: &[WorkerId]) -> Side {
        let worker = WorkerId(worker as u16);
        let of_it = owners.iter().enumerate();
        let leaves = of_it.filter(|(bucket, owner)| **owner == worker && self.movable(*bucket));
        let leaves: u64 = leaves.map(|(bucket, _)| self.loads[bucket]).sum();
        Side {
            worker,
            load,
            goal: self.ceiling(load.saturating_sub(leaves)),
        }
    }

    /// The moves, each bucket at most once.
    pub(super) fn moves(&self) -> Vec<Move> {
        let mut owners = self.owners.to_vec();
        let workers = self.fixed.len();
        // Pairs first leave nobody above its goal; what is left over is then shared by the two.
        for bounded in [true, false] {
            if bounded && workers == 2 {
                continue;
            }
            for _ in 0..2 * workers {
                let Some(chosen) = self.step(&owners, bounded) else {
                    break;
                };
                for change in chosen {
                    owners[usize::from(change.bucket)] = change.to;
                }
            }
        }
        let changed = self.owners.iter().zip(&owners).enumerate();
        let changed = changed.filter(|(_, (from, to))| from != to);
        changed
            .map(|(bucket, (from, to))| Move {
                bucket: bucket as u16,
                from: *from,
                to: *to,
            })
            .collect()
    }

    /// What the heaviest pair that can be helped should exchange.
    fn step(&self, owners: &[WorkerId], bounded: bool) -> Option<Vec<Move>> {
        let loads = workers_of(self, owners);
        let sides = loads.iter().enumerate();
        let sides = sides.map(|(worker, load)| self.side(worker, *load, owners));
        let mut sides: Vec<Side> = sides.collect();
        let accepts = |at: &usize| !self.busy.get(*at).is_some_and(|busy| *busy);
        let accepting = (0..sides.len()).filter(accepts);
        let lightest = accepting.min_by_key(|at| sides[*at].load)?;
        let acceptor = sides.swap_remove(lightest);
        sides.retain(|side| side.load > side.goal);
        sides.sort_by_key(|side| std::cmp::Reverse(side.load - side.goal));
        let light = |side: &Side| Side { ..*side };
        sides.into_iter().find_map(|donor| {
            let pair = self.pair(donor, light(&acceptor), owners, bounded);
            Some(pair.fewest()).filter(|moves| !moves.is_empty())
        })
    }

    fn pair(&self, donor: Side, acceptor: Side, owners: &[WorkerId], bounded: bool) -> Pair {
        let of_both = |bucket: &usize| {
            let owner = owners[*bucket];
            (owner == donor.worker || owner == acceptor.worker) && self.movable(*bucket)
        };
        let buckets: Vec<usize> = (0..owners.len()).filter(of_both).collect();
        let sum: u64 = buckets.iter().map(|bucket| self.loads[*bucket]).sum();
        let unit = sum.div_ceil(UNITS).max(1);
        let item = |bucket: &usize| {
            let units = ((self.loads[*bucket] + unit / 2) / unit) as i64;
            let sign = if owners[*bucket] == donor.worker {
                1
            } else {
                -1
            };
            Item {
                bucket: *bucket as u16,
                units: units * sign,
            }
        };
        let items = buckets.iter().map(item).filter(|item| item.units != 0);
        Pair {
            unit,
            items: items.collect(),
            donor,
            acceptor,
            bounded,
        }
    }
}

/// How few items bring about each difference, and which was the last of them.
struct Sums {
    /// The index of difference 0.
    zero: usize,
    counts: Vec<u16>,
    /// By item, then difference: whether the item is among the fewest.
    taken: Vec<Vec<bool>>,
}

impl Sums {
    fn of(items: &[Item]) -> Self {
        let reach = |sign: i64| {
            let units = items.iter().map(|item| (item.units * sign).max(0));
            units.sum::<i64>() as usize
        };
        let (zero, above) = (reach(-1), reach(1));
        let mut counts = vec![u16::MAX; zero + above + 1];
        counts[zero] = 0;
        let mut taken = Vec::with_capacity(items.len());
        for item in items {
            let before = counts.clone();
            let from = |at: usize| before.get(at.checked_add_signed(-item.units as isize)?);
            let mut row = vec![false; counts.len()];
            for (at, count) in counts.iter_mut().enumerate() {
                let with = from(at).map_or(u16::MAX, |count| count.saturating_add(1));
                row[at] = with < *count;
                *count = with.min(*count);
            }
            taken.push(row);
        }
        Self {
            zero,
            counts,
            taken,
        }
    }

    /// The items that make the difference at place `at`.
    fn trace(&self, items: &[Item], mut at: usize) -> Vec<u16> {
        let mut chosen = Vec::new();
        for (item, row) in items.iter().zip(&self.taken).rev() {
            if row[at] {
                chosen.push(item.bucket);
                at = at.wrapping_add_signed(-(item.units as isize));
            }
        }
        chosen
    }
}

impl Pair {
    /// The moves that leave the least above a goal; among those the fewest, then the most even.
    fn fewest(&self) -> Vec<Move> {
        let sums = Sums::of(&self.items);
        let reachable = (0..sums.counts.len()).filter(|at| sums.counts[*at] != u16::MAX);
        let ranked = reachable.filter_map(|at| {
            let rank = self.rank(at as i64 - sums.zero as i64)?;
            Some((rank.0, sums.counts[at], rank.1, at))
        });
        let best = ranked.min().map_or(sums.zero, |(.., at)| at);
        let moved = sums.trace(&self.items, best);
        moved.into_iter().map(|bucket| self.way(bucket)).collect()
    }

    fn way(&self, bucket: u16) -> Move {
        let item = self.items.iter().find(|item| item.bucket == bucket);
        let (donor, acceptor) = (self.donor.worker, self.acceptor.worker);
        let (from, to) = match item {
            Some(item) if item.units < 0 => (acceptor, donor),
            _ => (donor, acceptor),
        };
        Move { bucket, from, to }
    }

    /// How far a worker stays above its goal, and how uneven the two stay, when the donor loses
    /// `units`; none where that is not allowed.
    fn rank(&self, units: i64) -> Option<(u128, u128)> {
        let moved = i128::from(units) * i128::from(self.unit);
        let donor = i128::from(self.donor.load) - moved;
        let acceptor = i128::from(self.acceptor.load) + moved;
        let above = |load: i128, goal: u64| (load - i128::from(goal)).max(0) as u128;
        let over = above(acceptor, self.acceptor.goal);
        if self.bounded && over > 0 {
            return None;
        }
        let worst = over.max(above(donor, self.donor.goal));
        Some((worst, donor.abs_diff(acceptor)))
    }
}

/// What each worker has after `moves`.
pub(super) fn workers_after(task: &Task<'_>, moves: &[Move]) -> Vec<u64> {
    let mut owners = task.owners.to_vec();
    for change in moves {
        owners[usize::from(change.bucket)] = change.to;
    }
    workers_of(task, &owners)
}

fn workers_of(task: &Task<'_>, owners: &[WorkerId]) -> Vec<u64> {
    let mut workers = task.fixed.to_vec();
    for (owner, load) in owners.iter().zip(task.loads) {
        workers[usize::from(owner.0)] += load;
    }
    workers
}
