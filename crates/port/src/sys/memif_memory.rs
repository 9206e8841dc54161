//! Memory shared with the peer of a `memif:` port, who may change any byte of it at any time.
//!
//! Nothing here lends a reference to it: bytes are copied in and out by accesses that the compiler
//! takes as they stand, words of rings are atomic, and every place is held against the length of
//! the mapping. The file cannot shrink under the mapping: one that could is not mapped.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};

/// The most bytes of one region: offsets have 32 bits.
pub(crate) const REGION_BYTES_MAX: u64 = 1 << 32;
/// A ring's head: cookie, flags and head index, then the tail index on a line of its own.
pub(crate) const RING_HEAD_BYTES: usize = 128;
pub(crate) const DESCRIPTOR_BYTES: usize = 16;
/// What a ring begins with.
pub(crate) const COOKIE: u32 = 0x03E3_1F20;

const FLAGS_AT: usize = 4;
const HEAD_AT: usize = 6;
const TAIL_AT: usize = 64;
/// Consumers that poll set it: they want no interrupt.
const MASK_INTERRUPT: u16 = 1;
/// `statfs` of files in shared memory.
const TMPFS: libc::c_long = libc::TMPFS_MAGIC;

/// One mapping of a file that both sides have.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to no thread, and its bytes are only accessed by volatile and atomic
// operations.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

/// A file of the peer's that is not mapped, and why.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It has no such seal as keeps it from shrinking, or is no memory file.
    MayShrink,
    /// It has fewer bytes than it should, or none, or too many.
    Size,
    Refused(io::Error),
}

