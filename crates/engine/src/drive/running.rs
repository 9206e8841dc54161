//! A trial while it goes on: the thread that watches it, and its report.

use std::ops::Range;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, park_timeout, sleep};
use std::time::{Duration, Instant};

use traffic::{Controls, Rate};

use super::Trial;
use super::counted::{
    clock_steps, controls_at, lag_nanos, rx_span, senders_of, sent_streams, short, taken_in,
    takers_of,
};
use super::link::LinkWatch;
use super::open::Drive;
use super::report::{ClockDoubt, DriveSnapshot, TrialReport};
use super::sender::together;
use super::shrunk::ShrunkWatch;
use super::worker::{Driver, Span};
use crate::counters::{Count, Counters, at_rest};
use crate::finish::{all_counts, balance, port_report, worker_report};
use crate::ledger::{Driven, PortCounts, of_drive};
use crate::start::start_workers;
use crate::states::Watched;
use crate::supervise::{ATTEND_EVERY, Control, DRAIN_MAX, WATCH_EVERY};
use crate::{Accounting, EndedBy, EngineError, Ledger, PortReport, Stopper};

/// Test frames begin so long after a port was announced: a switch has learned by then.
const ANNOUNCED_FOR: Duration = Duration::from_millis(2);
/// How late the last frames of a time may be that have a rate.
const LATE_MAX: Duration = Duration::from_millis(500);

const ETHERNET_BYTES: usize = 14;

/// A trial that goes on.
pub struct RunningDrive {
    control: Arc<Control>,
    started: Instant,
    thread: JoinHandle<Result<(Drive, TrialReport), EngineError>>,
}

impl RunningDrive {
    pub(super) fn start(
        mut drive: Drive,
        trial: &Trial,
        streams: Range<u32>,
    ) -> Result<Self, EngineError> {
        let workers = std::mem::take(&mut drive.workers);
        let control = Arc::clone(&workers[0].control);
        let cpu = workers[0].cpu;
        if drive.announces() {
            sleep(ANNOUNCED_FOR);
        }
        let (started, handles) = start_workers(workers)?;
        let watch = Watch {
            control: Arc::clone(&control),
            drive,
            handles,
            trial: trial.clone(),
            streams,
            started,
            links: Default::default(),
            shrunk: ShrunkWatch::default(),
        };
        let thread = Builder::new().name("supervisor".to_owned());
        let thread = thread
            .spawn(move || watch.run())
            .map_err(|error| EngineError::Worker(cpu, error))?;
        Ok(Self {
            control,
            started,
            thread,
        })
    }

    /// The counts so far.
    #[must_use]
    pub fn snapshot(&self) -> DriveSnapshot {
        let sum = self.control.sum();
        DriveSnapshot {
            seconds: self.started.elapsed().as_secs_f64(),
            tx: sum.get(Count::Tx),
            sent: sum.get(Count::Sent),
            sent_bytes: sum.get(Count::TxBytes),
            rx: sum.get(Count::Rx),
            signed: sum.get(Count::Signed),
            dropped: sum.dropped_total(),
            full_nanos: sum.get(Count::FullNanos),
            pause_nanos: sum.get(Count::PauseNanos),
        }
    }

    /// What changed at the ports since the last call, a sentence each, oldest first.
    #[must_use]
    pub fn take_news(&self) -> Vec<String> {
        self.control.take_news()
    }

    /// Whether the trial is over and [`RunningDrive::join`] will not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Asks the trial to end: nothing more is sent, and what is under way is taken in.
    pub fn stop(&self) {
        self.stopper().stop();
    }

    /// Something that can ask the trial to end from another thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.control))
    }

    /// Waits for the end; the drive is at rest again then.
    ///
    /// # Errors
    ///
    /// A worker that was lost. A port's failure is no error here: it is in the report.
    pub fn join(self) -> Result<(Drive, TrialReport), EngineError> {
        self.thread.join().unwrap_or(Err(EngineError::WorkerLost))
    }
}

