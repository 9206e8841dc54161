//! `linerate bridge`: load the sets, open the ports, run, report.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::{Machine, Plan};
use frame::PortId;
use port::{OpenContext, Port};

use crate::args::BridgeArgs;
use crate::error::{Error, Outcome};
use crate::interrupt::Interrupt;
use crate::load::{self, LoadedSets, ReadChoices};
use crate::output::{Output, Stream};
use crate::report::Report;
use crate::resolve::BridgeSettings;
use crate::run::{conclude, drive, warn_of_debug_build};
use crate::samples::Samples;
use crate::screen::Screen;

/// How often a bridge says where it is, on a terminal and elsewhere: a log file of a bridge that
/// runs for days should not fill the disk.
const LIVE: Duration = Duration::from_secs(1);
const LIVE_PLAIN: Duration = Duration::from_secs(10);

/// Runs the bridge.
pub(crate) fn run(args: &BridgeArgs, output: Output) -> Outcome {
    let settings = BridgeSettings::resolve(args)?;
    if args.run.dry_run {
        return dry_run(&settings, args.run.json, output);
    }
    warn_of_debug_build(output);
    let choices = ReadChoices::new(&args.read, args.skip_bad_lines);
    let sets = load::load_sets(&settings.sets, &choices, output)?;
    let ports = open_ports(&settings, &sets)?;
    let facts = sets.facts();
    let plan = plan(settings.sets.policy.clone(), &settings, sets, ports);
    let interrupt = Interrupt::watch()?;
    let mut screen = Screen::live(output, LIVE, Some(LIVE_PLAIN));
    let run = drive(plan, &interrupt, &mut screen)?;
    let report = Report::new(&run, &facts, &Machine::read());
    let outcome = conclude(&run, &report, args.run.json, settings.report_to, output);
    warn_of_debug_build(output);
    outcome
}

fn dry_run(settings: &BridgeSettings, json: bool, output: Output) -> Outcome {
    if json {
        return output.print_json(&settings.json());
    }
    let stream = Stream::Stdout;
    output.print(
        stream,
        &settings.text(output.paint(stream), output.width(stream)),
    )
}

/// Opens both ports with one context, so that they notice when they would harm each other's files.
fn open_ports(settings: &BridgeSettings, sets: &LoadedSets) -> Result<Vec<Box<dyn Port>>, Error> {
    let samples = if settings.generates() {
        sets.samples()
    } else {
        Samples::default()
    };
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let context = OpenContext {
        samples_v4: samples.v4,
        samples_v6: samples.v6,
        seed: settings.seed,
        start_time_ns: u64::try_from(since_1970.as_nanos()).unwrap_or(0),
        ..OpenContext::default()
    };
    let ports = settings.ports.iter().zip(0..);
    ports
        .map(|(spec, id)| port::open(spec, PortId(id), &context).map_err(Error::refused))
        .collect()
}

fn plan(
    policy: plane::Policy,
    settings: &BridgeSettings,
    sets: LoadedSets,
    ports: Vec<Box<dyn Port>>,
) -> Plan {
    let layout = &settings.layout;
    let longest = ports
        .iter()
        .map(|port| port.frame_bytes_max_hint())
        .max()
        .unwrap_or(0);
    let stride_bytes = layout.stride_bytes(longest);
    Plan {
        ports,
        policy,
        lists: Arc::new(sets.compiled),
        cpus: layout.cpus.clone(),
        burst: layout.burst,
        stride_bytes,
        pool_frames: layout.pool_frames_at(stride_bytes),
        limits: settings.limits,
    }
}
