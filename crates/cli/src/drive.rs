//! `linerate gen` and `linerate sink`: ports opened, trials run, the report.

mod clock;
mod controls;
mod departure;
mod figures;
mod live;
pub(crate) mod neighbours;
mod outage;
mod ports;
pub(crate) mod recipe;
mod text;
mod verdict;

use std::time::Duration;

use engine::{Cause, Drive, DrivePlan, Replayed, Trial, TrialReport};
use port::PortSpec;
use traffic::{ClockSteps, Rate, Recipe, Speed};

use crate::args::{GenArgs, SinkArgs};
use crate::error::{Error, Outcome};
use crate::interrupt::Interrupt;
use crate::output::{Output, Stream};
use crate::report::number;
use crate::report::starved;
use crate::run::{warn_of_debug_build, warn_of_shared_cpus};
use daemon::Layout;
use figures::Figures;
use live::run_trial;
use neighbours::neighbours;
use ports::Ports;

/// How long a port is tried flat out, to learn how much it takes.
const CEILING: Duration = Duration::from_millis(200);

/// Runs the generator.
pub(crate) fn generate(args: &GenArgs, output: Output) -> Outcome {
    let rate = rate(args)?;
    let ports = Ports::of_generator(args)?;
    let layout = args.workers.layout(&ports.specs())?;
    if args.apart && layout.cpus.len() < 2 {
        return Err(Error::refused(
            "--apart needs a worker to send and one to take in: add --workers 2 or more",
        ));
    }
    let recipe = recipe::recipe(&args.frames, args.manner.seed)?;
    warn_of_debug_build(output);
    warn_of_shared_cpus(&layout, output);
    let longest = match ports.replay {
        Some(_) => 0,
        None => recipe.sizes.frame_bytes_max(),
    };
    let interrupt = Interrupt::watch()?;
    let frames = (&recipe, longest);
    let mut drive = open(&ports, &layout, frames, args, output)?;
    let mut ceiling = None;
    if tries_first(args, rate, &ports) {
        let before = flat_out(&recipe);
        let (at_rest, report) = run_trial(drive, &before, &interrupt, None)?;
        ceiling = Some(report.sent_per_second());
        warn_of_ceiling(rate, &report, output);
        drive = at_rest;
    }
    let trial = Trial {
        recipe,
        rate,
        count: args.pace.count,
        duration: args.pace.duration,
        drain: args.pace.drain,
    };
    finish(
        drive,
        &trial,
        ceiling,
        args.manner.json,
        &interrupt,
        &ports,
        output,
    )
}

/// Runs the sink.
pub(crate) fn take_in(args: &SinkArgs, output: Output) -> Outcome {
    let ports = Ports::of_sink(args)?;
    let layout = args.workers.layout(&ports.specs())?;
    warn_of_debug_build(output);
    warn_of_shared_cpus(&layout, output);
    let interrupt = Interrupt::watch()?;
    let opened = ports.open(&layout, 0, 0, output)?;
    let plan = DrivePlan {
        neighbours: neighbours((None, opened.rx.as_deref()), None, &args.answer.answer),
        tx: None,
        rx: opened.rx,
        returns: false,
        reflect: args.reflect,
        apart: false,
        replay: None,
        cpus: layout.cpus.clone(),
        burst: layout.burst,
        stride_bytes: opened.stride_bytes,
        pool_frames: layout.pool_frames_at(opened.stride_bytes),
        idle: args.idle.into(),
    };
    let drive = open_drive(plan, output)?;
    let trial = Trial {
        recipe: Recipe::default(),
        rate: Rate::Unlimited,
        count: args.count,
        duration: args.duration,
        drain: Duration::ZERO,
    };
    finish(drive, &trial, None, args.json, &interrupt, &ports, output)
}

/// The trial itself, the ports closed, the report.
fn finish(
    drive: Drive,
    trial: &Trial,
    ceiling: Option<f64>,
    json: bool,
    interrupt: &Interrupt,
    ports: &Ports,
    output: Output,
) -> Outcome {
    let (drive, report) = run_trial(drive, trial, interrupt, Some(output))?;
    let memory = drive.memory().clone();
    let closing = drive.close();
    let mut warnings = closing.warnings;
    let sides = [outage::Side::TakesIn, outage::Side::Sends];
    let down = sides.map(|side| outage::LinkDown::of(&report, side));
    warnings.extend(down.iter().flatten().map(outage::LinkDown::state));
    warnings.extend(refused_frames(&report));
    warnings.extend(cut_frames(&report));
    warnings.extend(clock_steps(&report));
    warnings.extend(clock::silent_clocks(&report));
    warnings.extend(starved(&report.workers));
    warnings.iter().for_each(|warning| output.warn(warning));
    let mut figures = Figures::new(&report, ceiling, &memory, warnings);
    let read = closing.failure.as_ref().map(ToString::to_string);
    let empty = empty_capture(&report, read.or_else(|| figures.warnings.first().cloned()));
    figures.no_result = empty.or(figures.no_result);
    if json {
        output.print_json(&figures)?;
    } else {
        let stream = if ports.write_stdout() {
            Stream::Stderr
        } else {
            Stream::Stdout
        };
        let (paint, width) = (output.paint(stream), output.width(stream));
        output.print(stream, &text::render(&figures, paint, width))?;
    }
    warn_of_debug_build(output);
    if let Some(failure) = closing.failure {
        return Err(Error::of_port(&failure));
    }
    verdict::judge(&figures)
}

