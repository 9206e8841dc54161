//! New lists and policies for the workers of a run that goes on.
//!
//! The scheme itself is [`frame::Published`]: a worker looks once a step, takes no lock and does no
//! atomic read-modify-write. This is the control side's end of it, which several threads may hold.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use plane::{ListsMismatch, Policy, Ruleset};
use table::CompiledLists;

use crate::hit_counters::{HitCounters, HitTotals, SetCounts, Size};
use crate::shortcuts::Shortcuts;

pub use frame::{Published, Reader};

/// How often a wait looks by giving its CPU away before it sleeps: busy workers look once a step,
/// some microseconds.
const YIELDS: u32 = 64;
/// Then it sleeps between looks, lest it takes the CPU of the worker that it waits for.
const NAP: Duration = Duration::from_micros(50);

/// One version as workers have it.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) ruleset: Ruleset,
    /// Where hits of its sets are counted; that of the version before if the policy is the same.
    pub(crate) hit_counters: Arc<HitCounters>,
}

#[derive(Debug)]
struct State {
    published: Published<Version>,
    hit_totals: HitTotals,
}

/// Publishes lists and the policy for them to the workers of one run, together as one version.
/// Clones publish to the same workers.
#[derive(Clone, Debug)]
pub struct Publisher {
    state: Arc<Mutex<State>>,
    shortcuts: Arc<Shortcuts>,
}

impl Publisher {
    /// For a run of this size that begins with this ruleset.
    pub(crate) fn new(first: Ruleset, of: Size, shortcuts: Shortcuts) -> Self {
        let (hit_totals, hit_counters) = HitTotals::new(Arc::clone(first.policy()), of);
        let first = Version {
            ruleset: first,
            hit_counters,
        };
        let state = State {
            published: Published::new(Arc::new(first)),
            hit_totals,
        };
        Self {
            shortcuts: Arc::new(shortcuts),
            state: Arc::new(Mutex::new(state)),
        }
    }

    pub(crate) fn reader(&self) -> Reader<Version> {
        self.lock().published.reader()
    }

    /// Replaces lists and policy together; returns the number of the version, counted from 1 for
    /// what the run began with. Each worker uses them from its next step on, and all of them for a
    /// burst or none. The number of sets may be another than before. Waits for no worker, which is
    /// for [`Publisher::wait_seen`]; where ports have a shortcut, for the kernel, some
    /// milliseconds.
    pub fn publish(&self, next: Ruleset) -> u64 {
        self.lock().publish(next, &self.shortcuts)
    }

    /// Replaces the lists and leaves the policy as it is.
    ///
    /// # Errors
    ///
    /// Another number of lists than the policy has rules; nothing is published.
    pub fn publish_lists(&self, lists: Arc<CompiledLists>) -> Result<u64, ListsMismatch> {
        // Held meanwhile, so that the policy is the current one.
        let mut state = self.lock();
        let policy = Arc::clone(state.current().policy());
        let next = Ruleset::new(lists, policy)?;
        Ok(state.publish(next, &self.shortcuts))
    }

    /// What was published last.
    #[must_use]
    pub fn current(&self) -> Ruleset {
        self.lock().current().clone()
    }

