//! Two workers under a skewed load at 80 % of what both can do: loss and delay where buckets of
//! flows stay, and where they move to the worker that has room.
//!
//! ```text
//! cargo run --release -p linerate-engine --example skew -- [SECONDS] [WORK_NS]
//! ```
//!
//! A frame costs its worker WORK_NS (2,000) of pure waiting, spent when it is sent, so that two
//! workers of a small machine stand for two of a large one. The interface is simulated: it hashes
//! flows to its two queues as RSS does, brings frames when they are due by the clock, whether
//! anyone is ready or not, holds 4,096 of them a queue, and loses the others. It has no thread of
//! its own: a worker that receives makes the frames that are due, which is part of the capacity
//! that is measured first. Of a third of the run nothing is counted: buckets move then.

mod nic;

use std::env;
use std::sync::Arc;
use std::time::Duration;

use engine::{
    DEFAULT_POOL_FRAMES, DispatchPolicy, DispatchSettings, Engine, IdleMode, Limits, Plan,
    RunReport, allowed_cpus,
};
use plane::Policy;
use table::CompiledLists;

use nic::{Load, Nic, Seen, Wire};

/// Of what both workers can do together.
const SHARE: f64 = 0.8;

struct Bench {
    seconds: f64,
    work: Duration,
}

impl Bench {
    fn run(&self, load: &Load, rate: f64, balance: bool) -> (RunReport, Seen) {
        let wire = Wire::new(load.flows(), self.seconds / 3.0);
        let cpus: Vec<_> = allowed_cpus().into_iter().cycle().take(2).collect();
        let plan = Plan {
            ports: vec![
                Box::new(Nic::new(load, rate, &wire)),
                Box::new(nic::Sink::new(&wire, self.work)),
            ],
            policy: Policy::new(Vec::new()).expect("no rule"),
            lists: Arc::new(CompiledLists::compile(&[]).expect("no list")),
            cpus,
            burst: 32,
            stride_bytes: 2112,
            pool_frames: 4 * DEFAULT_POOL_FRAMES,
            dispatch: DispatchSettings {
                policy: Some(DispatchPolicy::Hybrid),
                ring_limit: 4096,
                balance,
            },
            idle: IdleMode::Spin,
            limits: Limits {
                duration: Some(Duration::from_secs_f64(self.seconds)),
                frames: None,
            },
        };
        let running = Engine::start(plan).expect("a run");
        while !running.is_finished() {
            for news in running.take_news() {
                println!("    told: {news}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let report = running.join().expect("a report");
        assert!(report.balanced, "{report:#?}");
        (report, wire.seen())
    }

    fn compare(&self, name: &str, load: &Load, rate: f64) {
        println!(
            "  {name}: queue 0 gets {:.1} %",
            load.share_of_queue_0() * 100.0
        );
        for balance in [false, true] {
            let (report, seen) = self.run(load, rate, balance);
            let busy: Vec<String> = report
                .workers
                .iter()
                .map(|worker| share(worker.busy))
                .collect();
            println!(
                "    {}: loss {:.3} %, p50 {:.0} us, p99 {:.0} us, {} reordered, {} buckets moved, \
                 busy {}, elephants {:?}",
                if balance {
                    "buckets move"
                } else {
                    "buckets stay"
                },
                seen.loss * 100.0,
                seen.p50_us,
                seen.p99_us,
                seen.reordered,
                report.dispatch.moved,
                busy.join(" and "),
                report.dispatch.elephants,
            );
        }
    }
}

fn share(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn main() {
    let mut args = env::args().skip(1);
    let mut number = |default: f64| {
        let text = args.next();
        text.map_or(default, |text| text.parse().expect("a number"))
    };
    let bench = Bench {
        seconds: number(6.0),
        work: Duration::from_nanos(number(2000.0) as u64),
    };
    let even = Load::even();
    // More than can be done: what is done is the capacity.
    let asked = 3.0e9 / bench.work.as_nanos() as f64;
    let (report, _) = bench.run(&even, asked, false);
    let capacity = report.books.tx as f64 / report.seconds;
    println!(
        "two workers, {} ns a frame: {capacity:.0} frames a second together; asked for {SHARE} of \
         that, {:.0} s a run",
        bench.work.as_nanos(),
        bench.seconds
    );
    let rate = SHARE * capacity;
    bench.compare("flows alike", &even, rate);
    bench.compare("Zipf flows, one of 30 %", &Load::skewed(0.3), rate);
    bench.compare("Zipf flows, one of 65 %", &Load::skewed(0.65), rate);
}
