//! A device, or a path, between two ports: trials over a drive of the engine.

use std::time::Duration;

use engine::{Drive, Trial, TrialReport};
use port::interface::Link;
use traffic::{Rate, Recipe, SinkReport};

use super::device::Device;
use super::trial::{Direction, Latency, TrialOutcome, TrialPlan};
use crate::LabError;

/// A sender that takes so many times as long as it should is stopped.
const LATE_MAX: u32 = 3;
/// How long the sender is measured flat out.
const FLAT_OUT: Duration = Duration::from_millis(300);

/// Whatever lies between the sending and the receiving port of a drive.
pub struct PortsDevice {
    /// None while a trial runs, and after one that failed.
    drive: Option<Drive>,
    recipe: Recipe,
    /// Whether frames come back to the port that sent them.
    returns: bool,
    /// How long to wait for frames on their way.
    drain: Duration,
}

impl PortsDevice {
    /// Frames of this recipe over an open drive, which must take them in again. With `returns`
    /// the drive must send back what it takes in.
    ///
    /// # Errors
    /// Frames without a signature cannot be accounted for.
    pub fn new(
        drive: Drive,
        recipe: Recipe,
        returns: bool,
        drain: Duration,
    ) -> Result<Self, LabError> {
        if recipe.stamp.is_none() {
            return Err(LabError(
                "frames without a signature cannot be told from others: leave them signed"
                    .to_owned(),
            ));
        }
        Ok(Self {
            drive: Some(drive),
            recipe,
            returns,
            drain,
        })
    }

    /// The drive, to be closed or to send frames of another recipe; none after a failure.
    #[must_use]
    pub fn into_drive(self) -> Option<Drive> {
        self.drive
    }

    /// Frames a second that the sender sends flat out.
    ///
    /// # Errors
    /// The trial could not be done.
    pub fn ceiling(&mut self) -> Result<f64, LabError> {
        let report = self.run(Rate::Unlimited, None, FLAT_OUT)?;
        Ok(report.sent_per_second())
    }

    fn run(
        &mut self,
        rate: Rate,
        count: Option<u64>,
        duration: Duration,
    ) -> Result<TrialReport, LabError> {
        let said = |error: engine::EngineError| LabError(error.to_string());
        let drive = self.drive.take().ok_or_else(|| {
            LabError("a trial failed before, so its ports are closed: begin anew".to_owned())
        })?;
        let trial = Trial {
            recipe: self.recipe.clone(),
            rate,
            count,
            duration: Some(duration),
            drain: self.drain,
        };
        let (drive, report) = drive.start(&trial).map_err(said)?.join().map_err(said)?;
        self.drive = Some(drive);
        match (&report.ended_by, without_link(&report)) {
            (engine::EndedBy::Failed(error), _) => Err(LabError(error.to_string())),
            (_, Some(sentence)) => Err(LabError(sentence)),
            _ => Ok(report),
        }
    }
}

/// A link that was not up makes a trial say nothing of the device. A port that is down or gone says
/// more than one whose other end is.
fn without_link(report: &TrialReport) -> Option<String> {
    let [rx, tx] = report.outages;
    let ports = report.ports.iter().zip([tx, rx]);
    let down = ports.filter_map(|(port, outage)| Some((port, outage?)));
    let no_carrier = |link| matches!(link, Link::NoCarrier(_));
    let (port, outage) = down.min_by_key(|(_, outage)| no_carrier(outage.link))?;
    let port = port.spec.split(',').next().unwrap_or_default();
    let name = port.split_once(':').map_or(port, |(_, name)| name);
    let remedy = match outage.link {
        Link::Down(_) => format!("set it up (ip link set dev {name} up)"),
        Link::Absent => "see what took the interface away (ip link)".to_owned(),
        Link::NoCarrier(_) | Link::Up(_) => "see the cable and the other end".to_owned(),
    };
    let state = match outage.link {
        Link::Up(_) => "down for a while".to_owned(),
        link => link.to_string(),
    };
    Some(format!(
        "{port} was {state} in a trial, which then says nothing of the device: {remedy}, and begin \
         anew"
    ))
}

impl Device for PortsDevice {
    fn trial(&mut self, plan: &TrialPlan) -> Result<TrialOutcome, LabError> {
        let frames = plan.frames().max(1);
        let limit = plan.duration * LATE_MAX + FLAT_OUT;
        let report = self.run(Rate::Frames(plan.load), Some(frames), limit)?;
        Ok(outcome(&report, plan, self.returns))
    }
}

/// What a report of the engine says, as a trial's outcome.
pub(super) fn outcome(report: &TrialReport, plan: &TrialPlan, returns: bool) -> TrialOutcome {
    let there = arrived(report, report.ahead.as_ref());
    let mut directions = vec![Direction {
        sent: report.sent,
        received: there,
    }];
    let mut latency = report.ahead.as_ref().and_then(latency_of);
    if returns {
        // What arrived was sent back.
        directions.push(Direction {
            sent: there,
            received: arrived(report, report.back.as_ref()),
        });
        latency = report.back.as_ref().and_then(latency_of);
    }
    let steps = report.ledger.steps().iter();
    let lost = steps.flat_map(|step| {
        let named = step.named().filter(|part| !part.adds);
        named.map(|part| {
            let name = format!("{}: {}", step.place, part.cause.name());
            (name, part.frames)
        })
    });
    TrialOutcome {
        directions,
        sending: Duration::from_secs_f64(report.seconds).max(plan.duration.mul_f64(0.5)),
        judged: None,
        held: None,
        latency,
        losses: lost.collect(),
        ledger: Some(report.ledger.clone()),
    }
}

/// Frames of this trial that came at least once and sound; late ones of another do not count.
fn arrived(report: &TrialReport, sink: Option<&SinkReport>) -> u64 {
    let streams = sink.into_iter().flat_map(|sink| &sink.streams);
    let own = streams.filter(|found| {
        let sent = report.streams.iter();
        sent.into_iter().any(|sent| sent.stream == found.stream)
    });
    own.map(|stream| stream.unique).sum()
}

fn latency_of(sink: &SinkReport) -> Option<Latency> {
    let found = sink.latency;
    (found.count != 0).then_some(Latency {
        p50: found.p50,
        p90: found.p90,
        p99: found.p99,
        max: found.max,
    })
}
