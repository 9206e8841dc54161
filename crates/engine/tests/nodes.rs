//! A node between any number of ports: every copy of every frame leaves where it should, once, in
//! order, and the books say so.

mod ports;

use std::sync::{Arc, Mutex};

use engine::{Engine, EngineError, IdleMode, Limits, Plan, allowed_cpus};
use frame::{Burst, FramePool, Nanos, PortId};
use plane::{Forwarding, Node, Outgoing, Policy, Verdict, Verdicts};
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
                    to,
                    after: index,
                };
                assert!(cx.out.push(outgoing).is_ok(), "there is room for all");
            }
            verdicts.set(index, Verdict::Forward(last));
            self.frames += 1;
        }
    }

    fn poll(&mut self, _: Nanos) {}

    fn counts(&self, out: &mut [u64]) {
        out[0] = self.frames;
    }
}

/// A run between `ports` ports, of which each second has a queue for each worker.
struct Shape {
    ports: u8,
    workers: usize,
    frames: u32,
}

impl Shape {
    fn plan(&self, left: &Left) -> Plan {
        let (frames, workers) = (self.frames, self.workers);
        *left.lock().expect("no panic") = vec![vec![Vec::new(); workers]; self.ports.into()];
        let port = |id: u8| -> Box<dyn Port> {
            let left = Arc::clone(left);
            let open = move |queue: frame::QueueId, _| Numbered {
                said: [id, queue.0 as u8],
                next: 0,
                frames,
                left: Arc::clone(&left),
                takes: 3 + usize::from(id),
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

#[test]
fn what_no_node_can_do_is_refused() {
    let shape = |ports| Shape {
        ports,
        workers: 1,
        frames: 1,
    };
    let start = |ports, change: fn(&mut Plan)| {
        let shape = shape(ports);
        let mut plan = shape.plan(&Left::default());
        change(&mut plan);
        Engine::start_nodes(plan, shape.hubs())
            .err()
            .expect("refused")
    };
    assert!(matches!(start(1, |_| {}), EngineError::NodePorts(1)));
    assert!(matches!(start(65, |_| {}), EngineError::NodePorts(65)));
    let flows = |plan: &mut Plan| plan.policy.reassembles = true;
    assert!(matches!(start(3, flows), EngineError::NodeFlows));
    let plan = shape(3).plan(&Left::default());
    let refused = Engine::start(plan).err().expect("three ports");
    assert!(matches!(refused, EngineError::Ports(3)));
}
