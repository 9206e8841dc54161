//! One worker's chunks: lends them out as frames and takes them back.

mod free_chunks;
#[cfg(all(test, loom))]
mod loom_tests;
mod returns;
#[cfg(all(test, not(loom)))]
mod tests;

use core::{fmt, ptr::NonNull};

use free_chunks::FreeChunks;
pub(crate) use returns::Returns;

use crate::{burst::Burst, frame::Frame, ids::PoolId, registry};

/// Chunks of equal stride in a [`Region`](crate::Region), lent out as [`Frame`]s. One worker owns
/// it; it can be sent to that worker's thread and shared with nobody.
///
/// The chunk freed last is lent first, while the caches still hold it. Freed frames of other pools
/// of the process, of this Region or another, go home over a ring that always has room.
///
/// Dropping a pool ends the lending; its frames stay valid and can still be freed into other pools.
pub struct FramePool {
    free: FreeChunks,
    /// Where frames of the first chunk begin.
    first_frame: NonNull<u8>,
    stride_bytes: u32,
    frame_bytes_max: u32,
    id: PoolId,
    total: u32,
    /// Chunks that other workers freed; the other end of it is in the registry.
    returns: &'static Returns,
    /// How many chunks were ever taken from `homeward`.
    returns_taken: usize,
}

// SAFETY: the pool owns the chunks on its free list; they are memory of a Region, which belongs to
// no thread. It is not Sync: `first_frame` is a raw pointer, and nothing says otherwise.
unsafe impl Send for FramePool {}

/// Where the chunks of a pool are; made by the Region, which proves it.
pub(crate) struct PoolMemory {
    /// The first chunk.
    pub(crate) base: NonNull<u8>,
    pub(crate) frames: u32,
    pub(crate) stride_bytes: u32,
    pub(crate) headroom_bytes: u32,
}

impl FramePool {
    /// The pool of `memory`, all chunks free.
    ///
    /// # Safety
    /// `base..base + frames * stride_bytes` is initialised memory that is never unmapped and that
    /// nobody else uses; `headroom_bytes < stride_bytes`; `id` is registered with this memory and
    /// with `homeward`, and no other pool has it.
    pub(crate) unsafe fn new(
        id: PoolId,
        memory: &PoolMemory,
        returns: &'static Returns,
    ) -> FramePool {
        let headroom = memory.headroom_bytes as usize;
        FramePool {
            free: FreeChunks::all(memory.frames),
            // SAFETY: the headroom ends within the first chunk.
            first_frame: unsafe { memory.base.add(headroom) },
            stride_bytes: memory.stride_bytes,
            frame_bytes_max: memory.stride_bytes - memory.headroom_bytes,
            id,
            total: memory.frames,
            returns,
            returns_taken: 0,
        }
    }

    /// Unique in the process.
    #[inline(always)]
    pub fn id(&self) -> PoolId {
        self.id
    }

    /// Chunks of the pool, wherever they are.
    #[inline(always)]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Chunks that can be lent now; those that came home since the last look are not counted.
    #[inline(always)]
    pub fn free_count(&self) -> u32 {
        self.free.count() as u32
    }

    /// The longest frame a chunk holds behind the headroom, in bytes: stride less headroom.
    #[inline(always)]
    pub fn frame_bytes_max(&self) -> usize {
        self.frame_bytes_max as usize
    }

    /// Bytes from one chunk to the next.
    #[inline(always)]
    pub fn stride_bytes(&self) -> usize {
        self.stride_bytes as usize
    }

    /// The frame of a chunk that was just taken off the free list, `len` bytes long.
    ///
    /// # Safety
    /// The chunk came from `self.free` and is given to nobody else; `len` is at most
    /// `frame_bytes_max`.
    #[inline(always)]
    unsafe fn frame(
        first_frame: NonNull<u8>,
        stride: u32,
        id: PoolId,
        chunk: u32,
        len: usize,
    ) -> Frame {
        let offset = chunk as usize * stride as usize;
        // SAFETY: the free list holds indices of this pool's chunks only, so the offset stays
        // inside the pool's memory; the caller gives the chunk up and proves the length.
        unsafe { Frame::new(first_frame.add(offset), id, chunk, len) }
    }

    /// An empty frame; `None` when every chunk is lent out and none came home.
    #[inline]
    pub fn alloc(&mut self) -> Option<Frame> {
        let chunk = match self.free.take() {
            Some(chunk) => chunk,
            None => self.collect_one()?,
        };
        // SAFETY: the chunk was just taken off the free list, once.
        Some(unsafe { Self::frame(self.first_frame, self.stride_bytes, self.id, chunk, 0) })
    }

    #[cold]
    fn collect_one(&mut self) -> Option<u32> {
        self.collect();
        self.free.take()
    }

