//! A lane: sender, two veth pairs, and what forwards between them.
//!
//! `s` and `a` are one pair, `b` and `k` the other. Frames enter at `s`, what is measured
//! carries them from `a` to `b`, and they are counted at `k`, where nobody has their address.

use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use engine::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, Engine, IdleMode, Limits, Plan, Running};
use frame::{CpuId, PortId};
use port::{OpenContext, PortSpec};
use table::CompiledLists;

use super::accounts::Frames;
use super::sender::Sender;
use crate::contest::refused;
use crate::experiment::LabError;
use crate::pipeline::policy;

const STRIDE_BYTES: u32 = 2112;

/// The four interfaces of a lane.
pub(super) struct Links {
    number: usize,
}

impl Links {
    /// Makes them and sets them up.
    pub(super) fn new(number: usize) -> Result<Self, String> {
        let links = Self { number };
        for (one, other) in [("s", "a"), ("b", "k")] {
            let (one, other) = (links.name(one), links.name(other));
            run("ip", &format!("link add {one} type veth peer name {other}"))?;
            for end in [one, other] {
                run("ip", &format!("link set dev {end} up"))?;
            }
        }
        Ok(links)
    }

    pub(super) fn name(&self, end: &str) -> String {
        format!("lr{}{end}", self.number)
    }

    /// Lets the kernel's bridge forward from `a` to `b`.
    pub(super) fn bridge(&self) -> Result<(), String> {
        let name = self.name("br");
        run("ip", &format!("link add {name} type bridge"))?;
        run("ip", &format!("link set dev {name} up"))?;
        for end in ["a", "b"] {
            let end = self.name(end);
            run("ip", &format!("link set dev {end} master {name}"))?;
        }
        Ok(())
    }
}

/// Everything of a lane.
pub(super) struct Lane {
    // Dropped in this order: nobody sends into what is gone.
    pub(super) sender: Sender,
    pub(super) ours: Option<Running>,
    pub(super) links: Links,
}

/// What passed a lane since it was made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// Into `s`.
    pub(super) sent: u64,
    /// Out of `k`.
    pub(super) arrived: u64,
    /// Dropped between them by a verdict.
    pub(super) dropped: u64,
}

impl Lane {
    pub(super) fn passed(&self) -> Passed {
        let frames = |end| Frames::of(&self.links.name(end));
        let arrived = frames("k").received;
        let dropped = match &self.ours {
            Some(running) => running.snapshot().dropped,
            None => frames("a").received.saturating_sub(arrived),
        };
        Passed {
            sent: frames("s").sent,
            arrived,
            dropped,
        }
    }

    /// Gives our bridge other lists; a lane of the kernel has its own.
    pub(super) fn use_lists(&self, lists: &Arc<CompiledLists>) -> Result<(), LabError> {
        let Some(running) = &self.ours else {
            return Ok(());
        };
        if running.is_finished() {
            return Err(LabError("the bridge has ended before its time".to_owned()));
        }
        let published = running.lists().publish(Arc::clone(lists));
        published.map(|_| ()).map_err(refused)
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if let Some(running) = self.ours.take() {
            running.stop();
            let _nobody_reads_it = running.join();
        }
    }
}

/// Our bridge between `a` and `b`.
pub(super) fn ours(
    links: &Links,
    driver: &str,
    cpu: CpuId,
    lists: &Arc<CompiledLists>,
) -> Result<Running, LabError> {
    let context = OpenContext::default();
    let mut ports = Vec::new();
    for (id, end) in ["a", "b"].into_iter().enumerate() {
        let spec = port_spec(driver, &links.name(end));
        let spec = PortSpec::parse(&spec).map_err(refused)?;
        ports.push(port::open(&spec, PortId(id as u8), &context).map_err(refused)?);
    }
    let plan = Plan {
        ports,
        policy: policy()?,
        lists: Arc::clone(lists),
        cpus: vec![cpu],
        burst: DEFAULT_BURST,
        stride_bytes: STRIDE_BYTES,
        pool_frames: DEFAULT_POOL_FRAMES,
        idle: IdleMode::default(),
        limits: Limits::default(),
    };
    Engine::start(plan).map_err(refused)
}

/// A port of this driver; AF_XDP in copy mode, with the program in the driver, or not at all.
pub(super) fn port_spec(driver: &str, interface: &str) -> String {
    match driver {
        "xdp" => format!("xdp:{interface},mode=copy"),
        _ => format!("{driver}:{interface}"),
    }
}

/// Runs a program of the system.
///
/// # Errors
///
/// A sentence with what it said.
pub(super) fn run(program: &str, words: &str) -> Result<Output, String> {
    let ran = Command::new(program)
        .args(words.split_whitespace())
        .stdin(Stdio::null())
        .output();
    let output = ran.map_err(|error| format!("{program} does not start: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {words}: {}", said.trim()))
}
