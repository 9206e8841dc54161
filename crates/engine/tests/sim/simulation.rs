//! One seed from its start to its end.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use engine::{
    DispatchSettings, Engine, FrameMemory, IdleMode, Limits, MoveError, Plan, SteppedRun,
    allowed_cpus,
};
use frame::{Nanos, PortId, QueueId, WorkerId};
use plane::switch::{Switch, SwitchConfig, SwitchPort, SwitchTable, Vlan, VlanMode};
use plane::{Action, Links, Policy, Ports, SetRule, Sides};
use port::Port;
use table::{CompiledLists, Entries};

use crate::judged::Judged;
use crate::ports::TestPort;
use crate::random::Random;
use crate::shape::{STATIONS, Shape};
use crate::wire::Wire;
use crate::world::{LEN, Shared, address};

/// Steps after which everything that can leave has left.
const DRAIN_STEPS: usize = 20_000;
/// Sightings that a ring between two workers holds: none is ever refused.
const SIGHTINGS: usize = 4096;
/// Lists that block some stations each; the first none.
const VERSIONS: usize = 8;

/// The memory of runs by workers and frames in each pool: pools are not made anew for each seed.
pub(crate) type Memories = HashMap<(usize, u32), FrameMemory>;

/// What a simulation did, and a hash of all that was seen of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
    pub(crate) published: u64,
    pub(crate) moved: u64,
    pub(crate) handed_off: u64,
    pub(crate) learned: u64,
    trace: u64,
}

impl Outcome {
    pub(crate) fn add(&mut self, other: &Self) {
        self.received += other.received;
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.published += other.published;
        self.moved += other.moved;
        self.handed_off += other.handed_off;
        self.learned += other.learned;
        self.trace = self.trace.rotate_left(1) ^ other.trace;
    }
}

/// Which stations a version of the lists blocks.
fn blocked(version: usize) -> Vec<u32> {
    let is_blocked = |station: &usize| version != 0 && station % (version + 2) == 1;
    (0..STATIONS).filter(is_blocked).map(address).collect()
}

static LISTS: LazyLock<Vec<Arc<CompiledLists>>> = LazyLock::new(|| {
    let compiled = |version| {
        let mut entries = Entries::default();
        entries.v4.addresses = blocked(version);
        Arc::new(CompiledLists::compile(&[&entries]).expect("one list"))
    };
    (0..VERSIONS).map(compiled).collect()
});

pub(crate) fn simulate(shape: &Shape, memories: &mut Memories) -> Outcome {
    let world = Shared::new(shape.clone());
    let memory = memories.remove(&(shape.workers, shape.pool_frames()));
    if let Some(memory) = &memory {
        assert!(memory.is_home(), "every chunk is free when a run begins");
    }
    let run = Engine::start_stepped(
        plan(shape, &world),
        nodes(shape, &world),
        memory,
        Nanos(shape.begin),
    );
    let mut simulation = Simulation {
        run: run.expect("a run"),
        world,
        outcome: Outcome::default(),
    };
    (0..shape.steps).for_each(|_| simulation.turn());
    if !shape.breaks_off {
        simulation.drain();
    }
    let (outcome, memory) = simulation.end();
    memories.insert((shape.workers, shape.pool_frames()), memory);
    outcome
}

struct Simulation {
    run: SteppedRun<Judged>,
    world: Shared,
    outcome: Outcome,
}

impl Simulation {
    /// Something happens, perhaps, and a worker takes a step.
    fn turn(&mut self) {
        let version = {
            let mut world = self.world.lock();
            if world.random.once_in(10) {
                world.move_station();
            }
            let ports = world.shape.ports.len();
            let port = world.random.below(ports);
            if world.shape.ports[port].flaps && world.random.once_in(10) {
                world.down[port] ^= true;
            }
            let publishes = world.random.once_in(12);
            publishes.then(|| world.random.below(VERSIONS))
        };
        if let Some(version) = version {
            self.publish(version);
        }
        self.move_buckets();
        self.step();
    }

    fn publish(&mut self, version: usize) {
        let lists = self.run.lists();
        let published = lists.publish_lists(Arc::clone(&LISTS[version]));
        published.expect("as many lists as before");
        lists.reclaim();
        self.world.lock().model.blocked = blocked(version);
        self.outcome.published += 1;
    }

    fn move_buckets(&mut self) {
        let mut world = self.world.lock();
        let workers = world.shape.workers;
        if workers == 1 || !world.random.once_in(6) {
            return;
        }
        let mut draw = || {
            let bucket = world.random.below(128) as u16;
            (bucket, WorkerId(world.random.below(workers) as u16))
        };
        let moves: Vec<_> = (0..40).map(|_| draw()).collect();
        match self.run.move_buckets(&moves) {
            Ok(()) => self.outcome.moved += 1,
            Err(MoveError::UnderWay) => {}
            Err(other) => panic!("{other}"),
        }
    }

