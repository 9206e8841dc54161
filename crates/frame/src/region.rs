//! Frame memory of the process: mapped once, parted into pools, never unmapped.

mod layout;
#[cfg(all(test, not(loom)))]
mod tests;

use core::{fmt, ptr::NonNull};
use std::sync::{Mutex, PoisonError, atomic::AtomicU16};

use layout::{Layout, PoolExtent};

use crate::{
    ids::{NodeId, PoolId},
    lender::{Lender, LentPool},
    memory::{Mapping, MemoryError, Pages, nodes_online},
    meta::FrameMeta,
    pool::{FramePool, PoolMemory, Returns},
    registry,
};

/// The shortest stride a pool can have, in bytes.
pub const STRIDE_BYTES_MIN: u32 = 128;
/// The longest stride a pool can have, in bytes: room for frames of merged segments, which captures
/// of hosts are full of (an IP packet of 65,535 bytes and its headers).
pub const STRIDE_BYTES_MAX: u32 = 131_072;
/// Strides are multiples of this: no two chunks share a cache line.
const STRIDE_BYTES_UNIT: u32 = 64;
/// The most frames a pool can have: a chunk index has 27 bits of a handle.
pub const FRAMES_MAX: u32 = 1 << 27;

/// What a pool is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolRequest {
    /// Chunks: 1 to [`FRAMES_MAX`].
    pub frames: u32,
    /// Bytes from chunk to chunk: a multiple of 64 from [`STRIDE_BYTES_MIN`] to
    /// [`STRIDE_BYTES_MAX`].
    pub stride_bytes: u32,
    /// Bytes kept before a frame, less than the stride.
    pub headroom_bytes: u32,
    /// The NUMA node whose worker will own the pool. Means nothing where only one is online.
    pub node: Option<NodeId>,
}

impl PoolRequest {
    fn check(&self, pool: usize) -> Result<(), RegionError> {
        let &PoolRequest {
            frames,
            stride_bytes,
            headroom_bytes,
            ..
        } = self;
        let legal = STRIDE_BYTES_MIN..=STRIDE_BYTES_MAX;
        if !legal.contains(&stride_bytes) || !stride_bytes.is_multiple_of(STRIDE_BYTES_UNIT) {
            return Err(RegionError::Stride { pool, stride_bytes });
        }
        if headroom_bytes >= stride_bytes {
            return Err(RegionError::Headroom {
                pool,
                headroom_bytes,
                stride_bytes,
            });
        }
        if !(1..=FRAMES_MAX).contains(&frames) {
            return Err(RegionError::Frames { pool, frames });
        }
        Ok(())
    }
}

/// Frame memory, one for the whole process in a running engine, more in tests. It is mapped once
/// and never unmapped, so every reference to it is `'static`.
#[derive(Debug)]
pub struct Region {
    mapping: Mapping,
    nodes: Box<[Option<NodeId>]>,
    /// Which chunks are lent to the kernel, by whom; in the order of the requests.
    lent: Box<[LentPool]>,
    lenders_given: AtomicU16,
}

impl Region {
    /// Bytes at the start, at least, that belong to nobody: chunks that are registered with the
    /// kernel longer than their stride begin before the memory of ours that they hold.
    pub const LEAD_BYTES: usize = layout::LEAD_BYTES;

    /// Maps memory for the pools asked for, touches every page of it, and makes the pools, in the
    /// order of the requests. Pools of different nodes never share a huge page.
    ///
    /// # Errors
    /// When a request is not legal, the memory is not there, or the process has made 65,536 pools.
    pub fn with_pools(
        requests: &[PoolRequest],
    ) -> Result<(&'static Region, Vec<FramePool>), RegionError> {
        for (pool, request) in requests.iter().enumerate() {
            request.check(pool)?;
        }
        if requests.is_empty() {
            return Err(RegionError::NoPools);
        }
        let many_nodes = nodes_online().len() > 1;
        let layout = Layout::of(requests, many_nodes).ok_or(RegionError::TooLarge)?;
        let mapping = Mapping::placed(layout.bytes, &layout.placements)?;
        let first = registry::take_ids(requests.len()).ok_or(RegionError::PoolIds)?;
        let nodes = requests
            .iter()
            .zip(&layout.extents)
            .map(|(request, extent)| {
                request.node.filter(|_| many_nodes)?;
                mapping.node_of(extent.chunks_start, extent.chunks_bytes)
            });
        let nodes = nodes.collect();
        let pools = (first..=u16::MAX)
            .map(PoolId)
            .zip(requests)
            .zip(&layout.extents);
        let lent = pools.clone().map(|((id, request), extent)| {
            LentPool::new(
                id,
                extent.chunks_start,
                request.frames,
                request.stride_bytes,
            )
        });
        let region = Region {
            mapping,
            nodes,
            lent: lent.collect(),
            lenders_given: AtomicU16::new(0),
        }
        .keep();
        let pools = pools.map(|((id, request), extent)| region.pool(id, request, extent));
        Ok((region, pools.collect()))
    }

