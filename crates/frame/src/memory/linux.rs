//! Memory from the Linux kernel: the only file of this crate that makes system calls.

use core::ptr::{self, NonNull};

use libc::{c_int, c_long, c_ulong, c_void};

use crate::{
    ids::NodeId,
    memory::{HUGE_PAGE_BYTES, Pages, SMALL_PAGE_BYTES},
};

fn errno() -> i32 {
    std::io::Error::last_os_error()
        .raw_os_error()
        .unwrap_or(libc::EINVAL)
}

/// Zeroed, private memory, or the error number. For huge pages of either kind `bytes` is a multiple
/// of [`HUGE_PAGE_BYTES`] and the memory begins at such a boundary.
pub(super) fn map(bytes: usize, pages: Pages) -> Result<NonNull<u8>, i32> {
    match pages {
        Pages::Explicit2M => anonymous(bytes, libc::MAP_HUGETLB | libc::MAP_HUGE_2MB),
        Pages::Small => {
            let start = anonymous(bytes, 0)?;
            // SAFETY: the range was mapped just now and is nobody else's. Kernels without huge
            // pages refuse, which is as good.
            unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_NOHUGEPAGE) };
            Ok(start)
        }
        Pages::Transparent => {
            let start = aligned(bytes)?;
            // SAFETY: the range was mapped just now and is nobody else's.
            let advised =
                unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
            if advised == 0 {
                return Ok(start);
            }
            let refused = errno();
            // SAFETY: as above; the mapping is not handed out.
            unsafe { unmap(start, bytes) };
            Err(refused)
        }
    }
}

fn anonymous(bytes: usize, flags: c_int) -> Result<NonNull<u8>, i32> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(errno());
    }
    NonNull::new(start.cast()).ok_or(libc::ENOMEM)
}

/// Maps a huge page more than asked for and gives back what lies before and behind the alignment.
fn aligned(bytes: usize) -> Result<NonNull<u8>, i32> {
    let larger = bytes.checked_add(HUGE_PAGE_BYTES).ok_or(libc::ENOMEM)?;
    let start = anonymous(larger, 0)?;
    let before = start.as_ptr().align_offset(HUGE_PAGE_BYTES);
    let behind = HUGE_PAGE_BYTES - before;
    // SAFETY: `before + bytes + behind` is the length mapped just now; the two ends are given back,
    // the middle is kept.
    unsafe {
        let middle = start.add(before);
        if before > 0 {
            unmap(start, before);
        }
        unmap(middle.add(bytes), behind);
        Ok(middle)
    }
}

/// Gives memory back.
///
/// # Safety
/// `start..start + bytes` was mapped by this file, and nobody uses it any more.
pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller gives the range up.
    let unmapped = unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
    debug_assert_eq!(unmapped, 0, "munmap of our own mapping");
}

/// Asks for pages of `node` for memory not touched yet. Preferred, not bound: with binding an empty
/// node ends the process (SIGBUS with explicit huge pages); so the kernel takes another node's, and
/// `node_of_page` tells.
pub(super) fn prefer_node(start: NonNull<u8>, bytes: usize, node: NodeId) {
    const BITS: usize = c_ulong::BITS as usize;
    let mut nodes: [c_ulong; 16] = [0; 16];
    let Some(word) = nodes.get_mut(node.index() / BITS) else {
        return;
    };
    *word |= 1 << (node.index() % BITS);
    // The kernel takes one bit less than it is told.
    let bits = (16 * BITS + 1) as c_ulong;
    // SAFETY: mbind changes the policy of the range, which the caller owns, and reads `bits - 1`
    // bits of `nodes`. A refusal changes nothing.
    unsafe {
        libc::syscall(
            libc::SYS_mbind,
            start.as_ptr(),
            bytes,
            c_long::from(libc::MPOL_PREFERRED),
            nodes.as_ptr(),
            bits,
            0 as c_long,
        );
    }
}

/// Makes every page present and writable, or tells why not: no page is faulted in later.
pub(super) fn touch(start: NonNull<u8>, bytes: usize) -> Result<(), i32> {
    loop {
        // SAFETY: populating changes no byte of the range, which the caller owns.
        let done =
            unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_POPULATE_WRITE) };
        match if done == 0 { 0 } else { errno() } {
            0 => return Ok(()),
            libc::EINTR | libc::EAGAIN => {}
            libc::EINVAL => break, // Linux before 5.14.
            refused => return Err(refused),
        }
    }
    for offset in (0..bytes).step_by(SMALL_PAGE_BYTES) {
        // SAFETY: inside the range, which is new, zeroed, and the caller's alone.
        unsafe { start.add(offset).write_volatile(0) };
    }
    Ok(())
}

/// The node a touched page is on; `None` when the kernel does not say.
pub(super) fn node_of_page(page: NonNull<u8>) -> Option<NodeId> {
    let pages: [*mut c_void; 1] = [page.as_ptr().cast()];
    let mut status: [c_int; 1] = [-1];
    let no_nodes: *const c_int = ptr::null();
    // SAFETY: without target nodes move_pages moves nothing; it reads one address and writes one
    // status.
    let asked = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0 as c_long,
            1 as c_ulong,
            pages.as_ptr(),
            no_nodes,
            status.as_mut_ptr(),
            0 as c_long,
        )
    };
    let node = u16::try_from(status[0]).ok()?;
    (asked == 0).then_some(NodeId(node))
}

/// Above this many bytes a block of the heap is a mapping of its own.
#[cfg(target_env = "gnu")]
const LARGE_BYTES: c_int = 1 << 20;
/// Heaps that threads share.
#[cfg(target_env = "gnu")]
const HEAPS: c_int = 2;

/// As [`super::give_back_what_is_freed`].
pub(super) fn give_back_what_is_freed() {
    #[cfg(target_env = "gnu")]
    for (what, value) in [
        (libc::M_MMAP_THRESHOLD, LARGE_BYTES),
        (libc::M_TRIM_THRESHOLD, LARGE_BYTES),
        (libc::M_ARENA_MAX, HEAPS),
    ] {
        // SAFETY: changes a number of the allocator, under the allocator's own lock; no block.
        unsafe { libc::mallopt(what, value) };
    }
}
