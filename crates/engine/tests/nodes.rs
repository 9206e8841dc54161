//! A node between any number of ports: every copy of every frame leaves where it should, once, in
//! order, and the books say so.

mod ports;

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use engine::{Engine, EngineError, IdleMode, Limits, Plan, allowed_cpus};
use frame::{Burst, Frame, FramePool, Nanos, PortId, WorkerId};
use plane::{DropReason, Forwarding, Node, Origin, Outgoing, Policy, Verdict, Verdicts};
use port::{Port, PortError, PortQueue, PortStatistics, RxState};
use table::{CompiledLists, Entries};

use ports::TestPort;

/// What a frame says: the port and the queue that it came in by, and which it is there.
type Said = [u8; 6];

/// What left by each port, by queue.
type Left = Arc<Mutex<Vec<Vec<Vec<Said>>>>>;

/// Brings numbered frames and notes what leaves.
struct Numbered {
    said: [u8; 2],
    next: u32,
    frames: u32,
    left: Left,
    /// Frames that it takes at a time, so that some always wait.
    takes: usize,
    sent: u64,
}

impl PortQueue for Numbered {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        for _ in 0..max {
            if self.next == self.frames {
                return RxState::Ended;
            }
            let Some(mut frame) = pool.alloc() else {
                break;
            };
            let mut bytes = [0; 60];
            bytes[..2].copy_from_slice(&self.said);
            bytes[2..6].copy_from_slice(&self.next.to_be_bytes());
            frame.copy_from(&bytes).expect("a chunk holds 60 bytes");
            assert!(burst.push(frame).is_ok(), "there is room for {max}");
            self.next += 1;
        }
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        let takes = self.takes.min(burst.len());
        let [port, queue] = self.said.map(usize::from);
        for frame in burst.drain_front(takes) {
            let said = frame.bytes()[..6].try_into().expect("six bytes");
            self.left.lock().expect("no panic")[port][queue].push(said);
            pool.free(frame);
        }
        self.sent += takes as u64;
    }

    fn statistics(&self) -> PortStatistics {
        PortStatistics {
            rx_frames: u64::from(self.next),
            tx_frames: self.sent,
            ..PortStatistics::default()
        }
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        Ok(Vec::new())
    }
}

/// Brings nothing and never ends.
struct Quiet;

impl PortQueue for Quiet {
    fn rx_burst(&mut self, _: &mut FramePool, _: &mut Burst, _: usize) -> RxState {
        RxState::Open
    }

    fn tx_burst(&mut self, _: &mut Burst, _: &mut FramePool) {}

    fn statistics(&self) -> PortStatistics {
        PortStatistics::default()
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        Ok(Vec::new())
    }
}

/// Sends every frame out of every other port.
struct Hub {
    ports: u8,
    frames: u64,
}

impl Node for Hub {
    const COUNTS: &'static [&'static str] = &["frames"];

    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        for (index, frame) in burst.frames().iter().enumerate() {
            let mut others = (0..self.ports).map(PortId).filter(|&to| to != cx.from);
            let last = others.next_back().expect("two ports");
            for to in others {
                let mut copy = cx.pool.alloc().expect("the pool is large enough");
                copy.copy_from(frame.bytes()).expect("as long");
                let outgoing = Outgoing {
                    frame: copy,
                    from: cx.from,
                    origin: Origin::Copy,
                    verdict: Verdict::Forward(to),
                    after: index,
                };
                assert!(cx.out.push(outgoing).is_ok(), "there is room for all");
            }
            verdicts.set(index, Verdict::Forward(last));
            self.frames += 1;
        }
    }

    fn poll(&mut self, _: &mut Forwarding<'_>) {}

    fn counts(&self, out: &mut [u64]) {
        out[0] = self.frames;
    }

    fn control(&mut self, request: &mut dyn Any) {
        if let Some(number) = request.downcast_mut::<u64>() {
            *number += u64::from(self.ports);
        }
    }
}

/// A run between `ports` ports, of which each second has a queue for each worker.
struct Shape {
    ports: u8,
    workers: usize,
    frames: u32,
    /// Frames that port 0 takes at a time; each further port takes one more.
    takes: usize,
}

