//! Where a program's memory lies, and whether that decides how fast it is.
//!
//! [`addresses`] computes what caches make of addresses. [`investigate`] runs a program again and
//! again under a preloaded shim (`shim/layout.c`) that moves its large blocks and its stack.

pub mod addresses;
mod bench;
mod block;
mod cause;
mod pattern;
mod program;
mod remedy;
mod search;
mod shim;
mod smallest;
mod survey;

pub use bench::{Measured, Progress};
pub(crate) use block::Site;
pub use block::{Block, BlockKind};
pub use cause::Cause;
pub use pattern::Pattern;
pub use remedy::Remedy;
pub use search::{Blame, Report, investigate};
pub use survey::{Compared, Moved};

use crate::Better;
use std::ffi::OsString;

/// What is to be found out.
#[derive(Clone, Debug)]
pub struct Request {
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Blocks from this size on are moved.
    pub from_bytes: u64,
    /// The figure that the program prints; CPU time without one.
    pub metric: Option<Pattern>,
    /// Which figures are better.
    pub better: Better,
    /// Rounds that decide; a third of them chooses what is decided on.
    pub rounds: usize,
    /// Whether blocks are moved.
    pub blocks: bool,
    /// Whether the stack is.
    pub stack: bool,
    /// For the order of runs.
    pub seed: u64,
}