/// The report of a trial that nobody watched: its workers never left the drive.
pub(super) fn report_of(
    drive: Drive,
    trial: Trial,
    streams: Range<u32>,
    ended_by: EndedBy,
) -> (Drive, TrialReport) {
    let mut watch = Watch {
        control: Arc::clone(&drive.workers[0].control),
        drive,
        handles: Vec::new(),
        trial,
        streams,
        started: Instant::now(),
        links: Default::default(),
        shrunk: ShrunkWatch::default(),
    };
    let report = watch.close(ended_by);
    (watch.drive, report)
}

/// What the thread that watches a trial has.
struct Watch {
    control: Arc<Control>,
    /// Without its workers.
    drive: Drive,
    handles: Vec<JoinHandle<Driver>>,
    trial: Trial,
    streams: Range<u32>,
    started: Instant,
    /// Of the port that takes in and of the one that sends.
    links: [LinkWatch; 2],
    /// Of the port that takes in.
    shrunk: ShrunkWatch,
}

impl Watch {
    fn run(mut self) -> Result<(Drive, TrialReport), EngineError> {
        let ended_by = self.watch();
        self.look_at_ports();
        self.control.stop();
        for handle in std::mem::take(&mut self.handles) {
            let worker = handle.join().map_err(|_| EngineError::WorkerLost)?;
            self.drive.workers.push(worker);
        }
        let report = self.close(ended_by);
        Ok((self.drive, report))
    }

    /// The books, when no worker runs any more.
    fn close(&mut self, ended_by: EndedBy) -> TrialReport {
        self.drive.meters.ended();
        self.drive.settle();
        if !matches!(ended_by, EndedBy::Duration) {
            let senders = self.drive.workers.iter_mut();
            let senders = senders.filter_map(|own| own.sender.as_mut());
            // One that ended before its time owes nothing of the rest.
            senders.for_each(|own| own.ends = None);
        }
        let mut report = self.report(ended_by);
        report.ledger = self.ledger(&report);
        report
    }

    /// Waits until all is sent, or all has come where nobody here sends, and then for what is
    /// under way.
    fn watch(&mut self) -> EndedBy {
        let mut looks = 0_u32;
        let mut ending: Option<(EndedBy, Instant)> = None;
        let cause = loop {
            if looks.is_multiple_of(ATTEND_EVERY) {
                self.look_at_ports();
                self.drive.ports.iter_mut().for_each(|port| port.attend());
                self.drive.meters.follow();
            }
            looks = looks.wrapping_add(1);
            // One that is gone before it was told to stop can bring nothing to rest.
            let lost = self.handles.iter().any(JoinHandle::is_finished);
            if lost || at_rest(self.control.boards()) {
                break ending.map(|(cause, _)| cause);
            }
            match &ending {
                Some((_, since)) if since.elapsed() > DRAIN_MAX => {
                    break ending.map(|(cause, _)| cause);
                }
                Some(_) => {}
                None => {
                    let asked = self.control.asked_to_end(self.started, self.time_limit());
                    let asked = asked.or_else(|| self.has_no_link().then_some(EndedBy::LinkDown));
                    ending = asked.map(|cause| (cause, Instant::now()));
                    self.control.drain(ending.is_some());
                }
            }
            park_timeout(WATCH_EVERY);
        };
        self.wait_for_arrivals();
        cause.unwrap_or(match (self.trial.count, self.trial.duration) {
            (Some(count), _) if self.counted() >= count => EndedBy::Frames,
            (_, Some(duration)) if self.started.elapsed() >= duration => EndedBy::Duration,
            // Senders that have a rate see by themselves that the time is over.
            (_, Some(_)) if self.drive.roles.tx.is_some() && self.drive.roles.replay.is_none() => {
                EndedBy::Duration
            }
            _ => EndedBy::Sources,
        })
    }

