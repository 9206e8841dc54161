//! What a table of datagrams is told, what it answers, and what it counts.

use frame::Nanos;

use super::DatagramId;

/// What a table of datagrams may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentLimits {
    /// Datagrams at once.
    pub datagrams: u32,
    /// Pieces of one datagram.
    pub pieces: u16,
    /// Things that wait, all datagrams together.
    pub held: u32,
    /// How long after its first arrival a datagram is known, nanoseconds. RFC 791 names 15 s and
    /// RFC 8200 60 s for hosts; who reuses identifications fast needs less (RFC 6864).
    pub timeout: Nanos,
    /// One of so many parts of datagrams, and of what waits, is what one source may have.
    pub source_part: u32,
}

impl Default for FragmentLimits {
    /// 16,384 datagrams of up to 128 pieces in some 3 MB, 512 things that wait, 2 seconds, and a
    /// quarter for a source.
    fn default() -> Self {
        Self {
            datagrams: 16_384,
            pieces: 128,
            held: 512,
            timeout: Nanos(2_000_000_000),
            source_part: 4,
        }
    }
}

/// What is wrong with a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Two of its pieces hold the same bytes and are not the same (RFC 5722, RFC 8200).
    Overlap,
    /// Its pieces contradict each other on its length, or one is empty or of no multiple of 8.
    Length,
    /// It has more pieces than allowed, or all together have.
    Pieces,
    /// Two first pieces differ: another datagram has the same identification (RFC 6864).
    Reused,
}

/// Why a thing that waited is given back unjudged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The first piece did not come in time.
    TimedOut,
    /// There was no room for all.
    Evicted,
    /// Its source has more than its share.
    Source,
    /// The datagram was found bad.
    Flawed(Flaw),
}

/// A piece taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// Its datagram.
    pub id: DatagramId,
    /// All of the datagram has come.
    pub complete: bool,
}

/// Why a piece is not taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The same piece has come before; the datagram is as it was.
    Duplicate,
    /// Its source has more datagrams than its share.
    Source,
    /// The datagram is bad, by this piece or an earlier one.
    Flawed(Flaw),
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentCounts {
    /// Datagrams begun.
    pub begun: u64,
    /// Datagrams of which all pieces came.
    pub complete: u64,
    /// Datagrams given up when their time was over.
    pub timed_out: u64,
    /// Datagrams given up for want of room.
    pub evicted: u64,
    /// Datagrams found bad.
    pub flawed: u64,
    /// Datagrams found bad since another has the same identification.
    pub reused: u64,
    /// Pieces that were there already.
    pub duplicates: u64,
    /// Things that were to wait.
    pub waited: u64,
    /// Most that waited at once.
    pub held_max: u64,
}

impl FragmentCounts {
    /// Nothing yet.
    pub const NONE: Self = Self {
        begun: 0,
        complete: 0,
        timed_out: 0,
        evicted: 0,
        flawed: 0,
        reused: 0,
        duplicates: 0,
        waited: 0,
        held_max: 0,
    };
}
