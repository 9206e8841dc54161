//! The memory of a ring as the kernel maps it.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Entry, Index, Memory, Shape};

/// The mapping of one ring.
pub(crate) struct Mapped<T> {
    start: NonNull<u8>,
    bytes: usize,
    shape: Shape,
    entries: PhantomData<T>,
}

// SAFETY: the memory is shared with the kernel and belongs to no thread; whoever owns this value
// is the only one of this process to use it.
unsafe impl<T: Entry> Send for Mapped<T> {}

impl<T: Entry> Mapped<T> {
    pub(super) fn map(socket: BorrowedFd<'_>, shape: Shape) -> io::Result<Self> {
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
    fn index(&self, index: Index) -> &AtomicU32 {
        let offset = match index {
            Index::Producer => self.shape.producer,
            Index::Consumer => self.shape.consumer,
            Index::Flags => self.shape.flags,
        };
        // SAFETY: the kernel gave the offset of an aligned 32-bit index of this ring, which `map`
        // made the mapping reach over; it stays mapped as long as `self` lives, and both sides
        // access it atomically.
        unsafe { AtomicU32::from_ptr(self.start.add(offset as usize).as_ptr().cast()) }
    }

    #[inline(always)]
    fn entry(&self, index: u32) -> NonNull<T> {
        let place = (index & (self.shape.entries - 1)) as usize;
        // SAFETY: `place` is below the number of entries, over all of which the mapping reaches.
        unsafe { self.start.add(self.shape.first as usize).cast().add(place) }
    }
}

impl<T: Entry> Memory<T> for Mapped<T> {
    #[inline(always)]
    fn entries(&self) -> u32 {
        self.shape.entries
    }

    #[inline(always)]
    fn load(&self, index: Index, ordering: Ordering) -> u32 {
        self.index(index).load(ordering)
    }

    #[inline(always)]
    fn store(&self, index: Index, value: u32, ordering: Ordering) {
        self.index(index).store(value, ordering);
    }

    #[inline(always)]
    unsafe fn write(&self, index: u32, value: T) {
        // SAFETY: the place is inside the mapping; the other side does not read it, as the caller
        // knows.
        unsafe { self.entry(index).write(value) };
    }

    #[inline(always)]
    unsafe fn read(&self, index: u32) -> T {
        // SAFETY: the place is inside the mapping; the other side does not write it, as the caller
        // knows, and any bytes are a `T`.
        unsafe { self.entry(index).read() }
    }
}

impl<T> Drop for Mapped<T> {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `map`, and nobody borrows from a value that is dropped.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