    /// Gives the Region to the process, for good.
    fn keep(self) -> &'static Region {
        /// Tells leak checkers that this memory is kept, not lost.
        static KEPT: Mutex<Vec<&'static Region>> = Mutex::new(Vec::new());
        let region: &'static Region = Box::leak(Box::new(self));
        KEPT.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(region);
        region
    }

    /// Makes and registers the pool of one extent of the memory.
    fn pool(&'static self, id: PoolId, request: &PoolRequest, extent: &PoolExtent) -> FramePool {
        let start = self.mapping.start();
        // SAFETY: the layout keeps every extent within the mapping, apart from all others and
        // aligned; this Region is never dropped, so the mapping is never unmapped.
        let (base, meta) =
            unsafe { (start.add(extent.chunks_start), start.add(extent.meta_start)) };
        let returns: &'static Returns = Box::leak(Box::new(Returns::new(request.frames)));
        let meta = meta.as_ptr().cast::<FrameMeta>();
        registry::register(id, base.as_ptr(), meta, request.stride_bytes, returns);
        let memory = PoolMemory {
            base,
            frames: request.frames,
            stride_bytes: request.stride_bytes,
            headroom_bytes: request.headroom_bytes,
        };
        // SAFETY: `frames * stride_bytes` bytes from `base` are this extent's own and zeroed; the
        // request was checked; the id was just taken and registered.
        unsafe { FramePool::new(id, &memory, returns) }
    }

    /// Where it begins, a page boundary: for registering it with the kernel, which is shown
    /// [`Region::bytes`] from here.
    #[must_use]
    pub fn start_ptr(&self) -> NonNull<u8> {
        self.mapping.start()
    }

    /// Bytes from chunk to chunk, where they are the same in all pools.
    #[must_use]
    pub fn stride_bytes(&self) -> Option<u32> {
        let stride = self.lent[0].stride_bytes();
        let same = self.lent.iter().all(|pool| pool.stride_bytes() == stride);
        same.then_some(stride)
    }

    /// Something that lends frames of this Region to the kernel; `None` once 8,191 were given out.
    #[must_use]
    pub fn lender(&'static self) -> Option<Lender> {
        Lender::new(self, &self.lenders_given)
    }

    /// One for each pool, at least one.
    #[inline(always)]
    pub(crate) fn lent_pools(&self) -> &[LentPool] {
        &self.lent
    }

    /// Bytes mapped.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.mapping.bytes()
    }

    /// The pages the memory is in now. Asks the kernel: for reports, not for the fast path.
    #[must_use]
    pub fn pages(&self) -> Pages {
        self.mapping.pages()
    }

    /// The node each pool's memory was found on, in the order of the requests, be it the one asked
    /// for or another; `None` where none was asked for, only one is online, or it is on several.
    #[must_use]
    pub fn nodes(&self) -> &[Option<NodeId>] {
        &self.nodes
    }
}

/// Why frame memory could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionError {
    /// No pool was asked for.
    NoPools,
    /// A stride is not legal.
    Stride {
        /// Index of the request.
        pool: usize,
        /// The stride asked for.
        stride_bytes: u32,
    },
    /// A headroom leaves no room for a frame.
    Headroom {
        /// Index of the request.
        pool: usize,
        /// The headroom asked for.
        headroom_bytes: u32,
        /// The stride asked for.
        stride_bytes: u32,
    },
    /// A pool has no frames, or more than can be numbered.
    Frames {
        /// Index of the request.
        pool: usize,
        /// The number asked for.
        frames: u32,
    },
    /// The sum of all pools is more than an address can name.
    TooLarge,
    /// The process has made all the pools it ever can.
    PoolIds,
    /// The system did not give the memory.
    Memory(MemoryError),
}

impl fmt::Display for RegionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoPools => f.write_str("frame memory was asked for without a single pool"),
            Self::Stride { pool, stride_bytes } => write!(
                f,
                "pool {pool}: a stride of {stride_bytes} bytes is not legal; take a multiple of \
                 {STRIDE_BYTES_UNIT} from {STRIDE_BYTES_MIN} to {STRIDE_BYTES_MAX}"
            ),
            Self::Headroom {
                pool,
                headroom_bytes,
                stride_bytes,
            } => write!(
                f,
                "pool {pool}: a headroom of {headroom_bytes} bytes is not legal; take less than \
                 the stride of {stride_bytes}"
            ),
            Self::Frames { pool, frames } => write!(
                f,
                "pool {pool}: {frames} frames are not legal; take from 1 to {FRAMES_MAX}"
            ),
            Self::TooLarge => f.write_str("the pools together are larger than any memory"),
            Self::PoolIds => write!(
                f,
                "this process has made its {} frame pools; start a new one",
                registry::POOLS_MAX
            ),
            Self::Memory(ref error) => write!(f, "frame memory: {error}"),
        }
    }
}

impl core::error::Error for RegionError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Memory(error) => Some(error),
            _ => None,
        }
    }
}

impl From<MemoryError> for RegionError {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}
