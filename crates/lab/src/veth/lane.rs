//! A lane: two veth pairs, and what forwards between them.
//!
//! `s` and `a` are one pair, `b` and `k` the other. Frames enter at `s`, what is measured
//! carries them from `a` to `b`, and they are counted at `k`, where nobody has their address.
//!
//! One CPU is the world outside and sends; the other is the device's. Paths of the kernel do all of
//! their work where frames come in, on the sender's CPU.
//!
//! What receives at `k` is charged to a path as well, so there are three. An XDP program drops
//! at once, on the CPU that transmits, and costs next to nothing. The kernel's stack costs as much
//! as a path: it receives on the CPU that transmits, as a veth does that nothing was set of, which
//! after each socket buffer is frame by frame; or in a thread (threaded NAPI) on the sender's CPU.

use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use engine::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, Engine, IdleMode, Limits, Plan, Running};
use frame::{CpuId, PortId};
use port::{OpenContext, PortSpec, XdpAttachment, XdpProgram};
use rustix::process::{Pid, setpriority_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use table::CompiledLists;

use super::FarEnd;
use super::accounts::{Frames, thread_named};
use super::testpmd::Testpmd;
use super::vswitch::Vswitch;
use crate::contest::refused;
use crate::experiment::LabError;
use crate::pipeline::policy;
use crate::switch::plain_switch;

const STRIDE_BYTES: u32 = 2112;

/// Before the sender, and before everybody else.
const RECEIVER_PRIORITY: i32 = -20;
/// How long the kernel may take to start the receiver's thread.
const PATIENCE: Duration = Duration::from_secs(2);

/// The four interfaces of a lane.
pub(super) struct Links {
    number: usize,
    /// On `k`, where no stack receives.
    sink: Option<XdpAttachment>,
}

impl Links {
    /// Makes them and sets them up; a thread that receives does so on `outside`.
    pub(super) fn new(number: usize, far: FarEnd, outside: CpuId) -> Result<Self, String> {
        let mut links = Self { number, sink: None };
        for (one, other) in [("s", "a"), ("b", "k")] {
            let (one, other) = (links.name(one), links.name(other));
            run("ip", &format!("link add {one} type veth peer name {other}"))?;
            for end in [one, other] {
                run("ip", &format!("link set dev {end} up"))?;
            }
        }
        // Frames are received from a ring, also those that XDP redirects, and not one by one.
        // Nothing is sent to `s`, but a shortcut asks whether it could be.
        for end in ["s", "k"] {
            run("ethtool", &format!("-K {} gro on", links.name(end)))?;
        }
        run("ethtool", &format!("-K {} tso off", links.name("b")))?;
        match far {
            FarEnd::Drop => links.sink = Some(links.dropping("k")?),
            FarEnd::Stack => {}
            FarEnd::Thread => links.receive_on(outside)?,
        }
        Ok(links)
    }

    /// Gives `k` a thread that receives, on this CPU.
    fn receive_on(&self, cpu: CpuId) -> Result<(), String> {
        let end = self.name("k");
        let refused = |what: &str| format!("{end} has no thread that receives: {what}");
        // The /sys that is mounted shows the interfaces of the namespace it was mounted in.
        let script = "mount -t sysfs sysfs /sys && echo 1 > /sys/class/net/$0/threaded";
        let made = Command::new("unshare")
            .args(["--mount", "sh", "-c", script, &end])
            .stdin(Stdio::null())
            .output();
        let made = made.map_err(|error| refused(&error.to_string()))?;
        if !made.status.success() {
            return Err(refused(String::from_utf8_lossy(&made.stderr).trim()));
        }
        let begun = Instant::now();
        let thread = loop {
            if let Some(thread) = self.receiver() {
                break thread;
            }
            if begun.elapsed() > PATIENCE {
                return Err(refused("none was started"));
            }
            sleep(Duration::from_millis(1));
        };
        let thread = i32::try_from(thread).ok().and_then(Pid::from_raw);
        let mut only = CpuSet::new();
        only.set(usize::from(cpu.0));
        sched_setaffinity(thread, &only)
            .and_then(|()| setpriority_process(thread, RECEIVER_PRIORITY))
            .map_err(|error| refused(&error.to_string()))
    }

    /// The process number of the thread that receives at `k`, where there is one.
    fn receiver(&self) -> Option<u32> {
        thread_named(&format!("napi/{}-", self.name("k")))
    }

    pub(super) fn number(&self) -> u32 {
        self.number as u32
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

    /// Drops all that comes in at this end.
    pub(super) fn dropping(&self, end: &str) -> Result<XdpAttachment, String> {
        let drop = XdpProgram::drop_all().and_then(|program| program.attach(&self.name(end)));
        drop.map_err(|error| error.to_string())
    }

    /// Lets the frames that the generator sends, which have no socket buffers yet, pass to what
    /// has `a`.
    pub(super) fn open(&self) -> Result<XdpAttachment, String> {
        let pass = XdpProgram::pass().and_then(|program| program.attach(&self.name("a")));
        pass.map_err(|error| error.to_string())
    }
}

/// What stands between `a` and `b`, besides the kernel.
pub(super) enum Device {
    Kernel,
    Ours(Running),
    Testpmd(Testpmd),
    Vswitch(Vswitch),
}

/// Everything of a lane.
pub(super) struct Lane {
    // Dropped in this order: nobody sends into what is gone.
    pub(super) device: Device,
    /// On `a`, where there is no port's.
    pub(super) _program: Option<XdpAttachment>,
    pub(super) links: Links,
}

/// What passed a lane since it was made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// Out of `k`.
    pub(super) arrived: u64,
    /// Dropped between them by a verdict.
    pub(super) dropped: u64,
}

impl Lane {
    pub(super) fn passed(&self) -> Passed {
        let frames = |end| Frames::of(&self.links.name(end));
        let arrived = frames("k").received;
        let dropped = match &self.device {
            Device::Ours(running) => running.snapshot().dropped,
            _ => frames("a").received.saturating_sub(arrived),
        };
        Passed { arrived, dropped }
    }

    /// Lets what polls work, and gives our bridge other lists; a lane of the kernel has its own.
    pub(super) fn begin(&mut self, lists: &Arc<CompiledLists>) -> Result<(), LabError> {
        match &mut self.device {
            Device::Kernel | Device::Vswitch(_) => Ok(()),
            Device::Testpmd(testpmd) => testpmd.obey("start").map_err(LabError),
            Device::Ours(running) if running.is_finished() => {
                Err(LabError("the bridge has ended before its time".to_owned()))
            }
            Device::Ours(running) => {
                let published = running.lists().publish_lists(Arc::clone(lists));
                published.map(|_| ()).map_err(refused)
            }
        }
    }

    /// What would poll while others are measured waits.
    pub(super) fn end(&mut self) -> Result<(), LabError> {
        match &mut self.device {
            Device::Testpmd(testpmd) => testpmd.obey("stop").map_err(LabError),
            Device::Kernel | Device::Ours(_) | Device::Vswitch(_) => Ok(()),
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let device = std::mem::replace(&mut self.device, Device::Kernel);
        if let Device::Ours(running) = device {
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
    sieve_words: usize,
) -> Result<Running, LabError> {
    Engine::start(plan(links, driver, cpu, lists, sieve_words)?).map_err(refused)
}

/// Our switch between `a` and `b`.
pub(super) fn switch(
    links: &Links,
    driver: &str,
    cpu: CpuId,
    lists: &Arc<CompiledLists>,
) -> Result<Running, LabError> {
    let switch = plain_switch(2, links.number as u64)?;
    Engine::start_nodes(plan(links, driver, cpu, lists, 0)?, vec![switch]).map_err(refused)
}

fn plan(
    links: &Links,
    driver: &str,
    cpu: CpuId,
    lists: &Arc<CompiledLists>,
    sieve_words: usize,
) -> Result<Plan, LabError> {
    let context = OpenContext {
        sieve_words,
        ..OpenContext::default()
    };
    let mut ports = Vec::new();
    for (id, end) in ["a", "b"].into_iter().enumerate() {
        let spec = port_spec(driver, &links.name(end));
        let spec = PortSpec::parse(&spec).map_err(refused)?;
        ports.push(port::open(&spec, PortId(id as u8), &context).map_err(refused)?);
    }
    Ok(Plan {
        ports,
        policy: policy()?,
        lists: Arc::clone(lists),
        cpus: vec![cpu],
        burst: DEFAULT_BURST,
        stride_bytes: STRIDE_BYTES,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::default(),
        limits: Limits::default(),
    })
}

/// A port of this driver; AF_XDP in copy mode, with the program in the driver, or not at all.
fn port_spec(driver: &str, interface: &str) -> String {
    match driver {
        "xdp" => format!("xdp:{interface},mode=copy"),
        "xdp_redirect" => format!("xdp:{interface},mode=copy,transmit=redirect"),
        "xdp_shortcut" => format!("xdp:{interface},mode=copy,shortcut=on"),
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
