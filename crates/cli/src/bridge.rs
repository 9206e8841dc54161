//! `linerate bridge`: load the sets, open the ports, run, report.

mod directions;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use daemon::{FlowLogEnd, FlowLogFile, FlowLogWriter, Pinned, Samples, Stage, Started};
use engine::{Machine, Plan, Running};
use frame::PortId;
use port::interface::Claims;
use port::{OpenContext, Port};

use crate::args::{BridgeArgs, ForwardArgs, RouteArgs, RunArgs, SwitchArgs};
use crate::error::{Error, Outcome};
use crate::explain;
use crate::interrupt::Interrupt;
use crate::load::{self, LoadedSets, ReadChoices};
use crate::output::{Output, Stream};
use crate::report::{Report, RuleReport};
use crate::resolve::BridgeSettings;
use crate::run::{conclude, warn_of_debug_build, warn_of_shared_cpus, watch};

use crate::screen::Screen;

/// How often a bridge says where it is, on a terminal and elsewhere: a log file of a bridge that
/// runs for days should not fill the disk.
const LIVE: Duration = Duration::from_secs(1);
const LIVE_PLAIN: Duration = Duration::from_secs(10);

/// Runs the bridge.
pub(crate) fn run(args: &BridgeArgs, output: Output) -> Outcome {
    let settings = BridgeSettings::resolve(args)?;
    run_or_explain(&settings, &args.common, output)
}

/// Runs the switch.
pub(crate) fn run_switch(args: &SwitchArgs, output: Output) -> Outcome {
    let settings = BridgeSettings::resolve_switch(args)?;
    run_or_explain(&settings, &args.common, output)
}

/// Runs the router.
pub(crate) fn run_router(args: &RouteArgs, output: Output) -> Outcome {
    let settings = BridgeSettings::resolve_router(args)?;
    if let Stage::Router(router) = &settings.stage {
        router.notes.iter().for_each(|note| output.warn(note));
    }
    run_or_explain(&settings, &args.common, output)
}

/// Runs what was resolved, or says what would become of one frame.
fn run_or_explain(settings: &BridgeSettings, common: &ForwardArgs, output: Output) -> Outcome {
    if let Some(frame) = &common.explain.frame {
        return explain::run_stage(settings, common, frame, output);
    }
    let choices = ReadChoices::new(&common.read, common.skip_bad_lines);
    carry_out(settings, &choices, &common.run, output)
}

/// Runs what was resolved, or prints it.
pub(crate) fn carry_out(
    settings: &BridgeSettings,
    choices: &ReadChoices,
    run: &RunArgs,
    output: Output,
) -> Outcome {
    if run.dry_run {
        return dry_run(settings, run.json, output);
    }
    warn_of_debug_build(output);
    warn_of_shared_cpus(&settings.layout, output);
    let json = run.json;
    let sets = load::load_sets(&settings.sets, choices, settings.has_shortcut(), output)?;
    let ports = open_ports(settings, &sets)?;
    let notes = ports.iter().flat_map(|port| port.notes());
    notes.for_each(|note| output.warn(&note));
    let facts = sets.facts();
    let plan = plan(settings, sets, ports)?;
    let interrupt = Interrupt::watch()?;
    let pins = settings.pin_irqs.then(|| pin(settings, output));
    let pins = pins.transpose()?;
    let mut screen = Screen::live(output, LIVE, Some(LIVE_PLAIN));
    let file = settings.flow_log.as_deref().map(open_log).transpose()?;
    let started = settings.stage.start(plan, &settings.ports);
    let Started {
        mut running,
        following: kernel,
        ..
    } = started.map_err(Error::refused)?;
    let log = file.map(|file| write_log(file, &mut running, settings));
    let log = log.transpose()?.flatten();
    let news = || {
        kernel
            .iter()
            .flat_map(|kernel| kernel.shared().take_news())
            .collect()
    };
    let mut run = watch(running, &interrupt, &mut screen, news)?;
    drop(kernel);
    run.warnings
        .extend(directions::warning(&settings.ports, &run));
    if let Some(log) = log {
        tell_of_log(&log.finish(), output);
    }
    drop(pins);
    let report = Report::new(&run, &facts, &Machine::read());
    let report = report.with_names(settings.names.iter().cloned());
    let report = report.with_rules(
        settings
            .sets
            .policy
            .packet_rules
            .as_deref()
            .map(RuleReport::of),
    );
    let outcome = conclude(&run, &report, json, settings.report_to, output);
    warn_of_debug_build(output);
    outcome
}

fn open_log(path: &Path) -> Result<FlowLogFile, Error> {
    FlowLogFile::open(path).map_err(|error| {
        let path = path.display();
        Error::refused(format!(
            "{path} cannot be opened for flows ({error}): check the folder"
        ))
    })
}

/// Says what is missing in it.
fn tell_of_log(end: &FlowLogEnd, output: Output) {
    if let Some(error) = &end.error {
        let (lines, all) = (end.unwritten, end.unwritten + end.written);
        output.warn(&format!(
            "the flow log is not whole ({error}): {lines} of {all} lines are missing"
        ));
    }
}

/// Begins to write flows down, by the ports' specs.
fn write_log(
    file: FlowLogFile,
    running: &mut Running,
    settings: &BridgeSettings,
) -> Result<Option<FlowLogWriter>, Error> {
    let Some(reader) = running.take_flow_log() else {
        return Ok(None);
    };
    let names = [0, 1].map(|place: usize| settings.ports[place].to_string());
    file.write(reader, names).map(Some).map_err(Error::refused)
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
        looks_up: !settings.sets.sources.is_empty(),
        sieve_words: sets.compiled.sieve().map_or(0, |sieve| sieve.words().len()),
        interfaces: Claims::of_bridge(),
        ..OpenContext::default()
    };
    for file in settings.sets.files() {
        if let Ok(metadata) = fs::metadata(file) {
            context
                .files
                .protect(file, &metadata)
                .map_err(Error::refused)?;
        }
    }
    let ports = settings.ports.iter().zip(0..);
    ports
        .map(|(spec, id)| port::open(spec, PortId(id), &context).map_err(Error::refused))
        .collect()
}

fn plan(
    settings: &BridgeSettings,
    sets: LoadedSets,
    ports: Vec<Box<dyn Port>>,
) -> Result<Plan, Error> {
    let layout = &settings.layout;
    let stride_bytes = layout.stride_for(&settings.ports, &ports);
    let stride_bytes = stride_bytes.map_err(Error::refused)?;
    Ok(Plan {
        ports,
        policy: settings.sets.policy.clone(),
        lists: Arc::new(sets.compiled),
        cpus: layout.cpus.clone(),
        burst: layout.burst,
        stride_bytes,
        pool_frames: layout.pool_frames_at(stride_bytes),
        dispatch: settings.dispatch,
        idle: settings.idle,
        limits: settings.limits,
    })
}

fn pin(settings: &BridgeSettings, output: Output) -> Result<Pinned, Error> {
    let pinned = Pinned::pin(&settings.ports, &settings.layout.cpus).map_err(Error::refused)?;
    pinned.said.iter().for_each(|said| output.tell(said));
    let warnings = pinned.warnings.iter();
    warnings.for_each(|warning| output.warn(warning));
    Ok(pinned)
}
