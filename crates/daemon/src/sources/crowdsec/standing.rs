//! Which decisions stand, and so which entries: an entry is in the set while at least one decision
//! for it stands, and as long as the last of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use table::live::Entry;

use super::super::deliver::{Change, Decided};
use super::api::{Decision, Decisions};

/// Numbers of decisions that ended lately, kept to know them when they are taken back twice: the
/// server's deltas overlap by two seconds.
const LATELY_MAX: usize = 1 << 16;

/// The decisions that stand.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    held: HashMap<Entry, Vec<Held>>,
    lately: HashSet<i64>,
    /// The generation before, so that forgetting costs nothing.
    earlier: HashSet<i64>,
}

#[derive(Clone, Debug)]
struct Held {
    /// None where the API gives no numbers.
    id: Option<i64>,
    until: Instant,
    comment: Arc<str>,
}

/// What a delta comes to.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) change: Change,
    /// True when the API took back a decision that it never gave while others stand for the same
    /// entry: these may be gone as well, and only a fetch of all decisions tells.
    pub(crate) doubtful: bool,
}

impl Standing {
    /// Entries that stand.
    pub(crate) fn count(&self) -> usize {
        self.held.len()
    }

    /// Begins anew with all decisions that there are.
    pub(crate) fn replace(&mut self, all: &[Decision], now: Instant) -> Change {
        self.held.clear();
        for decision in all {
            self.add(decision, now);
        }
        let entries: Vec<Entry> = self.held.keys().copied().collect();
        let added = entries
            .into_iter()
            .filter_map(|entry| self.decided(entry, now));
        Change {
            replace: true,
            deleted: Vec::new(),
            added: added.collect(),
        }
    }

    /// What changed since the last call: what was taken back first, since a decision that was taken
    /// back and made again is in both lists.
    pub(crate) fn apply(&mut self, delta: &Decisions, now: Instant) -> Step {
        let mut step = Step::default();
        let mut touched: HashMap<Entry, bool> = HashMap::new();
        for decision in &delta.deleted {
            let entry = decision.entry;
            let stood = self.held.contains_key(&entry);
            touched.entry(entry).or_insert(stood);
            step.doubtful |= !self.take_back(entry, decision.id);
        }
        for decision in &delta.new {
            let entry = decision.entry;
            let stood = self.held.contains_key(&entry);
            touched.entry(entry).or_insert(stood);
            self.add(decision, now);
        }
        for (entry, stood) in touched {
            match self.decided(entry, now) {
                Some(decided) => step.change.added.push(decided),
                None if stood => step.change.deleted.push(entry),
                None => {}
            }
        }
        step
    }

    /// Forgets what ended by itself, as the keeper does by the times it was given.
    pub(crate) fn expire(&mut self, now: Instant) {
        self.held.retain(|_, held| {
            held.retain(|one| one.until > now);
            !held.is_empty()
        });
    }

    /// False when it leaves a doubt.
    fn take_back(&mut self, entry: Entry, id: Option<i64>) -> bool {
        let Some(held) = self.held.get_mut(&entry) else {
            return true;
        };
        let before = held.len();
        // Without numbers there is no telling which: all go.
        held.retain(|one| id.is_some() && one.id != id);
        let (found, empty) = (held.len() < before, held.is_empty());
        if empty {
            self.held.remove(&entry);
        }
        let Some(id) = id else {
            return true;
        };
        let known = self.lately.contains(&id) || self.earlier.contains(&id);
        if found {
            self.remember(id);
        }
        found || known
    }

    fn remember(&mut self, id: i64) {
        if self.lately.len() >= LATELY_MAX {
            self.earlier = std::mem::take(&mut self.lately);
        }
        self.lately.insert(id);
    }

    fn add(&mut self, decision: &Decision, now: Instant) {
        let Some(until) = now.checked_add(decision.left).filter(|until| *until > now) else {
            return;
        };
        let one = Held {
            id: decision.id,
            until,
            comment: Arc::clone(&decision.comment),
        };
        let held = self.held.entry(decision.entry).or_default();
        match held.iter_mut().find(|other| other.id == decision.id) {
            Some(same) => *same = one,
            None => held.push(one),
        }
    }

