//! One worker of a drive: it sends test frames, takes frames in, or both, in turns.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use frame::{Burst, CpuId, FramePool, Nanos, WorkerId};
use plane::DropReason;
use traffic::Sink;
use wire::{IcmpError, turn_around};

use super::answering::{Answering, Hold};
use super::arrivals::Arrivals;
use super::feed::Feed;
use super::sender::{Sender, bytes_of};
use crate::attachment::Attachment;
use crate::clock::{Clock, OsClock, cpu_time_nanos};
use crate::counters::{Count, Counters};
use crate::doze::doze;
use crate::idle::{Idle, IdleMode};
use crate::start::Work;
use crate::supervise::Control;

/// How often the counters are shown to others, nanoseconds.
const SHOW_EVERY_NANOS: u64 = 1_000_000;

/// What a worker takes in at one port.
pub(super) struct Taker {
    pub(super) place: usize,
    pub(super) sink: Sink,
    /// What comes is accounted for; else it is taken in to be answered alone.
    pub(super) accounts: bool,
    pub(super) answering: Answering,
    /// Frames go back to where they came from.
    pub(super) reflects: bool,
    /// Of those, ICMP errors, which ended here.
    pub(super) ended: u64,
    pub(super) arrivals: Arrivals,
    /// The first and the last time that a capture's records say.
    pub(super) span: Option<(u64, u64)>,
    /// When it last looked whether a frame had come.
    pub(super) looked: Nanos,
    /// When the last frame was taken in.
    pub(super) last: Nanos,
    pub(super) stamps: Span,
}

/// Lengths of time, each the doubt that one clock reading leaves about a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) count: u64,
    pub(crate) nanos: u64,
    pub(crate) worst_nanos: u64,
}

impl Span {
    #[inline]
    pub(super) fn add(&mut self, nanos: u64) {
        self.count += 1;
        self.nanos += nanos;
        self.worst_nanos = self.worst_nanos.max(nanos);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.nanos += other.nanos;
        self.worst_nanos = self.worst_nanos.max(other.worst_nanos);
    }
}

/// A worker of a drive. As of a bridge's, nothing of it is shared but the board.
pub(crate) struct Driver {
    pub(super) id: WorkerId,
    pub(super) cpu: CpuId,
    pub(super) pool: FramePool,
    /// By the order of the drive's ports.
    pub(super) attachments: Vec<Attachment>,
    pub(super) sender: Option<Sender>,
    pub(super) takers: Vec<Taker>,
    /// Frames taken from a queue in one step at most.
    pub(super) burst_max: usize,
    /// Frames it may still take in, where nobody here sends.
    pub(super) quota: u64,
    /// The run ends when nothing more can come, since nobody here sends.
    pub(super) waits_for_sources: bool,
    pub(super) burst: Burst,
    pub(super) counters: Counters,
    pub(super) control: Arc<Control>,
    pub(super) idle: IdleMode,
    pub(super) shown_quiet: bool,
    /// When the trial began.
    pub(super) began: Nanos,
}

/// Ends ICMP errors, which are no test frames and which nobody may answer (RFC 1122, 3.2.2); how
/// many.
#[cold]
fn end_errors(burst: &mut Burst, pool: &mut FramePool) -> usize {
    let before = burst.len();
    let mut kept = Burst::new();
    for frame in burst.drain() {
        match IcmpError::read(frame.bytes()) {
            Some(_) => pool.free(frame),
            // Both bursts are of the same size.
            None => drop(kept.push(frame).map_err(|frame| pool.free(frame))),
        }
    }
    burst.append(&mut kept);
    before - burst.len()
}

impl Work for Driver {
    fn id(&self) -> WorkerId {
        self.id
    }

    fn cpu(&self) -> CpuId {
        self.cpu
    }

    fn hold(&mut self) -> (&mut [Attachment], &mut FramePool) {
        (&mut self.attachments, &mut self.pool)
    }

    fn held(&self) -> (&[Attachment], &FramePool) {
        (&self.attachments, &self.pool)
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn run(self, clock: &OsClock) -> Self {
        self.work(clock)
    }
}

impl Driver {
    fn work(mut self, clock: &impl Clock) -> Self {
        let mut idle = Idle::new(self.idle);
        let cpu_before = cpu_time_nanos();
        let mut begun = clock.kernel();
        let mut shown = begun;
        self.wind_up(begun);
        self.beat(begun);
        while !self.control.stops() {
            let moved = self.step(clock);
            let ended = clock.kernel();
            begun = if moved != 0 {
                self.counters.add(Count::BusyNanos, ended.since(begun));
                idle.reset();
                ended
            } else {
                let called = idle.rest(|nap| self.doze(nap, ended));
                self.counters.add(Count::Sleeps, u64::from(called));
                clock.kernel()
            };
            if ended.since(shown) >= SHOW_EVERY_NANOS {
                shown = ended;
                self.control.board(self.id).show(&self.counters);
                self.beat(ended);
            }
        }
        self.settle();
        let cpu_nanos = cpu_time_nanos().saturating_sub(cpu_before);
        self.counters.add(Count::CpuNanos, cpu_nanos);
        self.control.board(self.id).show(&self.counters);
        self
    }

