//! What a switch costs a frame, against the bridge of two ports without sets, and where that comes
//! from: ports alone, a node that always chooses the same port, few stations, none that move, tags.

mod ports;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use engine::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, Engine, Plan, allowed_cpus, cpu_time_nanos};
use frame::{Burst, PoolRequest, PortId, Region};
use plane::switch::{Switch, SwitchConfig, SwitchPort, SwitchTable, Vlan, VlanMode};
use plane::{Forwarding, Links, Node, Ports, Verdict, Verdicts};
use port::Port;

use crate::contest::{STRIDE_BYTES, plain_plan, refused};
use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::paired::{paired, with_interval};
use crate::trial::try_interleave;
use crate::{Chart, ChartKind, Samples};
use ports::{Source, StationPort, Timing, Traffic};

const ROUNDS_QUICK: usize = 9;
const ROUNDS: usize = 25;
/// Stations in most variants.
const STATIONS: u32 = 100_000;
const STATIONS_FEW: u32 = 64;
/// Frames of all ports before those that count, and those: each station is seen several times.
const WARM: u64 = 800_000;
const FRAMES: u64 = 2_400_000;
/// As short as can be, so that those that come once are forgotten within a trial or two.
const AGE: Duration = Duration::from_secs(1);
const VLAN: u16 = 10;
const METRIC: &str = "ns_per_frame";

/// What frames go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    /// Between two ports, without sets.
    Bridge,
    /// Ports alone, without a worker.
    Ports,
    /// A node that chooses a port by the one that the frame came in by.
    Fixed,
    /// A switch, its ports without VLANs.
    Switch,
    /// Ports of one VLAN, frames without tags.
    Access,
    /// Frames that have a tag, which is written anew.
    Trunk,
    /// Frames that have a tag, which comes off.
    Untag,
}

impl Path {
    const fn name(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Ports => "ports_alone",
            Self::Fixed => "fixed",
            Self::Switch => "switch",
            Self::Access => "switch_access",
            Self::Trunk => "switch_trunk",
            Self::Untag => "switch_untag",
        }
    }
}

/// A row to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    path: Path,
    ports: u8,
    stations: u32,
    changes: bool,
}

/// The bridge first: it is measured twice a round.
fn variants() -> Vec<Variant> {
    let all = Variant {
        path: Path::Switch,
        ports: 4,
        stations: STATIONS,
        changes: true,
    };
    let bridge = |path| Variant {
        path,
        ports: 2,
        ..all
    };
    let still = Variant {
        changes: false,
        ..all
    };
    let few = Variant {
        stations: STATIONS_FEW,
        ..still
    };
    let of = |path| Variant { path, ..few };
    let mut variants = vec![
        bridge(Path::Bridge),
        bridge(Path::Ports),
        bridge(Path::Switch),
    ];
    variants.extend([all, still, few, of(Path::Fixed)]);
    variants.extend([Path::Access, Path::Trunk, Path::Untag].map(of));
    variants
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let variants = variants();
    let rounds = if settings.quick { ROUNDS_QUICK } else { ROUNDS };
    let measured = try_interleave(settings, variants.len(), rounds, |variant, trial| {
        trial_of(variants[variant], trial.seed, [WARM, FRAMES])
    })?;
    let rows: Vec<Row> = variants
        .iter()
        .zip(measured.samples)
        .map(|(variant, samples)| Row {
            variant: vec![
                ("path", variant.path.name().into()),
                ("ports", u64::from(variant.ports).into()),
                ("stations", variant.stations.into()),
                ("changes", if variant.changes { "yes" } else { "no" }.into()),
            ],
            metric: METRIC,
            samples,
        })
        .collect();
    Ok(Outcome {
        findings: findings(&rows),
        varies: varies(),
        charts: vec![chart()],
        rows,
        noise: Some(measured.noise),
        ..Outcome::default()
    })
}

