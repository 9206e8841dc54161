//! One ring of an AF_XDP socket: memory shared with the kernel, of which we write one index and the
//! kernel the other (`Documentation/networking/af_xdp.rst`).

#[cfg(all(test, loom))]
mod loom_tests;
mod mapped;

use std::io;
use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;

pub(crate) use mapped::Mapped;

/// The flag by which the kernel asks to be woken (`XDP_RING_NEED_WAKEUP`).
const NEED_WAKEUP: u32 = libc::XDP_RING_NEED_WAKEUP;

/// What a frame's place and length are in the receive and transmit rings (`struct xdp_desc`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Descriptor {
    /// From the start of the UMEM; on receive with the offset in the upper 16 bits.
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) len: u32,
    /// `XDP_PKT_CONTD` and such.
    pub(crate) options: u32,
}

/// What a ring may hold: plain numbers, of which any bytes are some.
pub(crate) trait Entry: Copy {}
impl Entry for u64 {}
impl Entry for Descriptor {}

/// Where the parts of a ring lie in its mapping, and how large it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Entries: a power of two.
    pub(crate) entries: u32,
    /// The offset at which the socket's file shows this ring.
    pub(crate) page_offset: u64,
    pub(crate) producer: u64,
    pub(crate) consumer: u64,
    pub(crate) flags: u64,
    pub(crate) first: u64,
}

/// The words that both sides share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    /// Entries ever written.
    Producer,
    /// Entries ever read.
    Consumer,
    Flags,
}

/// What a ring is made of: a mapping of the kernel's, or in a model of its rules what sees every
/// access.
pub(crate) trait Memory<T> {
    /// Places: a power of two.
    fn entries(&self) -> u32;
    fn load(&self, index: Index, ordering: Ordering) -> u32;
    fn store(&self, index: Index, value: u32, ordering: Ordering);

    /// Writes the entry at an index, which wraps around.
    ///
    /// # Safety
    /// The other side does not read it before the producer's index says that it may.
    unsafe fn write(&self, index: u32, value: T);

    /// Reads the entry at an index.
    ///
    /// # Safety
    /// The producer has published it, and does not write it before the consumer's index says that
    /// it may.
    unsafe fn read(&self, index: u32) -> T;
}

/// A ring that we fill: FILL and TX.
pub(crate) struct ProducerRing<T: Entry, M: Memory<T> = Mapped<T>> {
    shared: M,
    of: PhantomData<T>,
    /// Entries written; those from the shared index on are not shown to the kernel yet.
    written: u32,
    /// The kernel's index as it was last read.
    consumed: u32,
}

impl<T: Entry> ProducerRing<T> {
    pub(crate) fn map(socket: BorrowedFd<'_>, shape: Shape) -> io::Result<Self> {
        Mapped::map(socket, shape).map(Self::new)
    }
}

impl<T: Entry, M: Memory<T>> ProducerRing<T, M> {
    fn new(shared: M) -> Self {
        Self {
            shared,
            of: PhantomData,
            written: 0,
            consumed: 0,
        }
    }

    /// Entries there is room for, up to `wanted`. Reads the kernel's index only where what is known
    /// does not suffice: that line is written on another CPU.
    #[inline]
    pub(crate) fn room(&mut self, wanted: u32) -> u32 {
        let entries = self.shared.entries();
        let mut room = entries - self.written.wrapping_sub(self.consumed);
        if room < wanted {
            // Acquire: the kernel has read the entries that it gives back.
            self.consumed = self.shared.load(Index::Consumer, Ordering::Acquire);
            room = entries.saturating_sub(self.written.wrapping_sub(self.consumed));
        }
        room.min(wanted)
    }

    /// Writes the next entry, which the kernel sees with the next [`ProducerRing::publish`].
    ///
    /// # Safety
    /// There is [`ProducerRing::room`] for it, and the memory that the entry names is the kernel's
    /// until it gives it back.
    #[inline(always)]
    pub(crate) unsafe fn write(&mut self, value: T) {
        // SAFETY: the kernel has consumed this place, as the caller knows, and does not read it
        // again before it is published.
        unsafe { self.shared.write(self.written, value) };
        self.written = self.written.wrapping_add(1);
    }

