//! Hits of sets, kept by the sets' names while the policy changes under way.
//!
//! A worker counts hits by the places that sets have in its policy. Each policy therefore has a
//! tally of its own, a board a worker, which a worker shows its counts on before it moves to the
//! next: once every worker has moved on, nothing will be added to a tally, and it is folded into
//! the totals by name. Versions with the same policy share one.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use frame::{PortId, WorkerId};
use plane::{Action, Hits, Policy, SetRule, Side};
use table::LISTS_MAX;

/// Names whose counts are kept, those of sets that are no more included: a set that comes back
/// goes on counting. Beyond it, what has been gone for longest is forgotten.
const NAMES_MAX: usize = 1024;

/// Policies kept for samples that were taken under them.
const POLICIES_MAX: usize = 64;

/// How many ports and workers a run has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) ports: usize,
    pub(crate) workers: usize,
}

impl Size {
    /// Of a drive: its ports are counted by themselves.
    pub(crate) fn of_drive(workers: usize) -> Self {
        Self { ports: 0, workers }
    }
}

/// A column of counts, by list. Aligned to two lines, which adjacent-line prefetchers fetch
/// together.
#[derive(Debug)]
#[repr(align(128))]
struct Column([AtomicU64; LISTS_MAX]);

/// One worker's hits: a column for each port and side of a frame, and what count sets would have
/// dropped.
#[derive(Debug)]
struct HitBoard(Box<[Column]>);

/// Hits by one policy, while some worker may still judge by it.
#[derive(Debug)]
pub(crate) struct HitCounters {
    /// The first version that it was of: no other tally's.
    pub(crate) since: u64,
    policy: Arc<Policy>,
    /// By worker.
    boards: Box<[HitBoard]>,
    ports: usize,
}

impl HitCounters {
    fn new(since: u64, policy: Arc<Policy>, of: Size) -> Self {
        let column = |_| Column([const { AtomicU64::new(0) }; LISTS_MAX]);
        let board = || HitBoard((0..=2 * of.ports).map(column).collect());
        Self {
            since,
            policy,
            boards: (0..of.workers).map(|_| board()).collect(),
            ports: of.ports,
        }
    }

    /// Shows a worker's hits by this policy so far. Only that worker may call it.
    pub(crate) fn show(&self, worker: WorkerId, hits: &Hits) {
        let Some(board) = self.boards.get(usize::from(worker.0)) else {
            return;
        };
        let columns = hits.by_port.iter().flat_map(|port| [&port.src, &port.dst]);
        for (shown, counts) in board.0.iter().zip(columns.chain([&hits.would_drop])) {
            for (shown, &count) in shown.0.iter().zip(counts) {
                shown.store(count, Ordering::Relaxed);
            }
        }
    }

    /// Adds what each rule's set was hit to its account.
    fn add_to(&self, accounts: &mut HashMap<String, Account>, version: u64) {
        for (list, rule) in self.policy.rules().iter().enumerate() {
            if !accounts.contains_key(&rule.name) {
                accounts.insert(rule.name.clone(), Account::default());
            }
            if let Some(account) = accounts.get_mut(&rule.name) {
                account.version = version;
                self.add_rule(list, rule, account);
            }
        }
    }

    fn add_rule(&self, list: usize, rule: &SetRule, account: &mut Account) {
        account.hits.resize(2 * self.ports, Default::default());
        for (column, counts) in account.hits.iter_mut().enumerate() {
            let (port, side) = (PortId((column / 2) as u8), Side::EVERY[column % 2]);
            if let Some(action) = rule.action_at(side, port) {
                counts[action as usize] += self.sum(column, list);
            }
        }
        account.would_drop += self.sum(2 * self.ports, list);
    }

    fn sum(&self, column: usize, list: usize) -> u64 {
        let shown = self.boards.iter().map(|board| &board.0[column].0[list]);
        shown.map(|word| word.load(Ordering::Relaxed)).sum()
    }
}

