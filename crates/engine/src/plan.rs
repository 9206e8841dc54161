//! What to run, and why it may be refused.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use frame::{BURST_MAX, CpuId, RegionError};
use plane::{ListsMismatch, Node, Policy, Ports, Ruleset};
use port::{Port, PortError};
use table::fragments::FragmentLimits;
use table::{CompileError, CompiledLists};
use traffic::RecipeError;

use crate::dispatch::RING_LIMIT_MAX;
use crate::gathering::GATHERERS_MAX;
use crate::hit_counters::Size;
use crate::{DispatchPolicy, DispatchSettings, IdleMode};

/// Frames a step takes from a queue at most, unless the plan says otherwise. From 64 up the rate
/// of the demo no longer rises, and a burst's columns stay well inside the first-level cache.
pub const DEFAULT_BURST: usize = 64;

/// Frames in a worker's pool, unless the plan says otherwise: as many as two kernel rings of 1,024
/// in either direction of two ports need, see [`Plan::pool_frames_min`] for the least.
pub const DEFAULT_POOL_FRAMES: u32 = 4096;

/// Bytes kept free before each frame, for tags and tunnels to grow into.
pub const HEADROOM_BYTES: u32 = 128;

/// When a run ends by itself; it also ends when no source has anything left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// After this time.
    pub duration: Option<Duration>,
    /// After this many received frames, all workers together.
    pub frames: Option<u64>,
}

/// What to run between ports.
pub struct Plan {
    /// The ports: two, or any number where a node decides where frames leave.
    pub ports: Vec<Box<dyn Port>>,
    /// What may pass.
    pub policy: Policy,
    /// The lists, one a rule of the policy, in its order.
    pub lists: Arc<CompiledLists>,
    /// The CPUs, one worker each.
    pub cpus: Vec<CpuId>,
    /// Frames that a step takes from a queue at most, 1 to [`BURST_MAX`].
    pub burst: usize,
    /// Distance of two frames in memory, bytes.
    pub stride_bytes: u32,
    /// Frames in each worker's pool.
    pub pool_frames: u32,
    /// How frames get to the worker that decides on them.
    pub dispatch: DispatchSettings,
    /// What workers do while nothing comes.
    pub idle: IdleMode,
    /// When to end.
    pub limits: Limits,
}

impl Plan {
    /// The least number of frames a worker's pool must have for bursts of this size, between
    /// `ports` ports.
    #[must_use]
    pub fn pool_frames_min(burst: usize, ports: usize) -> u32 {
        let frames = burst      // being received
            + ports * BURST_MAX // staged to transmit, a burst a port
            + BURST_MAX; // staged for other workers, or received ahead
        frames as u32
    }

    /// What fragments are held by, if any are: only who remembers flows needs ports, and
    /// who puts packets together.
    pub(crate) fn fragments(&self) -> Option<FragmentLimits> {
        let needs = self.policy.stateful.is_some() || self.policy.reassembles;
        self.policy.fragments.filter(|_| needs)
    }

    /// Whether fragments go to a worker chosen by their packet: where they may come to several, or
    /// packets are put together.
    pub(crate) fn gathers(&self) -> bool {
        let several = self.cpus.len() > 1;
        self.fragments().is_some() && (several || self.policy.reassembles)
    }

    /// Frames that a worker's pool has beside those asked for: those that wait at nodes, and
    /// fragments. All that wait at any worker may be of one pool, fragments at whoever gathers
    /// before the first one of their packet comes and, where its flow is another worker's, once
    /// more there.
    pub(crate) fn held_frames<N: Node>(&self) -> u32 {
        let held = self.fragments().map_or(0, |limits| limits.held.max(1));
        let workers = self.cpus.len() as u32;
        let fragments = match workers {
            1 => held,
            workers => held.saturating_mul(workers + workers.min(GATHERERS_MAX.into())),
        };
        fragments.saturating_add(workers.saturating_mul(N::HELD_MAX as u32))
    }

    /// Chooses who decides, where each flow is known to one worker of several.
    pub(crate) fn dispatch_flows(&mut self) {
        let several = self.policy.stateful.is_some() && self.cpus.len() > 1;
        if several || self.policy.reassembles {
            self.dispatch.policy.get_or_insert(DispatchPolicy::Hybrid);
        }
    }

    /// The lists and the policy as one.
    pub(crate) fn ruleset(&self) -> Result<Ruleset, EngineError> {
        let policy = Arc::new(self.policy.clone());
        Ruleset::new(Arc::clone(&self.lists), policy).map_err(EngineError::Lists)
    }

    pub(crate) fn size(&self) -> Size {
        Size {
            ports: self.ports.len(),
            workers: self.cpus.len(),
        }
    }

    pub(crate) fn check<N: Node>(&self) -> Result<(), EngineError> {
        self.check_ports::<N>()?;
        if self.cpus.is_empty() {
            return Err(EngineError::NoCpu);
        }
        let direct = self.dispatch.policy == Some(DispatchPolicy::Direct);
        if self.policy.stateful.is_some() && self.cpus.len() > 1 && direct {
            return Err(EngineError::StatefulDirect(self.cpus.len()));
        }
        if self.policy.reassembles && direct {
            return Err(EngineError::ReassemblyDirect);
        }
        if self.burst == 0 || self.burst > BURST_MAX {
            return Err(EngineError::Burst(self.burst));
        }
        let least = Self::pool_frames_min(self.burst, self.ports.len());
        if self.pool_frames < least {
            return Err(EngineError::Pool {
                given: self.pool_frames,
                least,
            });
        }
        self.dispatch.check()
    }