    /// Writes the entries of one frame, all of them, or none where there is no room for all: what
    /// [`ProducerRing::publish`] shows is whole frames, whenever it is called.
    ///
    /// # Safety
    /// As for [`ProducerRing::write`], of each entry.
    #[inline]
    pub(crate) unsafe fn write_all(&mut self, entries: impl ExactSizeIterator<Item = T>) -> bool {
        let count = entries.len() as u32;
        if self.room(count) < count {
            return false;
        }
        for entry in entries {
            // SAFETY: there is room for all; the rest is the caller's.
            unsafe { self.write(entry) };
        }
        true
    }

    /// Shows the kernel all that was written, by one store.
    #[inline(always)]
    pub(crate) fn publish(&mut self) {
        // Release: the entries, and the bytes they name, come first.
        self.shared
            .store(Index::Producer, self.written, Ordering::Release);
    }

    /// Entries that the kernel has not consumed, asked anew.
    #[inline]
    pub(crate) fn waiting(&mut self) -> u32 {
        self.consumed = self.shared.load(Index::Consumer, Ordering::Acquire);
        self.written.wrapping_sub(self.consumed)
    }

    /// Whether the kernel asks to be woken.
    #[inline(always)]
    pub(crate) fn needs_wakeup(&self) -> bool {
        self.shared.load(Index::Flags, Ordering::Relaxed) & NEED_WAKEUP != 0
    }
}

/// A ring that the kernel fills: RX and COMPLETION.
pub(crate) struct ConsumerRing<T: Entry, M: Memory<T> = Mapped<T>> {
    shared: M,
    of: PhantomData<T>,
    /// Entries read; the kernel learns of it with the next [`ConsumerRing::release`].
    read: u32,
    /// The kernel's index as it was last read.
    produced: u32,
}

impl<T: Entry> ConsumerRing<T> {
    pub(crate) fn map(socket: BorrowedFd<'_>, shape: Shape) -> io::Result<Self> {
        Mapped::map(socket, shape).map(Self::new)
    }
}

impl<T: Entry, M: Memory<T>> ConsumerRing<T, M> {
    fn new(shared: M) -> Self {
        Self {
            shared,
            of: PhantomData,
            read: 0,
            produced: 0,
        }
    }

    /// Entries to read, up to `wanted`; the kernel's index is read where fewer are known of.
    #[inline]
    pub(crate) fn available(&mut self, wanted: u32) -> u32 {
        let mut known = self.produced.wrapping_sub(self.read);
        if known < wanted {
            // Acquire: the entries, and what the kernel wrote to the frames they name.
            self.produced = self.shared.load(Index::Producer, Ordering::Acquire);
            known = self.produced.wrapping_sub(self.read);
        }
        known.min(wanted)
    }

    /// The next entry, where one is known of by [`ConsumerRing::available`].
    #[inline(always)]
    pub(crate) fn read(&mut self) -> Option<T> {
        if self.read == self.produced {
            return None;
        }
        // SAFETY: the kernel has published this entry and does not write it again before it is
        // released; any bytes are a `T`.
        let value = unsafe { self.shared.read(self.read) };
        self.read = self.read.wrapping_add(1);
        Some(value)
    }

    /// The entry so many places behind the next one, which stays to be read; where one is known of.
    pub(crate) fn peek(&self, places: u32) -> Option<T> {
        if places >= self.produced.wrapping_sub(self.read) {
            return None;
        }
        // SAFETY: as for `read`: published, and not released before it is read.
        Some(unsafe { self.shared.read(self.read.wrapping_add(places)) })
    }

    /// Gives the places of all that was read back to the kernel.
    #[inline(always)]
    pub(crate) fn release(&mut self) {
        // Release: the entries have been read.
        self.shared
            .store(Index::Consumer, self.read, Ordering::Release);
    }
}
