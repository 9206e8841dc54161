//! The daemon as a whole: what is started in which order, and ended in the other.

mod error;
mod lists;
mod ports;
mod rules;
mod space;

use std::sync::Arc;

use engine::{Engine, Limits, Plan, RunReport, Running};
use plane::Policy;
use port::PortSpec;

pub use error::StartError;

use crate::config::Config;
use crate::{Layout, LayoutAsked, Pinned};

/// A daemon that runs.
pub struct Daemon {
    running: Running,
    /// Interrupts go back when it ends.
    _pinned: Option<Pinned>,
    /// What somebody should know, a sentence each.
    warnings: Vec<String>,
}

impl Daemon {
    /// Reads the lists, opens the ports and starts the workers.
    ///
    /// # Errors
    ///
    /// Whatever stands in the way; then nothing was started.
    pub fn start(config: &Config, limits: Limits) -> Result<Self, StartError> {
        let layout = layout(config)?;
        let lists = lists::read(config)?;
        let ports = ports::open(config, lists.samples(config))?;
        let mut warnings: Vec<String> = ports.iter().flat_map(|port| port.notes()).collect();
        let specs: Vec<PortSpec> = config.ports.iter().map(|port| port.spec.clone()).collect();
        let stride_bytes = layout.stride_for(&specs, &ports)?;
        let pinned = config
            .workers
            .pin_irqs
            .then(|| Pinned::pin(&specs, &layout.cpus));
        let pinned = pinned.transpose()?;
        warnings.extend(pinned.iter().flat_map(|pinned| pinned.warnings.clone()));
        let plan = Plan {
            ports,
            policy: policy(config)?,
            lists: Arc::new(lists.compile()?),
            cpus: layout.cpus.clone(),
            burst: layout.burst,
            stride_bytes,
            pool_frames: layout.pool_frames_at(stride_bytes),
            idle: config.workers.idle,
            limits,
        };
        Ok(Self {
            running: Engine::start(plan)?,
            _pinned: pinned,
            warnings,
        })
    }

    /// What somebody should know of the start, a sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// What changed at the ports since the last call, a sentence each.
    #[must_use]
    pub fn take_news(&self) -> Vec<String> {
        self.running.take_news()
    }

    /// Asks it to end; workers send what they hold first.
    pub fn stop(&self) {
        self.running.stop();
    }

    /// Whether the run is over and [`Daemon::join`] will not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.running.is_finished()
    }

    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// A worker that was lost.
    pub fn join(self) -> Result<RunReport, StartError> {
        Ok(self.running.join()?)
    }
}

/// What the configuration asks of this machine.
///
/// # Errors
///
/// The machine has it not.
pub fn layout(config: &Config) -> Result<Layout, StartError> {
    Ok(Layout::choose(&LayoutAsked {
        workers: config.workers.count,
        cpus: config.workers.cpus.clone(),
        burst: config.workers.burst,
        stride_bytes: config.memory.stride_bytes,
        pool_frames: config.memory.pool_frames,
    })?)
}

fn policy(config: &Config) -> Result<Policy, StartError> {
    let mut policy = Policy::new(rules::rules(config))?;
    for pipeline in &config.pipelines {
        policy.default = pipeline.default;
        policy.non_ip = pipeline.non_ip;
        policy.malformed = pipeline.malformed;
    }
    Ok(policy)
}