    fn check_ports<N: Node>(&self) -> Result<(), EngineError> {
        let ports = self.ports.len();
        if !N::DECIDES {
            return (ports == 2).then_some(()).ok_or(EngineError::Ports(ports));
        }
        if !(1..=Ports::MAX).contains(&ports) {
            return Err(EngineError::NodePorts(ports));
        }
        // The ends of a flow have two sides, and held fragments leave without the node.
        if self.policy.stateful.is_some() || self.policy.reassembles {
            return Err(EngineError::NodeFlows);
        }
        Ok(())
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let specs: Vec<&str> = self.ports.iter().map(|port| port.spec()).collect();
        f.debug_struct("Plan")
            .field("ports", &specs)
            .field("policy", &self.policy)
            .field("cpus", &self.cpus)
            .field("burst", &self.burst)
            .field("stride_bytes", &self.stride_bytes)
            .field("pool_frames", &self.pool_frames)
            .field("dispatch", &self.dispatch)
            .field("idle", &self.idle)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

const NODE_FLOWS: &str = "flows are remembered and packets put together between two ports alone: \
                          run a bridge, or leave --stateful and reassembly out";

/// Why a run did not start or could not be finished.
#[derive(Debug)]
pub enum EngineError {
    /// A bridge has two ports; the field is how many were given.
    Ports(usize),
    /// A node has 1 to 64 ports; the field is how many were given.
    NodePorts(usize),
    /// Flows are remembered, or packets put together, between two ports alone.
    NodeFlows,
    /// No CPU to run a worker on.
    NoCpu,
    /// A bridge that remembers flows, with this many workers that decide on what they
    /// receive, whoever knows its flow.
    StatefulDirect(usize),
    /// Packets are to be put together by workers that decide at once on what they receive.
    ReassemblyDirect,
    /// The table of flows could not be had.
    Flows(CompileError),
    /// A burst of this many frames.
    Burst(usize),
    /// A pool too small to work with.
    Pool {
        /// Frames asked for.
        given: u32,
        /// Frames needed.
        least: u32,
    },
    /// A ring between two workers of this many frames.
    RingLimit(usize),
    /// Another number of lists than the policy has rules.
    Lists(ListsMismatch),
    /// No port receives anything.
    NoSource,
    /// A port to send by that takes no frames.
    NotASink(String),
    /// A port to take frames in from that none come from.
    NotASource(String),
    /// Test frames longer than a chunk.
    FrameTooLong {
        /// Bytes of the longest, with FCS.
        frame: usize,
        /// Distance of two frames in memory, bytes.
        stride: u32,
    },
    /// Test frames that cannot be made.
    Recipe(RecipeError),
    /// Frame memory could not be had.
    Region(RegionError),
    /// A port could not be opened.
    Port(PortError),
    /// A worker could not be started or tied to its CPU.
    Worker(CpuId, io::Error),
    /// A worker ended by a panic, which is a bug.
    WorkerLost,
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ports(given) => write!(f, "a bridge has two ports and {given} are given"),
            Self::NodePorts(given) => write!(
                f,
                "{given} ports are given: choose 1 to {} ports",
                Ports::MAX
            ),
            Self::NodeFlows => f.write_str(NODE_FLOWS),
            Self::NoCpu => write!(f, "no CPU is given to run a worker on"),
            Self::ReassemblyDirect => write!(
                f,
                "packets cannot be put together where frames are dispatched directly: leave the \
                 policy of dispatching out, or have fragments pass as they are"
            ),
            Self::StatefulDirect(given) => write!(
                f,
                "a bridge that remembers flows cannot be dispatched directly to {given} \
                 workers: choose --dispatch hybrid or deferred, or one worker"
            ),
            Self::Flows(error) => write!(
                f,
                "there is no memory for the table of flows ({error}): choose fewer --flows"
            ),
            Self::Burst(given) => {
                write!(
                    f,
                    "a burst of {given} frames is asked for: choose 1 to {BURST_MAX}"
                )
            }
            Self::Pool { given, least } => write!(
                f,
                "a pool of {given} frames is too small for these bursts: choose {least} or more"
            ),
            Self::RingLimit(given) => write!(
                f,
                "a ring of {given} frames between two workers is asked for: choose 1 to \
                 {RING_LIMIT_MAX}"
            ),
            Self::Lists(error) => error.fmt(f),
            Self::NoSource => write!(
                f,
                "no port receives anything: give one an input, as in pcap:in=FILE or gen:"
            ),
            Self::NotASink(spec) => write!(
                f,
                "{spec} takes no frames: choose a port to send by, as in xdp:eth0 or pcap:out=FILE"
            ),
            Self::NotASource(spec) => write!(
                f,
                "no frames come from {spec}: choose a port to take them in from, as in xdp:eth0"
            ),
            Self::FrameTooLong { frame, stride } => write!(
                f,
                "frames of {frame} bytes do not fit into chunks of {stride}: make them shorter, or \
                 the chunks longer with --stride"
            ),
            Self::Recipe(error) => error.fmt(f),
            Self::Region(error) => error.fmt(f),
            Self::Port(error) => error.fmt(f),
            Self::Worker(cpu, error) => not_started(f, *cpu, error),
            Self::WorkerLost => write!(
                f,
                "a worker ended by a bug: please report the message above"
            ),
        }
    }
}

fn not_started(f: &mut fmt::Formatter<'_>, cpu: CpuId, error: &io::Error) -> fmt::Result {
    let remedy = match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => {
            "raise the limits on memory and threads"
        }
        _ => "choose another CPU",
    };
    write!(
        f,
        "the worker for CPU {cpu} could not be started ({error}): {remedy}"
    )
}

impl std::error::Error for EngineError {}

impl From<RegionError> for EngineError {
    fn from(error: RegionError) -> Self {
        Self::Region(error)
    }
}

impl From<PortError> for EngineError {
    fn from(error: PortError) -> Self {
        Self::Port(error)
    }
}
