//! New lists for the workers of a run that goes on.
//!
//! The scheme itself is [`frame::Published`]: a worker looks once a step, takes no lock and does no
//! atomic read-modify-write. This is the control side's end of it, which several threads may hold.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table::CompiledLists;

use crate::shortcuts::Shortcuts;

pub use frame::{Published, Reader};

/// Publishes lists to the workers of one run. Clones publish to the same workers.
#[derive(Clone, Debug)]
pub struct Publisher {
    published: Arc<Mutex<Published<CompiledLists>>>,
    /// Rules of the policy, each of which needs its list.
    rules: usize,
    shortcuts: Arc<Shortcuts>,
}

/// Lists that do not fit the policy of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListsMismatch {
    /// How many were given.
    pub lists: usize,
    /// How many rules there are.
    pub rules: usize,
}

impl fmt::Display for ListsMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lists, rules } = self;
        write!(f, "{lists} lists for {rules} rules: a rule has one list")
    }
}

impl std::error::Error for ListsMismatch {}

impl Publisher {
    pub(crate) fn new(first: Arc<CompiledLists>, shortcuts: Shortcuts) -> Self {
        Self {
            shortcuts: Arc::new(shortcuts),
            rules: first.list_count(),
            published: Arc::new(Mutex::new(Published::new(first))),
        }
    }

    pub(crate) fn reader(&self) -> Reader<CompiledLists> {
        self.lock().reader()
    }

    /// Replaces the lists; returns the number of the version, counted from 1 for the lists the run
    /// began with. Each worker uses them from its next step on, and all of them for a burst or
    /// none. Waits for no worker; where ports have a shortcut, for the kernel, some milliseconds.
    ///
    /// # Errors
    ///
    /// Another number of lists than the policy has rules; nothing is published.
    pub fn publish(&self, next: Arc<CompiledLists>) -> Result<u64, ListsMismatch> {
        let (lists, rules) = (next.list_count(), self.rules);
        if lists != rules {
            return Err(ListsMismatch { lists, rules });
        }
        // Held meanwhile, so that the shortcuts are open for the last lists published.
        let mut published = self.lock();
        self.shortcuts.close();
        let sieve = next.sieve().cloned();
        let version = published.publish(next);
        self.shortcuts.open(sieve.as_deref());
        Ok(version)
    }

    /// Opens the shortcuts of the ports for the lists the run begins with.
    pub(crate) fn open_shortcuts(&self, first: &CompiledLists) {
        self.shortcuts.open(first.sieve().map(Arc::as_ref));
    }

    /// Frees the versions that no worker uses any more, unless somebody else still holds them;
    /// returns how many are still used. The run does this by itself every few milliseconds.
    pub fn reclaim(&self) -> usize {
        self.lock().reclaim()
    }

    /// Held for a few stores and the freeing of old versions; never by a worker.
    fn lock(&self) -> MutexGuard<'_, Published<CompiledLists>> {
        self.published
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Entries;

    #[test]
    fn a_rule_has_one_list() {
        let lists = |count: usize| {
            let lists = vec![Entries::default(); count];
            let lists: Vec<&Entries> = lists.iter().collect();
            Arc::new(CompiledLists::compile(&lists).expect("few lists"))
        };
        let publisher = Publisher::new(lists(2), Shortcuts::default());
        let mut reader = publisher.reader();
        let error = publisher.publish(lists(3)).expect_err("one too many");
        assert_eq!(
            error.to_string(),
            "3 lists for 2 rules: a rule has one list"
        );
        assert_eq!(publisher.clone().publish(lists(2)), Ok(2));
        assert_eq!(publisher.reclaim(), 1);
        assert!(reader.refresh());
        assert_eq!((reader.version(), publisher.reclaim()), (2, 0));
    }
}
