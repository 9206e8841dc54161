//! Workers, bursts and frame memory.

mod cpus;

use std::fmt;

use engine::{
    DEFAULT_BURST, DEFAULT_POOL_FRAMES, HEADROOM_BYTES, Plan, allowed_cpus, other_workers,
};
use frame::memory::{node_of_cpu, nodes_online};
use frame::{CpuId, NodeId};
use port::interface::Survey;
use port::{Port, PortSpec};

/// Distance of two frames unless something asks for more: an odd multiple of 64, so that frame
/// headers use all sets of the caches.
pub const DEFAULT_STRIDE_BYTES: u32 = 2112;

/// The largest distance there is.
const STRIDE_BYTES_MAX: u32 = frame::STRIDE_BYTES_MAX;

/// Frame memory that a worker takes unless it is asked for more frames.
const POOL_BYTES_MAX: u64 = 128 << 20;

/// What was asked for; what is left out is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutAsked {
    /// How many workers.
    pub workers: Option<usize>,
    /// Their CPUs.
    pub cpus: Option<Vec<CpuId>>,
    /// Frames moved at a time, at most.
    pub burst: Option<usize>,
    /// Distance of two frames, bytes.
    pub stride_bytes: Option<u32>,
    /// Frames in each worker's pool.
    pub pool_frames: Option<u32>,
    /// The memory nodes of the ports' NICs, see [`nodes_of`].
    pub nodes: Vec<NodeId>,
    /// How many ports there are, where there are more than two.
    pub ports: usize,
}

/// The memory nodes of the NICs behind some ports; none on a machine with one node.
#[must_use]
pub fn nodes_of(specs: &[PortSpec]) -> Vec<NodeId> {
    if nodes_online().len() < 2 {
        return Vec::new();
    }
    let interface = |spec: &PortSpec| match spec {
        PortSpec::Xdp(spec) => Some(spec.interface.clone()),
        PortSpec::Packet(spec) => Some(spec.interface.clone()),
        _ => None,
    };
    let node = |name: String| Survey::of(&name).ok()?.numa_node;
    let nodes = specs.iter().filter_map(interface).filter_map(node);
    let nodes = nodes.filter_map(|node| u16::try_from(node).ok());
    let mut nodes: Vec<NodeId> = nodes.map(NodeId).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Why this machine cannot lay out the dataplane as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// A CPU that this process may not use.
    ForeignCpu {
        /// The CPU.
        cpu: CpuId,
        /// Those it may use.
        allowed: Vec<CpuId>,
    },
    /// Another number of workers than of CPUs.
    Disagree {
        /// Workers asked for.
        workers: usize,
        /// CPUs asked for.
        cpus: Vec<CpuId>,
    },
    /// More workers than CPUs.
    TooMany {
        /// Workers asked for.
        workers: usize,
        /// CPUs there are.
        cpus: usize,
    },
    /// A pool too small for the bursts.
    Pool {
        /// Frames asked for.
        frames: u32,
        /// Frames needed.
        least: u32,
        /// Frames of a burst.
        burst: usize,
    },
    /// Generated frames that fit into no chunk.
    Stride {
        /// The generator.
        port: String,
        /// Distance asked for, bytes.
        stride_bytes: u32,
        /// Distance needed, bytes.
        least: usize,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignCpu { cpu, allowed } => write!(
                f,
                "CPU {cpu} is not among those this process may use: choose from {}",
                cpus::listed(allowed)
            ),
            Self::Disagree { workers, cpus } => write!(
                f,
                "workers = {workers} and the CPUs {} disagree: each worker has one CPU, so leave \
                 out the number of workers",
                cpus::listed(cpus)
            ),
            Self::TooMany { workers, cpus } => write!(
                f,
                "{workers} workers need {workers} CPUs and this process may use {cpus}: choose \
                 {cpus} or fewer (--workers, or count in a configuration)"
            ),
            Self::Pool {
                frames,
                least,
                burst,
            } => write!(
                f,
                "a pool of {frames} frames is too small for bursts of {burst} frames: choose \
                 {least} or more (--pool, or pool in a configuration)"
            ),
            Self::Stride {
                port,
                stride_bytes,
                least,
            } => write!(
                f,
                "{port} makes frames that do not fit into {stride_bytes} bytes: leave out the \
                 stride or give {least} or more (--stride, or stride in a configuration)"
            ),
        }
    }
}