/// CPU time of a frame of the second kind, of so many that do not count and do.
fn trial_of(variant: Variant, seed: u64, frames: [u64; 2]) -> Result<f64, LabError> {
    let ports = u64::from(variant.ports);
    let traffic = Traffic {
        ports: variant.ports,
        stations: variant.stations,
        changes: variant.changes,
        tag: matches!(variant.path, Path::Trunk | Path::Untag).then_some(VLAN),
        warm: frames[0] / ports,
        counted: frames[1] / ports,
        seed,
    };
    let nanos = match variant.path {
        Path::Ports => ports_alone(traffic)?,
        Path::Bridge => run_of(traffic, Engine::start)?,
        Path::Fixed => run_of(traffic, |plan| Engine::start_nodes(plan, vec![Fixed]))?,
        path => {
            let switch = switch_of(path, traffic.ports, seed)?;
            run_of(traffic, |plan| Engine::start_nodes(plan, vec![switch]))?
        }
    };
    Ok(nanos as f64 / (traffic.counted * ports) as f64)
}

/// A switch without VLANs, between so many ports.
pub(crate) fn plain_switch(ports: u8, seed: u64) -> Result<Switch, LabError> {
    switch_of(Path::Switch, ports, seed)
}

fn switch_of(path: Path, ports: u8, seed: u64) -> Result<Switch, LabError> {
    let table = SwitchTable::new(settings_of(path, ports));
    let wrong = |errors| LabError(format!("a switch cannot be made: {errors:?}"));
    let table = Arc::new(table.map_err(wrong)?);
    Switch::new(table, [seed, seed ^ 1], Links::alone()).map_err(refused)
}

/// What a worker took for the frames that count.
fn run_of(
    traffic: Traffic,
    start: impl FnOnce(Plan) -> Result<engine::Running, engine::EngineError>,
) -> Result<u64, LabError> {
    let timing = Arc::new(Timing::default());
    let port = |id| {
        let timing = Arc::clone(&timing);
        let id = PortId(id);
        Box::new(StationPort {
            id,
            traffic,
            timing,
        }) as Box<dyn Port>
    };
    let cpus = allowed_cpus().into_iter().take(1).collect();
    let plan = plain_plan((0..traffic.ports).map(port).collect(), cpus)?;
    let report = start(plan).map_err(refused)?.join().map_err(refused)?;
    // Those for a station that has moved to where they come from and has not sent since.
    let few = report.accounting.rx / 10;
    match report.balanced && report.accounting.dropped_total() <= few {
        true => Ok(timing.nanos()),
        false => Err(LabError(format!(
            "a trial lost frames: {:?}",
            report.accounting
        ))),
    }
}

/// What making and freeing frames takes.
fn ports_alone(traffic: Traffic) -> Result<u64, LabError> {
    let request = PoolRequest {
        frames: DEFAULT_POOL_FRAMES,
        stride_bytes: STRIDE_BYTES,
        headroom_bytes: engine::HEADROOM_BYTES,
        node: None,
    };
    let mut pool = Region::with_pools(&[request]).map_err(refused)?.1.remove(0);
    let mut source = Source::new(traffic, traffic.seed);
    let mut burst = Burst::new();
    let begun = cpu_time_nanos();
    while source.fill(0, &mut pool, &mut burst, DEFAULT_BURST) != 0 {
        pool.free_burst(&mut burst);
    }
    let made = traffic.warm + traffic.counted;
    let nanos = (cpu_time_nanos() - begun) as f64 / made as f64;
    Ok((nanos * (traffic.counted * u64::from(traffic.ports)) as f64) as u64)
}

fn settings_of(path: Path, ports: u8) -> SwitchConfig {
    let all = Ports::first(ports.into());
    let vlans = path != Path::Switch;
    let (tagged, untagged) = match path {
        Path::Trunk => (all, Ports::NONE),
        _ => (Ports::NONE, all),
    };
    let port = SwitchPort {
        pvid: vlans.then_some(VLAN),
        ..SwitchPort::plain(2 * STATIONS)
    };
    let id = VLAN;
    let vlan = Vlan {
        id,
        untagged,
        tagged,
    };
    SwitchConfig {
        ports: vec![port; ports.into()],
        mode: if vlans {
            VlanMode::Dot1q
        } else {
            VlanMode::Default
        },
        vlans: if vlans { vec![vlan] } else { Vec::new() },
        groups: Vec::new(),
        statics: Vec::new(),
        age: AGE,
        stations: 2 * STATIONS,
        loop_quiet: None,
        forward_reserved: false,
    }
}

