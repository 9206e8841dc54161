//! Samples of frames that were dropped or hit a set, taken from workers while they work.
//!
//! Each worker fills boxes that come back to it empty: it allocates nothing and waits for nobody.
//! A sample carries the number of frames that it stands for, also where one found no empty box.

mod receiver;
mod sampler;

use std::fmt;

use frame::{Consumer, Nanos, PortId, Producer};
use plane::{DropReason, MatchedLists};

pub use receiver::{Sample, SampleReceiver, SampledSet};
pub(crate) use receiver::{WorkerSamples, receive};
pub(crate) use sampler::{Decided, Sampler};

/// Bytes of a frame in a sample at most.
pub const SNAP_BYTES_MAX: usize = 1536;

/// Samples under way from one worker at most.
const BOXES: usize = 128;

/// Which frames to take samples of, and how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleSpec {
    /// Frames dropped by their verdict. What finds no room to leave has no samples.
    pub dropped: bool,
    /// Frames that hit a set and were forwarded.
    pub counted: bool,
    /// Of these, only frames that hit the set of this name.
    pub set: Option<String>,
    /// Samples a second, all workers together.
    pub per_second: u32,
    /// Bytes of a frame at most; beyond [`SNAP_BYTES_MAX`] there are none.
    pub snap_bytes: usize,
}

/// Why samples are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SampleError {
    /// A rate of none.
    NoRate,
    /// Neither dropped nor counted frames.
    NoFrames,
    /// The policy has no set of this name.
    NoSet(String),
    /// As many captures go on as can at a time; the field is how many that is.
    TooMany(usize),
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRate => write!(f, "no samples a second are asked for: choose 1 or more"),
            Self::NoFrames => write!(
                f,
                "samples of neither dropped nor counted frames are asked for: choose one"
            ),
            Self::NoSet(name) => write!(f, "no set is named '{name}': see `linerate set list`"),
            Self::TooMany(most) => write!(
                f,
                "{most} captures go on already, as many as can at a time: end one of them"
            ),
        }
    }
}

impl std::error::Error for SampleError {}

/// A sample as the worker fills it.
#[derive(Clone, Debug)]
pub(crate) struct RawSample {
    /// By the worker's clock.
    pub(crate) at: Nanos,
    pub(crate) port: PortId,
    /// `None` for a frame that was forwarded.
    pub(crate) reason: Option<DropReason>,
    pub(crate) matched: MatchedLists,
    /// Of lists and policy.
    pub(crate) version: u64,
    pub(crate) original_len: u32,
    pub(crate) stands_for: u64,
    pub(crate) len: u16,
    pub(crate) bytes: [u8; SNAP_BYTES_MAX],
}

impl RawSample {
    fn empty() -> Box<Self> {
        Box::new(Self {
            at: Nanos(0),
            port: PortId(0),
            reason: None,
            matched: MatchedLists { src: 0, dst: 0 },
            version: 0,
            original_len: 0,
            stands_for: 0,
            len: 0,
            bytes: [0; SNAP_BYTES_MAX],
        })
    }
}

/// The rings between one worker and the receiver: full boxes, and empty ones back.
struct Boxes {
    full: Producer<Box<RawSample>>,
    empty: Consumer<Box<RawSample>>,
}

fn boxes() -> (Boxes, WorkerSamples) {
    let (full, taken) = frame::ring(BOXES);
    let (mut given, empty) = frame::ring(BOXES);
    for _ in 0..BOXES {
        // As many as there is room for.
        let _room = given.push(RawSample::empty());
    }
    (Boxes { full, empty }, WorkerSamples::new(taken, given))
}
