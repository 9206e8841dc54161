//! The report of a generator or a sink as one JSON object. Field names are a contract, as those of
//! a bridge's report.

use engine::{Machine, MemoryReport, TrialReport};
use serde::Serialize;
use traffic::{FCS_BYTES, L1_BYTES, LatencyReport, Rate, SinkReport, StreamReport};

use super::clock::ClockFacts;
use super::controls::LinkControls;
use super::departure::Departure;
use super::outage::Arrival;
use super::verdict::{self, Limit};
use crate::build::{DEBUG, VERSION};
use crate::report::json::{Frames, MachineFacts, Memory, Port, Worker, ended_by, ratio};
use crate::report::ledger::LedgerJson;

/// What came of a run.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    pub(super) version: &'static str,
    pub(super) debug_build: bool,
    /// From the start to the last frame sent; of a sink, to the last that came.
    pub(super) seconds: f64,
    /// From the start to the end.
    pub(super) run_seconds: f64,
    /// Of `gen` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sent: Option<Sent>,
    /// What arrived at the port that takes frames in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arrived: Option<Arrived>,
    /// What came back to the port that sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) returned: Option<Arrived>,
    /// Why there is no result; null where there is one.
    pub(super) no_result: Option<String>,
    /// What was to leave and did not.
    pub(super) departure: Departure,
    /// What kept frames from arriving.
    pub(super) arrival: Arrival,
    /// What came about the links, and what was answered.
    pub(super) controls: LinkControls,
    /// Where times come from, and what they may be wrong by.
    pub(super) clock: ClockFacts,
    /// What became of the frames in this process.
    pub(super) frames: Frames,
    /// Whether every frame and its memory is accounted for.
    pub(super) balanced: bool,
    /// Frames by where they were counted, and a name for every difference.
    pub(super) ledger: LedgerJson,
    pub(super) workers: Vec<Worker>,
    pub(super) ports: Vec<Port>,
    pub(super) memory: Memory,
    pub(super) machine: MachineFacts,
    /// Why it ended: `sources`, `duration`, `frames` or `asked`.
    pub(super) ended_by: &'static str,
    /// What was to end it; null where only somebody could.
    pub(super) asked: AskedSize,
    /// What standard error was told, a sentence each.
    pub(super) warnings: Vec<String>,
}

/// How large a run was to be.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct AskedSize {
    pub(super) frames: Option<u64>,
    pub(super) seconds: Option<f64>,
}

/// What was sent.
#[derive(Debug, Serialize)]
pub(super) struct Sent {
    /// As asked for: `1Mpps`, `1Gbps`, `max`.
    pub(super) rate: String,
    /// The same in frames a second; null where it is without limit.
    pub(super) asked_pps: Option<f64>,
    /// Frames that the port took.
    pub(super) frames: u64,
    /// Bytes of them, with FCS.
    pub(super) bytes: u64,
    /// Frames by which the rate was missed: those that had not left when they were due.
    pub(super) behind: u64,
    /// Of those, frames that left later.
    pub(super) late: u64,
    /// Frames a second, by the time they are a rate of: the distance to the frame behind the last
    /// is part of it where they have a rate.
    pub(super) pps: f64,
    /// Bits a second with preamble, FCS and gap.
    pub(super) bps_l1: f64,
    /// What this port took flat out in a trial before; null where none was made.
    pub(super) ceiling_pps: Option<f64>,
    /// What kept the rate from being reached: `port`, `generator`, or null.
    pub(super) limited_by: Option<Limit>,
    /// Share of the time in which frames waited for room at the port, 0 to 1.
    pub(super) waited_share: f64,
    /// What a replay at the pace of its capture was late by at its end; null where that is within
    /// its bounds.
    pub(super) lag_ns: Option<u64>,
    /// Whether frames went at the pace of a capture.
    #[serde(skip)]
    pub(super) of_capture: bool,
    /// How well frames kept to their times; null where there were none.
    pub(super) pacing: Option<Pacing>,
}

/// How late frames were.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Pacing {
    pub(super) late_mean_ns: f64,
    pub(super) late_max_ns: u64,
    /// Time by which the schedule was put off since more was due than a burst may be.
    pub(super) lost_ns: u64,
    pub(super) lost_times: u64,
    /// Times that the clock of a capture was set back, and ahead by more than a year.
    pub(super) clock_steps_back: u64,
    pub(super) clock_steps_ahead: u64,
}

