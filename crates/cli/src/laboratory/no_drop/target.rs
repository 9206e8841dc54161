//! What is searched: ports, or a simulated device.

use std::time::Duration;

use engine::{Drive, DrivePlan, IdleMode};
use frame::PortId;
use lab::no_drop::{Device, Goal, LoadLimit, ModelDevice, ModelSpec, PortsDevice, SearchPlan};
use port::interface::Interface;
use port::{OpenContext, Port, PortSpec};
use traffic::{FCS_BYTES, L1_BYTES, Recipe, Sizes};

use crate::args::{FrameArgs, NdrArgs};
use crate::drive::neighbours::neighbours;
use crate::drive::{open_drive, recipe};
use crate::error::Error;
use crate::output::Output;
use crate::resolve::ports::{check_rings, check_streams, parse};
use crate::run::warn_of_shared_cpus;

/// How long frames on their way are waited for; it is over as soon as all have come.
const DRAIN: Duration = Duration::from_millis(200);
/// The simulated device is offered so many times its capacity, where nothing else is said.
const SIMULATED_MAX: f64 = 4.0;

/// What one size is searched with.
#[derive(Clone, Debug)]
pub(super) struct SizePlan {
    pub(super) plan: SearchPlan,
    /// Frames a second that the link carries, where its speed is known.
    pub(super) line: Option<f64>,
    /// Frames a second that were asked for at most.
    asked: Option<f64>,
}

/// The plans of all sizes, before anything is opened.
pub(super) fn plans(args: &NdrArgs) -> Result<Vec<SizePlan>, Error> {
    let sizes = args.frames.size.iter();
    sizes.map(|size| plan(args, size)).collect()
}

fn plan(args: &NdrArgs, size: &Sizes) -> Result<SizePlan, Error> {
    let search = &args.search;
    let goal = |&loss: &f64| Goal {
        duration_sum: search.duration * search.confirm,
        exceed: search.exceed,
        ..Goal::new(loss, search.duration, search.precision)
    };
    let mean = size.frame_bytes_mean();
    let goals: Vec<Goal> = search.loss.iter().map(goal).collect();
    for goal in &goals {
        goal.check().map_err(Error::refused)?;
    }
    let asked = search.max.and_then(|rate| rate.frames_per_second(mean));
    let least = search.min.frames_per_second(mean).unwrap_or(1.0).max(1.0);
    let mut plan = SearchPlan::new(goals, u64::MAX, LoadLimit::Asked);
    plan.trials_max = search.trials as usize;
    plan.load_min = least as u64;
    Ok(SizePlan {
        plan,
        line: line_rate(args, mean),
        asked,
    })
}

/// What is open.
pub(super) enum Target {
    Simulated(ModelSpec, Option<ModelDevice>),
    Ports {
        /// None while a device has it.
        drive: Option<Drive>,
        device: Option<Box<PortsDevice>>,
    },
}

impl Target {
    pub(super) fn open(args: &NdrArgs, output: Output) -> Result<Self, Error> {
        if let Some(spec) = args.simulate {
            let spec = ModelSpec {
                bidirectional: args.bidirectional,
                ..spec
            };
            return Ok(Self::Simulated(spec, None));
        }
        let mut drive = None;
        if let (Some(tx), Some(rx)) = (&args.tx, &args.rx) {
            drive = Some(open_ports(args, tx, rx, output)?);
        }
        Ok(Self::Ports {
            drive,
            device: None,
        })
    }

    /// The device as it is searched with one size, and the largest load that makes sense.
    pub(super) fn device(
        &mut self,
        args: &NdrArgs,
        size: &Sizes,
        mut plan: SizePlan,
    ) -> Result<(&mut dyn Device, SizePlan), Error> {
        match self {
            Self::Simulated(spec, device) => {
                plan.limit(spec.capacity * SIMULATED_MAX, LoadLimit::Asked)?;
                Ok((device.insert(ModelDevice::new(*spec)), plan))
            }
            Self::Ports { drive, device } => {
                let before = device.take().and_then(|device| device.into_drive());
                let Some(open) = before.or(drive.take()) else {
                    return Err(Error::check_failed("the ports are closed: begin anew"));
                };
                let recipe = recipe_of(args, size)?;
                let made = PortsDevice::new(open, recipe, args.bidirectional, DRAIN);
                let device = device.insert(Box::new(made.map_err(Error::refused)?));
                let ceiling = device.ceiling().map_err(Error::check_failed)?;
                plan.limit(ceiling, LoadLimit::Sender)?;
                Ok((device.as_mut(), plan))
            }
        }
    }

    /// Closes what is open; what the ports want known.
    pub(super) fn close(self) -> Vec<String> {
        let Self::Ports { drive, device } = self else {
            return Vec::new();
        };
        let open = device.and_then(|device| device.into_drive()).or(drive);
        let Some(drive) = open else {
            return Vec::new();
        };
        let closing = drive.close();
        let failure = closing.failure.map(|error| error.to_string());
        closing.warnings.into_iter().chain(failure).collect()
    }
}

