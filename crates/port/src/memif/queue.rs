//! One queue: takes up connections as they come, receives and sends by their rings.

use std::cell::Cell;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use frame::{Burst, FrameMeta, FramePool, PortId, QueueId};

use super::ring::Fault;
use super::shared::Shared;
use super::transfer::{Receiver, Sender};
use crate::interface::{Counts, LONGER_STRIDE};
use crate::sys::memif_bell::Bell;
use crate::{PortError, PortQueue, PortStatistics, RxState};

/// At the end of a run a peer may be behind: it is waited for so often.
const NAPS_MAX: u32 = 200;
const NAP: Duration = Duration::from_micros(500);

pub(super) struct MemifQueue {
    shared: Arc<Shared>,
    /// Driver and socket, for people.
    name: String,
    port: PortId,
    queue: QueueId,
    /// The version of [`Shared`] that `link` is of.
    version: u32,
    /// `None` while no peer is there.
    link: Option<Link>,
    counts: Counts,
    /// Connections that there were.
    connections: u64,
    /// What the last peer did that is against the rules, and how often some did.
    faults: (u64, Option<Fault>),
    /// Frames that needed more buffers than there are.
    endless: u64,
    /// Refusals not yet told to the worker.
    untold: u64,
    /// What wakes a peer that sleeps; `None` where the kernel does not let us, or none slept yet.
    bell: Option<Bell>,
}

struct Link {
    receiver: Receiver,
    sender: Sender,
    /// The peer is asked to interrupt us.
    asked: Cell<bool>,
    /// Interrupts of the peer can be had, and raised, without waiting for it.
    clears: bool,
    rings: bool,
}

impl MemifQueue {
    pub(super) fn new(shared: Arc<Shared>, name: String, port: PortId, queue: QueueId) -> Self {
        Self {
            shared,
            name,
            port,
            queue,
            version: 0,
            link: None,
            counts: Counts::default(),
            connections: 0,
            faults: (0, None),
            endless: 0,
            untold: 0,
            bell: None,
        }
    }

    /// Takes up the newest connection, if it is not the one that is in use.
    #[inline]
    fn follow(&mut self) {
        let queue = usize::from(self.queue.0);
        if let Some(offered) = self.shared.fetch(queue, &mut self.version) {
            self.link = offered.map(|link| {
                let clears = link.rx.interrupt.clear();
                Link {
                    receiver: Receiver::new(link.rx),
                    sender: Sender::new(link.tx),
                    asked: Cell::new(false),
                    clears,
                    rings: true,
                }
            });
            self.connections += u64::from(self.link.is_some());
        }
    }

    /// Parts with a peer that breaks the rules; the control side tells it.
    #[cold]
    fn part(&mut self, fault: Fault) {
        self.link = None;
        self.faults = (self.faults.0 + 1, Some(fault));
        self.shared.accuse(self.version, fault);
    }
}

impl Link {
    /// Back from a sleep, or from one that might have been.
    #[cold]
    fn awake(&mut self, busy: bool) {
        self.clears = self.receiver.direction.interrupt.clear();
        if busy {
            let ring = &self.receiver.direction.ring;
            ring.memory().ask_for_interrupts(false);
            self.asked.set(false);
        }
    }

    /// Wakes the peer if it wants to be.
    #[inline]
    fn interrupt(&mut self, bell: &mut Option<Bell>) {
        if self.sender.direction.ring.memory().wants_interrupt() && self.rings {
            self.raise(bell);
        }
    }

    #[cold]
    fn raise(&mut self, bell: &mut Option<Bell>) {
        if bell.is_none() {
            *bell = Bell::new().ok();
        }
        let interrupt = &self.sender.direction.interrupt;
        self.rings = bell.as_mut().is_some_and(|bell| bell.ring(interrupt));
    }
}

impl PortQueue for MemifQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        self.follow();
        let Some(link) = &mut self.link else {
            return RxState::Open;
        };
        let meta = FrameMeta {
            port: self.port,
            queue: self.queue,
            ..FrameMeta::default()
        };
        let before = burst.len();
        let outcome = link
            .receiver
            .receive(pool, burst, max, meta, &mut self.counts);
        if link.asked.get() {
            link.awake(burst.len() != before);
        }
        if let Err(fault) = outcome {
            self.part(fault);
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        self.follow();
        let Some(link) = &mut self.link else {
            return;
        };
        match link.sender.send(burst.frames(), &mut self.counts) {
            Ok((0, _)) => {}
            Ok((done, refused)) => {
                link.interrupt(&mut self.bell);
                self.untold += refused;
                self.endless += refused;
                if done == burst.len() {
                    pool.free_burst(burst);
                } else {
                    burst.drain_front(done).for_each(|frame| pool.free(frame));
                }
            }
            Err(fault) => self.part(fault),
        }
    }

    fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.untold)
    }

    /// Asks the peer for interrupts, which the next reception that brings something ends. What
    /// comes in between is seen by the second look, after which the worker does not sleep long.
    fn wake(&self) -> Option<BorrowedFd<'_>> {
        let link = self.link.as_ref().filter(|link| link.clears)?;
        let direction = &link.receiver.direction;
        if !link.asked.replace(true) {
            direction.ring.memory().ask_for_interrupts(true);
        }
        let nothing = !direction.ring.is_waiting();
        nothing.then(|| direction.interrupt.as_fd())
    }

    fn statistics(&self) -> PortStatistics {
        self.counts.statistics(0)
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        if let Some(link) = &mut self.link {
            // What the peer has not read goes with the connection.
            let ring = &mut link.sender.direction.ring;
            let mut naps = 0..NAPS_MAX;
            while ring.outstanding() > 0 && naps.next().is_some() {
                std::thread::sleep(NAP);
            }
        }
        let mut warnings = self.counts.warnings(&self.name, 0, LONGER_STRIDE);
        if self.connections > 1 && self.queue.0 == 0 {
            let (name, count) = (&self.name, self.connections);
            warnings.push(format!("{name}: a peer came {count} times"));
        }
        if self.endless > 0 {
            let (name, count) = (&self.name, self.endless);
            warnings.push(format!(
                "{name}: {count} frames needed more buffers than a ring has and could not be sent; \
                 give the follower larger ones: buffer=BYTES (bsize= of DPDK)"
            ));
        }
        if let (count, Some(fault)) = self.faults {
            let (name, why) = (&self.name, fault.reason());
            warnings.push(format!(
                "{name}: the peer was parted with {count} times because it broke the rules of the \
                 interface, the last time: {why}"
            ));
        }
        Ok(warnings)
    }
}
