//! A worker's queue of a port: one socket for each queue of the interface that is its share.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use frame::{Burst, FramePool};

use super::program::Steering;
use super::ready::Ready;
use super::socket::Bound;
use super::spec::XdpSpec;
use crate::sys::xdp_rings::XdpRings;
use crate::sys::xdp_socket::{KernelDrops, XdpSocket};
use crate::{PortError, PortQueue, PortStatistics, RxState};

/// FILL is topped up once it lacks this many frames: a burst of the pool's arithmetic and one store
/// of the index that the kernel's CPU reads, not one of each a frame.
const REFILL_MIN: u32 = 64;

/// An Ethernet header: the kernel's paths take nothing shorter.
const FRAME_BYTES_MIN: usize = 14;

/// At the end: how often what still waits in TX is kicked, and for how long in between.
const FINISH_TRIES: u32 = 50;
const FINISH_NAP: Duration = Duration::from_millis(1);

/// One socket and what it did.
struct Member {
    socket: Arc<XdpSocket>,
    rings: XdpRings,
    /// As last read: an interface that is gone does not answer.
    drops: std::cell::Cell<KernelDrops>,
}

pub(super) struct XdpQueue {
    spec: String,
    /// At least one. Frames leave by the first.
    members: Vec<Member>,
    /// The member that is received from first.
    turn: usize,
    /// Keeps the program attached, and the interface ready, until the last queue is gone.
    steering: Arc<Steering>,
    _ready: Arc<Ready>,
    /// Whether this queue tells of what concerns the whole port.
    speaks: bool,
    busy_poll: bool,
    /// Lengths of frames that the interface carries, bytes.
    carries: RangeInclusive<usize>,
    /// Frames on their way between a pool and a ring; empty between calls.
    spare: Burst,
    statistics: PortStatistics,
    /// Frames that the interface cannot carry, and how many of them the worker knows of.
    refused: u64,
    refused_told: u64,
}

impl XdpQueue {
    pub(super) fn new(
        sockets: Vec<Bound>,
        (steering, ready): (Arc<Steering>, Arc<Ready>),
        speaks: bool,
        spec: &XdpSpec,
        frame_bytes_max: usize,
    ) -> Self {
        let member = |bound: Bound| Member {
            socket: bound.socket,
            rings: bound.rings,
            drops: std::cell::Cell::default(),
        };
        Self {
            spec: format!("xdp:{}", spec.interface),
            members: sockets.into_iter().map(member).collect(),
            turn: 0,
            steering,
            _ready: ready,
            speaks,
            busy_poll: spec.busy_poll_micros != 0,
            carries: FRAME_BYTES_MIN..=frame_bytes_max,
            spare: Burst::new(),
            statistics: PortStatistics::default(),
            refused: 0,
            refused_told: 0,
        }
    }
}

impl PortQueue for XdpQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let end = burst.len() + max.min(burst.room());
        let members = self.members.len();
        for _ in 0..members {
            let member = &mut self.members[self.turn];
            member.refill(pool, &mut self.spare);
            if self.busy_poll {
                // Refused while the link is down; nothing comes then, and nothing else follows.
                let _nothing_to_do = member.socket.wake_receive();
            }
            member.receive(burst, end, &mut self.statistics);
            self.turn = (self.turn + 1) % members;
            if burst.len() == end {
                break;
            }
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let Some(member) = self.members.first_mut() else {
            return;
        };
        let mut room = member.rings.send_room(burst.len() as u32);
        if (room as usize) < burst.len() {
            member.complete(pool, &mut self.spare);
            room = member.rings.send_room(burst.len() as u32);
        }
        for frame in burst.drain_front(room as usize) {
            let bytes = frame.len();
            let sent = if !self.carries.contains(&bytes) {
                Err(frame)
            } else {
                member.rings.send(frame)
            };
            match sent {
                Ok(()) => {
                    self.statistics.tx_frames += 1;
                    self.statistics.tx_bytes += bytes as u64;
                }
                Err(frame) => {
                    self.refused += 1;
                    pool.free(frame);
                }
            }
        }
        member.rings.publish_send();
        member.kick();
    }

    fn take_refused(&mut self) -> u64 {
        let refused = self.refused - self.refused_told;
        self.refused_told = self.refused;
        refused
    }

    fn reclaim(&mut self, pool: &mut FramePool) {
        if let Some(member) = self.members.first_mut() {
            member.complete(pool, &mut self.spare);
            member.kick();
        }
    }

    fn statistics(&self) -> PortStatistics {
        PortStatistics {
            missed: self.members.iter().map(|member| member.drops().rx).sum(),
            ..self.statistics
        }
    }

    fn in_flight(&self) -> u32 {
        self.members.iter().map(|member| member.rings.lent()).sum()
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        for _ in 0..FINISH_TRIES {
            let waiting = |member: &mut Member| {
                member.kick();
                member.rings.send_waiting() != 0
            };
            if !self.members.first_mut().is_some_and(waiting) {
                break;
            }
            sleep(FINISH_NAP);
        }
        Ok(self.warnings())
    }
}