/// Frames leave by the port beside the one that they came in by.
struct Fixed;

impl Node for Fixed {
    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        for index in 0..burst.len() {
            verdicts.set(index, Verdict::Forward(PortId(cx.from.0 ^ 1)));
        }
    }

    fn poll(&mut self, _: &mut Forwarding<'_>) {}

    fn counts(&self, _: &mut [u64]) {}
}

fn samples(rows: &[Row], path: Path, ports: u64, stations: u32, changes: &'static str) -> Samples {
    let found = rows.iter().find(|row| {
        row.is("path", path.name())
            && row.is("ports", ports)
            && row.is("stations", stations)
            && row.is("changes", changes)
    });
    found.map(|row| row.samples.clone()).unwrap_or_default()
}

/// The switch against the bridge, and what each thing adds to the one before.
fn findings(rows: &[Row]) -> Vec<String> {
    let bridge = samples(rows, Path::Bridge, 2, STATIONS, "yes");
    let alone = samples(rows, Path::Ports, 2, STATIONS, "yes");
    let whole = samples(rows, Path::Switch, 4, STATIONS, "yes");
    let still = samples(rows, Path::Switch, 4, STATIONS, "no");
    let of = |path| samples(rows, path, 4, STATIONS_FEW, "no");
    let (few, fixed) = (of(Path::Switch), of(Path::Fixed));
    let ratio = paired(&whole, &bridge, |whole, bridge| whole / bridge);
    let without = |one: &Samples| paired(one, &alone, |one, alone| one - alone);
    let net = paired(&without(&whole), &without(&bridge), |one, other| {
        one / other
    });
    let added = |one: &Samples, other: &Samples| {
        with_interval(&paired(one, other, |one, other| one - other), 1)
    };
    vec![
        format!(
            "a switch of 4 ports with {STATIONS} stations that move, come and go takes {} times \
             what the bridge of two ports takes (asked for: at most 1.3): {:.1} and {:.1} ns a \
             frame. Without the {:.1} ns in which ports make and free a frame it is {} times",
            with_interval(&ratio, 2),
            whole.median(),
            bridge.median(),
            alone.median(),
            with_interval(&net, 2),
        ),
        format!(
            "ns a frame, each with its 95 % interval: four ports and a node that always chooses \
             the same one add {} to the bridge; the switch itself, with {STATIONS_FEW} stations, \
             {}; {STATIONS} stations {} more; moves and strangers {} more",
            added(&fixed, &bridge),
            added(&few, &fixed),
            added(&still, &few),
            added(&whole, &still),
        ),
        format!(
            "ns a frame beside those of a switch without VLANs and few stations: VLANs by the \
             port {}, a tag written anew {}, a tag taken off {}",
            added(&of(Path::Access), &few),
            added(&of(Path::Trunk), &few),
            added(&of(Path::Untag), &few),
        ),
    ]
}

fn varies() -> Vec<String> {
    [
        "what decides where frames leave, the ports, the stations behind all of them, and whether \
         these change: with changes every sixteenth station moves to the next port again and \
         again, and every 64th frame is of a station that is not seen again, which is forgotten \
         after one second",
        "held: one worker that spins, no set, frames of 64 bytes on the wire from ports in \
         memory, bursts of 64, each from a random station of its port to a random one behind \
         another port; a sample is the CPU time of the worker by frame, and what ports take to \
         make and free frames is in it: ports_alone is that and nothing else",
        "ports write each frame just before the worker reads it, so headers are near, for the \
         bridge too: a ratio would be smaller with headers that have to come from memory",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn chart() -> Chart {
    Chart {
        title: "CPU time of a frame".to_owned(),
        caption: "Ports that make and free frames are in every bar, and are the second one alone."
            .to_owned(),
        kind: ChartKind::Bars,
        metric: METRIC,
        beside: None,
        x: "path",
        series: vec!["ports", "stations", "changes"],
        only: Vec::new(),
    }
}
