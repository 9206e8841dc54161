//! One ring of an AF_XDP socket: memory shared with the kernel, of which we write one index and the
//! kernel the other (`Documentation/networking/af_xdp.rst`).

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

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

/// The mapping of one ring.
struct Shared<T> {
    start: NonNull<u8>,
    bytes: usize,
    shape: Shape,
    entries: PhantomData<T>,
}

// SAFETY: the memory is shared with the kernel and belongs to no thread; whoever owns this value
// is the only one of this process to use it.
unsafe impl<T: Entry> Send for Shared<T> {}

impl<T: Entry> Shared<T> {
    fn map(socket: BorrowedFd<'_>, shape: Shape) -> io::Result<Self> {
        let indices_end = shape.producer.max(shape.consumer).max(shape.flags) as usize + 4;
        let entries_end = shape.first as usize + shape.entries as usize * size_of::<T>();
        let bytes = indices_end.max(entries_end);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let start = unsafe {
            let offset = shape.page_offset as libc::off_t;
            libc::mmap(
                ptr::null_mut(),
                bytes,
                access,
                flags,
                socket.as_raw_fd(),
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            start,
            bytes,
            shape,
            entries: PhantomData,
        })
    }

    #[inline(always)]
    fn index(&self, offset: u64) -> &AtomicU32 {
        // SAFETY: the kernel gave the offset of an aligned 32-bit index of this ring, which `map`
        // made the mapping reach over; it stays mapped as long as `self` lives, and both sides
        // access it atomically.
        unsafe { AtomicU32::from_ptr(self.start.add(offset as usize).as_ptr().cast()) }
    }

    #[inline(always)]
    fn producer(&self) -> &AtomicU32 {
        self.index(self.shape.producer)
    }

    #[inline(always)]
    fn consumer(&self) -> &AtomicU32 {
        self.index(self.shape.consumer)
    }

    #[inline(always)]
    fn entry(&self, index: u32) -> NonNull<T> {
        let place = (index & (self.shape.entries - 1)) as usize;
        // SAFETY: `place` is below the number of entries, over all of which the mapping reaches.
        unsafe { self.start.add(self.shape.first as usize).cast().add(place) }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `map`, and nobody borrows from a value that is dropped.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// A ring that we fill: FILL and TX.
pub(crate) struct ProducerRing<T: Entry> {
    shared: Shared<T>,
    /// Entries written; those from the shared index on are not shown to the kernel yet.
    written: u32,
    /// The kernel's index as it was last read.
    consumed: u32,
}

impl<T: Entry> ProducerRing<T> {
    pub(crate) fn map(socket: BorrowedFd<'_>, shape: Shape) -> io::Result<Self> {
        Ok(Self {
            shared: Shared::map(socket, shape)?,
            written: 0,
            consumed: 0,
        })
    }

    /// Entries there is room for, up to `wanted`. Reads the kernel's index only where what is known
    /// does not suffice: that line is written on another CPU.
    #[inline]
    pub(crate) fn room(&mut self, wanted: u32) -> u32 {
        let entries = self.shared.shape.entries;
        let mut room = entries - self.written.wrapping_sub(self.consumed);
        if room < wanted {
            // Acquire: the kernel has read the entries that it gives back.
            self.consumed = self.shared.consumer().load(Ordering::Acquire);
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
        unsafe { self.shared.entry(self.written).write(value) };
        self.written = self.written.wrapping_add(1);
    }

    /// Shows the kernel all that was written, by one store.
    #[inline(always)]
    pub(crate) fn publish(&mut self) {
        // Release: the entries, and the bytes they name, come first.
        self.shared
            .producer()
            .store(self.written, Ordering::Release);
    }

    /// Entries that the kernel has not consumed, asked anew.
    #[inline]
    pub(crate) fn waiting(&mut self) -> u32 {
        self.consumed = self.shared.consumer().load(Ordering::Acquire);
        self.written.wrapping_sub(self.consumed)
    }

    /// Whether the kernel asks to be woken.
    #[inline(always)]
    pub(crate) fn needs_wakeup(&self) -> bool {
        let flags = self.shared.index(self.shared.shape.flags);
        flags.load(Ordering::Relaxed) & NEED_WAKEUP != 0
    }
}

/// A ring that the kernel fills: RX and COMPLETION.
pub(crate) struct ConsumerRing<T: Entry> {
    shared: Shared<T>,
    /// Entries read; the kernel learns of it with the next [`ConsumerRing::release`].
    read: u32,
    /// The kernel's index as it was last read.
    produced: u32,
}

impl<T: Entry> ConsumerRing<T> {
    pub(crate) fn map(socket: BorrowedFd<'_>, shape: Shape) -> io::Result<Self> {
        Ok(Self {
            shared: Shared::map(socket, shape)?,
            read: 0,
            produced: 0,
        })
    }

    /// Entries to read, up to `wanted`; the kernel's index is read where fewer are known of.
    #[inline]
    pub(crate) fn available(&mut self, wanted: u32) -> u32 {
        let mut known = self.produced.wrapping_sub(self.read);
        if known < wanted {
            // Acquire: the entries, and what the kernel wrote to the frames they name.
            self.produced = self.shared.producer().load(Ordering::Acquire);
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
        let value = unsafe { self.shared.entry(self.read).read() };
        self.read = self.read.wrapping_add(1);
        Some(value)
    }

    /// Gives the places of all that was read back to the kernel.
    #[inline(always)]
    pub(crate) fn release(&mut self) {
        // Release: the entries have been read.
        self.shared.consumer().store(self.read, Ordering::Release);
    }
}