impl std::error::Error for LayoutError {}

/// How the dataplane lies on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The CPUs, one a worker.
    pub cpus: Vec<CpuId>,
    /// What the user should know of them: a sentence for each that another process has, too, and
    /// one on those that are on another memory node than the ports' NICs.
    pub warnings: Vec<String>,
    /// Frames moved at a time, at most.
    pub burst: usize,
    /// As asked for; without it the ports' longest frame decides, see [`Layout::stride_bytes`].
    pub stride_asked: Option<u32>,
    /// Frames in the pool of a worker.
    pub pool_frames: u32,
    /// Whether the user asked for so many.
    pub pool_asked: bool,
    /// How many ports there are.
    pub ports: usize,
}

impl Layout {
    /// What is asked for on this machine.
    ///
    /// # Errors
    ///
    /// CPUs that are not there or too few, or a pool too small for its bursts.
    pub fn choose(asked: &LayoutAsked) -> Result<Self, LayoutError> {
        let burst = asked.burst.unwrap_or(DEFAULT_BURST);
        let least = Plan::pool_frames_min(burst, asked.ports.max(2));
        let pool_frames = asked.pool_frames.unwrap_or(DEFAULT_POOL_FRAMES.max(least));
        if pool_frames < least {
            return Err(LayoutError::Pool {
                frames: pool_frames,
                least,
                burst,
            });
        }
        let others = other_workers();
        let is_near = |cpu| node_of_cpu(cpu).is_none_or(|node| asked.nodes.contains(&node));
        let is_near = |cpu| asked.nodes.is_empty() || is_near(cpu);
        let cpus = cpus::choose(asked, &allowed_cpus(), &others, &is_near)?;
        let mut warnings = cpus::shared_with(&cpus, &others, asked.cpus.is_none());
        warnings.extend(cpus::far_from(&asked.nodes, &cpus, &is_near));
        Ok(Self {
            warnings,
            cpus,
            burst,
            stride_asked: asked.stride_bytes,
            pool_frames,
            pool_asked: asked.pool_frames.is_some(),
            ports: asked.ports.max(2),
        })
    }

    /// The distance of two frames for these ports, of which a generator must be able to make its
    /// frames: one whose frames fit no chunk would make none for ever. A capture's long frames are
    /// counted as missed instead: it ends.
    ///
    /// # Errors
    ///
    /// A generator's frames do not fit into the stride asked for.
    pub fn stride_for(
        &self,
        specs: &[PortSpec],
        ports: &[Box<dyn Port>],
    ) -> Result<u32, LayoutError> {
        let longest = ports.iter().map(|port| port.frame_bytes_max_hint()).max();
        let stride_bytes = self.stride_bytes(longest.unwrap_or(0));
        for (spec, port) in specs.iter().zip(ports) {
            let needed = port.frame_bytes_max_hint() + HEADROOM_BYTES as usize;
            if matches!(spec, PortSpec::Gen(_)) && needed > stride_bytes as usize {
                return Err(LayoutError::Stride {
                    port: spec.to_string(),
                    stride_bytes,
                    least: needed.next_multiple_of(64),
                });
            }
        }
        Ok(stride_bytes)
    }

    /// The frames of a pool at this distance: fewer where captures of very long frames would
    /// otherwise take much memory, unless a number was asked for.
    #[must_use]
    pub fn pool_frames_at(&self, stride_bytes: u32) -> u32 {
        if self.pool_asked {
            return self.pool_frames;
        }
        let fit = u32::try_from(POOL_BYTES_MAX / u64::from(stride_bytes.max(1)));
        let fit = fit
            .unwrap_or(u32::MAX)
            .max(Plan::pool_frames_min(self.burst, self.ports));
        self.pool_frames.min(fit)
    }

    /// The distance of two frames when none is longer than `frame_bytes_max`: what was asked for,
    /// or the least odd multiple of 64 that holds such a frame, and never below the default.
    #[must_use]
    pub fn stride_bytes(&self, frame_bytes_max: usize) -> u32 {
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
            ports: 2,
            warnings: Vec::new(),
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
