//! Where times come from, and what they may be wrong by.

use engine::TrialReport;
use port::TimeSource;
use serde::Serialize;
use traffic::SinkReport;

use super::text::time;
use crate::report::number::{count, plural};

/// What `clock.source` says, and where the NIC stamps what came, what stands before it.
const KERNEL: &str = "kernel's monotonic clock, read by software once a burst";

/// The same where all that came is out of a capture.
const RECORDS: &str = "records of the capture";

/// Why the times of NICs that were to stamp frames are not had after all, a sentence each.
pub(super) fn silent_clocks(trial: &TrialReport) -> impl Iterator<Item = String> {
    sinks(trial).filter_map(|(sink, times)| silent_clock(sink, times))
}

fn silent_clock(sink: &SinkReport, times: &TimeSource) -> Option<String> {
    let TimeSource::Hardware { clock, .. } = times else {
        return None;
    };
    (sink.stamped == 0 && sink.frames != 0).then(|| {
        format!(
            "{clock}: the NIC of this clock stamped none of {}, or all with the same time, so \
             arrivals and latencies are those of software; see whether the clock goes (phc_ctl \
             {clock} get)",
            plural(sink.frames, "frame", "frames")
        )
    })
}

/// What took frames in, each with what says when they came.
fn sinks(trial: &TrialReport) -> impl Iterator<Item = (&SinkReport, &TimeSource)> {
    let sinks = [&trial.ahead, &trial.back].into_iter().zip(&trial.times);
    sinks.filter_map(|(sink, times)| sink.as_ref().zip(times.as_ref()))
}

/// The object `clock` of the report.
#[derive(Debug, Serialize)]
pub(super) struct ClockFacts {
    pub(super) source: String,
    /// Whether arrivals are those that NICs told, at every port that takes frames in.
    pub(super) hardware_timestamps: bool,
    /// Frames of which they are; the others' were read by software.
    pub(super) hardware_frames: u64,
    /// Frames of those ports that had none.
    pub(super) unstamped_frames: u64,
    /// How often a NIC's clock, or the kernel's, was set meanwhile.
    pub(super) clock_steps: u64,
    /// From the time in a frame until the port had taken its burst, mean and worst.
    pub(super) send_error_mean_ns: f64,
    pub(super) send_error_max_ns: u64,
    /// From the look before a burst came until the time given to it, mean and worst; where NICs
    /// stamped, what their clocks were off by. The worst of both where both were used.
    pub(super) receive_error_mean_ns: f64,
    pub(super) receive_error_max_ns: u64,
    /// Whether a port's arrivals are those of the records of a capture: there is no latency then.
    pub(super) recorded: bool,
    /// Why times are not those of a NIC, and what else is to be known, a sentence each.
    pub(super) remarks: Vec<String>,
}

impl ClockFacts {
    pub(super) fn of(trial: &TrialReport) -> Self {
        let (tx, rx) = (trial.tx_doubt, trial.rx_doubt);
        let mut facts = Self {
            source: KERNEL.to_owned(),
            hardware_timestamps: false,
            hardware_frames: 0,
            unstamped_frames: 0,
            clock_steps: 0,
            send_error_mean_ns: tx.mean_nanos,
            send_error_max_ns: tx.worst_nanos,
            receive_error_mean_ns: 0.0,
            receive_error_max_ns: 0,
            recorded: false,
            remarks: Vec::new(),
        };
        let (mut clocks, mut software) = (Vec::new(), trial.times == [None, None]);
        for (sink, times) in sinks(trial) {
            software |= facts.add(sink, times, &mut clocks);
        }
        if software {
            facts.doubt(rx.mean_nanos, rx.worst_nanos);
        }
        if facts.recorded && !software {
            facts.source = RECORDS.to_owned();
        }
        if !clocks.is_empty() {
            let clocks = clocks.join(" and ");
            facts.source = format!("{KERNEL}; arrivals by the NIC's clock {clocks}");
            let by_nic = |times: &TimeSource| matches!(times, TimeSource::Hardware { .. });
            facts.hardware_timestamps =
                trial.times.iter().flatten().all(by_nic) && silent_clocks(trial).next().is_none();
        }
        facts
    }

