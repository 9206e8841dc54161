//! A switch of several workers for long: stations move and fall silent, lists change, buckets
//! move, one port takes few frames. No frame leaves twice by a port or by the one that it came in
//! by, flows keep their order, and the books balance. `LINERATE_SWITCH_FRAMES` asks for more.

mod ports;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use engine::{Engine, IdleMode, Limits, Plan, Ruleset, RunReport, allowed_cpus};
use frame::{Burst, FramePool, QueueId, WorkerId};
use plane::switch::{Switch, SwitchConfig, SwitchPort, SwitchTable, VlanMode};
use plane::{Action, Links, Policy, SetRule, Sides};
use port::{Port, PortError, PortQueue, PortStatistics, RxState};
use table::{CompiledLists, Entries};
use wire::emit::{Ipv4, Network, Recipe, Transport};

use ports::TestPort;

const FRAMES: u32 = 600_000;
const PORTS: u8 = 4;
const WORKERS: usize = 2;
/// Queues of all ports.
const QUEUES: u32 = 6;
/// Stations at a time.
const STATIONS: u32 = 512;
/// Kinds of destinations: all, one that nobody has, and stations.
const KINDS: u32 = 8;
/// Frames of a queue after which each station is at the next port.
const STAY: u32 = 5_000;
const AGE: Duration = Duration::from_secs(1);
/// Sources wait until then when half of their frames have come, so that stations age.
const PAUSE: Duration = Duration::from_millis(1_300);
/// Where a frame has the port and the queue that it came by, its flow, and its number there.
const MARK: std::ops::Range<usize> = 42..52;

/// What left by a port: the number of the last frame of each flow, by where it came in.
struct Left {
    last: Vec<u32>,
    frames: u64,
}

impl Left {
    /// Takes note of a frame that leaves by `port`.
    fn note(&mut self, port: u8, frame: &[u8]) {
        let &[from, queue, a, b, c, d, e, f, g, h] = frame[MARK].first_chunk().expect("ten bytes");
        assert_ne!(from, port, "a frame went back");
        let flow = u32::from_be_bytes([a, b, c, d]);
        let number = u32::from_be_bytes([e, f, g, h]);
        let queue = u32::from(from) * WORKERS as u32 + u32::from(queue);
        let last = &mut self.last[(queue * STATIONS * KINDS + flow) as usize];
        assert!(
            *last < number,
            "{from} to {port}: {number} of {flow} after {last}"
        );
        *last = number;
        self.frames += 1;
    }
}

struct Queue {
    port: u8,
    queue: u8,
    bytes: Vec<u8>,
    random: u64,
    /// Of the frame before, from 1.
    number: u32,
    frames: u32,
    begun: Instant,
    left: Arc<Mutex<Left>>,
    sent: u64,
}

impl Queue {
    fn below(&mut self, bound: u32) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (((self.random >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// Makes the bytes of the next frame.
    fn make(&mut self) {
        self.number += 1;
        let stay = self.number / STAY;
        // Where a station is changes with each stay, and all are others after a while.
        let turn = (u32::from(self.port) + stay) % u32::from(PORTS);
        let source = self.below(STATIONS / u32::from(PORTS)) * u32::from(PORTS) + turn;
        let kind = self.below(KINDS);
        let destination = (source * 5 + kind * 97) % STATIONS;
        let generation = (stay / 8) as u8;
        let mac = |station: u32| {
            let [_, _, a, b] = station.to_be_bytes();
            [2, 0, generation, 0, a, b]
        };
        let to = match kind {
            0 => [0xFF; 6],
            1 => [2, 1, 0, 0, 0, 0],
            _ => mac(destination),
        };
        self.bytes[..6].copy_from_slice(&to);
        self.bytes[6..12].copy_from_slice(&mac(source));
        self.bytes[26..30].copy_from_slice(&source.to_be_bytes());
        self.bytes[30..34].copy_from_slice(&destination.to_be_bytes());
        let flow = source * KINDS + kind;
        let mark = [
            &[self.port, self.queue][..],
            &flow.to_be_bytes(),
            &self.number.to_be_bytes(),
        ];
        self.bytes[MARK].copy_from_slice(&mark.concat());
    }
}

impl PortQueue for Queue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        for _ in 0..max {
            if self.number == self.frames {
                return RxState::Ended;
            }
            if self.number == self.frames / 2 && self.begun.elapsed() < PAUSE {
                break;
            }
            let Some(mut frame) = pool.alloc() else { break };
            self.make();
            frame.copy_from(&self.bytes).expect("a short frame");
            assert!(burst.push(frame).is_ok(), "there is room for {max}");
        }
        RxState::Open
    }

    /// The last port takes few frames, and sometimes none.
    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let takes = match self.port == PORTS - 1 {
            true => self.below(24) as usize,
            false => burst.len(),
        };
        let mut left = self.left.lock().expect("no panic");
        for frame in burst.drain_front(takes.min(burst.len())) {
            left.note(self.port, frame.bytes());
            pool.free(frame);
            self.sent += 1;
        }
    }

    fn statistics(&self) -> PortStatistics {
        PortStatistics {
            rx_frames: self.number.into(),
            tx_frames: self.sent,
            ..PortStatistics::default()
        }
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        Ok(Vec::new())
    }
}