impl SizePlan {
    /// The smallest of the limits, and which it is.
    fn limit(&mut self, most: f64, why: LoadLimit) -> Result<(), Error> {
        let limits = [
            Some((most, why)),
            self.line.map(|rate| (rate, LoadLimit::LineRate)),
            self.asked.map(|rate| (rate, LoadLimit::Asked)),
        ];
        let limits = limits.into_iter().flatten();
        let least = limits.min_by(|a, b| a.0.total_cmp(&b.0));
        let (most, why) = least.unwrap_or((most, why));
        (self.plan.load_max, self.plan.limit) = (most as u64, why);
        if self.plan.load_max < self.plan.load_min {
            return Err(Error::refused(format!(
                "no more than {:.0} frames/s can be sent, and --min asks for {}: lower --min",
                most, self.plan.load_min
            )));
        }
        Ok(())
    }
}

fn recipe_of(args: &NdrArgs, size: &Sizes) -> Result<Recipe, Error> {
    let frames = &args.frames;
    let flags = FrameArgs {
        size: Some(size.to_string()),
        src: frames.src.clone(),
        dst: frames.dst.clone(),
        smac: frames.smac.clone(),
        dmac: frames.dmac.clone(),
        vlan: frames.vlan.clone(),
        ipv6: frames.ipv6.clone(),
        flows: frames.flows.clone(),
        ..FrameArgs::default()
    };
    recipe::recipe(&flags, frames.seed)
}

fn open_ports(args: &NdrArgs, tx: &str, rx: &str, output: Output) -> Result<Drive, Error> {
    let specs = parse(&[tx, rx])?;
    check_rings(&specs)?;
    check_streams(&specs, 0, args.json.is_some())?;
    // A recipe that cannot be made is refused before any interface is touched.
    for size in &args.frames.size {
        recipe_of(args, size)?;
    }
    let layout = args.workers.layout(&specs)?;
    warn_of_shared_cpus(&layout, output);
    let context = OpenContext {
        seed: args.frames.seed,
        ..OpenContext::default()
    };
    let open = |(place, spec): (usize, &PortSpec)| -> Result<Box<dyn Port>, Error> {
        let port = port::open(spec, PortId(place as u8), &context).map_err(Error::refused)?;
        port.notes().iter().for_each(|note| output.warn(note));
        Ok(port)
    };
    let mut ports: Vec<Box<dyn Port>> = specs
        .iter()
        .enumerate()
        .map(open)
        .collect::<Result<_, _>>()?;
    let sizes = args.frames.size.iter().map(Sizes::frame_bytes_max);
    let hints = ports.iter().map(|port| port.frame_bytes_max_hint());
    let longest = sizes.chain(hints).fold(0, usize::max);
    let stride_bytes = layout.stride_bytes(longest);
    for size in &args.frames.size {
        check_mtu(&ports, size, &recipe_of(args, size)?)?;
    }
    let (rx, tx) = (ports.pop(), ports.pop());
    let recipe = args.frames.size.first().map(|size| recipe_of(args, size));
    let recipe = recipe.transpose()?;
    let ends = (tx.as_deref(), rx.as_deref());
    let plan = DrivePlan {
        neighbours: neighbours(ends, recipe.as_ref(), &args.answer.answer),
        tx,
        rx,
        apart: false,
        returns: args.bidirectional,
        reflect: args.bidirectional,
        replay: None,
        cpus: layout.cpus.clone(),
        burst: layout.burst,
        stride_bytes,
        pool_frames: layout.pool_frames_at(stride_bytes),
        idle: IdleMode::Spin,
    };
    open_drive(plan, output)
}

/// Frames that an interface does not carry would all be lost, and the device be blamed for it.
fn check_mtu(ports: &[Box<dyn Port>], size: &Sizes, recipe: &Recipe) -> Result<(), Error> {
    const ETHERNET: usize = 14;
    let beside = ETHERNET + 4 * recipe.vlan.len();
    let packet = size.frame_bytes_max().saturating_sub(beside);
    for port in ports {
        let Some(mtu) = port.mtu().filter(|&mtu| packet > mtu as usize) else {
            continue;
        };
        let spec = port.spec().split(',').next().unwrap_or_default();
        let name = spec.split_once(':').map_or(spec, |(_, name)| name);
        return Err(Error::refused(format!(
            "--size {size}: the longest of these frames hold packets of {packet} bytes, and the \
             MTU of {spec} is {mtu}; give a --size of {} or less, or raise the MTU: ip link set \
             dev {name} mtu {packet}",
            mtu as usize + beside + FCS_BYTES
        )));
    }
    Ok(())
}

/// Frames a second that the slower of the two links carries; none where one has no speed of its
/// own, as interfaces without hardware.
fn line_rate(args: &NdrArgs, frame_bytes: f64) -> Option<f64> {
    let speeds = [&args.tx, &args.rx].map(|port| speed(port.as_deref()?));
    let slower = speeds[0]?.min(speeds[1]?);
    Some(f64::from(slower) * 1e6 / ((frame_bytes + (FCS_BYTES + L1_BYTES) as f64) * 8.0))
}

/// Mbit/s of the hardware behind a port.
fn speed(port: &str) -> Option<u32> {
    let name = match PortSpec::parse(port).ok()? {
        PortSpec::Xdp(spec) => spec.interface,
        PortSpec::Packet(spec) => spec.interface,
        _ => return None,
    };
    Interface::named(&name).ok()?.hardware_speed()
}