impl Shape {
    fn plan(&self, left: &Left) -> Plan {
        let (frames, workers, takes) = (self.frames, self.workers, self.takes);
        *left.lock().expect("no panic") = vec![vec![Vec::new(); workers]; self.ports.into()];
        let port = |id: u8| -> Box<dyn Port> {
            let left = Arc::clone(left);
            let open = move |queue: frame::QueueId, _| Numbered {
                said: [id, queue.0 as u8],
                next: 0,
                frames,
                left: Arc::clone(&left),
                takes: takes + usize::from(id),
                sent: 0,
            };
            let queues_max = if id.is_multiple_of(2) { 1 } else { workers };
            Box::new(TestPort {
                queues_max,
                ..TestPort::new(id, open)
            })
        };
        let none: [&Entries; 0] = [];
        let mut policy = Policy::new(Vec::new()).expect("no rules");
        // The frames are nothing but numbers.
        policy.malformed = plane::Otherwise::Forward;
        Plan {
            ports: (0..self.ports).map(port).collect(),
            policy,
            lists: CompiledLists::compile(&none).expect("no lists").into(),
            cpus: allowed_cpus().into_iter().cycle().take(workers).collect(),
            burst: 32,
            stride_bytes: 2112,
            pool_frames: Plan::pool_frames_min(32, self.ports.into()),
            dispatch: engine::DispatchSettings::default(),
            idle: IdleMode::default(),
            limits: Limits::default(),
        }
    }

    fn hubs(&self) -> Vec<Hub> {
        let hub = |_| Hub {
            ports: self.ports,
            frames: 0,
        };
        (0..self.workers).map(hub).collect()
    }

    /// Of each source, by port and queue, what came in, and what left by `port`, in order.
    fn check_port(&self, port: u8, left: &[Vec<Said>]) {
        for from in (0..self.ports).filter(|&from| from != port) {
            let queues = if from.is_multiple_of(2) {
                1
            } else {
                self.workers as u8
            };
            for queue in 0..queues {
                let of = |said: &&Said| said[..2] == [from, queue];
                let number = |said: &Said| u32::from_be_bytes([said[2], said[3], said[4], said[5]]);
                // One worker received them, so they leave by one queue.
                let numbers: Vec<u32> = left.iter().flatten().filter(of).map(number).collect();
                let expected: Vec<u32> = (0..self.frames).collect();
                assert!(numbers == expected, "{from}.{queue} to {port}: {numbers:?}");
            }
        }
        let own = left.iter().flatten().filter(|said| said[0] == port);
        assert_eq!(own.count(), 0, "nothing goes back");
    }
}

#[test]
fn every_copy_leaves_once_and_in_order() {
    for (ports, workers) in [(2, 1), (3, 1), (4, 2), (8, 1), (5, 3), (33, 2), (64, 1)] {
        let shape = Shape {
            ports,
            workers,
            frames: 5_000 / u32::from(ports),
            takes: 3,
        };
        let left = Left::default();
        let running = Engine::start_nodes(shape.plan(&left), shape.hubs()).expect("a run");
        let report = running.join().expect("a report");
        assert!(report.balanced, "{ports} ports: {report:#?}");
        let accounting = &report.accounting;
        assert_eq!(accounting.dropped_total(), 0, "{ports} ports");
        assert_eq!(
            accounting.tx,
            accounting.rx * (u64::from(ports) - 1),
            "{ports} ports"
        );
        assert_eq!(accounting.cloned, accounting.tx - accounting.rx);
        assert_eq!(report.node.len(), 1);
        assert_eq!(report.node[0].count, accounting.rx);
        let left = left.lock().expect("no panic");
        for port in 0..ports {
            shape.check_port(port, &left[usize::from(port)]);
        }
        let sent = |port: &engine::PortReport| port.tx_frames;
        assert_eq!(
            report.ports.iter().map(sent).sum::<u64>(),
            accounting.tx,
            "each port counts its own"
        );
    }
}