impl XdpQueue {
    fn warnings(&self) -> Vec<String> {
        let spec = &self.spec;
        let mut warnings = Vec::new();
        let mut warn = |frames: u64, what: &str| {
            if frames != 0 {
                warnings.push(format!("{spec}: {frames} {what}"));
            }
        };
        warn(
            self.refused,
            "frames sent here were too long or too short for it; compare the MTUs of both ports",
        );
        let wrong = |member: &Member| member.rings.strange() + member.drops().invalid;
        warn(
            self.members.iter().map(wrong).sum(),
            "entries of the kernel's rings were not understood, which is a bug; please report it",
        );
        if self.speaks {
            warn(
                self.steering.unclaimed().unwrap_or(0),
                "frames came on queues that this port does not have, or before it was ready; give \
                 it all queues of the interface",
            );
        }
        warnings
    }
}

impl Member {
    /// Lends empty frames to the kernel, as many as FILL lacks and the pool has.
    #[inline]
    fn refill(&mut self, pool: &mut FramePool, spare: &mut Burst) {
        if self.rings.fill_wanted() < REFILL_MIN {
            return;
        }
        loop {
            let room = self.rings.fill_room(frame::BURST_MAX as u32) as usize;
            if room == 0 || pool.alloc_burst(spare, room) == 0 {
                break;
            }
            for frame in spare.drain() {
                if let Err(frame) = self.rings.fill(frame) {
                    pool.free(frame);
                }
            }
            self.rings.publish_fill();
        }
        if self.rings.fill_needs_wakeup() {
            let _nothing_to_do = self.socket.wake_receive();
        }
    }

    /// Moves received frames to `burst` until it has `end`.
    #[inline]
    fn receive(&mut self, burst: &mut Burst, end: usize, statistics: &mut PortStatistics) {
        let max = (end - burst.len()) as u32;
        self.rings.receive(max, |frame| {
            statistics.rx_frames += 1;
            statistics.rx_bytes += frame.len() as u64;
            // A VLAN tag that the driver took off lies before the frame, once the program puts it
            // there: this is where it goes into the record beside the frame.
            let fits = burst.push(frame);
            debug_assert!(fits.is_ok(), "no more than there is room for was asked for");
        });
    }

    /// Frees frames that have been sent.
    #[inline]
    fn complete(&mut self, pool: &mut FramePool, spare: &mut Burst) {
        loop {
            let room = spare.room() as u32;
            self.rings.complete(room, |frame| {
                let fits = spare.push(frame);
                debug_assert!(fits.is_ok(), "no more than there is room for was asked for");
            });
            let full = spare.room() == 0;
            pool.free_burst(spare);
            if !full {
                break;
            }
        }
    }

    /// Has the kernel send what waits in TX. One call sends a bounded number of frames and says
    /// EAGAIN when there are more, but also when the interface takes none: as long as it gets on it
    /// is called again, and else in the next step. A single call a burst once stalled a TCP
    /// transfer for good.
    #[inline]
    fn kick(&mut self) {
        let mut waiting = self.rings.send_waiting();
        while waiting != 0 && self.rings.send_needs_wakeup() {
            match self.socket.wake_transmit() {
                Err(error) if comes_again(&error) => {}
                // Done, or the interface is down or gone: frames stay in the ring, and once it is
                // full those behind are dropped and counted by the worker.
                _ => break,
            }
            let before = waiting;
            waiting = self.rings.send_waiting();
            if waiting == before {
                break;
            }
        }
    }

    /// Frames the kernel dropped at this socket.
    fn drops(&self) -> KernelDrops {
        if let Ok(drops) = self.socket.kernel_drops() {
            self.drops.set(drops);
        }
        self.drops.get()
    }
}

/// Whether a transmit call found more to send than it may at once, or too much under way.
fn comes_again(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR)
    )
}