/// One set's hits so far.
#[derive(Clone, Debug, Default)]
struct Account {
    /// First port's source and destination, then the second's and so on; by action.
    hits: Vec<[u64; Action::EVERY.len()]>,
    would_drop: u64,
    /// The last version that had the set.
    version: u64,
}

/// Hits of one set, by what they did at the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetCounts {
    /// The set's rule now.
    pub rule: SetRule,
    /// For each port, side and action that the set has now or had when it was hit.
    pub hits: Vec<HitCount>,
    /// Frames that it would have dropped, were it a block set while it was a count set, and no
    /// block set did.
    pub would_drop: u64,
}

/// Hits of one set by frames of one port, by one side, while this was its action there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitCount {
    /// The port that frames came in by.
    pub port: PortId,
    /// The address that was in the set.
    pub side: Side,
    /// What a hit did.
    pub action: Action,
    /// How many.
    pub frames: u64,
}

impl SetCounts {
    /// Hits of one side, whatever the port and the action.
    #[must_use]
    pub fn of(&self, side: Side) -> u64 {
        let hits = self.hits.iter().filter(|count| count.side == side);
        hits.map(|count| count.frames).sum()
    }

    fn new(rule: &SetRule, account: &Account) -> Self {
        let mut hits = Vec::new();
        for (column, counts) in account.hits.iter().enumerate() {
            let (port, side) = (PortId((column / 2) as u8), Side::EVERY[column % 2]);
            for (action, &frames) in Action::EVERY.into_iter().zip(counts) {
                if frames != 0 || rule.action_at(side, port) == Some(action) {
                    hits.push(HitCount {
                        port,
                        side,
                        action,
                        frames,
                    });
                }
            }
        }
        Self {
            rule: rule.clone(),
            hits,
            would_drop: account.would_drop,
        }
    }
}

/// The control side: tallies in use, and the totals of those that are not.
#[derive(Debug)]
pub(crate) struct HitTotals {
    current: Arc<HitCounters>,
    /// With the last version that each was of, ascending.
    leaving: Vec<(u64, Arc<HitCounters>)>,
    totals: HashMap<String, Account>,
    /// Policies with the first version of each, ascending: the last few, the current one included.
    policies: VecDeque<(u64, Arc<Policy>)>,
    of: Size,
}

impl HitTotals {
    pub(crate) fn new(policy: Arc<Policy>, of: Size) -> (Self, Arc<HitCounters>) {
        let current = Arc::new(HitCounters::new(1, Arc::clone(&policy), of));
        let hit_totals = Self {
            current: Arc::clone(&current),
            leaving: Vec::new(),
            totals: HashMap::new(),
            policies: VecDeque::from([(1, policy)]),
            of,
        };
        (hit_totals, current)
    }

    /// The tally of the version after `version`, which will have this policy.
    pub(crate) fn of_next(&mut self, version: u64, policy: &Arc<Policy>) -> Arc<HitCounters> {
        let same = Arc::ptr_eq(&self.current.policy, policy) || self.current.policy == *policy;
        if !same {
            let next = Arc::new(HitCounters::new(version + 1, Arc::clone(policy), self.of));
            let left = std::mem::replace(&mut self.current, next);
            self.leaving.push((version, left));
            if self.policies.len() == POLICIES_MAX {
                self.policies.pop_front();
            }
            self.policies.push_back((version + 1, Arc::clone(policy)));
        }
        Arc::clone(&self.current)
    }

    /// The policy of a version, if it is among the last few.
    pub(crate) fn policy_of(&self, version: u64) -> Option<Arc<Policy>> {
        let mut policies = self.policies.iter().rev();
        let (_, policy) = policies.find(|&&(since, _)| since <= version)?;
        Some(Arc::clone(policy))
    }

    /// Folds the tallies that no worker adds to any more, every one having moved to version `seen`.
    pub(crate) fn fold(&mut self, seen: u64) {
        let left = self.leaving.partition_point(|&(last, _)| last < seen);
        for (last, hit_counters) in self.leaving.drain(..left) {
            hit_counters.add_to(&mut self.totals, last);
        }
        self.forget();
    }

