//! The ring into which the kernel writes records, mapped into memory.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use super::perf_event::Counter;

const PAGE_BYTES: usize = 4096;
/// Where the first page has what the kernel has written (`data_head`) and what we have read
/// (`data_tail`), both counted from the start and never wrapped.
const HEAD: usize = 1024;
const TAIL: usize = 1032;
/// Of a record: its kind, flags and size.
const HEADER_BYTES: usize = 8;

/// A ring of records of one counter and those that joined it.
#[derive(Debug)]
pub(crate) struct Ring {
    start: NonNull<u8>,
    /// Behind the first page; a power of two.
    data_bytes: usize,
    record: Vec<u8>,
}

impl Ring {
    /// For the records of `counter`; `pages` is a power of two.
    pub(crate) fn of(counter: &Counter, pages: usize) -> io::Result<Self> {
        let data_bytes = pages * PAGE_BYTES;
        // SAFETY: the kernel chooses where the mapping lies, so it replaces none of ours.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                PAGE_BYTES + data_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                counter.descriptor(),
                0,
            )
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self {
                start,
                data_bytes,
                record: Vec::new(),
            }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Calls `each` with every record that the kernel has written, header and all.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        let head = self.word(HEAD).load(Ordering::Acquire);
        let mut tail = self.word(TAIL).load(Ordering::Relaxed);
        let mut record = std::mem::take(&mut self.record);
        while let Some(size) = self.size_of_record(tail, head) {
            record.resize(size, 0);
            self.copy(tail, &mut record);
            each(&record);
            tail += size as u64;
        }
        self.record = record;
        // The kernel may overwrite what lies before this from now on.
        self.word(TAIL).store(head, Ordering::Release);
    }

    /// None at the end, and where what stands there is no record.
    fn size_of_record(&self, at: u64, head: u64) -> Option<usize> {
        let left = head
            .checked_sub(at)
            .filter(|&left| left <= self.data_bytes as u64)? as usize;
        if left < HEADER_BYTES {
            return None;
        }
        let mut header = [0; HEADER_BYTES];
        self.copy(at, &mut header);
        let size = usize::from(u16::from_ne_bytes([header[6], header[7]]));
        (HEADER_BYTES..=left).contains(&size).then_some(size)
    }

    /// Copies what stands `at` and behind, which goes on at the start where the ring ends.
    fn copy(&self, at: u64, to: &mut [u8]) {
        let from = at as usize & (self.data_bytes - 1);
        let first = to.len().min(self.data_bytes - from);
        let (before, behind) = to.split_at_mut(first);
        for (from, to) in [(from, before), (0, behind)] {
            debug_assert!(from + to.len() <= self.data_bytes);
            // SAFETY: the range lies in the mapping behind the first page, which is ours until we
            // are dropped; the kernel does not write between tail and head, where it lies.
            unsafe {
                let from = self.start.as_ptr().add(PAGE_BYTES + from);
                ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len());
            }
        }
    }

    /// A word of the first page that the kernel shares with us.
    fn word(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: `offset` is a multiple of 8 in the first page of the mapping, which lives as long
        // as `self`; both sides touch these words by atomic accesses alone.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and as long as this; nobody has a reference into it any more.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), PAGE_BYTES + self.data_bytes);
        }
    }
}
