//! What a reader is told: which column, what to forgive, which addresses are the caller's own, and
//! the bounds.

use crate::columns::Columns;
use crate::json_path::JsonPath;
use crate::wording::Wording;
use std::net::IpAddr;

/// How to read a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The columns that hold the entries; the list is read as CSV when they are given.
    pub columns: Option<Columns>,
    /// Where the addresses of a JSON text are; found when there is one such path and none is given.
    pub json_paths: Vec<JsonPath>,
    /// Loads what is right and counts what is not, in place of refusing the list.
    pub skip_bad_lines: bool,
    /// Takes at its word what looks like a mistake: `0.0.0.0/0` and `::/0`, an address beside which
    /// another column may say how far it reaches, and a list that has less than it says.
    pub force: bool,
    /// Takes `0.0.0.0/0` and `::/0` at their word, and a list that has less than it says; nothing
    /// else that `force` takes.
    pub everything: bool,
    /// Addresses that a warning is due for.
    pub own: Vec<OwnAddress>,
    /// What becomes of the entries: notes beside them may say the opposite.
    pub purpose: Purpose,
    /// For whom messages are.
    pub wording: Wording,
    /// The bounds.
    pub limits: Limits,
}

/// What the entries of a list are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To be blocked, or counted.
    #[default]
    Block,
    /// To be let through.
    Allow,
    /// The list was read before, and notes have been judged.
    Read,
}

/// An address that a block list had better not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAddress {
    /// The address.
    pub address: IpAddr,
    /// What it is to the caller, as in `its gateway`.
    pub role: &'static str,
}

/// The bounds of a reader. Memory is at most a block, a line, the entries, and what is kept of bad
/// lines, warnings and matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes read at a time.
    pub block_bytes: usize,
    /// The longest line, or word or string of a format without lines. At least 256 count.
    pub line_bytes_max: usize,
    /// The most entries; noticed after the block that passes it.
    pub entries_max: u64,
    /// Bad lines kept with their message; the others are counted.
    pub bad_kept_max: usize,
    /// Warnings of each kind kept with their message; the others are counted.
    pub warnings_kept_max: usize,
    /// Matches that [`crate::find`] keeps; the others are counted.
    pub matches_kept_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // A block stays in the second-level cache while its lines are read.
            block_bytes: 1 << 20,
            line_bytes_max: 64 << 10,
            // 2 GB as IPv6 addresses.
            entries_max: 128 << 20,
            bad_kept_max: 20,
            warnings_kept_max: 5,
            matches_kept_max: 100,
        }
    }
}

impl Limits {
    /// The bound on lines. Shorter ones are read by the plain path without looking for their end.
    pub(crate) fn line_bound(&self) -> usize {
        self.line_bytes_max.max(256)
    }
}
