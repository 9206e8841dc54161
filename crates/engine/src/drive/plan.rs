//! What to drive, and one trial of it.

use std::fmt;
use std::time::Duration;

use frame::{BURST_MAX, CpuId};
use port::Port;
use traffic::{Neighbour, Rate, Recipe, Speed};

use crate::{EngineError, IdleMode};

/// The ports to drive and the workers that do. Opened once by [`Drive::open`](super::Drive::open),
/// however many trials follow: attaching to an interface anew may take its link down.
pub struct DrivePlan {
    /// Frames are sent by this one; `None` for a sink alone.
    pub tx: Option<Box<dyn Port>>,
    /// Frames are taken in by this one; `None` where nobody here does.
    pub rx: Option<Box<dyn Port>>,
    /// Frames come back to `tx`, and are taken in there.
    pub returns: bool,
    /// What `rx` takes in it sends back to where it came from.
    pub reflect: bool,
    /// Half of the workers send and the other half takes in, instead of each doing both; of two
    /// workers or more.
    pub apart: bool,
    /// Who `tx` and `rx` are to those at the other end of their wires, where they answer for
    /// addresses or announce themselves.
    pub neighbours: [Option<Neighbour>; 2],
    /// What is sent comes from here, instead of being made.
    pub replay: Option<Replayed>,
    /// The CPUs, one worker each.
    pub cpus: Vec<CpuId>,
    /// Frames sent or received at once at most, 1 to [`BURST_MAX`].
    pub burst: usize,
    /// Distance of two frames in memory, bytes.
    pub stride_bytes: u32,
    /// Frames in each worker's pool.
    pub pool_frames: u32,
    /// What workers do while nothing is due and nothing comes.
    pub idle: IdleMode,
}

/// A capture to send.
pub struct Replayed {
    /// What reads it.
    pub port: Box<dyn Port>,
    /// How fast; [`Speed::Full`] leaves the pace to the trial.
    pub speed: Speed,
}

impl DrivePlan {
    pub(super) fn check(&self) -> Result<(), EngineError> {
        if self.cpus.is_empty() {
            return Err(EngineError::NoCpu);
        }
        if self.burst == 0 || self.burst > BURST_MAX {
            return Err(EngineError::Burst(self.burst));
        }
        let least = Self::pool_frames_min(self.burst);
        if self.pool_frames < least {
            let given = self.pool_frames;
            return Err(EngineError::Pool { given, least });
        }
        if let Some(port) = self.tx.as_ref().filter(|port| !port.tx_sink()) {
            return Err(EngineError::NotASink(port.spec().to_owned()));
        }
        if let Some(port) = self.rx.as_ref().filter(|port| !port.rx_source()) {
            return Err(EngineError::NotASource(port.spec().to_owned()));
        }
        if self.tx.is_none() && self.rx.is_none() {
            return Err(EngineError::NoSource);
        }
        Ok(())
    }

    /// The least number of frames a worker's pool must have for bursts of this size.
    #[must_use]
    pub fn pool_frames_min(burst: usize) -> u32 {
        let frames = burst      // taken in
            + 2 * BURST_MAX     // staged to send, and to send back
            + BURST_MAX; // read of a capture and not yet due
        frames as u32
    }
}

impl fmt::Debug for DrivePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = |port: &Option<Box<dyn Port>>| port.as_ref().map(|port| port.spec().to_owned());
        f.debug_struct("DrivePlan")
            .field("tx", &spec(&self.tx))
            .field("rx", &spec(&self.rx))
            .field("returns", &self.returns)
            .field("reflect", &self.reflect)
            .field("cpus", &self.cpus)
            .field("burst", &self.burst)
            .finish_non_exhaustive()
    }
}

/// One time of sending and taking in.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What frames are made; of a replay nothing is. Streams are numbered anew in each trial.
    pub recipe: Recipe,
    /// How fast they go, all workers together.
    pub rate: Rate,
    /// Frames to send, all workers together; to take in, where nobody here sends.
    pub count: Option<u64>,
    /// How long to send; to take in, where nobody here sends.
    pub duration: Option<Duration>,
    /// How long to wait, after the last frame was sent, for those that are under way.
    pub drain: Duration,
}
