//! One queue: receives from its ring, sends by its socket, and comes back when its interface does.

use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use frame::{Burst, Frame, FrameMeta, FramePool, PortId, QueueId};

use super::attached::{AttachError, Attached};
use super::receive::{Taking, Unfit, fill};
use super::shared::Shared;
use super::spec::Fanout;
use crate::interface::{Counts, Watch};
use crate::{Loss, PortError, PortErrorKind, PortQueue, PortStatistics, QueueLoss, RxState};

/// What the kernel counted on sockets of this queue.
#[derive(Debug, Clone, Copy, Default)]
struct Kernel {
    /// Frames meant for the queue, dropped ones among them, on the socket it has now.
    packets: u64,
    /// Dropped because the ring was full, on all sockets it had.
    dropped: u64,
    /// Of those, on the socket it has now.
    dropped_here: u64,
}

/// So often in a row nothing is taken of a burst until its first frame is given up, so that a
/// capture with a frame that the driver never takes comes to an end.
const FRUITLESS_MAX: u32 = 1 << 14;

pub(super) struct PacketQueue {
    shared: Arc<Shared>,
    port: PortId,
    queue: QueueId,
    /// Whether other queues share the interface.
    shares: bool,
    /// `None` while the interface is away.
    attached: Option<Attached>,
    counts: Counts,
    kernel: Cell<Kernel>,
    /// Refusals not yet told to the worker.
    untold: u64,
    /// Taken from the worker, and dropped by the queueing discipline at once.
    qdisc: u64,
    /// Attempts to send since the last one of which something was taken.
    fruitless: u32,
    watch: Watch,
    /// Changes that the control side told of and that were looked at.
    changes: u32,
}

impl PacketQueue {
    pub(super) fn open(
        shared: Arc<Shared>,
        port: PortId,
        queue: QueueId,
        shares: bool,
        spec: &str,
    ) -> Result<Self, PortError> {
        let attached = shared.attach(shares).map_err(|error| {
            let sentence = match error {
                AttachError::Absent(error) => {
                    format!("{spec} went away while it was opened: {error}")
                }
                AttachError::Step(what, error) => {
                    format!("{spec}: the kernel does not let us {what}: {error}")
                }
            };
            PortError::new(PortErrorKind::Open, sentence)
        })?;
        Ok(Self {
            changes: shared.signal.changes(),
            shared,
            port,
            queue,
            shares,
            attached: Some(attached),
            counts: Counts::default(),
            kernel: Cell::default(),
            untold: 0,
            qdisc: 0,
            fruitless: 0,
            watch: Watch::default(),
        })
    }

    /// Looks after the interface where the control side saw a change.
    #[inline]
    fn heed(&mut self) {
        let changes = self.shared.signal.changes();
        if self.changes != changes {
            self.changes = changes;
            self.look();
        }
    }

    /// Nothing came, or nothing could leave: now and then that is because the interface is down,
    /// gone or another one. A worker that only sends asks for nothing else.
    fn in_vain(&mut self) {
        if self.watch.in_vain() {
            self.look();
        }
    }

    /// An interface that goes down and up again is found again by the kernel itself; one that was
    /// removed leaves sockets that are good for nothing.
    #[cold]
    fn look(&mut self) {
        let index = self.shared.interface.index().ok();
        if let Some(attached) = &self.attached {
            let error = attached.ring.socket().take_error();
            self.counts.downs += u64::from(error.is_some());
            // One that was made anew may have the number of the one before.
            if index == Some(attached.index) && attached.is_bound() {
                return;
            }
            self.detach();
        }
        if index.is_some() {
            self.come_back();
        }
    }

    fn come_back(&mut self) {
        match self.shared.attach(self.shares) {
            Ok(attached) => {
                self.counts.returns += 1;
                self.attached = Some(attached);
                self.watch.succeeded();
            }
            // Gone again in this moment: no failure.
            Err(AttachError::Absent(_)) => {}
            Err(AttachError::Step(what, error)) => {
                self.counts.failures += 1;
                self.counts.failure = Some(format!("{what}: {error}"));
                self.watch.failed();
            }
        }
    }

