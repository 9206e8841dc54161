//! Memory under Miri, which knows no huge pages: the heap. The same functions as `linux.rs`.

use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc};

use crate::{
    ids::NodeId,
    memory::{HUGE_PAGE_BYTES, Pages},
};

fn layout(bytes: usize) -> Result<Layout, i32> {
    let aligned = Layout::from_size_align(bytes, HUGE_PAGE_BYTES);
    aligned.map_err(|_| libc::ENOMEM)
}

/// Zeroed memory that begins at a huge page boundary, or the error number.
pub(super) fn map(bytes: usize, pages: Pages) -> Result<NonNull<u8>, i32> {
    if pages != Pages::Small {
        return Err(libc::ENOMEM);
    }
    let layout = layout(bytes)?;
    assert!(bytes > 0);
    // SAFETY: the layout is not empty.
    NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(libc::ENOMEM)
}

/// Gives memory back.
///
/// # Safety
/// `start` and `bytes` are those of one `map`, and nobody uses the memory any more.
pub(super) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    if let Ok(layout) = layout(bytes) {
        // SAFETY: allocated in `map` with this layout; the caller gives it up.
        unsafe { dealloc(start.as_ptr(), layout) };
    }
}

pub(super) fn prefer_node(_start: NonNull<u8>, _bytes: usize, _node: NodeId) {}

pub(super) fn touch(_start: NonNull<u8>, _bytes: usize) -> Result<(), i32> {
    Ok(())
}

pub(super) fn node_of_page(_page: NonNull<u8>) -> Option<NodeId> {
    None
}

pub(super) fn give_back_what_is_freed() {}