    /// The number of the version published last.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.lock().published.version()
    }

    /// The version that every worker has, or a later one. A worker that sleeps has the newest: it
    /// looks before it judges another frame.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.lock().published.seen()
    }

    /// Waits until no worker judges by a version before this one any more; `false` if some worker
    /// still may when the time is over, as one does that is stopped in a debugger. A frame that
    /// was judged before may still be waiting for room to leave.
    #[must_use]
    pub fn wait_seen(&self, version: u64, timeout: Duration) -> bool {
        let begun = Instant::now();
        let mut looks = 0_u32;
        while self.seen() < version {
            if begun.elapsed() >= timeout {
                return false;
            }
            looks = looks.saturating_add(1);
            if looks <= YIELDS {
                thread::yield_now();
            } else {
                thread::sleep(NAP);
            }
        }
        true
    }

    /// The hits of the current sets, in the policy's order; up to a millisecond old. A set is
    /// known by its name: its counts go on when it changes its place, its entries or its action.
    #[must_use]
    pub fn set_counts(&self) -> Vec<SetCounts> {
        let mut state = self.lock();
        let State {
            published,
            hit_totals,
        } = &mut *state;
        hit_totals.fold(published.seen());
        hit_totals.counts()
    }

    /// The policy of a version, if that is not long gone.
    pub(crate) fn policy_of(&self, version: u64) -> Option<Arc<Policy>> {
        self.lock().hit_totals.policy_of(version)
    }

    /// Opens the shortcuts of the ports for what the run begins with.
    pub(crate) fn open_shortcuts(&self) {
        self.shortcuts.open(self.lock().current());
    }

    /// Frees the versions that no worker uses any more, unless somebody else still holds them;
    /// returns how many are still used. The run does this by itself every few milliseconds.
    pub fn reclaim(&self) -> usize {
        let mut state = self.lock();
        let State {
            published,
            hit_totals,
        } = &mut *state;
        hit_totals.fold(published.seen());
        published.reclaim()
    }

    /// Held for a few stores and the freeing of old versions; never by a worker.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn current(&self) -> &Ruleset {
        &self.published.current().ruleset
    }

    /// Called with the lock held, so that the shortcuts are open for the last version published.
    fn publish(&mut self, next: Ruleset, shortcuts: &Shortcuts) -> u64 {
        shortcuts.close();
        let Self {
            published,
            hit_totals,
        } = self;
        hit_totals.fold(published.seen());
        let hit_counters = hit_totals.of_next(published.version(), next.policy());
        let next = Arc::new(Version {
            ruleset: next,
            hit_counters,
        });
        let version = published.publish(Arc::clone(&next));
        shortcuts.open(&next.ruleset);
        version
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plane::{Action, SetRule, Sides};
    use table::Entries;

    fn lists(count: usize) -> Arc<CompiledLists> {
        let lists = vec![Entries::default(); count];
        let lists: Vec<&Entries> = lists.iter().collect();
        Arc::new(CompiledLists::compile(&lists).expect("few lists"))
    }

    fn policy(count: usize) -> Arc<Policy> {
        let rule = |place: usize| SetRule::new(place.to_string(), Action::Count, Sides::BOTH);
        Arc::new(Policy::new((0..count).map(rule).collect()).expect("few rules"))
    }

    fn publisher(sets: usize) -> Publisher {
        let first = Ruleset::new(lists(sets), policy(sets)).expect("as many");
        let of = Size {
            ports: 2,
            workers: 1,
        };
        Publisher::new(first, of, Shortcuts::default())
    }

    #[test]
    fn a_rule_has_one_list() {
        let publisher = publisher(2);
        let mut reader = publisher.reader();
        let error = publisher.publish_lists(lists(3)).expect_err("one too many");
        assert_eq!(
            error.to_string(),
            "3 lists for 2 rules: a rule has one list"
        );
        assert_eq!(publisher.clone().publish_lists(lists(2)), Ok(2));
        assert_eq!(publisher.reclaim(), 1);
        assert!(reader.refresh());
        assert_eq!((reader.version(), publisher.reclaim()), (2, 0));
    }

    #[test]
    fn the_number_of_sets_changes_when_lists_and_policy_agree() {
        let publisher = publisher(1);
        let mut reader = publisher.reader();
        for sets in [32, 0, 7] {
            let next = Ruleset::new(lists(sets), policy(sets)).expect("as many");
            let version = publisher.publish(next);
            reader.refresh();
            assert_eq!(reader.version(), version);
            let ruleset = &reader.get().ruleset;
            assert_eq!(ruleset.lists().list_count(), sets);
            assert_eq!(ruleset.policy().rules().len(), sets);
            assert_eq!(publisher.set_counts().len(), sets);
        }
    }

    #[test]
    fn a_version_is_seen_when_no_reader_is_before_it() {
        let publisher = publisher(1);
        let mut reader = publisher.reader();
        let version = publisher.publish_lists(lists(1)).expect("as many");
        assert_eq!((version, publisher.version(), publisher.seen()), (2, 2, 1));
        assert!(!publisher.wait_seen(version, Duration::from_millis(1)));
        reader.offline(|| assert!(publisher.wait_seen(version, Duration::ZERO)));
        let version = publisher.publish_lists(lists(1)).expect("as many");
        reader.refresh();
        assert!(publisher.wait_seen(version, Duration::ZERO));
        let version = publisher.publish_lists(lists(1)).expect("as many");
        drop(reader);
        assert!(publisher.wait_seen(version, Duration::ZERO));
    }
}
