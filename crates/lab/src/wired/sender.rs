//! The engine's generator, flat out: frames of 64 bytes with random addresses.

use std::time::Duration;

use engine::{Drive, DrivePlan, IdleMode, RunningDrive, Trial};
use frame::{CpuId, PortId};
use port::{OpenContext, PortSpec};
use traffic::{Rate, Recipe};

use crate::contest::refused;
use crate::experiment::LabError;

/// Frames lie an odd number of cache lines apart.
const STRIDE: u32 = 2112;
/// What is longer is the receiver's fault, which did not look.
const SLACK: Duration = Duration::from_secs(5);

/// A drive at rest.
pub(super) struct Sender {
    drive: Drive,
    recipe: Recipe,
}

/// A drive that sends until it is told to stop.
pub(super) struct Sending {
    running: RunningDrive,
    recipe: Recipe,
}

impl Sender {
    pub(super) fn open(spec: &PortSpec, cpu: CpuId, seed: u64) -> Result<Self, LabError> {
        let tx = port::open(spec, PortId(0), &OpenContext::default()).map_err(refused)?;
        let plan = DrivePlan {
            tx: Some(tx),
            rx: None,
            returns: false,
            reflect: false,
            apart: false,
            neighbours: [None, None],
            replay: None,
            cpus: vec![cpu],
            burst: engine::DEFAULT_BURST,
            stride_bytes: STRIDE,
            pool_frames: engine::DEFAULT_POOL_FRAMES,
            idle: IdleMode::Spin,
        };
        Ok(Self {
            drive: Drive::open(plan).map_err(refused)?,
            recipe: Recipe {
                seed,
                stamp: None,
                ..Recipe::default()
            },
        })
    }

    /// Begins to send; by itself it ends some seconds after `planned`.
    pub(super) fn start(self, planned: Duration) -> Result<Sending, LabError> {
        let trial = Trial {
            recipe: self.recipe.clone(),
            rate: Rate::Unlimited,
            count: None,
            duration: Some(planned + SLACK),
            drain: Duration::ZERO,
        };
        Ok(Sending {
            running: self.drive.start(&trial).map_err(refused)?,
            recipe: self.recipe,
        })
    }
}

impl Sending {
    pub(super) fn stop(&self) {
        self.running.stop();
    }

    pub(super) fn is_finished(&self) -> bool {
        self.running.is_finished()
    }

    pub(super) fn join(self) -> Result<Sender, LabError> {
        let (drive, report) = self.running.join().map_err(refused)?;
        match report.ended_by {
            engine::EndedBy::Failed(error) => Err(refused(error)),
            _ => Ok(Sender {
                drive,
                recipe: self.recipe,
            }),
        }
    }
}