/// Frames that the port can never send: the first reason that a run sends nothing.
fn refused_frames(report: &TrialReport) -> Option<String> {
    let refused = Cause::Drop(plane::DropReason::TxRefused);
    let causes = report.not_left();
    let (_, frames) = causes.iter().find(|(cause, _)| *cause == refused)?;
    let port = report.ports.first()?;
    Some(format!(
        "{} refused {frames} frames, which are longer than its interface allows, or shorter than \
         an Ethernet header: give another --size or capture, or raise the interface's MTU",
        port.spec.split(',').next().unwrap_or_default()
    ))
}

/// A capture of which nothing came has no result, and this is why.
fn empty_capture(report: &TrialReport, said: Option<String>) -> Option<String> {
    let is_read = |spec: &str| spec.starts_with("pcap:in=");
    let mut captures = report.ports.iter().filter(|port| is_read(&port.spec));
    let empty = captures.find(|port| port.rx_frames == 0)?;
    let name = empty.spec.split(',').next().unwrap_or_default();
    Some(format!("no frame came out of {name}: {}", said?))
}

/// A capture with a snap length holds the beginnings of frames.
fn cut_frames(report: &TrialReport) -> Option<String> {
    (report.cut > 0).then(|| {
        format!(
            "{} frames were cut when they were recorded, and what was sent is what the capture \
             kept of them: record with a snap length of 0 (tcpdump -s 0)",
            report.cut
        )
    })
}

/// Where the clock of a capture was set there is no pause to keep.
fn clock_steps(report: &TrialReport) -> Option<String> {
    let ClockSteps { back, ahead } = report.clock_steps;
    let said = [(back, "back"), (ahead, "ahead by more than a year")];
    let said = said.into_iter().filter(|&(steps, _)| steps != 0);
    let said: Vec<String> = said
        .map(|(steps, way)| format!("{way} {}", number::plural(steps, "time", "times")))
        .collect();
    (!said.is_empty()).then(|| {
        format!(
            "the clock of the capture steps {}: a frame behind such a step was sent without a \
             pause, and pauses go on from it",
            said.join(" and ")
        )
    })
}

fn rate(args: &GenArgs) -> Result<Rate, Error> {
    let timed = args.replay.replay.is_some() && args.replay.speed != Some(Speed::Full);
    match args.pace.rate {
        Some(rate) if timed && rate != Rate::Unlimited => Err(Error::refused(format!(
            "--rate {rate} and the pace of the capture disagree: add --speed max, or leave out \
             --rate"
        ))),
        rate => Ok(rate.unwrap_or(Rate::Unlimited)),
    }
}

/// Not where a rate is no question, nor where what is sent is kept.
fn tries_first(args: &GenArgs, rate: Rate, ports: &Ports) -> bool {
    let kept = ports
        .tx
        .iter()
        .any(|port| matches!(port, PortSpec::Pcap(_)));
    !args.pace.no_trial && rate != Rate::Unlimited && ports.replay.is_none() && !kept
}

fn flat_out(recipe: &Recipe) -> Trial {
    Trial {
        recipe: recipe.clone(),
        rate: Rate::Unlimited,
        count: None,
        duration: Some(CEILING),
        drain: CEILING,
    }
}

fn warn_of_ceiling(rate: Rate, trial: &TrialReport, output: Output) {
    let asked = rate.frames_per_second(trial.mean_frame_bytes());
    let took = trial.sent_per_second();
    if let Some(asked) = asked.filter(|&asked| asked > took && trial.sent != 0) {
        output.warn(&format!(
            "--rate {rate} asks for {} and the port took {} flat out: what follows will be \
             limited by this generator",
            number::rate(asked, "pps"),
            number::rate(took, "pps")
        ));
    }
}

fn open(
    ports: &Ports,
    layout: &Layout,
    (recipe, longest): (&Recipe, usize),
    args: &GenArgs,
    output: Output,
) -> Result<Drive, Error> {
    let opened = ports.open(layout, longest, args.manner.seed, output)?;
    let speed = args.replay.speed.unwrap_or(Speed::Times(1.0));
    let recipe = opened.replay.is_none().then_some(recipe);
    let ends = (opened.tx.as_deref(), opened.rx.as_deref());
    let plan = DrivePlan {
        neighbours: neighbours(ends, recipe, &args.answer.answer),
        tx: opened.tx,
        rx: opened.rx,
        returns: args.reflect,
        reflect: args.reflect,
        apart: args.apart,
        replay: opened.replay.map(|port| Replayed { port, speed }),
        cpus: layout.cpus.clone(),
        burst: layout.burst,
        stride_bytes: opened.stride_bytes,
        pool_frames: layout.pool_frames_at(opened.stride_bytes),
        idle: args.idle.into(),
    };
    open_drive(plan, output)
}

/// Opens the ports of a plan, and says what is to be known of them.
pub(crate) fn open_drive(plan: DrivePlan, output: Output) -> Result<Drive, Error> {
    let drive = Drive::open(plan).map_err(Error::refused)?;
    drive.notes().iter().for_each(|note| output.warn(note));
    Ok(drive)
}