impl SharedMemory {
    /// New memory, zeroed, and its file, which has that size for ever.
    pub(crate) fn create(bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // SAFETY: the name is a string that ends with 0; nothing else is passed.
        let fd = unsafe { libc::memfd_create(c"memif region".as_ptr(), flags) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was made just now and is nobody else's.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: no memory is passed.
        let done = unsafe {
            libc::ftruncate(fd, bytes as libc::off_t) == 0
                && libc::fcntl(fd, libc::F_ADD_SEALS, seals) == 0
        };
        if !done {
            return Err(io::Error::last_os_error());
        }
        Ok((Self::map(fd, bytes)?, file))
    }

    /// Maps a file that the peer made, where nobody can take the memory away again: touching what
    /// is beyond the end of a file ends the process.
    pub(crate) fn open(file: BorrowedFd<'_>, bytes: u64) -> Result<Self, Unfit> {
        let fd = file.as_raw_fd();
        let (mut status, mut system) = (
            // SAFETY: zero is a value of every field.
            unsafe { std::mem::zeroed::<libc::stat>() },
            // SAFETY: zero is a value of every field.
            unsafe { std::mem::zeroed::<libc::statfs>() },
        );
        // SAFETY: the kernel writes one structure to each of the two.
        let known = unsafe {
            libc::fstat(fd, &raw mut status) == 0 && libc::fstatfs(fd, &raw mut system) == 0
        };
        if !known {
            return Err(Unfit::Refused(io::Error::last_os_error()));
        }
        // SAFETY: no memory is passed.
        let seals = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
        // Huge pages (hugetlbfs) can run out when a hole that the peer punched is touched again.
        let plain = system.f_type as libc::c_long == TMPFS;
        if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 || !plain {
            return Err(Unfit::MayShrink);
        }
        if bytes == 0 || bytes > REGION_BYTES_MAX || bytes > status.st_size as u64 {
            return Err(Unfit::Size);
        }
        Self::map(fd, bytes as usize).map_err(Unfit::Refused)
    }

    fn map(fd: libc::c_int, bytes: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start: NonNull<u8> = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: the range was mapped just now and is nobody else's; a refusal is as good.
        unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
        Ok(Self { start, bytes })
    }

    /// As [`SharedMemory::create`], of the heap: Miri, which looks at every access, has no files.
    #[cfg(miri)]
    pub(crate) fn of_heap(bytes: usize) -> Self {
        let layout = Self::layout(bytes);
        // SAFETY: the layout has some bytes.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
        let start = start.unwrap_or_else(|| std::alloc::handle_alloc_error(layout));
        Self { start, bytes }
    }

    #[cfg(miri)]
    fn layout(bytes: usize) -> std::alloc::Layout {
        std::alloc::Layout::from_size_align(bytes.max(1), 4096).expect("a size that fits")
    }

    /// Whether the range lies within.
    #[inline(always)]
    pub(crate) fn has(&self, offset: u32, len: u32) -> bool {
        offset as usize + len as usize <= self.bytes
    }

    /// Begins to load the bytes at an offset.
    #[inline(always)]
    pub(crate) fn prefetch(&self, offset: u32) {
        frame::prefetch::read(self.start.as_ptr().wrapping_add(offset as usize));
    }

    /// Copies bytes out; `false` where they lie outside.
    #[inline]
    pub(crate) fn read(&self, offset: u32, into: &mut [u8]) -> bool {
        let fits = offset as usize + into.len() <= self.bytes;
        if fits {
            // SAFETY: `offset..offset + len` lies in the mapping, which lives as long as `self`;
            // `into` is the caller's alone, and no reference to the mapping exists.
            unsafe {
                copy(
                    self.start.as_ptr().add(offset as usize),
                    into.as_mut_ptr(),
                    into.len(),
                );
            };
        }
        fits
    }

    /// Copies bytes in; `false` where their place lies outside.
    #[inline]
    pub(crate) fn write(&self, offset: u32, from: &[u8]) -> bool {
        let fits = offset as usize + from.len() <= self.bytes;
        if fits {
            // SAFETY: as in `read`, the other way round.
            unsafe {
                copy(
                    from.as_ptr(),
                    self.start.as_ptr().add(offset as usize),
                    from.len(),
                );
            };
        }
        fits
    }

    /// The ring at an offset; `None` where it does not lie within, or not aligned.
    pub(crate) fn ring(self: &Arc<Self>, offset: u32, log2_entries: u8) -> Option<MappedRing> {
        let bytes = RING_HEAD_BYTES + DESCRIPTOR_BYTES.checked_shl(u32::from(log2_entries))?;
        let aligned = (offset as usize).is_multiple_of(DESCRIPTOR_BYTES);
        if log2_entries > 15 || !aligned || offset as usize + bytes > self.bytes {
            return None;
        }
        Some(MappedRing {
            // SAFETY: the offset lies in the mapping.
            start: unsafe { self.start.add(offset as usize) },
            entries: 1 << log2_entries,
            _memory: Arc::clone(self),
        })
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length; rings keep the value alive.
        #[cfg(not(miri))]
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.bytes)
        };
        // SAFETY: of `of_heap`, the only one there is under Miri, with this layout.
        #[cfg(miri)]
        unsafe {
            std::alloc::dealloc(self.start.as_ptr(), Self::layout(self.bytes));
        }
    }
}

/// Copies 64 bytes.
///
/// By inline assembly, which the compiler neither splits nor merges nor repeats: a volatile access
/// to as many bytes in Rust becomes one of a byte each, with which forwarding was 0.55 times as
/// fast as testpmd's.
///
/// # Safety
/// Both ranges have so many bytes that may be read and written by this thread.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn copy_64(from: *const u8, to: *mut u8) {
    // SAFETY: touches 64 bytes from each of the two addresses on, which are the caller's.
    unsafe {
        core::arch::asm!(
            "movdqu {a}, [{from}]",
            "movdqu {b}, [{from} + 16]",
            "movdqu {c}, [{from} + 32]",
            "movdqu {d}, [{from} + 48]",
            "movdqu [{to}], {a}",
            "movdqu [{to} + 16], {b}",
            "movdqu [{to} + 32], {c}",
            "movdqu [{to} + 48], {d}",
            from = in(reg) from,
            to = in(reg) to,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// Copies from 16 to 64 bytes: from both ends, of which the halves may overlap.
///
/// # Safety
/// As for [`copy_64`], of `len` bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn copy_16_to_64(from: *const u8, to: *mut u8, len: usize) {
    let middle = if len > 32 { 16 } else { 0 };
    // SAFETY: touches 16 bytes at 0, `middle`, `len - 16 - middle` and `len - 16`, which lie in the
    // first `len`: there are 16, and more than 32 where `middle` is 16.
    unsafe {
        core::arch::asm!(
            "movdqu {a}, [{from}]",
            "movdqu {b}, [{from} + {middle}]",
            "movdqu {c}, [{from} + {before}]",
            "movdqu {d}, [{from} + {last}]",
            "movdqu [{to}], {a}",
            "movdqu [{to} + {middle}], {b}",
            "movdqu [{to} + {before}], {c}",
            "movdqu [{to} + {last}], {d}",
            from = in(reg) from,
            to = in(reg) to,
            middle = in(reg) middle,
            before = in(reg) len - 16 - middle,
            last = in(reg) len - 16,
            a = out(xmm_reg) _,
            b = out(xmm_reg) _,
            c = out(xmm_reg) _,
            d = out(xmm_reg) _,
            options(nostack, preserves_flags),
        );
    }
}

/// Copies bytes of which one side is shared memory; nothing beyond the ends is touched.
///
/// # Safety
/// Both ranges have `len` bytes that may be read and written by this thread; they do not overlap.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: every part lies within the first `len` bytes of both.
    unsafe {
        match len {
            65.. => {
                let last = len - 64;
                for at in (0..last).step_by(64) {
                    copy_64(from.add(at), to.add(at));
                }
                copy_64(from.add(last), to.add(last));
            }
            16.. => copy_16_to_64(from, to, len),
            _ => copy_by_bytes(from, to, len),
        }
    }
}

