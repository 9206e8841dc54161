//! Captures sent at the pace of their times.

use frame::PortId;
use port::{OpenContext, PortSpec};
use traffic::{Rate, Speed};

use super::cable::Simulated;
use super::{count, plan, run, trial};
use crate::counters::Count;
use crate::drive::{Drive, DrivePlan, Replayed, Trial};

#[test]
fn a_capture_begins_anew_whatever_its_times_are() {
    for (times_us, loops, took_us) in [
        (&[7][..], 3, 0),
        (&[7, 7, 7], 2, 0),
        // What runs backwards overtakes nothing, and is no new beginning either.
        (&[0, 500, 0, 600], 1, 600),
        (&[0, 500, 0, 600], 2, 1_200),
    ] {
        let plan = replay_of(times_us, Speed::Times(1.0), loops);
        let time = Simulated::default();
        let mut drive = Drive::open(plan).expect("a drive");
        let all = Trial {
            count: None,
            ..trial(Rate::Unlimited, 1)
        };
        run(&mut drive, &all, &time, 100);
        let sender = drive.workers[0].sender.as_ref().expect("a sender");
        assert_eq!(sender.sent, loops * times_us.len() as u64, "{times_us:?}");
        let took = sender.last.0 / 1_000;
        assert!(
            (took_us..took_us + 2).contains(&took),
            "{times_us:?}: {took} us"
        );
    }
}

#[test]
fn a_capture_keeps_its_pace() {
    // Twice, since the second time begins where the first ended.
    for (speed, loops, microseconds) in [
        (Speed::Times(1.0), 1, 9_000),
        (Speed::Times(1.0), 2, 18_000),
        (Speed::Times(3.0), 1, 3_000),
        (Speed::Full, 2, 0),
    ] {
        let (time, plan) = (Simulated::default(), replay_of_ten(speed, loops));
        let mut drive = Drive::open(plan).expect("a drive");
        let all = Trial {
            count: None,
            ..trial(Rate::Unlimited, 1)
        };
        run(&mut drive, &all, &time, 100);
        let sender = drive.workers[0].sender.as_ref().expect("a sender");
        assert_eq!(sender.sent, 10 * loops, "{speed}");
        let took = sender.last.0 / 1_000;
        assert!(
            (microseconds..microseconds + 2).contains(&took),
            "{speed}: {took} us"
        );
        assert_eq!(count(&drive, Count::Originated), 0);
    }
}

/// Ten frames, a millisecond from each other.
fn replay_of_ten(speed: Speed, loops: u64) -> DrivePlan {
    let times_us: Vec<u32> = (0..10).map(|number| number * 1_000).collect();
    replay_of(&times_us, speed, loops)
}

/// Frames recorded at these times.
fn replay_of(times_us: &[u32], speed: Speed, loops: u64) -> DrivePlan {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ten.pcap");
    let mut bytes = Vec::new();
    bytes.extend(0xa1b2_3c4d_u32.to_le_bytes());
    bytes.extend([
        2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 1, 0, 0, 0,
    ]);
    for time_us in times_us {
        for word in [1_700_000_000, 5 + time_us * 1_000, 60, 60] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([7; 60]);
    }
    std::fs::write(&file, bytes).expect("a capture");
    let spec =
        PortSpec::parse(&format!("pcap:in={},loop={loops}", file.display())).expect("a spec");
    let context = OpenContext::default();
    let open = |spec: &PortSpec, id| port::open(spec, PortId(id), &context).expect("a port");
    DrivePlan {
        returns: false,
        neighbours: [None, None],
        replay: Some(Replayed {
            port: open(&spec, 1),
            speed,
        }),
        ..plan(open(&PortSpec::Null, 0), 1)
    }
}