    /// Has the ports send what they gather, and asks them what they could not send.
    fn settle(&mut self) {
        for (place, attachment) in self.attachments.iter_mut().enumerate() {
            let before = self.counters.get(Count::Tx);
            attachment.settle(&mut self.pool, &mut self.counters);
            let refused = before.saturating_sub(self.counters.get(Count::Tx));
            if let Some(sender) = self.sender.as_mut().filter(|own| own.place == place) {
                sender.take_back(refused, &mut self.counters);
            }
        }
    }

    /// Announces the ports that are to be, before the first frame is sent.
    pub(super) fn announce(&mut self) {
        for taker in self
            .takers
            .iter_mut()
            .filter(|own| own.answering.announces())
        {
            let hold = Hold {
                attachment: &mut self.attachments[taker.place],
                pool: &mut self.pool,
                counters: &mut self.counters,
            };
            taker.answering.announce(Nanos::ZERO, hold);
        }
    }

    /// Sleeps for `nap`, until the next frame is due, or until one comes where nothing is sent.
    fn doze(&self, nap: Duration, now: Nanos) {
        match &self.sender {
            Some(sender) if sender.quota != 0 => {
                let due = Duration::from_nanos(sender.next_due().since(now));
                sleep(nap.min(due));
            }
            _ => doze(&self.attachments, nap),
        }
    }

    /// Forgets the trial before.
    pub(super) fn begin_anew(&mut self, control: &Arc<Control>, burst_max: usize) {
        self.control = Arc::clone(control);
        self.counters = Counters::new();
        self.burst_max = burst_max;
        (self.sender, self.quota) = (None, u64::MAX);
        self.shown_quiet = false;
    }

    /// Whether it has a queue of its own of a port.
    pub(super) fn has_queue(&self, place: usize) -> bool {
        self.attachments[place].queue.is_some()
    }

    /// Begins all times at `now`.
    pub(super) fn wind_up(&mut self, now: Nanos) {
        self.began = now;
        if let Some(sender) = &mut self.sender {
            sender.restart(now);
        }
        for taker in &mut self.takers {
            (taker.looked, taker.last) = (now, now);
            taker.answering.restart(now);
        }
    }

    /// One turn: send what is due, take in what has come. Returns how many frames moved.
    pub(super) fn step(&mut self, clock: &impl Clock) -> usize {
        let drains = self.control.drains();
        let mut moved = self.send(drains, clock);
        for taker in 0..self.takers.len() {
            moved += self.take(taker, clock);
        }
        if self.attachments.iter().any(Attachment::failed) {
            self.control.fail();
        }
        debug_assert!(self.accounting_balances(), "a frame without an account");
        self.show_quiet(drains);
        moved
    }

    /// Makes and sends frames that are due; what the port does not take now is kept, and nothing
    /// is made meanwhile.
    fn send(&mut self, drains: bool, clock: &impl Clock) -> usize {
        let Self {
            sender: Some(sender),
            attachments,
            pool,
            counters,
            ..
        } = self
        else {
            return 0;
        };
        if let Feed::Replayed(replay) = &mut sender.feed {
            replay.read(attachments, pool, counters);
            counters.set(Count::PauseNanos, replay.pause_nanos(sender.looked));
        }
        let attachment = &mut attachments[sender.place];
        let now = clock.kernel();
        let waited = !attachment.staged.is_empty();
        if waited {
            counters.add(Count::FullNanos, now.since(sender.looked));
        } else if !drains && sender.quota != 0 {
            sender.make(&mut attachment.staged, pool, now, counters);
        }
        sender.looked = now;
        let bytes = bytes_of(attachment.staged.frames());
        let before = counters.get(Count::Tx);
        // What was sent before comes back to the pool, and queues that buffer go on.
        let taken = attachment.flush(pool, true, counters);
        sender.take_back(before.saturating_sub(counters.get(Count::Tx)), counters);
        if taken != 0 {
            let left = bytes_of(attachment.staged.frames());
            let sent = counters.get(Count::Tx).saturating_sub(before);
            counters.add(Count::Sent, sent);
            sender.sent += sent;
            counters.add(Count::TxBytes, bytes - left);
            sender.pacer.sent(taken, bytes - left);
            let after = clock.kernel();
            sender.last = after;
            if !waited {
                sender.stamps.add(after.since(now));
            }
        }
        taken
    }

