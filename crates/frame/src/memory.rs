//! Memory in large pages: for frames, and for tables that are read at random.
//!
//! A random read of a table of a hundred megabytes in 4 KiB pages costs a page walk besides the
//! cache miss; 2 MiB pages save it. They are tried in this order: explicit huge pages, which an
//! administrator has set aside; transparent huge pages, which the kernel makes if it can find them;
//! small pages. What was got is asked of the kernel afterwards, not assumed.

mod arena;
mod available;
mod error;
mod mapping;
mod node;
mod paged;
mod piece;
mod shares;
mod slice;
mod smaps;
#[cfg(miri)]
#[path = "memory/heap.rs"]
mod system;
#[cfg(not(miri))]
#[path = "memory/linux.rs"]
mod system;
#[cfg(all(test, not(loom)))]
mod tests;

use core::fmt;

pub use arena::PAGED_BYTES;
pub use error::MemoryError;
pub use mapping::Mapping;
pub(crate) use mapping::Placement;
pub use node::{node_of_cpu, nodes_online};
pub use paged::{Paged, PagedView};
pub use piece::HugePiece;
pub use shares::{PagedShares, RowShares, Shares};
pub use slice::HugeSlice;

/// Bytes of a huge page on the processors this is written for.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Bytes of a small page.
pub const SMALL_PAGE_BYTES: usize = 4 << 10;

/// The kind of pages that memory is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Huge pages that were set aside (hugetlbfs).
    Explicit2M,
    /// Huge pages that the kernel found by itself; at least half of the memory is in them.
    Transparent,
    /// Pages of 4 KiB.
    Small,
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Explicit2M => "2 MiB huge pages",
            Self::Transparent => "transparent huge pages",
            Self::Small => "4 KiB pages",
        })
    }
}

/// Has the heap give large blocks back to the kernel when they are freed. For processes that run
/// for months and replace much of what they hold; call it before other threads begin.
///
/// By itself the C library of GNU keeps more the larger the blocks are that were freed, and a heap
/// for each few threads: with a list of a million entries replaced once a second, the resident
/// memory of a daemon grew from 78 to 134 MB in four minutes, and went on. Elsewhere this does
/// nothing.
pub fn give_back_what_is_freed() {
    system::give_back_what_is_freed();
}
