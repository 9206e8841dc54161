//! Frame memory and who owns it.
//!
//! A [`Region`] is memory mapped once and never unmapped. It is parted into [`FramePool`]s, one a
//! worker. A pool lends out [`Frame`]s: linear handles (neither `Copy` nor `Clone`) that exist
//! exactly while user space owns the chunk behind them. Frames travel in [`Burst`]s inside a worker
//! and over [rings](ring()) between workers; a frame that is freed into somebody else's pool goes
//! home by itself. What one thread replaces and others read travels by [`Published`].
//!
//! ```
//! use frame::{Burst, PoolRequest, Region};
//!
//! let request =
//!     PoolRequest { frames: 1024, stride_bytes: 1920, headroom_bytes: 256, node: None };
//! let (region, mut pools) = Region::with_pools(&[request])?;
//! println!("{} bytes in {}", region.bytes(), region.pages());
//!
//! let pool = &mut pools[0];
//! let mut burst = Burst::new();
//! pool.alloc_burst(&mut burst, 32);
//! for frame in burst.frames_mut() {
//!     frame.copy_from(&[0; 60])?;
//! }
//! pool.free_burst(&mut burst);
//! assert_eq!(pool.accounts().elsewhere(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What holds
//!
//! * **A chunk has at most one owner.** A `Frame` comes from a pool and from nowhere else, and is
//!   used up by freeing it. Forgetting one leaks its chunk; nothing can make it alias.
//! * **Frame memory outlives every frame**, since it is never unmapped: a `Frame` is `'static` and
//!   `Send` without counting references.
//! * **A frame never reaches past its chunk**: its bytes lie within one stride of its pool.
//! * **No frame is lost silently**: [`PoolAccounts`] of all pools tell how many frames are free, on
//!   their way home, or in somebody's hands.
//! * After start-up nothing here allocates, locks, or does more than one atomic read-modify-write a
//!   burst.
//!
//! This crate knows no protocol: bytes are bytes.

pub mod memory;
pub mod prefetch;
pub mod ring;

mod burst;
mod crc32c;
mod frame;
mod groups;
mod ids;
mod lender;
mod meta;
mod pool;
mod publish;
mod region;
mod registry;
mod sync;
mod time;
mod windows;

pub use burst::{BURST_MAX, Burst, Drain};
pub use crc32c::Crc32c;
pub use frame::{Frame, FrameTooLong, FrameTooShort};
pub use groups::Groups;
pub use ids::{CpuId, NodeId, PoolId, PortId, QueueId, WorkerId};
pub use lender::{Lender, NotLent, PIECE_BYTES, PIECES_MAX};
pub use memory::{
    HugePiece, HugeSlice, Mapping, MemoryError, Paged, PagedShares, PagedView, Pages, RowShares,
    Shares,
};
pub use meta::FrameMeta;
pub use pool::{FramePool, PoolAccounts};
pub use publish::{Published, Reader};
pub use region::{
    FRAMES_MAX, PoolRequest, Region, RegionError, STRIDE_BYTES_MAX, STRIDE_BYTES_MIN,
};
pub use ring::{Consumer, Producer, ring};
pub use time::Nanos;
pub use windows::Windows;
