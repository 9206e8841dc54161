//! Where the two ends of a ring meet: by name, before the workers start.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use frame::{Consumer, Frame, Producer, QueueId};

use super::{RingEnd, RingSpec};
use crate::{PortError, PortErrorKind};

/// The rings of a run by name; clones are the same register.
#[derive(Clone, Default)]
pub struct Rings(Arc<Mutex<HashMap<String, Arc<Pipe>>>>);

impl Rings {
    /// Takes the end that `spec` asks for, or the first that is free.
    pub(super) fn take_end(&self, spec: &RingSpec) -> Result<(RingEnd, Arc<Pipe>), PortError> {
        let mut pipes = lock(&self.0);
        let pipe = pipes
            .entry(spec.name.clone())
            .or_insert_with(|| Arc::new(Pipe::new(spec)));
        let end = pipe.take_end(spec)?;
        Ok((end, Arc::clone(pipe)))
    }
}

impl fmt::Debug for Rings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(lock(&self.0).keys()).finish()
    }
}

/// The half of a queue's rings that one end holds.
pub(super) struct Half {
    pub(super) to_peer: Producer<Frame>,
    pub(super) from_peer: Consumer<Frame>,
    /// Set by this end when it will send no more.
    pub(super) finished: Arc<AtomicBool>,
    /// Set by the other end.
    pub(super) peer_finished: Arc<AtomicBool>,
}

/// One ring: its ends, and the halves of its queues not yet fetched.
pub(super) struct Pipe {
    capacity: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    taken: [bool; 2],
    /// The number of queues the first end to open one gave.
    of: Option<usize>,
    halves: HashMap<QueueId, [Option<Half>; 2]>,
}

impl Pipe {
    fn new(spec: &RingSpec) -> Self {
        Self {
            capacity: spec.capacity,
            state: Mutex::default(),
        }
    }

    fn take_end(&self, spec: &RingSpec) -> Result<RingEnd, PortError> {
        let name = &spec.name;
        if spec.capacity != self.capacity {
            let (asked, first) = (spec.capacity, self.capacity);
            return Err(setting(format!(
                "the ends of ring:{name} ask for {first} and {asked} frames; \
                 give both the same capacity="
            )));
        }
        let mut state = lock(&self.state);
        let free = [RingEnd::A, RingEnd::B]
            .into_iter()
            .find(|end| !state.taken[end.index()]);
        let end = match (spec.end, free) {
            (Some(end), _) if state.taken[end.index()] => {
                let end = end.name();
                return Err(setting(format!(
                    "end {end} of ring:{name} is taken; name the other or another ring"
                )));
            }
            (Some(end), _) => end,
            (None, Some(end)) => end,
            (None, None) => {
                return Err(setting(format!(
                    "both ends of ring:{name} are taken; give this port a ring of another name"
                )));
            }
        };
        state.taken[end.index()] = true;
        Ok(end)
    }

    /// Fetches one end's half of a queue, making both when it is the first to ask.
    pub(super) fn take_queue(
        &self,
        end: RingEnd,
        queue: QueueId,
        of: usize,
        spec: &str,
    ) -> Result<Half, PortError> {
        let mut state = lock(&self.state);
        let agreed = *state.of.get_or_insert(of);
        if agreed != of {
            return Err(setting(format!(
                "{spec} has {of} queues and its other end {agreed}; give both the same number"
            )));
        }
        let halves = state
            .halves
            .entry(queue)
            .or_insert_with(|| both_halves(self.capacity));
        halves[end.index()].take().ok_or_else(|| {
            let sentence = format!("queue {queue} of {spec} was given out before");
            PortError::new(PortErrorKind::Queue, sentence)
        })
    }
}

fn both_halves(capacity: u32) -> [Option<Half>; 2] {
    let (a_to_b, b_from_a) = frame::ring(capacity as usize);
    let (b_to_a, a_from_b) = frame::ring(capacity as usize);
    let (a, b) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let half = |to_peer, from_peer, finished: &Arc<_>, peer_finished: &Arc<_>| {
        let (finished, peer_finished) = (Arc::clone(finished), Arc::clone(peer_finished));
        Some(Half {
            to_peer,
            from_peer,
            finished,
            peer_finished,
        })
    };
    [
        half(a_to_b, a_from_b, &a, &b),
        half(b_to_a, b_from_a, &b, &a),
    ]
}

fn setting(sentence: String) -> PortError {
    PortError::new(PortErrorKind::Setting, sentence)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
