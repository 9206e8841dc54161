//! Under load, lists and policies change thousands of times, and each frame is judged as some
//! version says that was current between its arrival and its end: held against a slow model.

mod ports;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use engine::{Engine, IdleMode, Limits, Plan, Ruleset, allowed_cpus};
use frame::{Burst, FramePool, PortId, QueueId};
use plane::{Action, Exception, Otherwise, Policy, Ports, SetRule, Side, Sides};
use port::{Port, PortQueue, PortStatistics, RxState};
use table::{CompiledLists, Entries};
use wire::emit::{Ipv4, Network, Recipe, Transport};

use ports::TestPort;

/// Addresses that frames have: few, so that most are in some set.
const ADDRESSES: u32 = 48;
/// Of lists, policies or both; as many as `CHANGES` says where that is set.
const CHANGES: u64 = 2000;
const BURST: usize = 32;

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// One version as the slow model has it.
struct Model {
    sets: Vec<(SetRule, Vec<u32>)>,
    default: Otherwise,
}

impl Model {
    fn draw(random: &mut Random) -> Self {
        let sets = (0..random.below(33)).map(|_| Self::set(random)).collect();
        let default = [Otherwise::Forward, Otherwise::Drop][random.below(2) as usize];
        Self { sets, default }
    }

    fn set(random: &mut Random) -> (SetRule, Vec<u32>) {
        let sides =
            |random: &mut Random| [Sides::BOTH, Sides::SRC, Sides::DST][random.below(3) as usize];
        let action = |random: &mut Random| Action::EVERY[random.below(3) as usize];
        let ports = |random: &mut Random| match random.below(3) {
            2 => Ports::ALL,
            port => Ports::only(PortId(port as u8)),
        };
        let exceptions = (0..random.below(3)).map(|_| Exception {
            sides: sides(random),
            ports: ports(random),
            action: action(random),
        });
        let exceptions = exceptions.collect();
        let rule = SetRule {
            ports: ports(random),
            exceptions,
            ..SetRule::new("", action(random), sides(random))
        };
        let holds = (0..random.below(5)).map(|_| random.below(ADDRESSES));
        (rule, holds.collect())
    }

    /// The same sets, one of which blocks where it counted and the other way round.
    fn flipped(&self, random: &mut Random) -> Self {
        let mut sets = self.sets.clone();
        if !sets.is_empty() {
            let rule = &mut sets[random.below(self.sets.len() as u32) as usize].0;
            rule.action = match rule.action {
                Action::Block => Action::Count,
                _ => Action::Block,
            };
        }
        Self {
            sets,
            default: self.default,
        }
    }

    fn ruleset(&self) -> Ruleset {
        let rule = |(place, (rule, _)): (usize, &(SetRule, Vec<u32>))| SetRule {
            name: format!("set{place}"),
            ..rule.clone()
        };
        let rules = self.sets.iter().enumerate().map(rule).collect();
        let mut policy = Policy::new(rules).expect("few rules");
        policy.default = self.default;
        let entries = |(_, holds): &(SetRule, Vec<u32>)| {
            let mut entries = Entries::default();
            entries.v4.addresses.clone_from(holds);
            entries
        };
        let entries: Vec<Entries> = self.sets.iter().map(entries).collect();
        let lists = CompiledLists::compile(&entries.iter().collect::<Vec<_>>());
        let lists = Arc::new(lists.expect("few lists"));
        Ruleset::new(lists, Arc::new(policy)).expect("a list a rule")
    }

    /// Whether a frame that came in by `port` may pass, in the words of the policy.
    fn passes(&self, port: PortId, src: u32, dst: u32) -> bool {
        let any = |wanted, address, side| {
            let mut sets = self.sets.iter();
            sets.any(|(rule, holds)| {
                holds.contains(&address) && action_at(rule, side, port) == Some(wanted)
            })
        };
        let allowed = |address, side| any(Action::Allow, address, side);
        let stopped = |address, side| any(Action::Block, address, side) && !allowed(address, side);
        if stopped(src, Side::Src) || stopped(dst, Side::Dst) {
            return false;
        }
        let allowed = allowed(src, Side::Src) || allowed(dst, Side::Dst);
        self.default == Otherwise::Forward || allowed
    }
}

