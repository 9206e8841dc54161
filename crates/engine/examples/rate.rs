//! The bridge's rate over memory ports, without the program: `cargo run --release -p
//! linerate-engine --example rate -- [ENTRIES] [SECONDS] [WORKERS]`.

use std::sync::Arc;
use std::time::Duration;

use engine::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, Engine, Limits, Plan, allowed_cpus};
use frame::PortId;
use plane::{Action, Policy, SetRule, Sides};
use port::{OpenContext, PortSpec};
use table::{CompiledLists, Entries};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|argument| argument.parse::<u64>());
    let entries = numbers.next().transpose()?.unwrap_or(6_000_000);
    let seconds = numbers.next().transpose()?.unwrap_or(3);
    let workers = numbers.next().transpose()?.unwrap_or(1);
    let mut list = Entries::default();
    // An odd multiplier walks all addresses once: spread, and without duplicates.
    list.v4
        .addresses
        .extend((0..entries as u32).map(|place| place.wrapping_mul(0x9E37_79B1)));
    let context = OpenContext {
        samples_v4: list.v4.addresses.clone().into(),
        ..Default::default()
    };
    let mut ports = Vec::new();
    for (id, spec) in ["gen:hit=0.1,seed=1", "null:"].into_iter().enumerate() {
        ports.push(port::open(
            &PortSpec::parse(spec)?,
            PortId(id as u8),
            &context,
        )?);
    }
    let rule = SetRule::new("set", Action::Block, Sides::BOTH);
    let plan = Plan {
        ports,
        policy: Policy::new(vec![rule])?,
        lists: Arc::new(CompiledLists::compile(&[&list])?),
        cpus: allowed_cpus()
            .into_iter()
            .rev()
            .take(workers as usize)
            .collect(),
        burst: DEFAULT_BURST,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: engine::DispatchSettings::default(),
        idle: engine::IdleMode::default(),
        limits: Limits {
            duration: Some(Duration::from_secs(seconds)),
            frames: None,
        },
    };
    let report = Engine::start(plan)?.join()?;
    let busy: u64 = report.workers.iter().map(|worker| worker.busy_nanos).sum();
    println!(
        "{:.1} Mpps, {:.1} ns a frame, {} dropped, balanced {}, {}",
        report.accounting.rx as f64 / report.seconds / 1e6,
        busy as f64 / report.accounting.rx as f64,
        report.accounting.dropped_total(),
        report.balanced,
        report.memory.pages,
    );
    Ok(())
}