    fn look_at_ports(&mut self) {
        let now = self.elapsed();
        let facts = &mut self.drive.facts;
        self.control.look_at(facts, self.started);
        let frames = dealt_with(&self.control.sum());
        let roles = self.drive.roles;
        for (link, place) in self.links.iter_mut().zip([roles.rx, roles.tx]) {
            let facts = place.and_then(|place| facts.get(place));
            let watched = facts.and_then(|facts| facts.watched.as_ref());
            let blink = watched.and_then(Watched::blink);
            for seen in [blink, watched.and_then(Watched::link)] {
                link.look(now, seen, frames);
            }
        }
        let longest = match roles.replay {
            Some(_) => usize::MAX,
            None => self.trial.recipe.sizes.frame_bytes_max() - ETHERNET_BYTES,
        };
        let rx = roles.rx.and_then(|rx| facts[rx].watched.as_ref());
        let shrunk = rx.is_some_and(|rx| rx.has_shrunk_below(longest));
        self.shrunk.look(shrunk, frames);
    }

    /// Whether nothing can be sent any more. A trial with a time of its own goes on to its end, one
    /// that somebody else ends as well: the link may come back.
    fn has_no_link(&self) -> bool {
        let ends = self.trial.count.is_some() || self.drive.roles.replay.is_some();
        let for_ever = ends && self.trial.duration.is_none();
        self.links[1].is_hopeless(self.elapsed(), for_ever)
    }

    fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// When the workers are told that the time is over: senders that have a rate see that by
    /// themselves, and have until then for frames that are late.
    fn time_limit(&self) -> Option<Duration> {
        let paced = self.drive.roles.tx.is_some() && self.trial.rate != Rate::Unlimited;
        let late = if paced { LATE_MAX } else { Duration::ZERO };
        self.trial.duration.map(|time| time.saturating_add(late))
    }

    /// Frames towards the count that was asked for.
    fn counted(&self) -> u64 {
        let sum = self.control.sum();
        match self.drive.roles.tx {
            Some(_) => sum.get(Count::Sent) + sum.dropped_total(),
            None => sum.get(Count::Rx),
        }
    }

    /// Until as many signed frames have come as were sent, or the time for it is over. Counters
    /// are shown once a millisecond.
    fn wait_for_arrivals(&self) {
        let roles = self.drive.roles;
        let waits = roles.tx.is_some() && (roles.rx.is_some() || roles.returns);
        let twice = u64::from(roles.rx.is_some()) + u64::from(roles.returns);
        let since = Instant::now();
        while waits && since.elapsed() < self.trial.drain {
            let sum = self.control.sum();
            let all = sum.get(Count::Signed) >= sum.get(Count::Sent) * twice;
            if all && since.elapsed() > 4 * WATCH_EVERY {
                break;
            }
            park_timeout(WATCH_EVERY);
        }
    }

    fn report(&self, ended_by: EndedBy) -> TrialReport {
        let ended = self.elapsed();
        let workers = &self.drive.workers;
        let mut sum = Counters::new();
        workers
            .iter()
            .for_each(|worker| sum.merge(&worker.counters));
        let senders: Vec<_> = senders_of(workers).collect();
        let seconds = self.drive.seconds();
        let mut tx_span = Span::default();
        senders
            .iter()
            .for_each(|sender| tx_span.merge(sender.stamps));
        let roles = self.drive.roles;
        let returns = roles.tx.filter(|_| roles.returns);
        let short = short(workers);
        let full = sum.get(Count::FullNanos) as f64 / 1e9 / senders.len().max(1) as f64;
        TrialReport {
            rate: self.trial.rate,
            seconds,
            run_seconds: ended,
            rate_seconds: self.drive.rate_seconds().unwrap_or(seconds),
            sent: sum.get(Count::Sent),
            sent_bytes: self.drive.sent_bytes(&sum),
            cut: senders.iter().map(|sender| sender.feed.cut()).sum(),
            clock_steps: clock_steps(&senders),
            senders: senders.len(),
            streams: sent_streams(&senders, &self.streams),
            full_seconds: full,
            pacing: together(senders.iter().filter_map(|sender| sender.pacing())),
            ahead: roles.rx.and_then(|place| taken_in(workers, place)),
            back: returns.and_then(|place| taken_in(workers, place)),
            controls: [roles.rx, roles.tx].map(|place| Some(controls_at(workers, place?))),
            outages: self
                .links
                .each_ref()
                .map(|link| link.report(ended, dealt_with(&sum))),
            tx_doubt: ClockDoubt::of(tx_span),
            rx_doubt: ClockDoubt::of(rx_span(workers)),
            times: [roles.rx, returns]
                .map(|place| place.map(|place| self.drive.ports[place].time_source())),
            accounting: Accounting::of(&sum),
            ledger: Ledger::new(),
            balanced: balance(workers),
            ports: self.drive.port_reports(ended),
            workers: workers
                .iter()
                .map(|own| worker_report(own, &[], seconds))
                .collect(),
            behind: short.behind,
            late: short.late,
            lag_nanos: workers.iter().filter_map(lag_nanos).max(),
            count: self.trial.count,
            duration: self.trial.duration,
            counted: self.trial.count.is_some() || roles.replay.is_some(),
            ended_by,
        }
    }
}