fn template() -> Vec<u8> {
    let udp = Transport::Udp {
        src_port: 7,
        dst_port: 9,
    };
    let recipe = Recipe {
        network: Network::Ipv4(Ipv4::default(), udp),
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

fn port(id: u8, frames: u32, left: &Arc<Mutex<Left>>) -> Box<dyn Port> {
    let (left, begun) = (Arc::clone(left), Instant::now());
    let open = move |queue: QueueId, _| Queue {
        port: id,
        queue: queue.0 as u8,
        bytes: template(),
        random: 0x5EED << 8 | u64::from(id) << 4 | u64::from(queue.0 + 1),
        number: 0,
        frames,
        begun,
        left: Arc::clone(&left),
        sent: 0,
    };
    Box::new(TestPort {
        queues_max: if id.is_multiple_of(2) { 1 } else { WORKERS },
        ..TestPort::new(id, open)
    })
}

/// A set that blocks every station whose number leaves this rest.
fn ruleset(rest: u32) -> Ruleset {
    let mut entries = Entries::default();
    entries.v4.addresses = (0..STATIONS).filter(|number| number % 16 == rest).collect();
    let rule = SetRule::new("set", Action::Block, Sides::SRC);
    let policy = Policy::new(vec![rule]).expect("one rule");
    let lists = CompiledLists::compile(&[&entries]).expect("one list");
    Ruleset::new(Arc::new(lists), Arc::new(policy)).expect("a list a rule")
}

fn switches() -> Vec<Switch> {
    let port = SwitchPort::plain(STATIONS);
    let mut ports = vec![port; PORTS.into()];
    // Fewer than there are, so that some give way.
    ports[0].stations = 100;
    let table = SwitchTable::new(SwitchConfig {
        ports,
        mode: VlanMode::Default,
        vlans: Vec::new(),
        groups: Vec::new(),
        statics: Vec::new(),
        age: AGE,
        stations: 1_000,
        loop_quiet: None,
        forward_reserved: false,
    });
    let table = Arc::new(table.expect("sound settings"));
    let links = Links::mesh(WORKERS as u16, 256).into_iter();
    let switch = |links| Switch::new(Arc::clone(&table), [3, 5], links).expect("some memory");
    links.map(switch).collect()
}

/// Runs until all frames have come, with lists that change; how often they did.
fn run(left: &[Arc<Mutex<Left>>], frames: u32) -> (RunReport, u32) {
    let first = ruleset(0);
    let ports = (0..PORTS).zip(left);
    let plan = Plan {
        ports: ports.map(|(id, left)| port(id, frames, left)).collect(),
        policy: Policy::clone(first.policy()),
        lists: Arc::clone(first.lists()),
        cpus: allowed_cpus().into_iter().cycle().take(WORKERS).collect(),
        burst: 32,
        stride_bytes: 2112,
        pool_frames: Plan::pool_frames_min(32, PORTS.into()),
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::default(),
        limits: Limits::default(),
    };
    let running = Engine::start_nodes(plan, switches()).expect("a run");
    let (publisher, mut changes) = (running.lists(), 0);
    while !running.is_finished() {
        changes += 1;
        publisher.publish(ruleset(changes % 16));
        // One that still moves stays.
        let bucket = (changes * 7 % 128) as u16;
        let _moves = running.move_buckets(&[(bucket, WorkerId((changes / 128 % 2) as u16))]);
        std::thread::sleep(Duration::from_millis(2));
    }
    (running.join().expect("a report"), changes)
}

#[test]
fn the_books_of_a_switch_balance_while_all_changes() {
    let wanted = std::env::var("LINERATE_SWITCH_FRAMES");
    let wanted = wanted.ok().and_then(|frames| frames.parse().ok());
    let frames = wanted.unwrap_or(FRAMES) / QUEUES;
    let flows = (u32::from(PORTS) * WORKERS as u32 * STATIONS * KINDS) as usize;
    let left = [(); PORTS as usize].map(|()| {
        Arc::new(Mutex::new(Left {
            last: vec![0; flows],
            frames: 0,
        }))
    });
    let (report, changes) = run(&left, frames);
    assert!(report.balanced, "{report:#?}");
    let accounting = &report.accounting;
    assert_eq!(accounting.rx, u64::from(frames * QUEUES));
    let went: u64 = left
        .iter()
        .map(|left| left.lock().expect("no panic").frames)
        .sum();
    assert_eq!(accounting.tx, went, "what the ports saw");
    let dropped = accounting.dropped_total();
    assert_eq!(accounting.rx + accounting.cloned, accounting.tx + dropped);
    let count = |name| {
        let found = report.node.iter().find(|count| count.name == name);
        found.expect("a count of the switch").count
    };
    assert_eq!(count("copies"), accounting.cloned);
    assert_eq!(count("copies_failed"), 0, "receiving waits for chunks");
    for name in ["learned", "moved", "expired", "evicted", "flooded"] {
        assert!(count(name) > 0, "nothing {name}: {report:#?}");
    }
    assert!(
        dropped > 0 && changes > 1,
        "{changes} changes, {dropped} dropped"
    );
    println!(
        "{} frames, {} copies, {dropped} dropped, {} learned, {} moved, {} expired, {} evicted, \
         {changes} changes of the list: balanced",
        accounting.rx,
        accounting.cloned,
        count("learned"),
        count("moved"),
        count("expired"),
        count("evicted"),
    );
}