    /// Appends at most `want` empty frames to `burst`, as many as it has room for and there are;
    /// how many.
    #[inline]
    pub fn alloc_burst(&mut self, burst: &mut Burst, want: usize) -> usize {
        self.alloc_long(burst, want, 0)
    }

    /// As [`Self::alloc_burst`], frames of `len` bytes each, which hold whatever earlier frames
    /// left there: one check for all, where [`Frame::set_len`] makes one for each. None when `len`
    /// is above [`Self::frame_bytes_max`].
    #[inline]
    pub fn alloc_burst_of(&mut self, burst: &mut Burst, want: usize, len: usize) -> usize {
        if len > self.frame_bytes_max() {
            return 0;
        }
        self.alloc_long(burst, want, len)
    }

    /// `len` is at most what a chunk holds.
    #[inline(always)]
    fn alloc_long(&mut self, burst: &mut Burst, want: usize, len: usize) -> usize {
        let want = want.min(burst.room());
        if self.free.count() < want {
            self.collect();
        }
        let (first_frame, stride, id) = (self.first_frame, self.stride_bytes, self.id);
        let mut count = 0;
        self.free.take_burst(want, |chunks| {
            // SAFETY: the chunks were just taken off the free list, each once; all callers have
            // held `len` against `frame_bytes_max`.
            let frame = |&chunk: &u32| unsafe { Self::frame(first_frame, stride, id, chunk, len) };
            count += burst.extend(chunks.iter().map(frame));
        });
        debug_assert!(count <= want);
        count
    }

    /// Ends a frame: its chunk is free again, here or in the pool it came from.
    #[inline]
    pub fn free(&mut self, frame: Frame) {
        let (home, chunk) = frame.end();
        if home == self.id {
            self.free.put(chunk);
        } else {
            send_home(home, [chunk].into_iter());
        }
    }

    /// Ends every frame of a burst.
    ///
    /// Frames of other pools cost one atomic addition for each pool among them, not one each as
    /// with [`FramePool::free`].
    #[inline]
    pub fn free_burst(&mut self, burst: &mut Burst) {
        let id = self.id;
        if burst.frames().iter().all(|frame| frame.pool_id() == id) {
            self.free.put_burst(burst.frames().iter().map(Frame::chunk));
        } else {
            self.free_mixed(burst.frames_mut());
        }
        burst.forget_frames();
    }

    /// Frees frames of which some are other pools'; brings those of one pool together first.
    #[inline(never)]
    fn free_mixed(&mut self, frames: &mut [Frame]) {
        frames.sort_unstable_by_key(Frame::pool_id);
        for run in frames.chunk_by(|a, b| a.pool_id() == b.pool_id()) {
            let home = run[0].pool_id();
            if home == self.id {
                self.free.put_burst(run.iter().map(Frame::chunk));
            } else {
                send_home(home, run.iter().map(Frame::chunk));
            }
        }
    }

    /// Takes back the chunks that other workers freed. Allocation does it when it runs dry; a
    /// worker that is idle may do it for exact accounts.
    pub fn collect(&mut self) {
        let free = &mut self.free;
        self.returns_taken = self
            .returns
            .receive(self.returns_taken, |chunk| free.put(chunk));
    }

    /// Where the pool's chunks are at this moment.
    #[must_use]
    pub fn accounts(&self) -> PoolAccounts {
        let returns = self.returns.sent().wrapping_sub(self.returns_taken);
        PoolAccounts {
            total: self.total,
            free: self.free_count(),
            returns: returns as u32,
        }
    }
}

/// Sends chunks, all of the pool `home`, there. Their handles have ended or end with this.
#[inline(never)]
fn send_home(home: PoolId, chunks: impl ExactSizeIterator<Item = u32>) {
    let returns = registry::returns(home);
    debug_assert!(
        returns.is_some(),
        "a frame carries the id of a registered pool"
    );
    if let Some(returns) = returns {
        returns.send(chunks);
    }
}

impl fmt::Debug for FramePool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FramePool")
            .field("id", &self.id.0)
            .field("stride_bytes", &self.stride_bytes)
            .field("accounts", &self.accounts())
            .finish_non_exhaustive()
    }
}

/// Where the chunks of one pool are: `total = free + homeward + elsewhere`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolAccounts {
    /// Chunks of the pool.
    pub total: u32,
    /// Chunks that can be lent.
    pub free: u32,
    /// Chunks on their way home: freed into another pool and not yet collected.
    pub returns: u32,
}

impl PoolAccounts {
    /// Chunks lent out: in bursts, rings, ports, or leaked.
    #[must_use]
    pub fn elsewhere(&self) -> u32 {
        self.total - self.free - self.returns
    }
}