    /// One port that takes frames in; whether software read a time of it.
    fn add(&mut self, sink: &SinkReport, times: &TimeSource, clocks: &mut Vec<String>) -> bool {
        match times {
            TimeSource::Software { remark } => {
                self.remarks.extend(remark.clone());
                true
            }
            TimeSource::Recorded => {
                self.recorded = true;
                false
            }
            TimeSource::Hardware {
                clock,
                error_mean_ns,
                error_max_ns,
                steps,
                remark,
            } => {
                self.remarks.extend(remark.clone());
                let unstamped = sink.frames.saturating_sub(sink.stamped);
                self.hardware_frames += sink.stamped;
                self.unstamped_frames += unstamped;
                self.clock_steps += steps;
                if silent_clock(sink, times).is_some() {
                    return true;
                }
                self.doubt(*error_mean_ns as f64, *error_max_ns);
                if !clocks.contains(clock) {
                    clocks.push(clock.clone());
                }
                unstamped != 0
            }
        }
    }

    fn doubt(&mut self, mean: f64, worst: u64) {
        self.receive_error_mean_ns = self.receive_error_mean_ns.max(mean);
        self.receive_error_max_ns = self.receive_error_max_ns.max(worst);
    }

    /// Why there is no latency of a capture, told where there is none at all.
    pub(super) const NO_LATENCY: &str = "No latency: the times of a capture's records and those \
                                         in test frames are of two clocks.";

    /// What people are told of it. What a latency is too long by is part of it: no more than
    /// `longest_ns`, the largest there was.
    pub(super) fn sentences(&self, longest_ns: u64) -> String {
        let within = |nanos: u64| time(nanos.min(longest_ns));
        let sent = format!(
            "Up to {} at worst ({} in the mean) pass from the time in a frame until the port has \
             its burst",
            within(self.send_error_max_ns),
            within(self.send_error_mean_ns.round() as u64),
        );
        let source = &self.source;
        let mut said = if self.hardware_frames == 0 {
            let worst = within(self.receive_error_max_ns);
            let mean = within(self.receive_error_mean_ns.round() as u64);
            format!(
                "Times are those of the {source}; timestamps of hardware are not used. {sent}, and \
                 up to {worst} ({mean}) between looks at the other end: a latency is too long by \
                 as much."
            )
        } else {
            let worst = time(self.receive_error_max_ns);
            let mean = time(self.receive_error_mean_ns.round() as u64);
            format!(
                "Times are those of the {source}. {sent}: a latency is too long by as much. \
                 Arrivals are right within {worst} at worst ({mean} in the mean)."
            )
        };
        if self.hardware_frames != 0 && self.unstamped_frames != 0 {
            said += &format!(
                " {} frames came without a time of the NIC, and have one of software.",
                count(self.unstamped_frames)
            );
        }
        if self.clock_steps != 0 {
            said += &format!(
                " A clock was set {} times meanwhile, and latencies around that are wrong.",
                count(self.clock_steps)
            );
        }
        for remark in &self.remarks {
            said += &format!(" {remark}.");
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nic() -> TimeSource {
        TimeSource::Hardware {
            clock: "/dev/ptp9".to_owned(),
            error_mean_ns: 40,
            error_max_ns: 300,
            steps: 0,
            remark: None,
        }
    }

    #[test]
    fn a_nic_that_stamps_nothing_is_told() {
        // Where times should come from, what came in, and what of it was stamped.
        let table = [
            (nic(), 1502, 1502, false),
            (nic(), 1502, 1, false),
            (nic(), 1502, 0, true),
            (nic(), 0, 0, false),
            (TimeSource::default(), 1502, 0, false),
            (TimeSource::Recorded, 1502, 0, false),
        ];
        for (times, frames, stamped, silent) in table {
            let sink = SinkReport {
                frames,
                stamped,
                ..SinkReport::default()
            };
            let said = silent_clock(&sink, &times);
            assert_eq!(said.is_some(), silent, "{times:?} {frames} {stamped}");
            let parts = ["/dev/ptp9", "none of 1,502 frames", "phc_ctl"];
            assert!(said.is_none_or(|said| parts.iter().all(|part| said.contains(part))));
        }
    }
}