    /// Forgets the sets that have been gone for longest, as far as there are too many.
    fn forget(&mut self) {
        while self.totals.len() > NAMES_MAX {
            let rules = self.current.policy.rules();
            let is_gone = |name: &String| rules.iter().all(|rule| rule.name != *name);
            let gone = self.totals.iter().filter(|(name, _)| is_gone(name));
            let oldest = gone.min_by_key(|(_, account)| account.version);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else {
                return;
            };
            self.totals.remove(&name);
        }
    }

    /// The sets of the current policy.
    pub(crate) fn counts(&self) -> Vec<SetCounts> {
        let rules = self.current.policy.rules();
        let known = |rule: &SetRule| {
            let account = self.totals.get(&rule.name).cloned();
            (rule.name.clone(), account.unwrap_or_default())
        };
        let mut accounts: HashMap<String, Account> = rules.iter().map(known).collect();
        for (_, hit_counters) in &self.leaving {
            hit_counters.add_to(&mut accounts, 0);
        }
        self.current.add_to(&mut accounts, 0);
        rules
            .iter()
            .map(|rule| SetCounts::new(rule, &accounts[&rule.name]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plane::Sides;

    const SIZE: Size = Size {
        ports: 2,
        workers: 1,
    };

    fn policy(names: impl Iterator<Item = String>, action: Action) -> Arc<Policy> {
        let rule = |name| SetRule::new(name, action, Sides::BOTH);
        Arc::new(Policy::new(names.map(rule).collect()).expect("few rules"))
    }

    /// What a worker shows that was hit this often by the source in the list at `place`.
    fn show(hit_counters: &HitCounters, place: usize, frames: u64) {
        let word = &hit_counters.boards[0].0[0].0[place];
        word.store(frames, Ordering::Relaxed);
    }

    #[test]
    fn a_tally_is_folded_when_its_last_version_was_left() {
        let one = || std::iter::once("a".to_owned());
        let (mut hit_totals, first) = HitTotals::new(policy(one(), Action::Count), SIZE);
        show(&first, 0, 5);
        // Other lists, the same policy.
        let same = hit_totals.of_next(1, &policy(one(), Action::Count));
        assert!(Arc::ptr_eq(&first, &same));
        let second = hit_totals.of_next(2, &policy(one(), Action::Block));
        assert_eq!((first.since, second.since), (1, 3));
        show(&second, 0, 1);
        show(&first, 0, 7);
        for seen in [1, 2, 3, 3] {
            hit_totals.fold(seen);
            assert_eq!(hit_totals.leaving.is_empty(), seen == 3);
            let counts = hit_totals.counts();
            let hits = counts[0].hits.iter().filter(|count| count.frames != 0);
            let hits: Vec<_> = hits.map(|count| (count.action, count.frames)).collect();
            assert_eq!(hits, [(Action::Block, 1), (Action::Count, 7)]);
            assert_eq!(counts[0].of(Side::Src), 8);
        }
        for (version, action) in [(1, Action::Count), (2, Action::Count), (3, Action::Block)] {
            let policy = hit_totals.policy_of(version).expect("a recent version");
            assert_eq!(policy.rules()[0].action, action);
        }
    }

    #[test]
    fn names_are_forgotten_in_the_order_they_went() {
        let (mut hit_totals, _) = HitTotals::new(policy(std::iter::empty(), Action::Count), SIZE);
        for version in 1..=NAMES_MAX as u64 + 10 {
            let name = std::iter::once(version.to_string());
            let hit_counters = hit_totals.of_next(version, &policy(name, Action::Count));
            show(&hit_counters, 0, version);
            hit_totals.fold(version + 1);
        }
        assert_eq!(hit_totals.totals.len(), NAMES_MAX);
        assert!(hit_totals.policies.len() <= POLICIES_MAX && hit_totals.policy_of(3).is_none());
        let known = |name: &str| hit_totals.totals.contains_key(name);
        assert!(!known("1") && !known("9") && known("10") && known("1033"));
        assert_eq!(hit_totals.counts()[0].of(Side::Src), NAMES_MAX as u64 + 10);
    }
}
