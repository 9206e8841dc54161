//! Where the frames of a sender come from: made by a recipe, or read from a capture.

use frame::{Burst, FramePool, Nanos};
use traffic::Source;

use super::worker::Span;
use crate::attachment::Attachment;
use crate::counters::{Count, Words};

/// What a sender sends.
pub(super) enum Feed {
    /// Frames made here, by a recipe.
    Made(Box<Source>),
    /// Frames of a capture.
    Replayed(Box<Replay>),
}

/// The frames of one queue of a capture, at its own pace or as fast as they are taken.
pub(super) struct Replay {
    /// Which of the worker's attachments reads the capture.
    place: usize,
    /// Read, and not yet due.
    held: Burst,
    /// Times faster than recorded; `None` for no pace.
    speed: Option<f64>,
    /// When the replay began, and the time in the capture that this was.
    began: Nanos,
    origin_ns: Option<u64>,
    over: bool,
    /// How late frames were.
    late: Span,
}

impl Replay {
    pub(super) fn new(place: usize, speed: Option<f64>) -> Self {
        Self {
            place,
            held: Burst::new(),
            speed,
            began: Nanos::ZERO,
            origin_ns: None,
            over: false,
            late: Span::default(),
        }
    }

    /// Reads on when all that was read has gone.
    pub(super) fn read(
        &mut self,
        attachments: &mut [Attachment],
        pool: &mut FramePool,
        words: &mut Words,
    ) {
        if self.held.is_empty() && !self.over {
            let attachment = &mut attachments[self.place];
            let max = self.held.room();
            attachment.receive(pool, &mut self.held, max, words);
            self.over = !attachment.open && self.held.is_empty();
        }
    }

    /// How many of the frames in front are due, of at most `max`.
    fn due(&mut self, max: usize, now: Nanos) -> usize {
        let Some(speed) = self.speed else {
            return self.held.len().min(max);
        };
        let mut due = 0;
        for frame in self.held.frames().iter().take(max) {
            let time_ns = frame.meta().map_or(0, |meta| meta.time_ns);
            let origin_ns = *self.origin_ns.get_or_insert(time_ns);
            // A time before the first, as where a capture begins anew, is due at once.
            let since = time_ns.saturating_sub(origin_ns) as f64 / speed;
            let at = self.began.after(since as u64);
            if at > now {
                break;
            }
            self.late.add(now.since(at));
            due += 1;
        }
        due
    }
}

impl Feed {
    /// Begins at `now`.
    pub(super) fn restart(&mut self, now: Nanos) {
        if let Self::Replayed(replay) = self {
            replay.began = now;
        }
    }

    /// Appends up to `due` frames to `staged`; how many.
    pub(super) fn fill(
        &mut self,
        staged: &mut Burst,
        pool: &mut FramePool,
        due: usize,
        now: Nanos,
        words: &mut Words,
    ) -> usize {
        match self {
            Self::Made(source) => {
                let made = source.fill(pool, staged, due, now);
                words.add(Count::Originated, made as u64);
                made
            }
            Self::Replayed(replay) => {
                let due = replay.due(due, now);
                for frame in replay.held.drain_front(due) {
                    // Both bursts are of the same size, and this one was empty.
                    let _full = staged.push(frame).map_err(|frame| pool.free(frame));
                }
                due
            }
        }
    }

    /// Frames read and not yet sent.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Made(_) => 0,
            Self::Replayed(replay) => replay.held.len(),
        }
    }

    /// Whether there will never be another frame.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Made(_) => false,
            Self::Replayed(replay) => replay.over,
        }
    }

    /// How late frames of a paced replay were.
    pub(super) fn late(&self) -> Option<Span> {
        match self {
            Self::Replayed(replay) if replay.speed.is_some() => Some(replay.late),
            _ => None,
        }
    }

    /// Frees what is held; how many.
    pub(super) fn give_up(&mut self, pool: &mut FramePool) -> usize {
        let Self::Replayed(replay) = self else {
            return 0;
        };
        let held = replay.held.len();
        pool.free_burst(&mut replay.held);
        held
    }
}