/// The last exception that fits, else the rule itself.
fn action_at(rule: &SetRule, side: Side, port: PortId) -> Option<Action> {
    let looks = |sides: Sides| match side {
        Side::Src => sides.src,
        Side::Dst => sides.dst,
    };
    let mut action = None;
    if looks(rule.sides) && rule.ports.contains(port) {
        action = Some(rule.action);
    }
    for exception in &rule.exceptions {
        if looks(exception.sides) && exception.ports.contains(port) {
            action = Some(exception.action);
        }
    }
    action
}

/// What all sides know of versions. Version `i` is at place `i - 1`.
#[derive(Default)]
struct Versions {
    models: RwLock<Vec<Model>>,
    /// Every worker has this one: what arrives now is judged by it or a later one.
    seen: AtomicU64,
    /// This one may have been published: what ended was judged by it or an earlier one.
    announced: AtomicU64,
}

/// A frame under way: source, destination, the version seen when it arrived.
#[derive(Clone, Copy)]
struct Arrived {
    src: u32,
    dst: u32,
    seen: u64,
    passed: bool,
}

/// What the two queues of a worker know of each other's frames, by the port they arrived at.
#[derive(Default)]
struct Lane {
    under_way: [Vec<Arrived>; 2],
    judged: u64,
    passed: u64,
    /// Frames that a single version could have judged.
    sure: u64,
}

