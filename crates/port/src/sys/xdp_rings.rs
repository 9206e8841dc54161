//! The four rings of one socket and the frames in them: the only place where a frame's address is
//! shown to the kernel, so that the kernel is shown none that is not its own.

use std::io;
use std::os::fd::AsFd;

use frame::{Frame, Lender, PIECE_BYTES};

use super::xdp_chunks::{CONTINUES, Chunks, Pieces};
use super::xdp_ring::{ConsumerRing, Descriptor, ProducerRing};
use super::xdp_socket::{RingShapes, XdpSocket};

/// Where the upper part of an address of a received frame begins: in unaligned mode it is the
/// offset from the address that the FILL ring gave.
const OFFSET_SHIFT: u32 = 48;

/// Where the first byte of a received frame lies, from the start of the UMEM.
#[inline(always)]
fn received_at(address: u64) -> usize {
    let base = address & ((1 << OFFSET_SHIFT) - 1);
    (base + (address >> OFFSET_SHIFT)) as usize
}

/// The rings of a socket that is not bound yet: the kernel maps them only then.
pub(crate) struct MappedRings {
    fill: ProducerRing<u64>,
    completion: ConsumerRing<u64>,
    rx: ConsumerRing<Descriptor>,
    tx: ProducerRing<Descriptor>,
    entries: u32,
}

impl MappedRings {
    pub(crate) fn map(socket: &XdpSocket, shapes: &RingShapes) -> io::Result<Self> {
        let socket = socket.as_fd();
        Ok(Self {
            fill: ProducerRing::map(socket, shapes.fill)?,
            completion: ConsumerRing::map(socket, shapes.completion)?,
            rx: ConsumerRing::map(socket, shapes.rx)?,
            tx: ProducerRing::map(socket, shapes.tx)?,
            entries: shapes.fill.entries,
        })
    }
}

/// The rings of a bound socket, and the books of the frames in them.
pub(crate) struct XdpRings {
    fill: ProducerRing<u64>,
    completion: ConsumerRing<u64>,
    rx: ConsumerRing<Descriptor>,
    tx: ProducerRing<Descriptor>,
    lender: Lender,
    chunks: Chunks,
    /// Frames may come and go in several pieces.
    several: bool,
    entries: u32,
    /// Frames lent by FILL and not yet received; at most as many as FILL has places, so that the
    /// worker's pool has a bound to be made for.
    filled: u32,
    /// Entries of the kernel that named no frame it had: never seen, counted lest it goes unseen.
    strange: u64,
}

impl XdpRings {
    /// `several`: the socket was bound for frames in several pieces.
    pub(crate) fn new(rings: MappedRings, lender: Lender, chunks: Chunks, several: bool) -> Self {
        Self {
            fill: rings.fill,
            completion: rings.completion,
            rx: rings.rx,
            tx: rings.tx,
            lender,
            chunks,
            several: several && chunks.hold_several_pieces(),
            entries: rings.entries,
            filled: 0,
            strange: 0,
        }
    }

    /// Frames in the four rings.
    pub(crate) fn lent(&self) -> u32 {
        self.lender.lent()
    }

    /// Frames that were given to be sent and of which the kernel has not said that they were.
    pub(crate) fn under_way(&self) -> u32 {
        self.lender.lent().saturating_sub(self.filled)
    }

    /// Entries of the kernel that named no frame it had.
    pub(crate) fn strange(&self) -> u64 {
        self.strange
    }

    /// Places of each ring.
    pub(crate) fn entries(&self) -> u32 {
        self.entries
    }

    /// Frames that FILL lacks.
    #[inline(always)]
    pub(crate) fn fill_wanted(&self) -> u32 {
        self.entries - self.filled
    }

    /// Places that FILL has, up to `wanted`; the kernel gives them back a little after it took
    /// the frames.
    #[inline(always)]
    pub(crate) fn fill_room(&mut self, wanted: u32) -> u32 {
        self.fill.room(wanted.min(self.fill_wanted()))
    }