/// What was taken in at a port.
#[derive(Debug, Serialize)]
pub(super) struct Arrived {
    /// Sound test frames of the streams of this run, duplicates among them.
    pub(super) frames: u64,
    /// Frames a second: by the time they were sent in, or came in where nobody here sent.
    pub(super) pps: f64,
    /// Frames of those sent that did not come; of a sink alone, numbers that did not come between
    /// the lowest and the highest that did.
    pub(super) lost: u64,
    pub(super) duplicated: u64,
    /// Frames that a later one of their own flow overtook.
    pub(super) reordered: u64,
    /// Frames that later ones of other flows alone overtook, which is no harm.
    pub(super) reordered_across_flows: u64,
    pub(super) corrupted: u64,
    /// Frames that are no test frames.
    pub(super) foreign: u64,
    /// Frames of which a capture kept too little to tell whether they are test frames.
    pub(super) cut: u64,
    /// Test frames of streams that this run did not send: of another sender, or late ones of the
    /// trial before.
    pub(super) other_streams: u64,
    /// Frames so late that it is not known any more whether they had come.
    pub(super) outside_window: u64,
    /// Frames that came to one of several workers when its record was full: duplicates among them
    /// that went to different workers are not known.
    pub(super) uncompared: u64,
    /// Frames that seemed to arrive before they were sent.
    pub(super) arrived_early: u64,
    /// The clocks of sender and sink differ by at least this.
    pub(super) clock_error_ns: u64,
    pub(super) latency: Latency,
    pub(super) streams: Vec<Stream>,
}

/// Times on the way, nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Latency {
    pub(super) count: u64,
    pub(super) min_ns: u64,
    pub(super) mean_ns: f64,
    pub(super) p50_ns: u64,
    pub(super) p90_ns: u64,
    pub(super) p99_ns: u64,
    pub(super) p999_ns: u64,
    pub(super) max_ns: u64,
}

/// One stream.
#[derive(Debug, Serialize)]
pub(super) struct Stream {
    pub(super) stream: u16,
    /// Null where nobody here sent it.
    pub(super) sent: Option<u64>,
    pub(super) frames: u64,
    pub(super) lost: u64,
    pub(super) duplicated: u64,
    pub(super) reordered: u64,
    pub(super) reordered_by_max: u64,
    pub(super) reordered_across_flows: u64,
    pub(super) corrupted: u64,
    pub(super) outside_window: u64,
    pub(super) uncompared: u64,
    pub(super) latency: Latency,
}

impl Figures {
    pub(super) fn new(
        trial: &TrialReport,
        ceiling_pps: Option<f64>,
        memory: &MemoryReport,
        warnings: Vec<String>,
    ) -> Self {
        let sends = trial.senders != 0;
        let mut figures = Self {
            version: VERSION,
            debug_build: DEBUG,
            seconds: trial.seconds,
            run_seconds: trial.run_seconds,
            sent: sends.then(|| Sent::of(trial, ceiling_pps)),
            arrived: trial.ahead.as_ref().map(|sink| Arrived::of(sink, trial)),
            returned: trial.back.as_ref().map(|sink| Arrived::of(sink, trial)),
            no_result: None,
            departure: Departure::of(trial),
            arrival: Arrival::of(trial),
            controls: LinkControls::of(&trial.controls),
            clock: ClockFacts::of(trial),
            frames: Frames::of(&trial.accounting),
            balanced: trial.balanced,
            ledger: LedgerJson::of(&trial.ledger),
            workers: trial.workers.iter().map(Worker::of).collect(),
            ports: trial.ports.iter().map(Port::of).collect(),
            memory: Memory::of(memory),
            machine: MachineFacts::of(&Machine::read()),
            ended_by: ended_by(&trial.ended_by),
            asked: AskedSize {
                frames: trial.count,
                seconds: trial.duration.map(|time| time.as_secs_f64()),
            },
            warnings,
        };
        let short = || verdict::short_of_count(&figures, trial.count);
        figures.no_result = verdict::no_result(&figures).or_else(short);
        figures
    }

    /// Arrived and returned, as far as there are such.
    pub(super) fn sinks(&self) -> impl Iterator<Item = &Arrived> {
        self.arrived.iter().chain(&self.returned)
    }
}

impl Sent {
    fn of(trial: &TrialReport, ceiling_pps: Option<f64>) -> Self {
        let mean = trial.mean_frame_bytes();
        let pps = trial.sent_per_second();
        let limited_by = verdict::limit(trial);
        Self {
            rate: trial.rate.to_string(),
            asked_pps: asked_pps(trial),
            frames: trial.sent,
            behind: trial.behind,
            late: trial.late,
            bytes: trial.sent_bytes + trial.sent * FCS_BYTES as u64,
            pps,
            bps_l1: pps * (mean + (FCS_BYTES + L1_BYTES) as f64) * 8.0,
            ceiling_pps,
            limited_by,
            waited_share: ratio(trial.full_seconds, trial.seconds).min(1.0),
            lag_ns: trial.lag_nanos,
            of_capture: trial.rate == Rate::Unlimited && trial.pacing.is_some(),
            pacing: pacing(trial),
        }
    }
}

