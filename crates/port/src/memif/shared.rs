//! What the control side and the queues of a port have in common. The lock is taken when a
//! connection comes or goes, never for a frame.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::link::QueueLink;
use super::ring::Fault;
use crate::interface::Presence;

/// Where queues fetch their part of a connection.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Counts connections that came and went; queues look at it once a burst.
    version: AtomicU32,
    offered: Mutex<Vec<Option<QueueLink>>>,
    /// A version and, in the lower half, what is wrong with its peer; 0 for nothing.
    fault: AtomicU64,
    /// Whether a peer is there, for who watches the port.
    pub(super) presence: Presence,
}

impl Shared {
    /// Gives the queues a new connection, or takes it from them.
    pub(super) fn offer(&self, links: Vec<Option<QueueLink>>) {
        let mut offered = self.lock();
        self.presence.set(!links.is_empty());
        *offered = links;
        self.version.fetch_add(1, Ordering::Release);
    }

    /// What is offered to a queue that has seen version `seen` last; `None` where that is the
    /// newest.
    #[inline]
    pub(super) fn fetch(&self, queue: usize, seen: &mut u32) -> Option<Option<QueueLink>> {
        if self.version.load(Ordering::Relaxed) == *seen {
            return None;
        }
        Some(self.fetch_new(queue, seen))
    }

    #[cold]
    fn fetch_new(&self, queue: usize, seen: &mut u32) -> Option<QueueLink> {
        let mut offered = self.lock();
        // It changes under the lock alone.
        *seen = self.version.load(Ordering::Relaxed);
        offered.get_mut(queue).and_then(Option::take)
    }

    /// A queue found that the peer of the version that it has breaks the rules.
    #[cold]
    pub(super) fn accuse(&self, version: u32, fault: Fault) {
        let word = u64::from(version) << 32 | fault as u64;
        self.fault.store(word, Ordering::Relaxed);
    }

    /// What a queue has found of the peer that is there now.
    pub(super) fn accused(&self) -> Option<Fault> {
        let word = self.fault.load(Ordering::Relaxed);
        let current = (word >> 32) as u32 == self.version.load(Ordering::Relaxed);
        Fault::from_number(word as u32).filter(|_| current)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<QueueLink>>> {
        self.offered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