/// The same where nobody has written it for the machine: words where both sides are aligned.
///
/// # Safety
/// As above.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    let aligned = from.cast::<u64>().is_aligned() && to.cast::<u64>().is_aligned();
    let words = if aligned { len / 8 } else { 0 };
    // SAFETY: the words and the bytes behind them are the first `len` bytes of both.
    unsafe {
        for at in 0..words {
            let word = from.cast::<u64>().add(at).read_volatile();
            to.cast::<u64>().add(at).write_volatile(word);
        }
        copy_by_bytes(from.add(words * 8), to.add(words * 8), len - words * 8);
    }
}

/// Copies a few bytes.
///
/// # Safety
/// As above.
unsafe fn copy_by_bytes(from: *const u8, to: *mut u8, len: usize) {
    for at in 0..len {
        // SAFETY: `at` is below `len`. Volatile: the other side may change what is read and read
        // what is written at any time.
        unsafe { to.add(at).write_volatile(from.add(at).read_volatile()) };
    }
}

/// The two indices of a ring. The follower writes the head, the leader the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    Head,
    Tail,
}

/// One buffer in a ring (`memif_desc_t`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) flags: u16,
    pub(crate) region: u16,
    /// Bytes.
    pub(crate) len: u32,
    /// From the start of the region.
    pub(crate) offset: u32,
    pub(crate) metadata: u32,
}

impl Descriptor {
    /// As two words in the byte order of the machine, as they lie in memory.
    pub(crate) fn words(self) -> [u64; 2] {
        let ([a, b], [c, d]) = (self.flags.to_ne_bytes(), self.region.to_ne_bytes());
        let [e, f, g, h] = self.len.to_ne_bytes();
        let first = u64::from_ne_bytes([a, b, c, d, e, f, g, h]);
        let ([a, b, c, d], [e, f, g, h]) = (self.offset.to_ne_bytes(), self.metadata.to_ne_bytes());
        [first, u64::from_ne_bytes([a, b, c, d, e, f, g, h])]
    }

    pub(crate) fn from_words(words: [u64; 2]) -> Self {
        let [a, b, c, d, e, f, g, h] = words[0].to_ne_bytes();
        let [i, j, k, l, m, n, o, p] = words[1].to_ne_bytes();
        Self {
            flags: u16::from_ne_bytes([a, b]),
            region: u16::from_ne_bytes([c, d]),
            len: u32::from_ne_bytes([e, f, g, h]),
            offset: u32::from_ne_bytes([i, j, k, l]),
            metadata: u32::from_ne_bytes([m, n, o, p]),
        }
    }
}