/// Ends each third frame, holds the next for some steps, sends the third out of several times
/// more than a burst has room for, and has one of those held dropped in the end.
#[derive(Default)]
struct Keeper {
    kept: VecDeque<Frame>,
    polls: u64,
    made: u64,
}

impl Keeper {
    const MADE_EACH: usize = 20;

    fn make(&mut self, cx: &mut Forwarding<'_>, frame: &Frame, after: usize) {
        let Some(mut made) = cx.pool.alloc() else {
            return;
        };
        made.copy_from(frame.bytes()).expect("as long");
        let outgoing = Outgoing {
            frame: made,
            from: cx.from,
            origin: Origin::Made,
            verdict: Verdict::Forward(PortId(1)),
            after,
        };
        match cx.out.push(outgoing) {
            Ok(()) => self.made += 1,
            Err(made) => cx.pool.free(made),
        }
    }
}

impl Node for Keeper {
    const COUNTS: &'static [&'static str] = &["made"];
    const HELD_MAX: usize = 200;

    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        let mut held = self.kept.len();
        for (index, frame) in burst.frames().iter().enumerate() {
            let verdict = match frame.bytes()[5] % 3 {
                0 => Verdict::Consume,
                1 if held < Self::HELD_MAX => {
                    held += 1;
                    Verdict::Hold
                }
                _ => {
                    (0..Self::MADE_EACH).for_each(|_| self.make(cx, frame, index));
                    Verdict::Forward(PortId(1))
                }
            };
            verdicts.set(index, verdict);
        }
    }

    fn poll(&mut self, cx: &mut Forwarding<'_>) {
        self.polls += 1;
        if !self.polls.is_multiple_of(4) {
            return;
        }
        while let Some(frame) = self.kept.pop_front() {
            let verdict = match frame.bytes()[5] % 2 {
                0 => Verdict::Forward(PortId(1)),
                _ => Verdict::Drop(DropReason::NoPort),
            };
            let outgoing = Outgoing {
                frame,
                from: PortId(0),
                origin: Origin::Held,
                verdict,
                after: 0,
            };
            if let Err(frame) = cx.out.push(outgoing) {
                return self.kept.push_front(frame);
            }
        }
    }

    fn keep(&mut self, frame: Frame) -> Result<(), Frame> {
        self.kept.push_back(frame);
        Ok(())
    }

    fn held(&self) -> usize {
        self.kept.len()
    }

    fn give_up(&mut self, pool: &mut FramePool) {
        self.kept.drain(..).for_each(|frame| pool.free(frame));
    }

    fn counts(&self, out: &mut [u64]) {
        out[0] = self.made;
    }
}

#[test]
fn frames_that_a_node_holds_makes_and_ends_are_in_the_books() {
    for workers in [1, 2] {
        let shape = Shape {
            ports: 2,
            workers,
            frames: 3_000,
            takes: 3,
        };
        let left = Left::default();
        let nodes = (0..workers).map(|_| Keeper::default()).collect();
        let running = Engine::start_nodes(shape.plan(&left), nodes).expect("a run");
        let report = running.join().expect("a report");
        assert!(report.balanced, "{workers} workers: {report:#?}");
        let accounting = &report.accounting;
        assert!(accounting.consumed >= accounting.rx / 3 - 2);
        assert_eq!(accounting.held, 0);
        assert_eq!(accounting.originated, report.node[0].count);
        assert!(
            accounting.originated >= accounting.rx / 3,
            "frames are made"
        );
        let is_expected = |&(reason, _): &(DropReason, u64)| {
            matches!(reason, DropReason::NoPort | DropReason::Shutdown)
        };
        assert!(
            accounting.dropped.iter().all(is_expected),
            "nothing is lost for want of room: {:?}",
            accounting.dropped
        );
        let held = |&(reason, _): &(DropReason, u64)| reason == DropReason::NoPort;
        assert!(accounting.dropped.iter().any(held), "some held are dropped");
    }
}

/// Counts how often it is called, and sends a frame of its own each time.
#[derive(Default)]
struct Talker {
    polls: u64,
    made: u64,
}

