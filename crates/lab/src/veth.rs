//! This bridge, the kernel's, nftables sets, an XDP program and DPDK's testpmd, between the same
//! kind of kernel interfaces.
//!
//! Every path has a lane of its own in one network namespace (see `lane`), all of one shape, and
//! lanes are measured in turn. Kernel paths do their work on the sender's CPU, in its softirq, and
//! ours on another one: frames a second alone would hold one CPU against two. So the CPU time of
//! both is measured too, less what sending into a lane that leads nowhere costs a frame.

mod accounts;
mod bench;
mod findings;
mod generator;
mod lane;
mod loads;
mod namespace;
mod rows;
mod testpmd;
#[cfg(test)]
mod tests;
mod vswitch;

use std::time::Duration;

use engine::allowed_cpus;
use frame::CpuId;

use crate::experiment::{LabError, Outcome, Settings};
use crate::{Chart, ChartKind, interleave};
use bench::{Bench, Measured};
use namespace::Namespace;

const ENTRIES_QUICK: [usize; 2] = [0, 100_000];
const ENTRIES: [usize; 3] = [0, 1_000_000, 6_000_000];
const ROUNDS_QUICK: usize = 10;
const ROUNDS: usize = 13;
const TRIAL_QUICK: Duration = Duration::from_millis(300);
const TRIAL: Duration = Duration::from_millis(400);
/// Milliseconds of a trial and rounds in place of these, for a first look at a new machine; and
/// names of paths, with commas between, in place of all, for a closer look at a few.
const TRIAL_VARIABLE: &str = "LINERATE_VETH_TRIAL_MS";
const ROUNDS_VARIABLE: &str = "LINERATE_VETH_ROUNDS";
const PATHS_VARIABLE: &str = "LINERATE_VETH_PATHS";

/// What forwards, or none for the cost of sending alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    GeneratorOnly,
    KernelBridge,
    Nft,
    HashMap,
    Packet,
    Xdp,
    XdpRedirect,
    XdpShortcut,
    TestpmdPacket,
    TestpmdXdp,
    SwitchPacket,
    SwitchXdp,
    OpenVswitch,
}

impl Path {
    /// All that forward.
    const ALL: [Self; 12] = [
        Self::KernelBridge,
        Self::Nft,
        Self::HashMap,
        Self::Packet,
        Self::Xdp,
        Self::XdpRedirect,
        Self::XdpShortcut,
        Self::TestpmdPacket,
        Self::TestpmdXdp,
        Self::SwitchPacket,
        Self::SwitchXdp,
        Self::OpenVswitch,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::GeneratorOnly => "generator_only",
            Self::KernelBridge => "kernel_bridge",
            Self::Nft => "nft",
            Self::HashMap => "xdp_hash_map",
            Self::Packet => "packet",
            Self::Xdp => "xdp",
            Self::XdpRedirect => "xdp_redirect",
            Self::XdpShortcut => "xdp_shortcut",
            Self::TestpmdPacket => "testpmd_af_packet",
            Self::TestpmdXdp => "testpmd_af_xdp",
            Self::SwitchPacket => "switch_packet",
            Self::SwitchXdp => "switch_xdp",
            Self::OpenVswitch => "open_vswitch",
        }
    }

    /// What its program calls the driver.
    const fn driver(self) -> &'static str {
        match self {
            Self::TestpmdPacket => "net_af_packet",
            Self::TestpmdXdp => "net_af_xdp",
            Self::SwitchPacket => "packet",
            Self::SwitchXdp => "xdp",
            _ => self.name(),
        }
    }
}

/// Who receives what was forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FarEnd {
    /// An XDP program, on the CPU that transmits, which drops all: as little as a far end can do.
    Drop,
    /// The kernel's stack, on the CPU that transmits.
    Stack,
    /// The kernel's stack, in a thread on the sender's CPU.
    Thread,
}

impl FarEnd {
    const ALL: [Self; 3] = [Self::Drop, Self::Stack, Self::Thread];

    const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Stack => "stack",
            Self::Thread => "thread",
        }
    }
}

/// A row to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    path: Path,
    far: FarEnd,
    /// Which of the numbers of entries.
    set: usize,
    /// Whether every frame has an address of the set, and is dropped.
    hits: bool,
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    match prepare() {
        Ok((cpus, _namespace)) => measure(settings, cpus),
        Err(reason) => Ok(Outcome {
            skipped: vec![format!("everything: {reason}")],
            varies: varies(),
            ..Outcome::default()
        }),
    }
}

/// The sender's CPU and ours, and a namespace, entered.
fn prepare() -> Result<([CpuId; 2], Namespace), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("network interfaces are made by root alone: run it with sudo".to_owned());
    }
    let &[sender, bridge, ..] = &allowed_cpus()[..] else {
        return Err("the sender needs a CPU and the bridge another one".to_owned());
    };
    Ok(([sender, bridge], Namespace::enter()?))
}

