//! What a capture holds, record by record.

use std::fmt;

use wire::capture::{CaptureFault, LinkType};

use super::link::link_type_remedy;

/// A frame of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// When it was captured: nanoseconds since 1970; 0 where the capture says nothing.
    pub time_ns: u64,
    /// Bytes it had on the wire, as stated.
    pub original_len: u32,
    /// What was captured of it.
    pub bytes: &'a [u8],
}

/// Why a record is no frame that can be given out. Displays as the end of a sentence about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    /// It cannot be made Ethernet.
    Link(LinkType),
    /// It is wrong in itself.
    Fault(CaptureFault),
    /// It holds no frame: an entry of a log, something of one program's own; its kind of block.
    NoFrame(u32),
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Link(link_type) => {
                let remedy = link_type_remedy(link_type);
                write!(f, "cannot be read as Ethernet ({link_type}); {remedy}")
            }
            Self::Fault(fault) => write!(f, "cannot be read: {fault}"),
            Self::NoFrame(9) => f.write_str("is an entry of the systemd journal and no frame"),
            Self::NoFrame(kind) => write!(f, "is a pcapng block of type 0x{kind:x} and no frame"),
        }
    }
}

/// What reading one record came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A frame.
    Record(Record<'a>),
    /// A record that is passed over.
    LeftOut(LeftOut),
    /// None yet: a pipe has no more for now.
    Waiting,
    /// No more will come.
    Ended,
}