impl Watch {
    /// Waits for counters of interfaces that are late, too.
    fn ledger(&mut self, report: &TrialReport) -> Ledger {
        let drive = &mut self.drive;
        let counts = all_counts(&drive.facts, &mut drive.workers);
        let since = counts.iter().zip(&drive.counted);
        let mut since: Vec<PortCounts> = since.map(|(now, before)| now.since(before)).collect();
        let roles = drive.roles;
        let longer: u64 = senders_of(&drive.workers).map(|own| own.longer).sum();
        let dealt_with = report.accounting.tx + report.accounting.dropped_total();
        let longer = longer + self.shrunk.frames(dealt_with);
        if let Some(tx) = roles.tx {
            since[tx].longer = longer;
        }
        let controls = report.controls.each_ref();
        let [rx_controls, tx_controls] = controls.map(|own| own.as_ref().map_or(0, Controls::sent));
        let driven = Driven {
            accounting: &report.accounting,
            made: match roles.replay {
                Some((place, _)) => since[place].received,
                None => report.accounting.originated - rx_controls - tx_controls,
            },
            rx_controls,
            tx_controls,
            sent: report.sent,
            behind: report.behind,
            late: report.late,
            tx: roles.tx,
            rx: roles.rx,
            outages: report.outages,
            longer,
            reflects: roles.reflect,
            ended: takers_of(&drive.workers).map(|taker| taker.ended).sum(),
            ahead: report.ahead.as_ref(),
            back: report.back.as_ref(),
        };
        drive
            .meters
            .settle(|meters| of_drive(&driven, &since, meters))
    }
}

/// Frames that left by any port, or were given up.
fn dealt_with(sum: &Counters) -> u64 {
    sum.get(Count::Tx) + sum.dropped_total()
}

impl Drive {
    /// What passed by each port since the trial began.
    fn port_reports(&self, ended: f64) -> Vec<PortReport> {
        let passed = self.passed().into_iter().zip(&self.before);
        self.facts
            .iter()
            .zip(passed)
            .map(|(facts, (now, before))| port_report(facts, now.since(before), ended))
            .collect()
    }

    /// From the start to the last frame sent; to the last one taken in, where nobody here sends.
    fn seconds(&self) -> f64 {
        let nanos = self.workers.iter().filter_map(|worker| {
            let taken = worker.takers.iter().map(|taker| taker.last);
            let last = match (&worker.sender, self.roles.tx) {
                (Some(sender), _) => Some(sender.last),
                (None, Some(_)) => None,
                (None, None) => taken.max(),
            };
            last.map(|last| last.since(worker.began))
        });
        nanos.max().unwrap_or(0) as f64 / 1e9
    }

    /// The time that all frames sent are a rate of, where each sender kept to its schedule.
    pub(super) fn rate_seconds(&self) -> Option<f64> {
        let (mut frames, mut per_second) = (0.0, 0.0);
        for worker in &self.workers {
            let Some(sender) = &worker.sender else {
                continue;
            };
            let nanos = sender.schedule_nanos(worker.began)?;
            if sender.sent != 0 && nanos != 0 {
                frames += sender.sent as f64;
                per_second += sender.sent as f64 * 1e9 / nanos as f64;
            }
        }
        let spans = takers_of(&self.workers).filter_map(|taker| taker.span);
        let span = spans.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        if let (None, Some((first, last))) = (self.roles.tx, span) {
            return Some((last - first) as f64 / 1e9);
        }
        (per_second > 0.0).then(|| frames / per_second)
    }
}
