//! Samples stand for the frames they were taken of, and addresses are named that are hit.

use std::sync::Arc;
use std::time::Duration;

use engine::{
    DEFAULT_POOL_FRAMES, Engine, IdleMode, Limits, Plan, Running, SampleError, SampleReceiver,
    SampleSpec, allowed_cpus,
};
use frame::PortId;
use plane::{Action, DropReason, Policy, SetRule, Side, Sides};
use port::{OpenContext, PortSpec};
use table::{CompiledLists, Entries};

/// Two sets of one address each: `counted` with 1, `blocked` with 2. Half of the frames hit one.
fn start(workers: usize) -> Running {
    let context = OpenContext {
        samples_v4: vec![1, 2].into(),
        ..OpenContext::default()
    };
    let open = |(place, spec): (usize, &str)| {
        let spec = PortSpec::parse(spec).expect("a spec");
        port::open(&spec, PortId(place as u8), &context).expect("a port")
    };
    let ports = ["gen:hit=0.5,seed=5", "null:"].into_iter().enumerate();
    let entries = [1, 2].map(|address| {
        let mut entries = Entries::default();
        entries.v4.addresses.push(address);
        entries
    });
    let lists = CompiledLists::compile(&entries.each_ref()).expect("two lists");
    let rules = vec![
        SetRule::new("counted", Action::Count, Sides::SRC),
        SetRule::new("blocked", Action::Block, Sides::SRC),
    ];
    let plan = Plan {
        ports: ports.map(open).collect(),
        policy: Policy::new(rules).expect("two rules"),
        lists: Arc::new(lists),
        cpus: allowed_cpus().into_iter().cycle().take(workers).collect(),
        burst: 64,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::default(),
        limits: Limits::default(),
    };
    Engine::start(plan).expect("a run")
}

fn spec() -> SampleSpec {
    SampleSpec {
        dropped: true,
        counted: true,
        set: None,
        per_second: 10_000,
        snap_bytes: 40,
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn samples_stand_for_all_frames_that_were_dropped_or_counted() {
    for workers in [1, 2] {
        let running = start(workers);
        let mut receiver = running.samples(&spec()).expect("room");
        let mut sum = 0;
        for _ in 0..200 {
            let sample = receiver.next_within(LONG).expect("a sample");
            sum += sample.stands_for;
            assert_eq!((sample.bytes.len(), sample.original_len), (40, 60));
            assert_eq!(sample.port, PortId(0));
            let [set] = &sample.sets[..] else {
                panic!("one set: {sample:?}")
            };
            let source = u32::from_be_bytes(sample.bytes[26..30].try_into().expect("four bytes"));
            let (name, action, reason) = match source {
                1 => ("counted", Action::Count, None),
                2 => ("blocked", Action::Block, Some(DropReason::BlockedSrc)),
                other => panic!("{other} is in no set"),
            };
            assert_eq!(
                (set.name.as_str(), set.action, set.side),
                (name, action, Side::Src)
            );
            assert_eq!(sample.reason, reason);
            assert!(sample.time.elapsed().expect("the past") < LONG);
        }
        running.stop();
        while let Some(sample) = receiver.next_within(LONG) {
            sum += sample.stands_for;
        }
        assert!(receiver.is_over());
        let report = running.join().expect("a report");
        assert!(report.balanced);
        let hits: u64 = report.sets.iter().map(|set| set.hits_src).sum();
        assert!(sum > 200 && sum <= hits, "{sum} of {hits}");
    }
}

/// Workers give back what nobody wants any more, and then there is room.
fn open(running: &Running, spec: &SampleSpec) -> SampleReceiver {
    loop {
        match running.samples(spec) {
            Ok(receiver) => return receiver,
            Err(SampleError::TooMany(_)) => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Receives `count` samples and returns what they stand for.
fn take(receiver: &mut SampleReceiver, count: usize) -> u64 {
    let sample = |_| receiver.next_within(LONG).expect("a sample").stands_for;
    (0..count).map(sample).sum()
}

#[test]
fn captures_are_bounded_filtered_and_end_with_their_receiver() {
    let running = start(2);
    let refused = |spec: &SampleSpec| running.samples(spec).err().expect("refused");
    let none = SampleSpec {
        per_second: 0,
        ..spec()
    };
    assert_eq!(refused(&none), SampleError::NoRate);
    let nothing = SampleSpec {
        dropped: false,
        counted: false,
        ..spec()
    };
    assert_eq!(refused(&nothing), SampleError::NoFrames);
    let unknown = SampleSpec {
        set: Some("else".to_owned()),
        ..spec()
    };
    assert_eq!(refused(&unknown), SampleError::NoSet("else".to_owned()));

    for _ in 0..3 {
        let mut all: Vec<SampleReceiver> = (0..4).map(|_| open(&running, &spec())).collect();
        assert_eq!(refused(&spec()), SampleError::TooMany(4));
        for receiver in &mut all {
            assert!(take(receiver, 3) >= 3);
        }
        drop(all);
        let blocked = SampleSpec {
            set: Some("blocked".to_owned()),
            counted: false,
            ..spec()
        };
        let mut receiver = open(&running, &blocked);
        for _ in 0..20 {
            let sample = receiver.next_within(LONG).expect("a sample");
            assert_eq!(sample.reason, Some(DropReason::BlockedSrc));
            assert_eq!(sample.sets[0].name, "blocked");
        }
    }
    running.stop();
    assert!(running.join().expect("a report").balanced);
}

#[test]
fn addresses_that_are_hit_are_named_with_their_hits() {
    let running = start(2);
    let first = std::net::Ipv4Addr::from(1).into();
    let top = loop {
        let top = running.top_hits(10);
        if top.top.len() == 2 {
            break top;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(top.top.iter().all(|hit| hit.side == Side::Src));
    let known = running.hits_of(first);
    let hits = |running: &Running| running.status().sets[0].of(Side::Src);
    assert!(known.hour.at_least > 0 && known.hour.is_exact() && known.minute.is_exact());
    let stranger = running.hits_of(std::net::Ipv4Addr::from(3).into());
    assert_eq!(stranger.hour.at_most, 0);
    while running.status().sets[0].of(Side::Src) < known.hour.at_least {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(hits(&running) >= known.hour.at_least);
    running.stop();
    assert!(running.join().expect("a report").balanced);
}
