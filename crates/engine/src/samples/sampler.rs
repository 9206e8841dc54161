//! The worker's side: which frames of a burst are worth a sample, and when one is due.

use frame::{Burst, Frame, Nanos, PortId};
use plane::{Bridge, MatchedLists, Ruleset, Verdict, original_len};

use super::{Boxes, RawSample, SNAP_BYTES_MAX, SampleSpec};

/// Samples that were not taken may be made up for this long, nanoseconds.
const CATCH_UP_NANOS: u64 = 10_000_000;

/// Takes the samples of one worker.
pub(crate) struct Sampler {
    spec: SampleSpec,
    boxes: Boxes,
    /// Between two samples.
    interval_nanos: u64,
    /// When the next may be taken.
    due: Nanos,
    /// Frames since the last sample that might have been one.
    waiting: u64,
    /// The version that `sets` was made for.
    version: u64,
    /// The lists that are asked for, as bits.
    sets: u32,
}

/// A burst that was decided on.
pub(crate) struct Decided<'a> {
    pub(crate) burst: &'a Burst,
    pub(crate) verdicts: &'a [Verdict],
    pub(crate) bridge: &'a Bridge,
    pub(crate) from: PortId,
    pub(crate) ruleset: &'a Ruleset,
    pub(crate) version: u64,
    pub(crate) now: Nanos,
}

/// Frames of a burst, as bits.
#[derive(Default)]
struct Places([u64; frame::BURST_MAX / 64]);

impl Places {
    fn insert(&mut self, place: usize) {
        self.0[place / 64 % (frame::BURST_MAX / 64)] |= 1 << (place % 64);
    }

    fn contains(&self, place: usize) -> bool {
        self.0[place / 64 % (frame::BURST_MAX / 64)] >> (place % 64) & 1 != 0
    }
}

impl Sampler {
    /// For one of `workers`, which share the rate.
    pub(super) fn new(spec: SampleSpec, workers: usize, boxes: Boxes) -> Self {
        let per_second = u64::from(spec.per_second.max(1));
        Self {
            spec,
            boxes,
            interval_nanos: workers as u64 * 1_000_000_000 / per_second,
            due: Nanos(0),
            waiting: 0,
            version: 0,
            sets: 0,
        }
    }

    /// Nobody takes the samples any more.
    pub(crate) fn is_over(&self) -> bool {
        self.boxes.full.is_closed()
    }

    /// Takes samples of a burst, as many as are due.
    pub(crate) fn look(&mut self, decided: &Decided<'_>) {
        if decided.now < self.due && self.wants_all_drops() {
            // No sample is due, which is nearly always so, and verdicts tell what to count.
            let is_drop = |verdict: &&Verdict| matches!(verdict, Verdict::Drop(_));
            self.waiting += decided.verdicts.iter().filter(is_drop).count() as u64;
            return;
        }
        self.resolve(decided);
        let mut hit = Places::default();
        let each = |place: usize, matched| {
            hit.insert(place);
            self.weigh(decided, place, matched);
        };
        decided
            .bridge
            .each_match(decided.from, decided.ruleset, each);
        if self.spec.set.is_some() || !self.spec.dropped {
            return;
        }
        let none = MatchedLists { src: 0, dst: 0 };
        for (place, verdict) in decided.verdicts.iter().enumerate() {
            if matches!(verdict, Verdict::Drop(_)) && !hit.contains(place) {
                self.weigh(decided, place, none);
            }
        }
    }

    /// Every drop is asked for, and nothing else.
    fn wants_all_drops(&self) -> bool {
        self.spec.dropped && !self.spec.counted && self.spec.set.is_none()
    }

    /// Finds the set that is asked for by its name, when places may have changed.
    fn resolve(&mut self, decided: &Decided<'_>) {
        if self.version == decided.version {
            return;
        }
        self.version = decided.version;
        let wanted = self.spec.set.as_deref();
        let rules = decided.ruleset.policy().rules().iter().enumerate();
        let named = rules.filter(|(_, rule)| wanted.is_none_or(|wanted| rule.name == wanted));
        self.sets = named.fold(0, |sets, (place, _)| sets | 1 << place);
    }

    /// Counts the frame at `place` if it is one of those asked for, and takes it if one is due.
    fn weigh(&mut self, decided: &Decided<'_>, place: usize, matched: MatchedLists) {
        let reason = match decided.verdicts.get(place) {
            Some(&Verdict::Drop(reason)) => Some(reason),
            _ => None,
        };
        let wanted = match reason {
            Some(_) => self.spec.dropped,
            None => self.spec.counted,
        };
        let named = self.spec.set.is_none() || (matched.src | matched.dst) & self.sets != 0;
        let Some(frame) = decided
            .burst
            .frames()
            .get(place)
            .filter(|_| wanted && named)
        else {
            return;
        };
        self.waiting += 1;
        if decided.now < self.due {
            return;
        }
        let earliest = Nanos(decided.now.0.saturating_sub(CATCH_UP_NANOS));
        self.due = Nanos(self.due.max(earliest).0 + self.interval_nanos);
        let Some(mut sample) = self.boxes.empty.pop() else {
            return;
        };
        sample.fill(frame, self.spec.snap_bytes);
        sample.at = decided.now;
        sample.port = decided.from;
        sample.reason = reason;
        sample.matched = matched;
        sample.version = decided.version;
        sample.stands_for = std::mem::take(&mut self.waiting);
        // There are as many boxes as there is room for.
        let _room = self.boxes.full.push(sample);
    }
}

impl RawSample {
    fn fill(&mut self, frame: &Frame, snap_bytes: usize) {
        let bytes = frame.bytes();
        let len = bytes.len().min(snap_bytes).min(SNAP_BYTES_MAX);
        self.bytes[..len].copy_from_slice(&bytes[..len]);
        self.len = len as u16;
        self.original_len = original_len(frame) as u32;
    }
}
