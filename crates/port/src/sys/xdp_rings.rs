//! The four rings of one socket and the frames in them: the only place where a frame's address is
//! shown to the kernel, so that the kernel is shown none that is not its own.

use std::io;
use std::os::fd::AsFd;

use frame::{Frame, Lender, Region};

use super::xdp_ring::{ConsumerRing, Descriptor, ProducerRing};
use super::xdp_socket::{RingShapes, XdpSocket};

/// Where the upper part of an address of a received frame begins: in unaligned mode it is the
/// offset from the address that the FILL ring gave.
const OFFSET_SHIFT: u32 = 48;

/// Bytes that the kernel keeps before a received frame (`XDP_PACKET_HEADROOM`).
pub(crate) const KERNEL_HEADROOM_BYTES: u32 = 256;

/// The smallest and largest chunk that the kernel registers: half a page and a page.
const CHUNK_BYTES_MIN: u32 = 2048;
const CHUNK_BYTES_MAX: u32 = 4096;

/// How chunks of a stride are shown to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunks {
    /// Bytes of a chunk as it is registered.
    pub(crate) registered_bytes: u32,
    /// How far before our chunk the registered one begins. The two end together, so the kernel
    /// never writes a frame past our chunk; what lies before is the kernel's headroom.
    pub(crate) lead_bytes: u32,
}

impl Chunks {
    /// The least stride: from it on a received frame begins inside our own chunk.
    pub(crate) const STRIDE_BYTES_MIN: u32 = CHUNK_BYTES_MIN - KERNEL_HEADROOM_BYTES;

    /// For chunks of this many bytes; `None` where they are too short.
    pub(crate) fn of(stride_bytes: u32) -> Option<Self> {
        (stride_bytes >= Self::STRIDE_BYTES_MIN).then(|| {
            let registered_bytes = stride_bytes.clamp(CHUNK_BYTES_MIN, CHUNK_BYTES_MAX);
            Self {
                registered_bytes,
                lead_bytes: registered_bytes.saturating_sub(stride_bytes),
            }
        })
    }

    /// The longest frame that is received into such a chunk.
    pub(crate) fn rx_bytes_max(self) -> u32 {
        self.registered_bytes - KERNEL_HEADROOM_BYTES
    }

    /// The longest frame that the kernel takes from such a chunk.
    pub(crate) fn tx_bytes_max(self) -> u32 {
        self.registered_bytes
    }

    /// The address to give to the FILL ring for a chunk that begins at `start`.
    #[inline(always)]
    fn fill_address(self, start: usize) -> u64 {
        (start - self.lead_bytes as usize) as u64
    }
}

// `fill_address` never goes below the start of the Region, nor before what is mapped.
const _: () = assert!(Region::LEAD_BYTES >= KERNEL_HEADROOM_BYTES as usize);

/// Where the first byte of a received frame lies, from the start of the UMEM.
#[inline(always)]
fn received_at(address: u64) -> usize {
    let base = address & ((1 << OFFSET_SHIFT) - 1);
    (base + (address >> OFFSET_SHIFT)) as usize
}

/// The rings, mapped, and the books of the frames in them.
pub(crate) struct XdpRings {
    fill: ProducerRing<u64>,
    completion: ConsumerRing<u64>,
    rx: ConsumerRing<Descriptor>,
    tx: ProducerRing<Descriptor>,
    lender: Lender,
    chunks: Chunks,
    entries: u32,
    /// Frames lent by FILL and not yet received; at most as many as FILL has places, so that the
    /// worker's pool has a bound to be made for.
    filled: u32,
    /// Entries of the kernel that named no frame it had: never seen, counted lest it goes unseen.
    strange: u64,
}

impl XdpRings {
    pub(crate) fn map(
        socket: &XdpSocket,
        shapes: &RingShapes,
        lender: Lender,
        chunks: Chunks,
    ) -> io::Result<Self> {
        let socket = socket.as_fd();
        Ok(Self {
            fill: ProducerRing::map(socket, shapes.fill)?,
            completion: ConsumerRing::map(socket, shapes.completion)?,
            rx: ConsumerRing::map(socket, shapes.rx)?,
            tx: ProducerRing::map(socket, shapes.tx)?,
            lender,
            chunks,
            entries: shapes.fill.entries,
            filled: 0,
            strange: 0,
        })
    }

    /// Frames in the four rings.
    pub(crate) fn lent(&self) -> u32 {
        self.lender.lent()
    }

    /// Entries of the kernel that named no frame it had.
    pub(crate) fn strange(&self) -> u64 {
        self.strange
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

    /// Takes at most `max` received frames back.
    #[inline]
    pub(crate) fn receive(&mut self, max: u32, mut each: impl FnMut(Frame)) {
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
            each(frame);
        }
        self.rx.release();
    }

    /// Frames that can be sent now, up to `wanted`: TX has places, and with those that wait in
    /// COMPLETION or are with the interface no more are under way than a ring has.
    #[inline(always)]
    pub(crate) fn send_room(&mut self, wanted: u32) -> u32 {
        let under_way = self.lender.lent() - self.filled;
        let allowed = self.entries.saturating_sub(under_way);
        self.tx.room(wanted.min(allowed))
    }

    /// Lends a frame to be sent. The kernel sees it with [`XdpRings::publish_send`].
    ///
    /// # Errors
    /// Gives the frame back when TX has no place, the frame is longer than the kernel takes from
    /// one chunk, or it is of another Region.
    #[inline]
    pub(crate) fn send(&mut self, frame: Frame) -> Result<(), Frame> {
        let len = frame.len() as u32;
        if len > self.chunks.tx_bytes_max() || self.tx.room(1) == 0 {
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
            match self.lender.take_back(received_at(address)) {
                Some(frame) => each(frame),
                None => self.strange += 1,
            }
        }
        self.completion.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registered_chunks_end_where_ours_do_and_hold_the_frame() {
        for stride in (0..20_000).step_by(64) {
            let Some(chunks) = Chunks::of(stride) else {
                assert!(stride < 1792, "{stride}");
                continue;
            };
            let Chunks {
                registered_bytes,
                lead_bytes,
            } = chunks;
            assert!((2048..=4096).contains(&registered_bytes), "{chunks:?}");
            // Frames begin inside our chunk and end inside it.
            assert!(lead_bytes <= KERNEL_HEADROOM_BYTES, "{chunks:?}");
            let end = KERNEL_HEADROOM_BYTES + chunks.rx_bytes_max() - lead_bytes;
            assert!(end <= stride, "{chunks:?}");
            assert_eq!(chunks.fill_address(40_960), u64::from(40_960 - lead_bytes));
        }
        assert_eq!(Chunks::of(1920).unwrap().rx_bytes_max(), 1792);
        assert_eq!(Chunks::of(2112).unwrap().rx_bytes_max(), 1856);
        assert_eq!(Chunks::of(9152).unwrap().rx_bytes_max(), 3840);
    }

    #[test]
    fn an_address_is_a_base_and_an_offset() {
        assert_eq!(received_at(0x1000), 0x1000);
        assert_eq!(received_at(0x1000 | 256 << 48), 0x1100);
        assert_eq!(received_at(u64::MAX), 0xffff_ffff_ffff + 0xffff);
    }
}