fn measure(settings: &mut Settings<'_>, cpus: [CpuId; 2]) -> Result<Outcome, LabError> {
    let (entries, rounds, trial): (&[usize], _, _) = match settings.quick {
        true => (&ENTRIES_QUICK, ROUNDS_QUICK, TRIAL_QUICK),
        false => (&ENTRIES, ROUNDS, TRIAL),
    };
    let trial = asked_for(TRIAL_VARIABLE).map_or(trial, Duration::from_millis);
    let rounds = asked_for(ROUNDS_VARIABLE).map_or(rounds, |rounds| rounds.max(1) as usize);
    let paths = asked_paths(std::env::var(PATHS_VARIABLE).ok().as_deref())?;
    let mut bench = Bench::new(entries, &paths, cpus, trial, settings.seed)?;
    let variants = bench.variants();
    let mut measured: Vec<Vec<Measured>> = vec![Vec::new(); variants.len()];
    let mut failure = None;
    let interleaved = interleave(settings, variants.len(), rounds, |variant, _| {
        if failure.is_some() {
            return 0.0;
        }
        let one = bench.trial(variants[variant]).unwrap_or_else(|error| {
            failure = Some(error);
            Measured::default()
        });
        measured[variant].push(one);
        one.frames_per_second()
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let kept: Vec<Vec<Measured>> = measured.iter().map(|all| rows::kept(all, rounds)).collect();
    let rows = rows::of(&bench, &variants, &kept, &interleaved.samples);
    Ok(Outcome {
        findings: findings::sentences(&rows),
        varies: varies(),
        skipped: bench.skipped.clone(),
        charts: charts(*entries.last().unwrap_or(&0)),
        rows,
        noise: Some(interleaved.noise),
        ..Outcome::default()
    })
}

fn asked_for(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The paths with these names; all where none are asked for.
fn asked_paths(names: Option<&str>) -> Result<Vec<Path>, LabError> {
    let Some(names) = names else {
        return Ok(Path::ALL.to_vec());
    };
    let path = |name: &str| {
        let found = Path::ALL.into_iter().find(|path| path.name() == name);
        found.ok_or_else(|| {
            let all = Path::ALL.map(Path::name).join(", ");
            LabError(format!(
                "{PATHS_VARIABLE} names no path with '{name}': there are {all}"
            ))
        })
    };
    names.split(',').map(|name| path(name.trim())).collect()
}

fn varies() -> Vec<String> {
    [
        "what carries frames from one veth pair to another, who receives them there, the entries \
         of its set, and what becomes of frames: 'forward' sends random addresses, of which the \
         set holds few, 'drop' an address of the set in every frame",
        "held: frames of 64 bytes on the wire, a fresh random source and destination in each, to \
         a hardware address that nobody has; an XDP program that the kernel runs over frames of \
         its own sends them, on one CPU; our bridge and testpmd have another; IPv6 is off",
        "far end 'drop' is an XDP program, on the CPU that transmits: as little as a far end can \
         do; 'stack' is the kernel's, on that CPU too, as a veth has it that nothing was set of, \
         and 'thread' the same in a thread (threaded NAPI) on the sender's CPU: it drops what \
         arrives as somebody else's",
        "frames_per_second are those that arrived or were dropped by a verdict; ns_per_frame is \
         the time for each of them that this program, testpmd, a receiving thread and the \
         kernel's threads for softirqs ran on both CPUs, less that of generator_only for each \
         frame sent; what polls runs all the time; a sender faster than a path loses frames at \
         its ring, and that loss is charged to the path",
        "generator_only sends into a pair whose other end drops (XDP_DROP); kernel_bridge has no \
         set; nft is a set at ingress before the kernel's bridge; xdp_hash_map is an XDP program \
         that looks both addresses up in a hash map and redirects; xdp and packet are this \
         program's drivers, xdp_redirect is xdp with transmit=redirect and xdp_shortcut with \
         shortcut=on; testpmd forwards (io) without looking into frames; loading begins \
         with text: nft -f for nft, a list of lines for others",
        "switch_xdp and switch_packet are this program's switch of two ports without a set, and \
         open_vswitch is Open vSwitch's user-space datapath with its NORMAL action, on our CPU, \
         for far end 'drop' alone; all three flood, as the kernel's bridge does, since nobody has \
         the address",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn charts(most: usize) -> Vec<Chart> {
    let both = |far| charts_with(far, most);
    FarEnd::ALL.into_iter().flat_map(both).collect()
}

fn charts_with(far: FarEnd, most: usize) -> [Chart; 2] {
    let receives = match far {
        FarEnd::Drop => "dropped by the far end",
        FarEnd::Stack => "received by a stack",
        FarEnd::Thread => "received by a thread",
    };
    let chart = |metric, title: String, caption: &str| Chart {
        title,
        caption: caption.to_owned(),
        kind: ChartKind::Bars,
        metric,
        beside: None,
        x: "path",
        series: vec!["entries"],
        only: vec![("action", "forward".into()), ("far_end", far.name().into())],
    };
    [
        chart(
            "frames_per_second",
            format!("Frames forwarded a second, {receives}"),
            "Kernel paths share the sender's CPU and ours have one beside it: hold this against \
             the CPU time below.",
        ),
        chart(
            "ns_per_frame",
            format!("CPU time a forwarded frame, {receives}, both CPUs, up to {most} entries"),
            "Without what sending costs. Transmission into a veth pair is in every bar.",
        ),
    ]
}