    /// Lends a frame to be received into. The kernel sees it with [`XdpRings::publish_fill`].
    ///
    /// # Errors
    /// Gives the frame back when FILL has no place, or the frame is of another Region.
    #[inline]
    pub(crate) fn fill(&mut self, frame: Frame) -> Result<(), Frame> {
        if self.fill_room(1) == 0 {
            return Err(frame);
        }
        let headroom = frame.headroom();
        let start = self.lender.lend(frame)? - headroom;
        // SAFETY: there is room; the kernel writes within the registered chunk, behind its own
        // headroom, which is inside our chunk; and that chunk's frame has just been lent.
        unsafe { self.fill.write(self.chunks.fill_address(start)) };
        self.filled += 1;
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn publish_fill(&mut self) {
        self.fill.publish();
    }

    /// Whether the kernel waits to be told that FILL has frames again.
    #[inline(always)]
    pub(crate) fn fill_needs_wakeup(&self) -> bool {
        self.fill.needs_wakeup()
    }

    /// Takes at most `max` received pieces of frames back, most of which are whole frames: each,
    /// and whether its frame goes on in the next.
    #[inline]
    pub(crate) fn receive(&mut self, max: u32, mut each: impl FnMut(Frame, bool)) {
        let count = self.rx.available(max);
        if count == 0 {
            return;
        }
        for _ in 0..count {
            let Some(descriptor) = self.rx.read() else {
                break;
            };
            let Some(mut frame) = self.lender.take_back(received_at(descriptor.address)) else {
                self.strange += 1;
                continue;
            };
            self.filled -= 1;
            if frame.set_len(descriptor.len as usize).is_err() {
                self.strange += 1;
            }
            each(frame, descriptor.options & CONTINUES != 0);
        }
        self.rx.release();
    }

    /// How many of these frames can be sent now, from the front: TX has places for all pieces of
    /// each, and with those that wait in COMPLETION or are with the interface no more frames are
    /// under way than a ring has places.
    #[inline(always)]
    pub(crate) fn send_room(&mut self, frames: &[Frame]) -> usize {
        let allowed = self.entries.saturating_sub(self.under_way());
        let wanted = allowed.min(frames.len() as u32);
        if self.several {
            self.send_room_in_pieces(&frames[..wanted as usize])
        } else {
            self.tx.room(wanted) as usize
        }
    }

    fn send_room_in_pieces(&mut self, frames: &[Frame]) -> usize {
        let mut places = 0;
        let mut fits = |frame: &&Frame| {
            places += frame.len().div_ceil(PIECE_BYTES) as u32;
            self.tx.room(places) == places
        };
        frames.iter().take_while(|frame| fits(frame)).count()
    }

    /// Lends a frame to be sent. The kernel sees it with [`XdpRings::publish_send`], and never a
    /// part of it.
    ///
    /// # Errors
    /// Gives the frame back when TX has no place for it, the frame is longer than the kernel takes,
    /// or it is of another Region.
    #[inline]
    pub(crate) fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let len = frame.len() as u32;
        if len > self.chunks.tx_bytes_max() {
            return self.send_pieces(frame);
        }
        if self.tx.room(1) == 0 {
            return Err(frame);
        }
        let address = self.lender.lend(frame)? as u64;
        let descriptor = Descriptor {
            address,
            len,
            options: 0,
        };
        // SAFETY: there is room; the frame's bytes are the kernel's from here on, since the frame
        // has just been lent.
        unsafe { self.tx.write(descriptor) };
        Ok(())
    }

    /// By several descriptors, each of a page at most.
    #[inline(never)]
    fn send_pieces(&mut self, frame: Frame) -> Result<(), Frame> {
        let pieces = Pieces::of(frame.len());
        let places = pieces.len() as u32;
        if !self.several || self.tx.room(places) < places {
            return Err(frame);
        }
        let start = self.lender.lend_pieces(frame)? as u64;
        // SAFETY: the frame's bytes, which the descriptors part among them, are the kernel's from
        // here on, since the frame has just been lent in as many pieces.
        let written = unsafe { self.tx.write_all(pieces.at(start)) };
        debug_assert!(written, "there was room");
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn publish_send(&mut self) {
        self.tx.publish();
    }

    #[inline(always)]
    pub(crate) fn send_needs_wakeup(&self) -> bool {
        self.tx.needs_wakeup()
    }

    /// Frames in TX that the kernel has not looked at.
    #[inline]
    pub(crate) fn send_waiting(&mut self) -> u32 {
        self.tx.waiting()
    }

    /// Frames in RX that nobody has received.
    pub(crate) fn unread(&mut self) -> u64 {
        let count = self.rx.available(self.entries);
        let descriptors = (0..count).map_while(|place| self.rx.peek(place));
        let last_pieces = descriptors.filter(|descriptor| descriptor.options & CONTINUES == 0);
        last_pieces.count() as u64
    }

    /// Takes every frame back, when the interface is gone: the kernel has then let go of the
    /// memory of each device it knew before it says that the socket is unbound.
    pub(crate) fn take_all_back(&mut self, socket: &XdpSocket, each: impl FnMut(Frame)) {
        if socket.is_unbound() {
            self.lender.take_all_back(each);
            self.filled = 0;
        }
    }

    /// Takes at most `max` frames back whose transmission is complete.
    #[inline]
    pub(crate) fn complete(&mut self, max: u32, mut each: impl FnMut(Frame)) {
        let count = self.completion.available(max);
        if count == 0 {
            return;
        }
        for _ in 0..count {
            let Some(address) = self.completion.read() else {
                break;
            };
            let place = received_at(address);
            match self.lender.take_back(place) {
                Some(frame) => each(frame),
                None => self.complete_piece(place, &mut each),
            }
        }
        self.completion.release();
    }

    /// A piece of a frame has been sent, or an entry is strange.
    #[inline(never)]
    fn complete_piece(&mut self, place: usize, mut each: impl FnMut(Frame)) {
        match self.lender.take_back_piece(place) {
            Ok(Some(frame)) => each(frame),
            Ok(None) => {}
            Err(_) => self.strange += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_base_and_an_offset() {
        assert_eq!(received_at(0x1000), 0x1000);
        assert_eq!(received_at(0x1000 | 256 << 48), 0x1100);
        assert_eq!(received_at(u64::MAX), 0xffff_ffff_ffff + 0xffff);
    }
}