    /// Lets the sockets go; what nobody read of the ring is counted.
    fn detach(&mut self) {
        self.ask_kernel();
        let Some(attached) = self.attached.take() else {
            return;
        };
        let mut kernel = self.kernel.get();
        let reached = kernel.packets.saturating_sub(kernel.dropped_here);
        self.counts.unread += reached.saturating_sub(attached.taken);
        (kernel.packets, kernel.dropped_here) = (0, 0);
        self.kernel.set(kernel);
    }

    /// The kernel's counters begin anew with each question.
    fn ask_kernel(&self) {
        let Some(attached) = &self.attached else {
            return;
        };
        if let Ok((packets, dropped)) = attached.ring.socket().take_statistics() {
            let mut kernel = self.kernel.get();
            kernel.packets += u64::from(packets);
            kernel.dropped += u64::from(dropped);
            kernel.dropped_here += u64::from(dropped);
            self.kernel.set(kernel);
        }
    }

    /// Sends what can be sent from the front; `false` where the rest must wait.
    fn send(&mut self, burst: &mut Burst, pool: &mut FramePool) -> bool {
        let Some(attached) = &mut self.attached else {
            return false;
        };
        // One a call where a refusal is the end of a frame: of several the kernel does not say
        // whose it was.
        let at_once = if self.shared.qdisc { 1 } else { burst.len() };
        match attached.sender.send(&burst.frames()[..at_once]) {
            Ok(count) => {
                self.taken(count, burst, pool);
                count > 0
            }
            Err(error) => self.not_sent(&error, burst, pool),
        }
    }

    /// The kernel took the first `count` frames.
    fn taken(&mut self, count: usize, burst: &mut Burst, pool: &mut FramePool) {
        let sent = &burst.frames()[..count];
        let bytes = sent.iter().map(|frame| frame.len() as u64).sum::<u64>();
        self.counts.passed.tx_frames += count as u64;
        self.counts.passed.tx_bytes += bytes;
        self.fruitless = 0;
        if count == burst.len() {
            pool.free_burst(burst);
        } else {
            burst.drain_front(count).for_each(|frame| pool.free(frame));
        }
    }

    /// Whether to go on after an error: yes if it is the first frame's own, which is given up.
    #[cold]
    fn not_sent(&mut self, error: &io::Error, burst: &mut Burst, pool: &mut FramePool) -> bool {
        match error.raw_os_error() {
            Some(libc::EINTR) => true,
            Some(libc::ENOBUFS) if self.shared.qdisc => {
                self.qdisc += 1;
                self.taken(1, burst, pool);
                true
            }
            Some(libc::EAGAIN | libc::ENOBUFS) => self.not_taken(error, burst, pool),
            // Down or gone: looked at soon.
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => {
                self.watch.hurry();
                self.in_vain();
                false
            }
            _ => {
                self.give_up_first(error, burst, pool);
                true
            }
        }
    }

    /// The driver's queue is full, nobody is at the other end, or the driver drops the first frame
    /// whenever it gets it, as veth does where the other end carries none that long; the error is
    /// the same. In the last case a shorter one passes; else the rest must wait.
    fn not_taken(&mut self, error: &io::Error, burst: &mut Burst, pool: &mut FramePool) -> bool {
        if self.shorter_passes(burst, pool) {
            if !self.first_passes(burst, pool) {
                self.give_up_first(error, burst, pool);
            }
            return true;
        }
        self.fruitless += 1;
        let in_vain = self.fruitless == FRUITLESS_MAX;
        if in_vain {
            self.fruitless = 0;
            // The driver's answer is the same whether the frame or the wire is at fault.
            let no_link = io::Error::from_raw_os_error(libc::ENETDOWN);
            let is_up = self.shared.interface.link().is_up();
            self.give_up_first(if is_up { error } else { &no_link }, burst, pool);
        }
        in_vain
    }

    /// Tries the next frame that is shorter than the first; the others keep their order.
    fn shorter_passes(&mut self, burst: &mut Burst, pool: &mut FramePool) -> bool {
        let frames = burst.frames_mut();
        let first = frames.first().map_or(0, Frame::len);
        let Some(at) = frames.iter().position(|frame| frame.len() < first) else {
            return false;
        };
        frames[..=at].rotate_right(1);
        let passes = self.first_passes(burst, pool);
        if !passes {
            burst.frames_mut()[..=at].rotate_left(1);
        }
        passes
    }

