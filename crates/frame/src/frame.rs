//! One frame: a linear handle to a chunk of a pool.

use core::{fmt, ptr::NonNull, slice};

use crate::{FRAMES_MAX, STRIDE_BYTES_MAX, ids::PoolId, meta::FrameMeta, registry};

/// Bits of [`Frame::word`] that hold the length: frames of merged segments have more than 65,535
/// bytes, an IP packet of that length and its headers.
const LEN_BITS: u32 = 20;
const LEN_MASK: u64 = (1 << LEN_BITS) - 1;

/// Bits that hold the index of the chunk.
const CHUNK_BITS: u32 = 27;
const CHUNK_MASK: u64 = (1 << CHUNK_BITS) - 1;

/// Set when the record beside the chunk was written since allocation.
const META_SET: u64 = 1 << (LEN_BITS + CHUNK_BITS);

/// Where the pool's id begins; it has the rest.
const POOL_SHIFT: u32 = LEN_BITS + CHUNK_BITS + 1;

const _: () = assert!(
    POOL_SHIFT + PoolId::BITS == u64::BITS,
    "every bit has one meaning"
);
const _: () = assert!(
    STRIDE_BYTES_MAX as u64 <= LEN_MASK,
    "a whole chunk's length fits"
);
const _: () = assert!(
    FRAMES_MAX as u64 - 1 <= CHUNK_MASK,
    "every chunk's index fits"
);

/// The bytes of one Ethernet frame (without FCS) in a chunk of a [`FramePool`], and the only right
/// to touch them.
///
/// It comes from [`FramePool::alloc`] and ends in [`FramePool::free`], of any pool of the process.
/// Dropping it leaks its chunk until the process ends, which the pool's accounts show.
///
/// [`FramePool`]: crate::FramePool
/// [`FramePool::alloc`]: crate::FramePool::alloc
/// [`FramePool::free`]: crate::FramePool::free
#[must_use = "a frame that is dropped leaks its chunk: free it into a pool"]
pub struct Frame {
    /// First byte of the frame, within the chunk.
    data: NonNull<u8>,
    /// Length, index of the chunk in its pool, `META_SET`, and the pool's id, from the lowest bit
    /// up.
    word: u64,
}

const _: () = assert!(size_of::<Frame>() == 16, "four frames a cache line");
const _: () = assert!(size_of::<Option<Frame>>() == 16, "absence costs no room");

// SAFETY: a Frame owns bytes of a Region, which is never unmapped and belongs to no thread; nobody
// else has a handle to the same chunk.
unsafe impl Send for Frame {}
// SAFETY: through a shared Frame bytes and record can only be read.
unsafe impl Sync for Frame {}

impl Frame {
    /// The handle of chunk `chunk`, `len` bytes long, beginning at `data`.
    ///
    /// # Safety
    /// The caller owns the chunk and gives it up: no other `Frame` of it exists. `pool` is
    /// registered, `chunk` is below its total, and `data` points to where frames of this chunk
    /// begin, derived from the pool's base; `len` bytes from there are inside the chunk.
    #[inline(always)]
    pub(crate) unsafe fn new(data: NonNull<u8>, pool: PoolId, chunk: u32, len: usize) -> Frame {
        Frame {
            data,
            word: len as u64 | u64::from(chunk) << LEN_BITS | u64::from(pool.0) << POOL_SHIFT,
        }
    }

    /// The index of the chunk in its pool, without the mark.
    #[inline(always)]
    pub(crate) fn chunk(&self) -> u32 {
        (self.word >> LEN_BITS & CHUNK_MASK) as u32
    }

    /// Ends the handle: the chunk is the caller's, who puts it back into the pool it is of.
    #[inline(always)]
    pub(crate) fn end(self) -> (PoolId, u32) {
        (self.pool_id(), self.chunk())
    }

    /// The pool the frame came from and will go back to.
    #[inline(always)]
    pub fn pool_id(&self) -> PoolId {
        PoolId((self.word >> POOL_SHIFT) as u16)
    }

    /// Length in bytes, without FCS.
    #[inline(always)]
    #[allow(clippy::len_without_is_empty)] // Not a container; `len() == 0` reads as well.
    pub fn len(&self) -> usize {
        (self.word & LEN_MASK) as usize
    }