    /// One step of some worker, and everything is held against everything.
    fn step(&mut self) -> usize {
        let (worker, now) = {
            let mut world = self.world.lock();
            let pause_ns = world.shape.pause_us * 1_000;
            let pause = world.random.below(pause_ns);
            world.now = world.now.after(1 + pause as u64);
            world.step += 1;
            let workers = world.shape.workers;
            (WorkerId(world.random.below(workers) as u16), world.now)
        };
        let moved = self.run.step(worker, now);
        if let Err(wrong) = self.run.check() {
            panic!("after a step of worker {worker}: {wrong}");
        }
        self.world.lock().trace((worker.0, moved));
        moved
    }

    /// Nothing more comes, and all ports come back: everything leaves.
    fn drain(&mut self) {
        self.world.lock().down.fill(false);
        self.run.drain();
        let mut steps = 0;
        while !self.run.is_at_rest() {
            self.step();
            steps += 1;
            assert!(steps < DRAIN_STEPS, "the run never comes to rest");
        }
    }

    fn end(self) -> (Outcome, FrameMemory) {
        self.world.lock().closes = true;
        let (report, memory) = self.run.end();
        assert!(report.balanced, "{report:#?}");
        let world = self.world.lock();
        let accounting = &report.accounting;
        let lost = world.not_left();
        assert!(
            lost <= accounting.dropped_total(),
            "{lost} are not dropped: {report:#?}"
        );
        let outcome = Outcome {
            received: accounting.rx,
            sent: world.sent,
            dropped: accounting.dropped_total(),
            handed_off: report
                .workers
                .iter()
                .map(|own| own.accounting.handed_off)
                .sum(),
            learned: report.node[0].count,
            trace: world.traced(),
            ..self.outcome
        };
        (outcome, memory)
    }
}

fn plan(shape: &Shape, world: &Shared) -> Plan {
    let port = |at: usize| -> Box<dyn Port> {
        let world = world.clone();
        let open = move |queue: QueueId, _| Wire::new(at, queue.0.into(), &world);
        Box::new(TestPort {
            queues_max: shape.ports[at].queues,
            lossless: shape.lossless,
            frame_bytes_max: LEN,
            ..TestPort::new(at as u8, open)
        })
    };
    let rule = SetRule::new("blocked", Action::Block, Sides::SRC);
    Plan {
        ports: (0..shape.ports.len()).map(port).collect(),
        policy: Policy::new(vec![rule]).expect("one rule"),
        lists: Arc::clone(&LISTS[0]),
        cpus: allowed_cpus()
            .into_iter()
            .cycle()
            .take(shape.workers)
            .collect(),
        burst: shape.burst,
        stride_bytes: 512,
        pool_frames: shape.pool_frames(),
        dispatch: DispatchSettings {
            policy: shape.policy,
            ring_limit: shape.ring_limit,
            ..DispatchSettings::default()
        },
        idle: IdleMode::default(),
        limits: Limits::default(),
    }
}

fn nodes(shape: &Shape, world: &Shared) -> Vec<Judged> {
    let config = SwitchConfig {
        ports: shape
            .ports
            .iter()
            .map(|port| switch_port(port.vlan))
            .collect(),
        mode: VlanMode::Dot1q,
        vlans: [10, 11].map(|id| vlan(shape, id)).into(),
        groups: Vec::new(),
        statics: Vec::new(),
        age: Duration::from_millis(shape.age_ms),
        stations: 1000,
        loop_quiet: None,
        forward_reserved: false,
    };
    let table = Arc::new(SwitchTable::new(config).expect("sound settings"));
    let links = match shape.workers {
        1 => vec![Links::alone()],
        workers => Links::mesh(workers as u16, SIGHTINGS),
    };
    let mut random = Random::new(!shape.seed);
    let node = |links| {
        let key = [random.next(), random.next()];
        Judged {
            switch: Switch::new(Arc::clone(&table), key, links).expect("some memory"),
            world: world.clone(),
        }
    };
    links.into_iter().map(node).collect()
}

fn switch_port(vlan: u16) -> SwitchPort {
    SwitchPort {
        pvid: Some(vlan),
        ..SwitchPort::plain(1000)
    }
}

/// All its members are untagged.
fn vlan(shape: &Shape, id: u16) -> Vlan {
    let members = (0..shape.ports.len()).filter(|&at| shape.ports[at].vlan == id);
    Vlan {
        id,
        untagged: members.fold(Ports::NONE, |all, at| all.with(PortId(at as u8))),
        tagged: Ports::NONE,
    }
}
