//! A NIC that stamps frames, in simulated time: latencies are the NIC's, to the nanosecond.

use std::collections::VecDeque;
use std::time::Duration;

use frame::{Burst, Frame, FramePool, Nanos};
use port::{PortQueue, PortStatistics, RxState, TimeSource};
use traffic::{Rate, Recipe, Signature, Stamp};

use super::*;
use crate::test_port::TestPort;
use crate::{DEFAULT_POOL_FRAMES, IdleMode, allowed_cpus};

const DELAY_NANOS: u64 = 12_345;
/// Workers look so rarely.
const STEP_NANOS: u64 = 40_000;

/// A cable of which each frame takes [`DELAY_NANOS`], and whose end says so of all frames but
/// every so manieth.
struct Nic {
    source: TimeSource,
    unstamped_every: u64,
}

impl Nic {
    fn port(self) -> TestPort {
        let unstamped_every = self.unstamped_every;
        let open = move |_, _| NicQueue {
            unstamped_every,
            under_way: VecDeque::new(),
            count: 0,
        };
        TestPort {
            times: self.source,
            ..TestPort::new(0, open)
        }
    }
}

struct NicQueue {
    unstamped_every: u64,
    under_way: VecDeque<Frame>,
    count: u64,
}

impl PortQueue for NicQueue {
    fn rx_burst(&mut self, _: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        for _ in 0..max {
            let Some(mut frame) = self.under_way.pop_front() else {
                break;
            };
            self.count += 1;
            let sent = Signature::of(frame.bytes()).map_or(0, |own| own.sent.0);
            if !self.count.is_multiple_of(self.unstamped_every) {
                let meta = frame.meta_mut();
                (meta.time_ns, meta.by_nic) = (sent + DELAY_NANOS, true);
            }
            burst.push(frame).expect("room for what was asked for");
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, _: &mut FramePool) {
        self.under_way.extend(burst.drain());
    }

    fn statistics(&self) -> PortStatistics {
        PortStatistics::default()
    }

    fn in_flight(&self) -> u32 {
        self.under_way.len() as u32
    }
}

fn report_of(nic: Nic, count: u64) -> TrialReport {
    let plan = DrivePlan {
        tx: Some(Box::new(nic.port())),
        rx: None,
        returns: true,
        reflect: false,
        apart: false,
        neighbours: [None, None],
        replay: None,
        cpus: allowed_cpus().into_iter().take(1).collect(),
        burst: 32,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        idle: IdleMode::Spin,
    };
    let trial = Trial {
        recipe: Recipe {
            stamp: Some(Stamp::default()),
            ..Recipe::default()
        },
        rate: Rate::Frames(1_000_000),
        count: Some(count),
        duration: None,
        drain: Duration::ZERO,
    };
    let drive = Drive::open(plan).expect("a drive");
    let mut now = Nanos(1_000_000_000);
    let mut drive = drive.start_stepped(&trial, now).expect("a trial");
    let mut idle = 0;
    while !drive.is_sent() || idle < 4 {
        idle = if drive.step(now) == 0 { idle + 1 } else { 0 };
        now = now.after(STEP_NANOS);
    }
    drive.end().1
}

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
fn arrivals_are_the_nics() {
    let source = nic();
    let report = report_of(
        Nic {
            source: source.clone(),
            unstamped_every: u64::MAX,
        },
        1000,
    );
    let back = report.back.unwrap();
    assert_eq!((back.frames, back.stamped), (1000, 1000));
    let latency = back.latency;
    assert_eq!(latency.count, 1000);
    assert_eq!((latency.min, latency.max), (DELAY_NANOS, DELAY_NANOS));
    assert_eq!(back.streams[0].lost, 0);
    assert_eq!(report.times, [None, Some(source)]);
}

#[test]
fn frames_that_the_nic_did_not_stamp_are_timed_by_software_and_counted() {
    let report = report_of(
        Nic {
            source: nic(),
            unstamped_every: 10,
        },
        1000,
    );
    let back = report.back.unwrap();
    assert_eq!((back.frames, back.stamped), (1000, 900));
    assert_eq!(back.latency.count, 1000);
    assert_eq!(back.latency.p90, back.latency.p50);
    // Within the same step, at the time of the look: below the NIC's, which is not looked at.
    assert_eq!(back.latency.min, 0);
}

#[test]
fn stamps_of_a_port_that_promises_none_are_not_believed() {
    let report = report_of(
        Nic {
            source: TimeSource::default(),
            unstamped_every: u64::MAX,
        },
        100,
    );
    let back = report.back.unwrap();
    assert_eq!((back.frames, back.stamped), (100, 0));
    assert_ne!(back.latency.max, DELAY_NANOS);
}
