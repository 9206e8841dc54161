//! Where the frames of a sender come from: made by a recipe, or read from a capture.

use frame::{Burst, Frame, FramePool, Nanos};
use traffic::{ClockSteps, PacingError, Source, Speed};

use crate::attachment::Attachment;
use crate::counters::{Count, Counters};

/// What a sender sends.
pub(super) enum Feed {
    /// Frames made here, by a recipe.
    Made(Box<Source>),
    /// Frames of a capture.
    Replayed(Box<Replay>),
}

/// A frame of a replay later than this puts off those behind it, instead of having them follow in
/// a burst; nanoseconds.
const LAG_MAX_NANOS: u64 = 1_000_000;

/// The frames of one queue of a capture, at its own pace or as fast as they are taken.
pub(super) struct Replay {
    /// Which of the worker's attachments reads the capture.
    place: usize,
    /// Read, and not yet due.
    held: Burst,
    speed: Speed,
    clock: traffic::Replay,
    /// When the frame in front is due.
    front: Option<Nanos>,
    over: bool,
    /// How often the capture has begun anew, and whether the frame in front is the first of a
    /// round.
    rounds: u64,
    begins: bool,
    /// Frames of which the capture had kept a part.
    cut: u64,
}

impl Replay {
    pub(super) fn new(place: usize, speed: Speed) -> Self {
        Self {
            place,
            held: Burst::new(),
            speed,
            clock: traffic::Replay::new(speed, LAG_MAX_NANOS, Nanos::ZERO),
            front: None,
            over: false,
            rounds: 0,
            begins: false,
            cut: 0,
        }
    }

    /// Reads on when all that was read has gone.
    pub(super) fn read(
        &mut self,
        attachments: &mut [Attachment],
        pool: &mut FramePool,
        counters: &mut Counters,
    ) {
        if self.held.is_empty() && !self.over {
            let attachment = &mut attachments[self.place];
            let max = self.held.room();
            attachment.receive(pool, &mut self.held, max, counters);
            let rounds = attachment.queue.as_ref().map_or(0, |queue| queue.rounds());
            self.begins |= rounds != self.rounds;
            self.rounds = rounds;
            let frames = self.held.frames().iter();
            self.cut += frames.filter(|frame| is_cut(frame)).count() as u64;
            self.over = !attachment.open && self.held.is_empty();
        }
    }

    /// How many of the frames in front are due, of at most `max`.
    fn due(&mut self, max: usize, now: Nanos) -> usize {
        let mut due = 0;
        while due < max.min(self.held.len()) {
            let meta = self.held.frames()[due].meta();
            let time_ns = meta.map_or(0, |meta| meta.time_ns);
            let front = self.front.take();
            let at = front.unwrap_or_else(|| self.due_at(time_ns));
            self.front = Some(at);
            if at > now {
                break;
            }
            self.clock.sent(now);
            self.front = None;
            due += 1;
        }
        due
    }

    fn due_at(&mut self, time_ns: u64) -> Nanos {
        if std::mem::take(&mut self.begins) {
            self.clock.again(0);
        }
        self.clock.next(time_ns)
    }

    /// How long after `now` the frame in front is due.
    pub(super) fn pause_nanos(&self, now: Nanos) -> u64 {
        self.front.map_or(0, |front| front.since(now))
    }
}

/// Whether a capture kept less of a frame than there was.
fn is_cut(frame: &Frame) -> bool {
    let original = frame.meta().map_or(0, |meta| meta.original_len);
    original as usize > frame.len()
}

impl Feed {
    /// Frames read of which the capture had kept a part.
    pub(super) fn cut(&self) -> u64 {
        match self {
            Self::Made(_) => 0,
            Self::Replayed(replay) => replay.cut,
        }
    }

    /// How often the clock of the capture was set, where its times count.
    pub(super) fn clock_steps(&self) -> ClockSteps {
        match self {
            Self::Replayed(replay) if replay.speed != Speed::Full => replay.clock.steps(),
            _ => ClockSteps::default(),
        }
    }

    /// Begins at `now`.
    pub(super) fn restart(&mut self, now: Nanos) {
        if let Self::Replayed(replay) = self {
            replay.clock = traffic::Replay::new(replay.speed, LAG_MAX_NANOS, now);
        }
    }

    /// Appends up to `due` frames to `staged`; how many.
    pub(super) fn fill(
        &mut self,
        staged: &mut Burst,
        pool: &mut FramePool,
        due: usize,
        now: Nanos,
        counters: &mut Counters,
    ) -> usize {
        match self {
            Self::Made(source) => {
                let made = source.fill(pool, staged, due, now);
                counters.add(Count::Originated, made as u64);
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

    /// When the next frame is due, where that is not the pacer's to say.
    pub(super) fn next_due(&self) -> Option<Nanos> {
        match self {
            Self::Made(_) => None,
            Self::Replayed(replay) => replay.front,
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

    /// How late frames of a capture were that has a pace of its own.
    pub(super) fn pacing(&self) -> Option<PacingError> {
        match self {
            Self::Replayed(replay) if replay.speed != Speed::Full => Some(replay.clock.error()),
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
