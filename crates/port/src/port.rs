//! The two traits every driver implements: the port, and the queue a worker owns of it.

use std::os::fd::BorrowedFd;

use frame::{Burst, FramePool, Nanos, PortId, QueueId, Region};

use crate::interface::{Meter, Monitor};
use crate::{Diversions, Identity, PortError, PortStatistics, QueueLoss, Shortcut, TimeSource};

/// Whether more can come from a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RxState {
    /// More may come, now or later.
    Open,
    /// Nothing will ever come again.
    Ended,
}

/// The control side of a port: opened by one thread, asked for queues before the workers start.
pub trait Port: Send {
    /// The number the port was opened with.
    fn id(&self) -> PortId;

    /// The spec the port was opened by, every choice resolved.
    fn spec(&self) -> &str;

    /// What was granted, as opposed to asked for: "pcap (nanosecond, Ethernet)", "memory".
    fn mode(&self) -> String;

    /// The most queues the port can have; at least one.
    fn queues_max(&self) -> usize;

    /// Whether its source can wait: files and generators lose nothing when they are not polled.
    fn lossless(&self) -> bool {
        false
    }

    /// Whether frames come from it.
    fn rx_source(&self) -> bool {
        true
    }

    /// Whether frames can be sent to it. Where not, [`PortQueue::tx_burst`] takes none.
    fn tx_sink(&self) -> bool {
        true
    }

    /// Whether it writes frames down with their times: who makes frames gives them theirs.
    fn records(&self) -> bool {
        false
    }

    /// The longest frame that can come from it, in bytes without FCS and at most 65,581, as far as
    /// can be known; for choosing a stride before the pools are made. A frame that does not fit its
    /// chunk after all is counted as missed and told by [`PortQueue::finish`].
    fn frame_bytes_max_hint(&self) -> usize;

    /// Tells the port where the frames of this run lie, once, before any queue is opened: drivers
    /// whose kernel side reads and writes frames in place register that memory.
    ///
    /// # Errors
    /// Chunks that the port's frames do not fit.
    fn prepare(&mut self, region: &'static Region) -> Result<(), PortError> {
        let _ = region;
        Ok(())
    }

    /// The most frames that one queue of `of` holds between bursts, in rings of the kernel for
    /// instance: its worker's pool is made larger by as many.
    fn frames_held_max(&self, of: usize) -> u32 {
        let _ = of;
        0
    }

    /// Looks after what changes outside while the run goes on. Called on the control thread, about
    /// ten times a second.
    fn attend(&mut self) {}

    /// Where the times of the frames that it receives come from, so far.
    fn time_source(&self) -> TimeSource {
        TimeSource::default()
    }

    /// What the user should know before the run, a sentence each: offloads that could not be
    /// switched off, a link that is down.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The longest IP packet that its interface carries, bytes: frames have 14 more, and 4 more for
    /// each VLAN tag. `None` where nothing but memory bounds it.
    fn mtu(&self) -> Option<u32> {
        None
    }

    /// Who the port is to hosts, switches and routers at the other end; `None` where nobody there
    /// asks.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// What has the kernel forward by itself what is surely in no list, where that was asked for.
    fn shortcut(&self) -> Option<Shortcut> {
        None
    }

    /// What has the port give workers some of the packets to addresses of the host; `None` where
    /// it leaves the host nothing, or what is its own in any case.
    fn diversions(&self) -> Option<Diversions> {
        None
    }

    /// What looks after the port's interface while its queues are in use; `None` where there is
    /// nothing that could change.
    fn monitor(&self) -> Option<Monitor> {
        None
    }

    /// What reads the counters of the port's interface, before the first frame and after the last;
    /// `None` where no interface of the kernel is behind it.
    fn meter(&self) -> Option<Meter> {
        None
    }

    /// Gives out queue `queue` of `of` in total. Each is given once, and `of` is the same for all.
    ///
    /// # Errors
    /// A queue that does not exist or is taken; an output that cannot be begun.
    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError>;
}

/// One queue of a port, owned by one worker.
///
/// Frames that a queue holds are counted by [`PortQueue::in_flight`]; nothing it is given is
/// dropped silently.
pub trait PortQueue: Send {
    /// Appends up to `max` received frames to `burst`, allocated from `pool`. Never waits. A read
    /// error ends the queue and is kept for [`PortQueue::finish`].
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState;