/// The frame that all are made of.
fn template() -> Vec<u8> {
    let recipe = Recipe {
        network: Network::Ipv4(
            Ipv4::default(),
            Transport::Udp {
                src_port: 7,
                dst_port: 9,
            },
        ),
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// Makes frames and checks what became of those of the burst before.
struct CheckingQueue {
    port: PortId,
    versions: Arc<Versions>,
    lane: Arc<Mutex<Lane>>,
    random: Random,
    bytes: Vec<u8>,
    statistics: PortStatistics,
}

impl CheckingQueue {
    /// Every frame of the burst before has left or was dropped.
    fn check_burst_before(&self, lane: &mut Lane) {
        let announced = self.versions.announced.load(Ordering::SeqCst);
        let models = self.versions.models.read().expect("no panic");
        for frame in lane.under_way[usize::from(self.port.0)].drain(..) {
            let current = &models[frame.seen as usize - 1..announced as usize];
            let passes = |model: &Model| model.passes(self.port, frame.src, frame.dst);
            let right = current.iter().any(|model| passes(model) == frame.passed);
            assert!(
                right,
                "{} to {} by {}: passed is {}, versions {} to {announced}",
                frame.src, frame.dst, self.port, frame.passed, frame.seen
            );
            lane.judged += 1;
            lane.passed += u64::from(frame.passed);
            lane.sure += u64::from(current.iter().all(|model| passes(model) == frame.passed));
        }
    }
}

impl PortQueue for CheckingQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let lane = Arc::clone(&self.lane);
        let mut lane = lane.lock().expect("no panic");
        self.check_burst_before(&mut lane);
        let seen = self.versions.seen.load(Ordering::SeqCst);
        for _ in 0..max.min(BURST) {
            let Some(mut frame) = pool.alloc() else { break };
            let [src, dst] = [(); 2].map(|()| self.random.below(ADDRESSES));
            self.bytes[26..30].copy_from_slice(&src.to_be_bytes());
            self.bytes[30..34].copy_from_slice(&dst.to_be_bytes());
            frame.copy_from(&self.bytes).expect("a short frame");
            // Its number, where its sender's hardware address was.
            let under_way = &mut lane.under_way[usize::from(self.port.0)];
            frame.bytes_mut()[6] = under_way.len() as u8;
            under_way.push(Arrived {
                src,
                dst,
                seen,
                passed: false,
            });
            self.statistics.rx_frames += 1;
            assert!(burst.push(frame).is_ok(), "room for {max}");
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let mut lane = self.lane.lock().expect("no panic");
        let other = usize::from(self.port.0 == 0);
        for frame in burst.frames() {
            let arrived = &mut lane.under_way[other][usize::from(frame.bytes()[6])];
            assert!(!arrived.passed, "a frame twice");
            arrived.passed = true;
            self.statistics.tx_frames += 1;
        }
        pool.free_burst(burst);
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}

fn port(id: u8, versions: &Arc<Versions>, lanes: &[Arc<Mutex<Lane>>], seed: u64) -> Box<dyn Port> {
    let (versions, lanes, queues_max) = (Arc::clone(versions), lanes.to_vec(), lanes.len());
    let open = move |queue: QueueId, _| CheckingQueue {
        port: PortId(id),
        versions: Arc::clone(&versions),
        lane: Arc::clone(&lanes[usize::from(queue.0)]),
        random: Random(seed ^ u64::from(queue.0 * 2 + u16::from(id) + 1) << 40),
        bytes: template(),
        statistics: PortStatistics::default(),
    };
    Box::new(TestPort {
        queues_max,
        ..TestPort::new(id, open)
    })
}

#[test]
fn every_frame_is_judged_by_one_version_that_was_current() {
    let given = |name| std::env::var(name).ok()?.parse().ok();
    let seed = given("SEED").unwrap_or(0x5EED_0006_u64);
    let changes = given("CHANGES").unwrap_or(CHANGES);
    println!("SEED={seed}");
    let mut random = Random(seed);
    let versions = Arc::new(Versions::default());
    let first = Model::draw(&mut random);
    let ruleset = first.ruleset();
    versions.models.write().expect("no panic").push(first);
    versions.announced.store(1, Ordering::SeqCst);
    versions.seen.store(1, Ordering::SeqCst);
    let lanes: Vec<_> = (0..2)
        .map(|_| Arc::new(Mutex::new(Lane::default())))
        .collect();
    let plan = Plan {
        ports: (0..2).map(|id| port(id, &versions, &lanes, seed)).collect(),
        policy: Policy::clone(ruleset.policy()),
        lists: Arc::clone(ruleset.lists()),
        cpus: allowed_cpus().into_iter().cycle().take(2).collect(),
        burst: BURST,
        stride_bytes: 2112,
        pool_frames: 1024,
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::Spin,
        limits: Limits::default(),
    };
    let running = Engine::start(plan).expect("a run");
    let publisher = running.lists();
    for version in 2..=changes + 1 {
        let next = match random.below(3) {
            0 => Model::draw(&mut random),
            _ => {
                let models = versions.models.read().expect("no panic");
                models[version as usize - 2].flipped(&mut random)
            }
        };
        let ruleset = next.ruleset();
        versions.models.write().expect("no panic").push(next);
        versions.announced.store(version, Ordering::SeqCst);
        assert_eq!(publisher.publish(ruleset), version);
        // Now and then several versions pass before all workers have the first.
        if random.below(4) != 0 {
            assert!(publisher.wait_seen(version, Duration::from_secs(60)));
            versions.seen.store(version, Ordering::SeqCst);
        }
    }
    running.stop();
    let report = running.join().expect("a report");
    assert!(report.balanced, "{report:#?}");
    let sum = |of: fn(&Lane) -> u64| -> u64 {
        let lanes = lanes.iter().map(|lane| of(&lane.lock().expect("no panic")));
        lanes.sum()
    };
    let (judged, sure) = (sum(|lane| lane.judged), sum(|lane| lane.sure));
    // The last burst of each queue is not checked: nothing is received after it.
    assert!(judged <= report.accounting.rx && judged + 4 * BURST as u64 >= report.accounting.rx);
    assert!(sum(|lane| lane.passed) <= report.accounting.tx);
    assert!(
        sure > judged / 2,
        "{sure} of {judged} show which version judged"
    );
}