impl Node for Talker {
    const COUNTS: &'static [&'static str] = &["polls", "made"];

    fn process(&mut self, _: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        (0..burst.len()).for_each(|index| verdicts.set(index, Verdict::Forward(PortId(1))));
    }

    fn poll(&mut self, cx: &mut Forwarding<'_>) {
        self.polls += 1;
        let Some(mut frame) = cx.pool.alloc() else {
            return;
        };
        frame.copy_from(&[0; 60]).expect("a chunk holds 60 bytes");
        let outgoing = Outgoing {
            frame,
            from: PortId(0),
            origin: Origin::Made,
            verdict: Verdict::Forward(PortId(1)),
            after: 0,
        };
        match cx.out.push(outgoing) {
            Ok(()) => self.made += 1,
            Err(frame) => cx.pool.free(frame),
        }
    }

    fn counts(&self, out: &mut [u64]) {
        [out[0], out[1]] = [self.polls, self.made];
    }
}

/// Also where something is always staged: a port takes little at a time, or frames come faster than
/// the worker goes, so that it sends each burst while it decides on the next.
#[test]
fn a_node_is_called_in_every_step_and_sends_when_it_can() {
    const STEPS: u64 = 200;
    for (takes, made_min) in [(3, 1), (1000, STEPS - 2)] {
        let shape = Shape {
            ports: 2,
            workers: 1,
            frames: 20_000,
            takes,
        };
        let plan = shape.plan(&Left::default());
        let run = Engine::start_stepped(plan, vec![Talker::default()], None, Nanos(0));
        let mut run = run.expect("a run");
        for step in 1..=STEPS {
            run.step(WorkerId(0), Nanos(step));
            assert_eq!(run.check(), Ok(()), "takes {takes}, step {step}");
        }
        let (report, memory) = run.end();
        assert!(report.balanced && memory.is_home(), "{report:#?}");
        let [polls, made] = [0, 1].map(|at| report.node[at].count);
        assert!(polls >= STEPS, "takes {takes}: {polls} calls");
        assert!(made >= made_min, "takes {takes}: {made} frames made");
        assert_eq!(report.accounting.originated, made);
    }
}

#[test]
fn what_no_node_can_do_is_refused() {
    let shape = |ports| Shape {
        ports,
        workers: 1,
        frames: 1,
        takes: 3,
    };
    let start = |ports, change: fn(&mut Plan)| {
        let shape = shape(ports);
        let mut plan = shape.plan(&Left::default());
        change(&mut plan);
        Engine::start_nodes(plan, shape.hubs())
            .err()
            .expect("refused")
    };
    assert!(matches!(start(0, |_| {}), EngineError::NodePorts(0)));
    assert!(matches!(start(65, |_| {}), EngineError::NodePorts(65)));
    let flows = |plan: &mut Plan| plan.policy.reassembles = true;
    assert!(matches!(start(3, flows), EngineError::NodeFlows));
    let plan = shape(3).plan(&Left::default());
    let refused = Engine::start(plan).err().expect("three ports");
    assert!(matches!(refused, EngineError::Ports(3)));
}

#[test]
fn a_node_answers_the_control_side() {
    let shape = Shape {
        ports: 3,
        workers: 2,
        frames: 0,
        takes: 3,
    };
    let mut plan = shape.plan(&Left::default());
    let quiet = |id| -> Box<dyn Port> { Box::new(TestPort::new(id, |_, _| Quiet)) };
    plan.ports = (0..3).map(quiet).collect();
    let running = Engine::start_nodes(plan, shape.hubs()).expect("a run");
    let observer = running.observer();
    for worker in 0..2 {
        for number in 0..20_u64 {
            assert_eq!(observer.ask_node(worker, number), Some(number + 3));
        }
        // What a node does not know comes back as it was.
        assert_eq!(observer.ask_node(worker, "unknown"), Some("unknown"));
    }
    assert_eq!(
        observer.ask_node(2, 7_u64),
        None,
        "there is no third worker"
    );
    running.stop();
    assert!(running.join().expect("a report").balanced);
    assert_eq!(observer.ask_node(0, 7_u64), None, "nobody works any more");
}