/// What a ring is made of: shared memory, or in a model of its rules what sees every access. What
/// is read may be any bits.
pub(crate) trait RingMemory {
    /// Places: a power of two, at most 32,768.
    fn entries(&self) -> u16;
    fn load(&self, index: Index, ordering: Ordering) -> u16;
    fn store(&self, index: Index, value: u16, ordering: Ordering);
    /// The descriptor at an index, which wraps around.
    fn read(&self, index: u16) -> Descriptor;
    fn write(&self, index: u16, value: Descriptor);
}

/// A ring in shared memory, which stays mapped as long as this is there.
#[derive(Debug)]
pub(crate) struct MappedRing {
    start: NonNull<u8>,
    entries: u16,
    _memory: Arc<SharedMemory>,
}

// SAFETY: the memory is mapped as long as `self` lives and is only accessed atomically.
unsafe impl Send for MappedRing {}

impl MappedRing {
    #[inline(always)]
    fn half(&self, at: usize) -> &AtomicU16 {
        // SAFETY: `at` is one of three constants in the head of the ring, which lies in the
        // mapping and is aligned; both sides access the word whole. An atomic may be changed by
        // others.
        unsafe { AtomicU16::from_ptr(self.start.add(at).as_ptr().cast()) }
    }

    #[inline(always)]
    fn words(&self, index: u16) -> [&AtomicU64; 2] {
        let place = usize::from(index & (self.entries - 1));
        // SAFETY: `place` is below the number of entries, which all lie in the mapping, aligned.
        unsafe {
            let at = self.start.add(RING_HEAD_BYTES + place * DESCRIPTOR_BYTES);
            let first: *mut u64 = at.as_ptr().cast();
            [
                AtomicU64::from_ptr(first),
                AtomicU64::from_ptr(first.add(1)),
            ]
        }
    }

    /// Whether it begins as a ring does.
    pub(crate) fn has_cookie(&self) -> bool {
        // SAFETY: the word is the first of the ring, in the mapping and aligned.
        unsafe { self.start.cast::<u32>().read_volatile() == COOKIE }
    }

    /// Makes it an empty ring: for the side whose memory it is, before the other has it.
    pub(crate) fn initialise(&self) {
        // SAFETY: as in `has_cookie`.
        unsafe { self.start.cast::<u32>().write_volatile(COOKIE) };
        self.half(FLAGS_AT).store(0, Ordering::Relaxed);
        self.half(HEAD_AT).store(0, Ordering::Relaxed);
        self.half(TAIL_AT).store(0, Ordering::Release);
    }

    /// For the receiver: whether its peer should write to the interrupt file of this ring.
    pub(crate) fn ask_for_interrupts(&self, wanted: bool) {
        let flags = if wanted { 0 } else { MASK_INTERRUPT };
        // All that the peer writes behind this store it writes knowing of it: SeqCst, since what
        // is read next is the index.
        self.half(FLAGS_AT).store(flags, Ordering::SeqCst);
        std::sync::atomic::fence(Ordering::SeqCst);
    }

    /// For the sender, behind the store of its index: whether the receiver wants an interrupt.
    #[inline(always)]
    pub(crate) fn wants_interrupt(&self) -> bool {
        std::sync::atomic::fence(Ordering::SeqCst);
        self.half(FLAGS_AT).load(Ordering::Relaxed) & MASK_INTERRUPT == 0
    }
}

impl RingMemory for MappedRing {
    #[inline(always)]
    fn entries(&self) -> u16 {
        self.entries
    }

    #[inline(always)]
    fn load(&self, index: Index, ordering: Ordering) -> u16 {
        self.half(index.at()).load(ordering)
    }

    #[inline(always)]
    fn store(&self, index: Index, value: u16, ordering: Ordering) {
        self.half(index.at()).store(value, ordering);
    }

    #[inline(always)]
    fn read(&self, index: u16) -> Descriptor {
        Descriptor::from_words(self.words(index).map(|word| word.load(Ordering::Relaxed)))
    }

    #[inline(always)]
    fn write(&self, index: u16, value: Descriptor) {
        for (word, value) in self.words(index).into_iter().zip(value.words()) {
            word.store(value, Ordering::Relaxed);
        }
    }
}

impl Index {
    #[inline(always)]
    const fn at(self) -> usize {
        match self {
            Self::Head => HEAD_AT,
            Self::Tail => TAIL_AT,
        }
    }
}