    /// Takes frames in from one port, accounts for them, and ends them or sends them back.
    fn take(&mut self, taker: usize, clock: &impl Clock) -> usize {
        let Self {
            takers,
            attachments,
            sender,
            pool,
            burst,
            counters,
            ..
        } = self;
        let taker = &mut takers[taker];
        let attachment = &mut attachments[taker.place];
        let (mut moved, mut own) = (0, 0);
        if taker.reflects {
            moved += attachment.flush(pool, true, counters);
            if !attachment.is_clear() {
                return moved;
            }
        }
        let asked = self
            .burst_max
            .min(usize::try_from(self.quota).unwrap_or(usize::MAX));
        let frames = attachment.receive(pool, burst, asked, counters);
        let now = clock.kernel();
        if frames != 0 {
            self.quota -= frames as u64;
            own = taker.account(burst.frames(), now);
            counters.add(Count::Signed, own as u64);
            if own < frames {
                taker.answering.look(burst.frames(), pool);
            }
        }
        let hold = Hold {
            attachment,
            pool,
            counters,
        };
        let refused = taker.answer(now, hold);
        if let Some(sender) = sender.as_mut().filter(|own| own.place == taker.place) {
            sender.take_back(refused, counters);
        }
        if frames == 0 {
            taker.looked = now;
            return moved;
        }
        if taker.reflects {
            if own < frames {
                let errors = end_errors(burst, pool);
                counters.add(Count::Consumed, errors as u64);
                taker.ended += errors as u64;
            }
            burst
                .frames_mut()
                .iter_mut()
                .for_each(|frame| turn_around(frame.bytes_mut()));
            if attachment.stage_burst(burst) {
                attachment.flush(pool, true, counters);
            } else {
                counters.drop_frames(DropReason::NoTransmit, burst.len() as u64);
                pool.free_burst(burst);
            }
        } else {
            counters.add(Count::Consumed, frames as u64);
            pool.free_burst(burst);
        }
        moved + frames
    }

    /// The books in the middle of a run: what was made or came in has left, ended here, was
    /// dropped, or waits to leave. Checked after every step of a debug build.
    pub(super) fn accounting_balances(&self) -> bool {
        let staged: usize = self.attachments.iter().map(|own| own.staged.len()).sum();
        let held = self.sender.as_ref().map_or(0, |sender| sender.feed.held());
        let counters = &self.counters;
        let entered = counters.get(Count::Rx) + counters.get(Count::Originated);
        let left =
            counters.get(Count::Tx) + counters.get(Count::Consumed) + counters.dropped_total();
        entered == left + (staged + held) as u64 && self.burst.is_empty()
    }

    /// Whether nothing more will be sent, or, where nobody here sends, come.
    pub(super) fn is_quiet(&self, drains: bool) -> bool {
        let sent = self.sender.as_ref().is_none_or(|sender| {
            let over = drains || sender.quota == 0 || sender.feed.is_over();
            over && self.attachments[sender.place].is_clear()
        });
        let mut open = self
            .takers
            .iter()
            .map(|own| self.attachments[own.place].open);
        let comes = self.waits_for_sources && self.quota != 0 && open.any(|open| open);
        sent && (drains || !comes)
    }

    fn show_quiet(&mut self, drains: bool) {
        let quiet = self.is_quiet(drains);
        if quiet != self.shown_quiet {
            self.shown_quiet = quiet;
            let board = self.control.board(self.id);
            if quiet {
                // Who sees that all is sent must see how much that was: a worker that is kept from
                // its CPU now would have the watch take what came for all of it.
                board.show(&self.counters);
            }
            board.show_exchange(&self.counters, quiet);
        }
    }

    /// Tells the queues that somebody is at work.
    fn beat(&mut self, now: Nanos) {
        for own in &mut self.attachments {
            if let Some(queue) = &mut own.queue {
                queue.beat(now);
            }
        }
    }

    /// Ends the worker's hold on frames after all workers have stopped.
    pub(super) fn abandon(&mut self) {
        let Self {
            attachments,
            pool,
            counters,
            sender,
            ..
        } = self;
        for attachment in attachments {
            attachment.discard_staged(pool, DropReason::Shutdown, counters);
        }
        if let Some(sender) = sender {
            let held = sender.feed.give_up(pool);
            counters.drop_frames(DropReason::Shutdown, held as u64);
        }
    }
}