    /// What the set holds for an entry: the decision that outlasts the others.
    fn decided(&self, entry: Entry, now: Instant) -> Option<Decided> {
        let last = self.held.get(&entry)?.iter().max_by_key(|one| one.until)?;
        let left = last.until.saturating_duration_since(now);
        (left > Duration::ZERO).then(|| Decided {
            entry,
            left,
            comment: last.comment.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn decision(id: i64, address: u32, hours: u32) -> Decision {
        Decision {
            id: (id != 0).then_some(id),
            entry: Entry::address_v4(address),
            left: HOUR * hours,
            comment: format!("c{id}").into(),
        }
    }

    fn delta(new: &[Decision], deleted: &[Decision]) -> Decisions {
        Decisions {
            new: new.to_vec(),
            deleted: deleted.to_vec(),
            ..Decisions::default()
        }
    }

    fn added(step: &Step) -> Vec<(String, u64, &str)> {
        let one = |one: &'_ Decided| (one.entry.to_string(), one.left.as_secs() / 3600);
        let both = |decided| {
            let (entry, left) = one(decided);
            (entry, left, decided.comment.as_str())
        };
        step.change.added.iter().map(both).collect()
    }

    #[test]
    fn the_last_decision_lifts_the_ban() {
        let (mut standing, now) = (Standing::default(), Instant::now());
        let (short, long) = (decision(1, 5, 1), decision(2, 5, 4));
        let change = standing.replace(&[short.clone(), long.clone()], now);
        assert!(change.replace);
        assert_eq!((change.added.len(), change.added[0].left), (1, HOUR * 4));
        let step = standing.apply(&delta(&[], &[long]), now);
        assert_eq!(added(&step), [("0.0.0.5".to_owned(), 1, "c1")]);
        assert!(step.change.deleted.is_empty() && !step.doubtful);
        let step = standing.apply(&delta(&[], &[short]), now);
        assert_eq!(step.change.deleted, [Entry::address_v4(5)]);
        assert_eq!((step.change.added.len(), standing.count()), (0, 0));
    }

    #[test]
    fn taken_back_and_made_again_stands() {
        let (mut standing, now) = (Standing::default(), Instant::now());
        standing.replace(&[decision(1, 5, 1)], now);
        let step = standing.apply(&delta(&[decision(2, 5, 3)], &[decision(1, 5, 0)]), now);
        assert_eq!(added(&step), [("0.0.0.5".to_owned(), 3, "c2")]);
        assert!(step.change.deleted.is_empty());
    }

    #[test]
    fn overlapping_deltas_leave_no_doubt() {
        let (mut standing, now) = (Standing::default(), Instant::now());
        standing.replace(&[decision(1, 5, 1), decision(2, 5, 4)], now);
        assert!(
            !standing
                .apply(&delta(&[], &[decision(2, 5, 0)]), now)
                .doubtful
        );
        let again = standing.apply(&delta(&[], &[decision(2, 5, 0)]), now);
        assert!(!again.doubtful);
        assert_eq!(added(&again).len(), 1, "the other one stands");
        let stranger = standing.apply(&delta(&[], &[decision(9, 5, 0)]), now);
        assert!(
            stranger.doubtful,
            "it was never given, and what else is not true?"
        );
        let nowhere = standing.apply(&delta(&[], &[decision(9, 6, 0)]), now);
        assert!(!nowhere.doubtful && nowhere.change == Change::default());
    }

    #[test]
    fn without_numbers_all_go_at_once() {
        let (mut standing, now) = (Standing::default(), Instant::now());
        standing.replace(&[decision(0, 5, 1)], now);
        let step = standing.apply(&delta(&[], &[decision(0, 5, 0)]), now);
        assert_eq!(step.change.deleted, [Entry::address_v4(5)]);
    }

    #[test]
    fn what_ended_is_forgotten() {
        let (mut standing, now) = (Standing::default(), Instant::now());
        standing.replace(&[decision(1, 5, 1), decision(2, 6, 3)], now);
        standing.expire(now + HOUR * 2);
        assert_eq!(standing.count(), 1);
        let step = standing.apply(&delta(&[decision(3, 7, 0)], &[]), now);
        assert_eq!(step.change, Change::default(), "it came too late to count");
    }

    proptest! {
        /// Against a server that remembers everything: after each delta the entries are those that
        /// a decision stands for, with the longest time.
        #[test]
        fn as_a_server_has_it(steps in prop::collection::vec(
            (any::<bool>(), 1i64..12, 0u32..4, 1u32..9), 1..60))
        {
            let (mut standing, now) = (Standing::default(), Instant::now());
            let mut server: HashMap<i64, Decision> = HashMap::new();
            let mut kept: HashMap<Entry, Duration> = HashMap::new();
            for (make, id, address, hours) in steps {
                let delta = match (make, server.remove(&id)) {
                    (_, Some(gone)) => delta(&[], &[gone]),
                    (true, None) => {
                        let made = decision(id, address, hours);
                        server.insert(id, made.clone());
                        delta(&[made], &[])
                    }
                    (false, None) => continue,
                };
                let step = standing.apply(&delta, now);
                prop_assert!(!step.doubtful);
                for entry in &step.change.deleted {
                    prop_assert!(kept.remove(entry).is_some());
                }
                for one in &step.change.added {
                    kept.insert(one.entry, one.left);
                }
                let mut wanted: HashMap<Entry, Duration> = HashMap::new();
                for one in server.values() {
                    let left = wanted.entry(one.entry).or_default();
                    *left = (*left).max(one.left);
                }
                prop_assert_eq!(&kept, &wanted);
            }
        }
    }
}
