//! Workers, bursts and frame memory.

use engine::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, HEADROOM_BYTES, Plan, allowed_cpus};
use frame::CpuId;

use super::cpus;
use crate::args::WorkerArgs;
use crate::error::Error;

/// Distance of two frames unless something asks for more: an odd multiple of 64, so that frame
/// headers use all sets of the caches.
pub(crate) const DEFAULT_STRIDE_BYTES: u32 = 2112;

/// The largest distance there is.
const STRIDE_BYTES_MAX: u32 = frame::STRIDE_BYTES_MAX;

/// Frame memory that a worker takes unless it is asked for more frames.
const POOL_BYTES_MAX: u64 = 128 << 20;

/// How the dataplane lies on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// One a worker.
    pub(crate) cpus: Vec<CpuId>,
    pub(crate) burst: usize,
    /// As asked for; without it the ports' longest frame decides, see [`Layout::stride_bytes`].
    pub(crate) stride_asked: Option<u32>,
    /// A worker.
    pub(crate) pool_frames: u32,
    /// Whether the user asked for so many.
    pub(crate) pool_asked: bool,
}

impl Layout {
    /// What the options mean on this machine.
    pub(crate) fn resolve(args: &WorkerArgs) -> Result<Self, Error> {
        let burst = args.burst.map_or(DEFAULT_BURST, usize::from);
        let least = Plan::pool_frames_min(burst);
        let pool_frames = args.pool.unwrap_or(DEFAULT_POOL_FRAMES.max(least));
        if pool_frames < least {
            return Err(Error::refused(format!(
                "--pool {pool_frames} is too small for bursts of {burst} frames: choose {least} \
                 or more"
            )));
        }
        Ok(Self {
            cpus: cpus::choose(args, &allowed_cpus())?,
            burst,
            stride_asked: args.stride,
            pool_frames,
            pool_asked: args.pool.is_some(),
        })
    }

    /// The frames of a pool at this distance: fewer where captures of very long frames would
    /// otherwise take much memory, unless a number was asked for.
    pub(crate) fn pool_frames_at(&self, stride_bytes: u32) -> u32 {
        if self.pool_asked {
            return self.pool_frames;
        }
        let fit = u32::try_from(POOL_BYTES_MAX / u64::from(stride_bytes.max(1)));
        let fit = fit
            .unwrap_or(u32::MAX)
            .max(Plan::pool_frames_min(self.burst));
        self.pool_frames.min(fit)
    }

    /// The distance of two frames when none is longer than `frame_bytes_max`: what was asked for,
    /// or the least odd multiple of 64 that holds such a frame, and never below the default.
    pub(crate) fn stride_bytes(&self, frame_bytes_max: usize) -> u32 {
        if let Some(asked) = self.stride_asked {
            return asked;
        }
        let room = u32::try_from(frame_bytes_max)
            .unwrap_or(u32::MAX)
            .saturating_add(HEADROOM_BYTES);
        let lines = room.div_ceil(64) | 1;
        lines
            .saturating_mul(64)
            .clamp(DEFAULT_STRIDE_BYTES, STRIDE_BYTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stride_follows_the_longest_frame() {
        let layout = |stride_asked| Layout {
            cpus: vec![CpuId(0)],
            burst: 64,
            stride_asked,
            pool_frames: 4096,
            pool_asked: false,
        };
        assert_eq!(layout(None).stride_bytes(60), DEFAULT_STRIDE_BYTES);
        assert_eq!(layout(None).stride_bytes(1984), DEFAULT_STRIDE_BYTES);
        assert_eq!(layout(None).stride_bytes(9018), 9152);
        assert_eq!(layout(None).stride_bytes(65_549), 65_728);
        assert_eq!(layout(None).stride_bytes(1 << 30), STRIDE_BYTES_MAX);
        assert_eq!(layout(None).pool_frames_at(2112), 4096);
        assert_eq!(layout(None).pool_frames_at(65_728), 2042);
        assert_eq!(layout(Some(256)).stride_bytes(9018), 256);
        assert_eq!(DEFAULT_STRIDE_BYTES % 128, 64, "an odd multiple of 64");
    }
}
