//! One socket of a queue, and what goes through its rings in each step.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use frame::{BURST_MAX, Burst, Frame, FramePool};

use super::gather::Gather;
use super::socket::Bound;
use super::umem::Granted;
use crate::sys::xdp_rings::XdpRings;
use crate::sys::xdp_socket::{KernelDrops, XdpSocket};
use crate::{Loss, PortStatistics};

/// FILL is topped up once it lacks this many frames: a burst of the pool's arithmetic and one store
/// of the index that the kernel's CPU reads, not one of each a frame. Smaller rings do not wait
/// until they lack so many: a frame in three pieces is dropped where two are left, for ever.
const REFILL_MIN: u32 = 64;
const REFILL_PART: u32 = 4;

pub(super) struct Member {
    socket: Arc<XdpSocket>,
    rings: XdpRings,
    gather: Gather,
    refill_min: u32,
    granted: Granted,
    /// As last read: an interface that is gone does not answer.
    drops: Cell<KernelDrops>,
}

impl Member {
    pub(super) fn new(bound: Bound) -> Self {
        Self {
            socket: bound.socket,
            granted: bound.granted,
            refill_min: REFILL_MIN.min(bound.rings.entries() / REFILL_PART),
            rings: bound.rings,
            gather: Gather::default(),
            drops: Cell::default(),
        }
    }

    /// Lends empty frames to the kernel, as many as FILL lacks and the pool has.
    #[inline]
    pub(super) fn refill(&mut self, pool: &mut FramePool, spare: &mut Burst) {
        if self.rings.fill_wanted() < self.refill_min {
            return;
        }
        loop {
            let room = self.rings.fill_room(BURST_MAX as u32) as usize;
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
    pub(super) fn receive(
        &mut self,
        burst: &mut Burst,
        end: usize,
        pool: &mut FramePool,
        statistics: &mut PortStatistics,
    ) {
        let max = (end - burst.len()) as u32;
        let gather = &mut self.gather;
        self.rings.receive(max, |piece, continues| {
            let Some(frame) = gather.take(piece, continues, pool) else {
                return;
            };
            statistics.rx_frames += 1;
            statistics.rx_bytes += frame.len() as u64;
            let fits = burst.push(frame);
            debug_assert!(fits.is_ok(), "no more than there is room for was asked for");
        });
    }

    /// Frees frames that have been sent.
    #[inline]
    pub(super) fn complete(&mut self, pool: &mut FramePool, spare: &mut Burst) {
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
    pub(super) fn kick(&mut self) {
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

    /// Takes a frame to be sent; those it does not carry come back.
    #[inline]
    pub(super) fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        self.rings.send(frame)
    }

    /// How many of these frames can be sent now, from the front; where that is not all, frames
    /// that have been sent make room first.
    #[inline]
    pub(super) fn make_room(
        &mut self,
        frames: &[Frame],
        pool: &mut FramePool,
        spare: &mut Burst,
    ) -> usize {
        let room = self.rings.send_room(frames);
        if room == frames.len() {
            return room;
        }
        self.complete(pool, spare);
        self.rings.send_room(frames)
    }

    /// Shows the kernel what was taken to be sent, and has it send.
    #[inline]
    pub(super) fn publish(&mut self) {
        self.rings.publish_send();
        self.kick();
    }

    /// Descriptors that the kernel has not looked at.
    pub(super) fn waiting(&mut self) -> u32 {
        self.rings.send_waiting()
    }

    /// Frames in the rings, and what has come of one in pieces.
    pub(super) fn held(&self) -> u32 {
        self.rings.lent() + self.gather.held()
    }

    /// Frames that fitted no chunk.
    pub(super) fn too_long(&self) -> u64 {
        let drops = self.drops();
        drops.dropped - self.without_chunk(drops) + self.gather.too_long()
    }

    /// Of those that the kernel dropped, frames for which there was no empty chunk.
    fn without_chunk(&self, drops: KernelDrops) -> u64 {
        // A socket that takes frames in pieces takes any length.
        match self.granted {
            Granted { several: true, .. } => drops.dropped,
            Granted {
                zero_copy: true, ..
            } => 0,
            _ => drops.dropped.min(drops.fill_empty),
        }
    }

    /// Receives on this CPU, where busy polling was asked for.
    #[inline]
    pub(super) fn poll(&self) {
        // Refused while the link is down; nothing comes then, and nothing else follows.
        let _nothing_to_do = self.socket.wake_receive();
    }

    /// Entries of the rings that one side did not understand: a bug.
    pub(super) fn misunderstood(&self) -> u64 {
        self.rings.strange() + self.drops().invalid
    }

    /// What becomes readable when a frame is there.
    pub(super) fn wake(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether the interface is gone, and the socket with it.
    pub(super) fn is_unbound(&self) -> bool {
        self.socket.is_unbound()
    }

    /// Frames that were given to be sent and of which the kernel has not said that they were.
    pub(super) fn under_way(&self) -> u32 {
        self.rings.under_way()
    }

    /// Frees the frames in the rings, where the kernel has let go of them.
    pub(super) fn free_all(&mut self, pool: &mut FramePool) {
        self.gather.give_up(pool);
        self.rings
            .take_all_back(&self.socket, |frame| pool.free(frame));
    }

    /// Frames that were there to receive and were not: dropped by the kernel, or too long.
    pub(super) fn missed(&self) -> u64 {
        let drops = self.drops();
        drops.dropped + drops.ring_full + self.gather.too_long()
    }

    /// What became of frames at this socket, once nothing is received or sent any more.
    pub(super) fn losses(&mut self) -> [(Loss, u64); 6] {
        let drops = self.drops();
        [
            (Loss::FillRingEmpty, self.without_chunk(drops)),
            (Loss::RxRingFull, drops.ring_full),
            (Loss::TooLong, self.too_long()),
            (Loss::Unread, self.unread()),
            (Loss::TxRingLeft, u64::from(self.rings.send_waiting())),
            (Loss::TxInvalid, drops.tx_invalid),
        ]
    }

    /// Frames that came and were not received: those in the ring, and one of which a part was
    /// received, where the rest is not in the ring either.
    fn unread(&mut self) -> u64 {
        self.rings.unread().max(u64::from(self.gather.held()))
    }

    /// Frames the kernel dropped at this socket.
    pub(super) fn drops(&self) -> KernelDrops {
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
