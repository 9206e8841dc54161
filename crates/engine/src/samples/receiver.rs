//! The control side: samples in the form that a capture needs.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use frame::{Consumer, PortId, Producer};
use plane::{Action, DropReason, Policy, Side};

use super::{RawSample, SampleError, SampleSpec, Sampler, boxes};
use crate::publish::Publisher;
use crate::requests::{Requesters, SAMPLERS_MAX};

/// How often it is looked for samples while there are none.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A frame that stands for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// When it was decided on; to a step of a worker.
    pub time: SystemTime,
    /// The port that it came in by.
    pub port: PortId,
    /// Why it was dropped; `None` for a frame that was forwarded.
    pub reason: Option<DropReason>,
    /// The sets that its addresses were in.
    pub sets: Vec<SampledSet>,
    /// Its length on the wire, bytes without FCS.
    pub original_len: usize,
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// Frames like it since the sample before, itself included.
    pub stands_for: u64,
}

/// A set that an address of a sampled frame was in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledSet {
    /// Its name.
    pub name: String,
    /// Which address.
    pub side: Side,
    /// What a hit did, by the policy that the frame was judged by.
    pub action: Action,
}

/// What comes of one worker, and what goes back to it.
pub(crate) struct WorkerSamples {
    full: Consumer<Box<RawSample>>,
    empty: Producer<Box<RawSample>>,
}

impl WorkerSamples {
    pub(super) fn new(full: Consumer<Box<RawSample>>, empty: Producer<Box<RawSample>>) -> Self {
        Self { full, empty }
    }
}

/// Gives out samples. Workers take none any more when it is gone.
pub struct SampleReceiver {
    workers: Vec<WorkerSamples>,
    /// Whose turn it is.
    next: usize,
    lists: Publisher,
    started: Instant,
    /// The policy of the last sample, and its version.
    policy: Option<(u64, Arc<Policy>)>,
}

/// Has all workers take samples.
pub(crate) fn receive(
    spec: &SampleSpec,
    requesters: &Requesters,
    lists: &Publisher,
    started: Instant,
) -> Result<SampleReceiver, SampleError> {
    check(spec, lists)?;
    let mut requesters = requesters.lock();
    // Those of captures that have ended make room.
    for requester in requesters.iter_mut() {
        if !requester.has_room() {
            return Err(SampleError::TooMany(SAMPLERS_MAX));
        }
    }
    let count = requesters.len();
    let mut workers = Vec::new();
    for requester in requesters.iter_mut() {
        let (boxes, samples) = boxes();
        requester.give_sampler(Sampler::new(spec.clone(), count, boxes));
        workers.push(samples);
    }
    Ok(SampleReceiver {
        workers,
        next: 0,
        lists: lists.clone(),
        started,
        policy: None,
    })
}

fn check(spec: &SampleSpec, lists: &Publisher) -> Result<(), SampleError> {
    if spec.per_second == 0 {
        return Err(SampleError::NoRate);
    }
    if !spec.dropped && !spec.counted {
        return Err(SampleError::NoFrames);
    }
    if let Some(name) = &spec.set {
        let ruleset = lists.current();
        let mut rules = ruleset.policy().rules().iter();
        if !rules.any(|rule| rule.name == *name) {
            return Err(SampleError::NoSet(name.clone()));
        }
    }
    Ok(())
}

impl SampleReceiver {
    /// A sample if there is one.
    pub fn try_next(&mut self) -> Option<Sample> {
        for _ in 0..self.workers.len() {
            self.next = (self.next + 1) % self.workers.len();
            let worker = &mut self.workers[self.next];
            if let Some(raw) = worker.full.pop() {
                let sample = self.resolved(&raw);
                // It came out of this ring's other side.
                let _room = self.workers[self.next].empty.push(raw);
                return Some(sample);
            }
        }
        None
    }

    /// Waits for a sample; `None` when the time is over or the run is.
    pub fn next_within(&mut self, timeout: Duration) -> Option<Sample> {
        let begun = Instant::now();
        loop {
            // Before the look: what was put in last is not missed.
            let over = self.is_over();
            if let Some(sample) = self.try_next() {
                return Some(sample);
            }
            let left = timeout.saturating_sub(begun.elapsed());
            if over || left.is_zero() {
                return None;
            }
            sleep(LOOK_EVERY.min(left));
        }
    }

    /// Whether the run is over: what is still under way is all that comes.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.workers.iter().all(|worker| worker.full.is_closed())
    }

    fn resolved(&mut self, raw: &RawSample) -> Sample {
        let since_start = Duration::from_nanos(raw.at.0);
        let age = self.started.elapsed().saturating_sub(since_start);
        let now = SystemTime::now();
        let bytes = raw.bytes.get(..usize::from(raw.len)).unwrap_or_default();
        Sample {
            time: now.checked_sub(age).unwrap_or(now),
            port: raw.port,
            reason: raw.reason,
            sets: self.sets(raw),
            original_len: raw.original_len as usize,
            bytes: bytes.to_vec(),
            stands_for: raw.stands_for,
        }
    }

    /// The sets of a sample by their names; none where its policy is long gone.
    fn sets(&mut self, raw: &RawSample) -> Vec<SampledSet> {
        if raw.matched.src | raw.matched.dst == 0 {
            return Vec::new();
        }
        if self
            .policy
            .as_ref()
            .is_none_or(|&(version, _)| version != raw.version)
        {
            let policy = self.lists.policy_of(raw.version);
            self.policy = policy.map(|policy| (raw.version, policy));
        }
        let Some((_, policy)) = &self.policy else {
            return Vec::new();
        };
        let mut sets = Vec::new();
        for (place, rule) in policy.rules().iter().enumerate() {
            for (side, lists) in [(Side::Src, raw.matched.src), (Side::Dst, raw.matched.dst)] {
                let action = rule.action_at(side, raw.port);
                if let Some(action) = action.filter(|_| lists >> place & 1 != 0) {
                    let name = rule.name.clone();
                    sets.push(SampledSet { name, side, action });
                }
            }
        }
        sets
    }
}
