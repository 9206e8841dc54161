//! Requests that come to a drive's ports are answered past its test frames, and are in its books.

use std::net::IpAddr;
use std::time::Duration;

use frame::{Burst, FramePool, Nanos, PoolRequest, PortId, QueueId, Region};
use port::{OpenContext, Port, PortQueue, PortSpec};
use traffic::{Neighbour, Rate, Recipe, Stamp};
use wire::emit::{Arp, Network};
use wire::{Control, MacAddress};

use super::{Drive, DrivePlan, SteppedDrive, Trial};
use crate::{IdleMode, allowed_cpus};

const SENDER: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
const SINK: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);
const COUNT: u64 = 200;

/// The device: the far ends of the rings that a drive sends by and takes in from.
struct Device {
    ends: Vec<Box<dyn PortQueue>>,
    pool: FramePool,
    /// What came, by kind: at the end that is sent by, and at the other.
    came: [Vec<Control>; 2],
    passed: u64,
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn neighbour(mac: MacAddress, text: &str) -> Neighbour {
    let mut neighbour = Neighbour::new(mac);
    neighbour.add(address(text), address(text));
    neighbour
}

fn request(target: [u8; 4]) -> Vec<u8> {
    let message = Arp {
        operation: 1,
        sender: 0x0A00_0001,
        target: u32::from_be_bytes(target),
        ..Arp::default()
    };
    let recipe = wire::emit::Recipe {
        network: Network::Arp(message),
        len_min: 60,
        ..wire::emit::Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("room");
    bytes
}

/// A drive between two rings, and the device at their far ends.
fn setup(neighbours: [Option<Neighbour>; 2]) -> (Drive, Device) {
    let context = OpenContext::default();
    let (mut near, mut ends): (Vec<Box<dyn Port>>, Vec<_>) = (Vec::new(), Vec::new());
    for (place, name) in ["out", "in"].into_iter().enumerate() {
        let spec = PortSpec::parse(&format!("ring:{name}")).expect("a spec");
        let open = |id: usize| port::open(&spec, PortId(id as u8), &context).expect("a ring");
        near.push(open(place));
        let mut far = open(place + 2);
        ends.push(far.open_queue(QueueId(0), 1).expect("a queue"));
    }
    let request = PoolRequest {
        frames: 64,
        stride_bytes: 2112,
        headroom_bytes: 256,
        node: None,
    };
    let (_, mut pools) = Region::with_pools(&[request]).expect("memory");
    let rx = near.pop();
    let plan = DrivePlan {
        tx: near.pop(),
        rx,
        returns: false,
        reflect: false,
        apart: false,
        neighbours,
        replay: None,
        cpus: allowed_cpus().into_iter().take(1).collect(),
        burst: 32,
        stride_bytes: 2112,
        pool_frames: 4096,
        idle: IdleMode::Spin,
    };
    let device = Device {
        ends,
        pool: pools.pop().expect("a pool"),
        came: [Vec::new(), Vec::new()],
        passed: 0,
    };
    (Drive::open(plan).expect("a drive"), device)
}

impl Device {
    fn ask(&mut self, end: usize, target: [u8; 4]) {
        let mut frame = self.pool.alloc().expect("a frame");
        frame.copy_from(&request(target)).expect("room");
        let mut burst = Burst::new();
        assert!(burst.push(frame).is_ok());
        self.ends[end].tx_burst(&mut burst, &mut self.pool);
        assert!(burst.is_empty(), "the ring has room");
    }

    /// Takes what the drive sent; test frames go to its sink.
    fn serve(&mut self) {
        for end in 0..2 {
            let mut burst = Burst::new();
            self.ends[end].rx_burst(&mut self.pool, &mut burst, 64);
            let mut onward = Burst::new();
            let count = burst.len();
            for frame in burst.drain_front(count) {
                match Control::read(frame.bytes()) {
                    Some(kind) => {
                        self.came[end].push(kind);
                        self.pool.free(frame);
                    }
                    None => {
                        self.passed += 1;
                        assert!(end == 0 && onward.push(frame).is_ok());
                    }
                }
            }
            self.ends[1].tx_burst(&mut onward, &mut self.pool);
            assert!(onward.is_empty(), "the ring has room");
        }
    }
}

fn trial() -> Trial {
    Trial {
        recipe: Recipe {
            stamp: Some(Stamp::default()),
            ..Recipe::default()
        },
        rate: Rate::Frames(1_000_000),
        count: Some(COUNT),
        duration: None,
        drain: Duration::ZERO,
    }
}

/// Steps until all is sent and for a while after that.
fn run(mut drive: SteppedDrive, device: &mut Device) -> SteppedDrive {
    let mut now = Nanos(1_000_000);
    let mut quiet = 0;
    while quiet < 100 {
        now = now.after(1_000);
        let moved = drive.step(now);
        device.serve();
        quiet = if drive.is_sent() && moved == 0 {
            quiet + 1
        } else {
            0
        };
    }
    drive
}

#[test]
fn both_ports_answer_for_their_addresses_and_send_no_more_for_it() {
    let mut sink = neighbour(SINK, "198.51.100.2");
    sink.announces = true;
    let sender = neighbour(SENDER, "192.0.2.2");
    let (drive, mut device) = setup([Some(sender), Some(sink)]);
    let drive = drive
        .start_stepped(&trial(), Nanos(1_000_000))
        .expect("a trial");
    device.serve();
    assert_eq!(
        device.came[1],
        [Control::ReverseArp],
        "before anything is sent"
    );
    assert_eq!(device.passed, 0);
    for (end, target) in [
        (0, [192, 0, 2, 2]),
        (1, [198, 51, 100, 2]),
        (1, [198, 51, 100, 2]),
        (1, [198, 51, 100, 3]),
    ] {
        device.ask(end, target);
    }
    let (drive, report) = run(drive, &mut device).end();
    assert_eq!(device.came[0], [Control::ArpReply]);
    assert_eq!(device.came[1][1..], [Control::ArpReply, Control::ArpReply]);
    assert_eq!((report.sent, device.passed), (COUNT, COUNT));
    assert!(report.balanced, "{report:?}");
    assert!(report.ledger.closes(), "{:?}", report.ledger);
    // Made, answered at both ends, announced.
    assert_eq!(report.accounting.originated, COUNT + 3 + 1);
    let [rx, tx] = report
        .controls
        .each_ref()
        .map(|own| own.as_ref().expect("it is looked at"));
    assert_eq!((rx.answered(), rx.sent(), tx.answered()), (2, 3, 1));
    assert_eq!(rx.unanswered(), [(address("198.51.100.3"), 1)]);
    let ahead = report.ahead.as_ref().expect("a sink");
    assert_eq!((ahead.streams[0].unique, ahead.foreign), (COUNT, 3));
    assert_eq!(
        report.back, None,
        "what comes to the sender is only answered"
    );
    assert!(report.not_left().is_empty(), "{:?}", report.not_left());
    drop(drive);
}

#[test]
fn without_neighbours_nothing_is_answered_and_the_sender_looks_at_nothing() {
    let (drive, mut device) = setup([None, None]);
    let drive = drive
        .start_stepped(&trial(), Nanos(1_000_000))
        .expect("a trial");
    device.ask(0, [192, 0, 2, 2]);
    device.ask(1, [198, 51, 100, 2]);
    let (_drive, report) = run(drive, &mut device).end();
    assert_eq!(device.came, [vec![], vec![]]);
    assert_eq!(
        (report.accounting.originated, report.accounting.rx),
        (COUNT, COUNT + 1)
    );
    let rx = report.controls[0].as_ref().expect("the sink looks");
    assert_eq!(rx.unanswered(), [(address("198.51.100.2"), 1)]);
}