    /// The frame.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: this handle owns the chunk; `data..data + len` lies inside it (kept by `set_len`
        // and the two front methods) and was zeroed when mapped, so it is initialised.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len()) }
    }

    /// The frame, to be changed.
    #[inline(always)]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `&mut self` is the only handle.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len()) }
    }

    /// Where the frame's header begins, for a prefetch.
    #[inline(always)]
    pub fn header_ptr(&self) -> *const u8 {
        self.data.as_ptr()
    }

    /// Where the chunk begins and how many bytes it has.
    #[inline(always)]
    fn chunk_span(&self) -> (usize, usize) {
        let stride = registry::stride_bytes(self.pool_id());
        let start = registry::base(self.pool_id()).addr() + self.chunk() as usize * stride;
        (start, stride)
    }

    /// The most bytes the frame can have where it begins now: up to the end of its chunk.
    #[inline]
    pub fn capacity(&self) -> usize {
        let (start, stride) = self.chunk_span();
        start + stride - self.data.addr().get()
    }

    /// Bytes of the chunk before the frame, which [`Frame::extend_front`] can take.
    #[inline]
    pub fn headroom(&self) -> usize {
        self.data.addr().get() - self.chunk_span().0
    }

    /// Makes the frame `len` bytes long, cutting or growing its tail. Bytes it grows by hold
    /// whatever an earlier frame left there.
    ///
    /// # Errors
    /// When `len` is above [`Frame::capacity`]; the frame is as before.
    #[inline]
    pub fn set_len(&mut self, len: usize) -> Result<(), FrameTooLong> {
        if len > self.len() {
            let capacity = self.capacity();
            if len > capacity {
                return Err(FrameTooLong {
                    wanted_bytes: len,
                    capacity_bytes: capacity,
                });
            }
        }
        self.word = self.word & !LEN_MASK | len as u64; // capacity <= STRIDE_BYTES_MAX, which fits
        Ok(())
    }

    /// Makes the frame a copy of `bytes`, length included.
    ///
    /// # Errors
    /// When they are more than [`Frame::capacity`]; the frame is as before.
    #[inline]
    pub fn copy_from(&mut self, bytes: &[u8]) -> Result<(), FrameTooLong> {
        self.set_len(bytes.len())?;
        self.bytes_mut().copy_from_slice(bytes);
        Ok(())
    }

    /// Takes `count` bytes off the front; they become headroom.
    ///
    /// # Errors
    /// When the frame has fewer; it is as before.
    #[inline]
    pub fn trim_front(&mut self, count: usize) -> Result<(), FrameTooShort> {
        if count > self.len() {
            return Err(FrameTooShort {
                wanted_bytes: count,
                available_bytes: self.len(),
            });
        }
        // SAFETY: `count <= len`, so the new start is inside this chunk or at its end.
        self.data = unsafe { self.data.add(count) };
        self.word -= count as u64; // count <= len, so no borrow
        Ok(())
    }

    /// Puts `count` bytes of the headroom before the front. They hold whatever was left there.
    ///
    /// # Errors
    /// When the headroom has fewer; the frame is as before.
    #[inline]
    pub fn extend_front(&mut self, count: usize) -> Result<(), FrameTooShort> {
        let headroom = self.headroom();
        if count > headroom {
            return Err(FrameTooShort {
                wanted_bytes: count,
                available_bytes: headroom,
            });
        }
        // SAFETY: `count <= headroom`, so the new start is not before this frame's chunk.
        self.data = unsafe { self.data.sub(count) };
        self.word += count as u64; // front + len <= stride, which fits
        Ok(())
    }

    /// The record beside the frame, when one was set since the frame was allocated.
    #[inline]
    pub fn meta(&self) -> Option<&FrameMeta> {
        if self.word & META_SET == 0 {
            return None;
        }
        // SAFETY: the record of a chunk belongs to the chunk's only handle, this one; the array has
        // a record for each chunk and lies in the never unmapped Region.
        Some(unsafe { &*registry::meta(self.pool_id()).add(self.chunk() as usize) })
    }

    /// The record beside the frame, to be written; all zero when none was set before.
    #[inline]
    pub fn meta_mut(&mut self) -> &mut FrameMeta {
        // SAFETY: as in `meta`, and `&mut self` is the only handle.
        let meta = unsafe { &mut *registry::meta(self.pool_id()).add(self.chunk() as usize) };
        if self.word & META_SET == 0 {
            *meta = FrameMeta::default();
            self.word |= META_SET;
        }
        meta
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame")
            .field("pool", &self.pool_id().0)
            .field("chunk", &self.chunk())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// A frame was to become longer than its chunk allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTooLong {
    /// The length asked for, in bytes.
    pub wanted_bytes: usize,
    /// The length possible, in bytes.
    pub capacity_bytes: usize,
}

impl fmt::Display for FrameTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            wanted_bytes,
            capacity_bytes,
        } = self;
        write!(
            f,
            "{wanted_bytes} bytes do not fit a chunk that has room for {capacity_bytes}"
        )
    }
}

impl core::error::Error for FrameTooLong {}

/// A frame, or its headroom, has fewer bytes than were to be moved over its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTooShort {
    /// The bytes asked for.
    pub wanted_bytes: usize,
    /// The bytes there are.
    pub available_bytes: usize,
}

impl fmt::Display for FrameTooShort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            wanted_bytes,
            available_bytes,
        } = self;
        write!(
            f,
            "{wanted_bytes} bytes were asked for where {available_bytes} are"
        )
    }
}

impl core::error::Error for FrameTooShort {}
