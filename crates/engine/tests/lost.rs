//! A worker that is lost ends the run with an error: nobody waits for frames that it will never
//! bring to rest.

mod ports;

use engine::{Engine, EngineError, IdleMode, Limits, Plan, allowed_cpus};
use frame::{Burst, FramePool, QueueId};
use plane::Policy;
use port::{Port, PortQueue, PortStatistics, RxState};
use table::{CompiledLists, Entries};

use ports::TestPort;

/// A queue that panics when it is asked for frames, or never has any.
struct BrokenQueue {
    panics: bool,
}

impl PortQueue for BrokenQueue {
    fn rx_burst(&mut self, _: &mut FramePool, _: &mut Burst, _: usize) -> RxState {
        assert!(!self.panics, "this queue is broken, as the test wants it");
        RxState::Open
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        pool.free_burst(burst);
    }

    fn statistics(&self) -> PortStatistics {
        PortStatistics::default()
    }
}

#[test]
#[cfg_attr(
    panic = "abort",
    ignore = "a worker that panics is the end of the process here"
)]
fn one_lost_worker_of_two_ends_the_run() {
    for queue in 0..2 {
        let port = |id, broken| -> Box<dyn Port> {
            let open = move |queue: QueueId, _| BrokenQueue {
                panics: broken == Some(queue.0),
            };
            Box::new(TestPort {
                queues_max: 2,
                ..TestPort::new(id, open)
            })
        };
        let none: [&Entries; 0] = [];
        let lists = CompiledLists::compile(&none).expect("no lists");
        let plan = Plan {
            ports: vec![port(0, Some(queue)), port(1, None)],
            policy: Policy::new(Vec::new()).expect("no rules"),
            lists: lists.into(),
            cpus: allowed_cpus().into_iter().cycle().take(2).collect(),
            burst: 32,
            stride_bytes: 2112,
            pool_frames: 1024,
            dispatch: engine::DispatchSettings::default(),
            idle: IdleMode::default(),
            limits: Limits::default(),
        };
        let ended = Engine::start(plan).expect("a run").join();
        assert!(matches!(ended, Err(EngineError::WorkerLost)), "{ended:?}");
    }
}