    fn first_passes(&mut self, burst: &mut Burst, pool: &mut FramePool) -> bool {
        let Some(attached) = &mut self.attached else {
            return false;
        };
        let passes = attached.sender.send(&burst.frames()[..1]).is_ok();
        if passes {
            self.taken(1, burst, pool);
        }
        passes
    }

    fn give_up_first(&mut self, error: &io::Error, burst: &mut Burst, pool: &mut FramePool) {
        self.counts
            .refuse_while(self.shared.interface.link(), error);
        self.untold += 1;
        burst.drain_front(1).for_each(|frame| pool.free(frame));
    }
}

impl PortQueue for PacketQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        self.heed();
        let Some(attached) = &mut self.attached else {
            self.in_vain();
            return RxState::Open;
        };
        let meta = FrameMeta {
            port: self.port,
            queue: match self.shared.fanout {
                Fanout::Flow => self.queue,
                // The kernel counts from 1, and 0 is for those whose driver told none.
                Fanout::Queue => QueueId(self.queue.0.wrapping_sub(1)),
            },
            ..FrameMeta::default()
        };
        if let Some(clock) = &mut attached.clock {
            clock.follow();
        }
        let taking = Taking {
            sees_outgoing: attached.sees_outgoing,
            clock: attached.clock.as_ref(),
            meta,
        };
        let (before, taken) = (burst.len(), attached.taken);
        let mut empty = None;
        for _ in 0..max.min(burst.room()) {
            let Some(mut frame) = empty.take().or_else(|| pool.alloc()) else {
                break;
            };
            let Some(received) = attached.ring.next() else {
                empty = Some(frame);
                break;
            };
            attached.taken += 1;
            match fill(&mut frame, &received, &taking) {
                Ok(finished) => {
                    if finished {
                        self.counts.checksums += 1;
                        self.shared.signal.checksums_left();
                    }
                    self.counts.passed.rx_bytes += frame.len() as u64;
                    empty = burst.push(frame).err();
                }
                Err(unfit) => {
                    match unfit {
                        Unfit::Merged => self.counts.merged += 1,
                        Unfit::TooLong => self.counts.too_long += 1,
                        Unfit::Outgoing => {}
                    }
                    empty = Some(frame);
                }
            }
        }
        if let Some(frame) = empty {
            pool.free(frame);
        }
        self.counts.passed.rx_frames += (burst.len() - before) as u64;
        if attached.taken == taken {
            self.in_vain();
        }
        RxState::Open
    }

    fn begin(&mut self, pool: &mut FramePool) -> Result<(), PortError> {
        let room = pool.alloc().map(|frame| {
            let room = frame.capacity();
            pool.free(frame);
            room
        });
        room.into_iter().for_each(|room| self.shared.has_room(room));
        Ok(())
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        self.heed();
        if self.attached.is_none() {
            self.in_vain();
        }
        while !burst.is_empty() && self.send(burst, pool) {}
    }

    fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.untold)
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        let attached = self.attached.as_ref()?;
        Some(attached.ring.socket().as_fd())
    }

    fn statistics(&self) -> PortStatistics {
        self.ask_kernel();
        self.counts.statistics(self.kernel.get().dropped)
    }

    fn losses(&mut self) -> Vec<QueueLoss> {
        self.ask_kernel();
        let taken = self.attached.as_ref().map_or(0, |attached| attached.taken);
        let kernel = self.kernel.get();
        let reached = kernel.packets.saturating_sub(kernel.dropped_here);
        let unread = self.counts.unread + reached.saturating_sub(taken);
        let counts = [
            (Loss::RxRingFull, self.kernel.get().dropped),
            (Loss::Merged, self.counts.merged),
            (Loss::TooLong, self.counts.too_long),
            (Loss::Unread, unread),
            (Loss::Qdisc, self.qdisc),
        ];
        QueueLoss::some(Some(u32::from(self.queue.0)), counts).collect()
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        self.detach();
        let (interface, signal) = (&self.shared.interface, &self.shared.signal);
        interface
            .mtu()
            .into_iter()
            .for_each(|mtu| signal.saw_mtu(mtu));
        let dropped = self.kernel.get().dropped;
        Ok(self.counts.explained(interface.name(), dropped, signal))
    }
}