/// The rate asked for at the sizes that were sent.
pub(super) fn asked_pps(trial: &TrialReport) -> Option<f64> {
    trial.rate.frames_per_second(trial.mean_frame_bytes())
}

/// Of a schedule, if there was one.
fn pacing(trial: &TrialReport) -> Option<Pacing> {
    let error = trial.pacing?;
    Some(Pacing {
        late_mean_ns: error.late_mean_ns,
        late_max_ns: error.late_max_ns,
        lost_ns: error.lost_ns,
        lost_times: error.lost_times,
        clock_steps_back: trial.clock_steps.back,
        clock_steps_ahead: trial.clock_steps.ahead,
    })
}

impl Arrived {
    fn of(sink: &SinkReport, trial: &TrialReport) -> Self {
        let sent_of = |stream: u16| {
            let mut sent = trial.streams.iter();
            sent.find(|sent| sent.stream == stream)
                .map(|sent| sent.sent)
        };
        let alone = trial.senders == 0;
        let is_own = |stream: &&StreamReport| alone || sent_of(stream.stream).is_some();
        let own: Vec<&StreamReport> = sink.streams.iter().filter(is_own).collect();
        let mut streams: Vec<Stream> = own
            .iter()
            .map(|stream| Stream::of(stream, sent_of(stream.stream)))
            .collect();
        for sent in &trial.streams {
            if own.iter().all(|stream| stream.stream != sent.stream) {
                streams.push(Stream::absent(sent.stream, sent.sent));
            }
        }
        let sum = |of: fn(&Stream) -> u64| streams.iter().map(of).sum::<u64>();
        let frames = sum(|stream| stream.frames);
        let all: u64 = sink.streams.iter().map(|stream| stream.received).sum();
        let latency = match own.as_slice() {
            [only] => only.latency,
            _ => sink.latency,
        };
        let early = own.iter().map(|stream| stream.arrived_early).sum();
        let clock_error = own.iter().map(|stream| stream.clock_error_ns).max();
        Self {
            frames,
            pps: ratio(frames as f64, trial.rate_seconds),
            lost: sum(|stream| stream.lost),
            duplicated: sum(|stream| stream.duplicated),
            reordered: sum(|stream| stream.reordered),
            reordered_across_flows: sum(|stream| stream.reordered_across_flows),
            corrupted: sink.corrupted,
            foreign: sink.foreign,
            cut: sink.cut,
            other_streams: all - frames + sink.beyond_streams,
            outside_window: sum(|stream| stream.outside_window),
            uncompared: sum(|stream| stream.uncompared),
            arrived_early: early,
            clock_error_ns: clock_error.unwrap_or(0),
            latency: Latency::of(latency),
            streams,
        }
    }
}

impl Stream {
    fn of(stream: &StreamReport, sent: Option<u64>) -> Self {
        Self {
            stream: stream.stream,
            sent,
            frames: stream.received,
            lost: sent.map_or(stream.lost, |sent| stream.lost_of(sent)),
            duplicated: stream.duplicated,
            reordered: stream.reordered,
            reordered_by_max: stream.reordered_by_max,
            reordered_across_flows: stream.across_flows,
            corrupted: stream.corrupted,
            outside_window: stream.outside_window,
            uncompared: stream.uncompared,
            latency: Latency::of(stream.latency),
        }
    }

    /// None of whose frames came.
    fn absent(stream: u16, sent: u64) -> Self {
        Self {
            stream,
            sent: Some(sent),
            frames: 0,
            lost: sent,
            duplicated: 0,
            reordered: 0,
            reordered_by_max: 0,
            reordered_across_flows: 0,
            corrupted: 0,
            outside_window: 0,
            uncompared: 0,
            latency: Latency::of(LatencyReport::default()),
        }
    }
}

impl Latency {
    fn of(report: LatencyReport) -> Self {
        Self {
            count: report.count,
            min_ns: report.min,
            mean_ns: report.mean,
            p50_ns: report.p50,
            p90_ns: report.p90,
            p99_ns: report.p99,
            p999_ns: report.p999,
            max_ns: report.max,
        }
    }
}
