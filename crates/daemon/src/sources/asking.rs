//! What others ask of sources, while they come and go: how they fare, and to be read now.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use super::signal::Signal;
use super::source::Kind;
use super::state::SourceState;

/// How often to look whether a source has done what it was asked.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The sources there are now. Clones speak of the same ones, and none waits for a reload.
#[derive(Clone, Default)]
pub struct Asking(Arc<RwLock<Arc<[Asked]>>>);

/// One source, as others see it.
pub(super) struct Asked {
    pub(super) state: Arc<Mutex<SourceState>>,
    pub(super) signal: Arc<Signal>,
}

/// What became of asking.
#[derive(Clone, Debug)]
pub enum Answered {
    /// No source feeds the set.
    NoSource,
    /// They were read, all of them: how each fares now.
    Read(Vec<SourceState>),
    /// It takes longer; they go on.
    Late,
    /// A reload replaced them meanwhile.
    Ended,
}

impl Asking {
    pub(super) fn set(&self, sources: Vec<Asked>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = sources.into();
    }

    fn now(&self) -> Arc<[Asked]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How each source fares, in the order of the configuration.
    #[must_use]
    pub fn states(&self) -> Vec<SourceState> {
        self.now().iter().map(Asked::state).collect()
    }

    /// Reads the sources of a set now, changed or not, with `force` past the guards, and waits for
    /// what comes of it.
    #[must_use]
    pub fn ask(&self, set: &str, force: bool, within: Duration) -> Answered {
        let all = self.now();
        let of_set = all.iter().filter(|source| &*source.state().set == set);
        let asked: Vec<(&Asked, u64)> = of_set
            .map(|source| (source, source.signal.ask(force)))
            .collect();
        if asked.is_empty() {
            return Answered::NoSource;
        }
        let end = Instant::now() + within;
        loop {
            let states: Vec<SourceState> = asked.iter().map(|(source, _)| source.state()).collect();
            let mut numbers = states.iter().zip(&asked);
            if numbers.all(|(state, (_, number))| state.answered >= *number) {
                return Answered::Read(states);
            }
            if asked.iter().any(|(source, _)| source.signal.is_stopped()) {
                return Answered::Ended;
            }
            if Instant::now() >= end {
                return Answered::Late;
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

impl Asking {
    /// Waits until the lists of these sets were each tried once, and says how they fare, late ones
    /// too.
    #[must_use]
    pub fn tried(&self, sets: &[&str], within: Duration) -> Vec<SourceState> {
        let end = Instant::now() + within;
        loop {
            let mut states = self.states();
            states.retain(|state| {
                let is_list = state.kind != Kind::CrowdSec;
                is_list && sets.contains(&&*state.set)
            });
            if states.iter().all(SourceState::is_tried) || Instant::now() >= end {
                return states;
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

impl Asked {
    fn state(&self) -> SourceState {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
