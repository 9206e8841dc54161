//! Every pool of the process by its id: where its chunks are, and the ring that leads home.
//!
//! A [`Frame`](crate::Frame) has room for a pool's id, not for its geometry; this is where the one
//! becomes the other, with a single load. An entry is written once, before the id is known to
//! anybody, and never changes. Whoever holds a frame or a pool of that id received it over some
//! synchronisation that came later, so relaxed loads see the entry.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

use crate::{ids::PoolId, meta::FrameMeta, pool::Returns};

/// How many pools a process can make in its life: as many as ids can name, so that an id is an
/// index without a check. Fewer under Miri, which walks the whole table at every access.
pub(crate) const POOLS_MAX: usize = if cfg!(miri) { 1 << 8 } else { 1 << 16 };

struct Entry {
    base: AtomicPtr<u8>,
    meta: AtomicPtr<FrameMeta>,
    returns: AtomicPtr<Returns>,
    stride_bytes: AtomicU32,
}

const _: () = assert!(size_of::<Entry>() == 32, "two entries a cache line");

/// All zero: two mebibytes of address space of which only used pages are ever memory.
static ENTRIES: [Entry; POOLS_MAX] = [const {
    Entry {
        base: AtomicPtr::new(core::ptr::null_mut()),
        meta: AtomicPtr::new(core::ptr::null_mut()),
        returns: AtomicPtr::new(core::ptr::null_mut()),
        stride_bytes: AtomicU32::new(0),
    }
}; POOLS_MAX];

static IDS_USED: AtomicU32 = AtomicU32::new(0);

/// Takes `count` ids that follow one another, never to be given out again; the first of them, or
/// `None` when the process has not that many left.
pub(crate) fn take_ids(count: usize) -> Option<u16> {
    take_ids_of(&IDS_USED, count)
}

fn take_ids_of(used: &AtomicU32, count: usize) -> Option<u16> {
    let grown = |used: u32| {
        let grown = (used as usize).checked_add(count)?;
        (grown <= POOLS_MAX).then_some(grown as u32)
    };
    let first = used.fetch_update(Relaxed, Relaxed, grown).ok()?;
    u16::try_from(first).ok()
}

/// Writes the entry of `id`: called once for each id, before it is handed out.
pub(crate) fn register(
    id: PoolId,
    base: *mut u8,
    meta: *mut FrameMeta,
    stride_bytes: u32,
    returns: &'static Returns,
) {
    let entry = &ENTRIES[id.index()];
    debug_assert!(entry.base.load(Relaxed).is_null(), "pool ids are used once");
    entry.base.store(base, Relaxed);
    entry.meta.store(meta, Relaxed);
    entry
        .returns
        .store(core::ptr::from_ref(returns).cast_mut(), Relaxed);
    entry.stride_bytes.store(stride_bytes, Relaxed);
}

/// Where the first chunk of a pool begins.
#[inline(always)]
pub(crate) fn base(id: PoolId) -> *mut u8 {
    ENTRIES[id.index()].base.load(Relaxed)
}

/// The records of a pool, one a chunk.
#[inline(always)]
pub(crate) fn meta(id: PoolId) -> *mut FrameMeta {
    ENTRIES[id.index()].meta.load(Relaxed)
}

/// Bytes from chunk to chunk of a pool.
#[inline(always)]
pub(crate) fn stride_bytes(id: PoolId) -> usize {
    ENTRIES[id.index()].stride_bytes.load(Relaxed) as usize
}

/// The ring by which frames go home to a pool.
///
/// `None` for an id that is not registered, which no frame carries.
#[inline]
pub(crate) fn returns(id: PoolId) -> Option<&'static Returns> {
    let returns = ENTRIES[id.index()].returns.load(Relaxed);
    // SAFETY: null, or what `register` stored: a shared reference that is valid for ever.
    unsafe { returns.as_ref() }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ids_run_out_and_never_wrap() {
        let last = (POOLS_MAX - 1) as u16;
        let used = AtomicU32::new(POOLS_MAX as u32 - 3);
        assert_eq!(take_ids_of(&used, 2), Some(last - 2));
        assert_eq!(take_ids_of(&used, 2), None);
        assert_eq!(take_ids_of(&used, usize::MAX), None);
        assert_eq!(take_ids_of(&used, 1), Some(last));
        for _ in 0..3 {
            assert_eq!(take_ids_of(&used, 1), None);
        }
    }
}
