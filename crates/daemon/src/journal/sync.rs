//! Writes the journal through to the disk in the background, so that no answer waits for it.

use super::error::JournalError;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest that a record waits for its `fdatasync` to begin.
const SYNC_EVERY: Duration = Duration::from_millis(100);

/// A thread that syncs the file that it was last given. Ends when all handles are gone.
#[derive(Clone, Debug)]
pub(super) struct Syncer {
    shared: Arc<Shared>,
    _alive: Arc<Alive>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    file: Arc<File>,
    /// Files before it whose last records were not synced yet.
    before: Vec<Arc<File>>,
    /// Records noted, and how many of them were synced.
    noted: u64,
    synced: u64,
    /// `fdatasync` failed: what is on the disk is not known.
    failed: bool,
    ended: bool,
}

/// Dropped with the last handle.
#[derive(Debug)]
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        loop {
            let mut state = self.lock();
            while state.noted == state.synced && !state.ended {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
            if state.noted == state.synced {
                return;
            }
            let (file, noted) = (Arc::clone(&state.file), state.noted);
            let before = std::mem::take(&mut state.before);
            drop(state);
            for earlier in before {
                // Where this fails the snapshot under way has what it holds.
                let _ = earlier.sync_data();
            }
            let failed = file.sync_data().is_err();
            let mut state = self.lock();
            state.failed |= failed && Arc::ptr_eq(&state.file, &file);
            state.synced = state.synced.max(noted);
            self.changed.notify_all();
            let rest = self
                .changed
                .wait_timeout_while(state, SYNC_EVERY, |state| !state.ended);
            drop(rest);
        }
    }
}

impl Syncer {
    pub(super) fn start(file: Arc<File>) -> Result<Self, JournalError> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                file,
                before: Vec::new(),
                noted: 0,
                synced: 0,
                failed: false,
                ended: false,
            }),
            changed: Condvar::new(),
        });
        let runs = Arc::clone(&shared);
        let named = thread::Builder::new().name("journal-sync".to_owned());
        named.spawn(move || runs.run()).map_err(JournalError::io(
            "start a thread for",
            Path::new("the journal"),
        ))?;
        Ok(Self {
            _alive: Arc::new(Alive(Arc::clone(&shared))),
            shared,
        })
    }

    /// A record was written.
    pub(super) fn note(&self) {
        let mut state = self.shared.lock();
        let was_idle = state.noted == state.synced;
        state.noted += 1;
        drop(state);
        // While the thread syncs or rests it will look by itself.
        if was_idle {
            self.shared.changed.notify_all();
        }
    }

    /// True when the file could not be synced: what is on the disk is not known.
    pub(super) fn has_failed(&self) -> bool {
        self.shared.lock().failed
    }

    /// From now on records go into another file.
    pub(super) fn follow(&self, file: Arc<File>) {
        let mut state = self.shared.lock();
        let before = std::mem::replace(&mut state.file, file);
        state.before.push(before);
        state.failed = false;
        state.noted += 1;
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Waits until all that was noted is on the disk.
    pub(super) fn wait(&self) {
        let mut state = self.shared.lock();
        let noted = state.noted;
        while state.synced < noted && !state.ended {
            let waited = self.shared.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}