    /// Makes ready to receive, with memory of `pool` for instance. Called once for each queue, when
    /// all queues of all ports are open: what comes before all of a port's have begun is not its.
    ///
    /// # Errors
    /// The last step of opening the port is refused.
    fn begin(&mut self, pool: &mut FramePool) -> Result<(), PortError> {
        let _ = pool;
        Ok(())
    }

    /// Takes frames from the front of `burst`; those that cannot be sent now stay in it, in order.
    /// Frames that are done with go back to `pool`.
    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool);

    /// Frames that [`PortQueue::tx_burst`] took since the last call and gave up, since they can
    /// never be sent: longer than the interface allows, for instance. The worker counts them as
    /// dropped, not as sent.
    fn take_refused(&mut self) -> u64 {
        0
    }

    /// Returns frames whose transmission is complete to `pool`. Called once a step or more often;
    /// by a worker that sends one burst while it decides on the next, once a burst.
    fn reclaim(&mut self, pool: &mut FramePool) {
        let _ = pool;
    }

    /// Told about once a millisecond that the worker is at work, and of the time: that of the
    /// kernel's monotonic clock. For what forwards without a worker that hangs.
    fn beat(&mut self, now: Nanos) {
        let _ = now;
    }

    /// Told once that the worker is about to end. Whether what has arrived by now should still be
    /// received: nothing more comes, because the kernel forwards without us from here on.
    fn leave(&mut self) -> bool {
        false
    }

    /// What becomes readable when there is something to receive: a worker with nothing to do may
    /// sleep until then. `None` where nothing tells.
    fn wake(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Which round the frames received last are of, where what is received begins anew: a capture
    /// that is read several times. Those of one [`PortQueue::rx_burst`] are all of one round.
    fn rounds(&self) -> u64 {
        0
    }

    /// What passed so far.
    fn statistics(&self) -> PortStatistics;

    /// What became of frames between the interface and the worker, as far as it is counted here.
    /// So far, but for frames in rings, which are those there now. Not for the path of frames.
    fn losses(&mut self) -> Vec<QueueLoss> {
        Vec::new()
    }

    /// Frames the queue holds: sent and not yet complete, in a ring, held back.
    fn in_flight(&self) -> u32 {
        0
    }

    /// Whether transmission has ended for good: nothing more will be accepted, however often it is
    /// tried, because of an error that [`PortQueue::finish`] will tell, or because nobody is at the
    /// other end any more. A worker that waits for room looks here, lest it wait for ever. (That
    /// reception has ended, [`RxState::Ended`] says.)
    fn failed(&self) -> bool {
        false
    }

    /// Writes out what is buffered and closes. Called once, when nothing more will be sent.
    ///
    /// # Errors
    /// What went wrong on the way or at the end. Warnings, a sentence each, are returned else.
    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        Ok(Vec::new())
    }
}

/// So that decorators stand before queues of any driver.
impl<Q: PortQueue + ?Sized> PortQueue for Box<Q> {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        (**self).rx_burst(pool, burst, max)
    }

    fn begin(&mut self, pool: &mut FramePool) -> Result<(), PortError> {
        (**self).begin(pool)
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        (**self).tx_burst(burst, pool);
    }

    fn take_refused(&mut self) -> u64 {
        (**self).take_refused()
    }

    fn reclaim(&mut self, pool: &mut FramePool) {
        (**self).reclaim(pool);
    }

    fn beat(&mut self, now: Nanos) {
        (**self).beat(now);
    }

    fn leave(&mut self) -> bool {
        (**self).leave()
    }

    fn statistics(&self) -> PortStatistics {
        (**self).statistics()
    }

    fn losses(&mut self) -> Vec<QueueLoss> {
        (**self).losses()
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        (**self).wake()
    }

    fn in_flight(&self) -> u32 {
        (**self).in_flight()
    }

    fn failed(&self) -> bool {
        (**self).failed()
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        (**self).finish()
    }
}

/// Whether `queue` of `of` exists in a port with at most `queues_max`.
pub(crate) fn check_queue(
    spec: &str,
    queue: QueueId,
    of: usize,
    queues_max: usize,
) -> Result<(), PortError> {
    let kind = crate::PortErrorKind::Queue;
    if of == 0 || of > queues_max {
        let plural = if queues_max == 1 { "queue" } else { "queues" };
        let sentence = format!("{spec} has at most {queues_max} {plural}, not {of}");
        return Err(PortError::new(kind, sentence));
    }
    if usize::from(queue.0) >= of {
        let sentence = format!(
            "{spec} has no queue {queue}: they are numbered from 0 to {}",
            of - 1
        );
        return Err(PortError::new(kind, sentence));
    }
    Ok(())
}
