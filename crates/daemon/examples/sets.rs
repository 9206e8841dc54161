//! What the keeper of sets answers, and how soon, while a worker bridges generated frames on the
//! last CPU: single adds, many askers at once, bulk adds, and six million entries replaced while
//! single adds go on. `cargo run --release -p linerate-daemon --example sets [ENTRIES] [ADDS]`.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use daemon::journal::{Journal, OpenOptions};
use daemon::sets::{
    Deferred, Handle, Keeper, KeeperConfig, LoadedFrom, NewEntry, Origin, Request, SetConfig,
    SetName,
};
use engine::{
    DEFAULT_BURST, DEFAULT_POOL_FRAMES, Engine, IdleMode, Limits, Plan, Running, allowed_cpus,
    pin_to,
};
use frame::PortId;
use plane::{Action, Ruleset, SetRule, Sides};
use port::{OpenContext, PortSpec};
use table::Entries;
use table::live::Entry;

type Failure = Box<dyn std::error::Error>;

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *seed;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Resident memory now and at most, MB.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) / 1024
    };
    format!("{} MB, {} at most", field("VmRSS:"), field("VmHWM:"))
}

fn spread(samples: &mut [f64]) -> String {
    samples.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (samples.len() as f64 * share) as usize;
        let place = place.min(samples.len().saturating_sub(1));
        samples.get(place).copied().unwrap_or(0.0)
    };
    format!(
        "{} answered, p50 {:.0} p99 {:.0} max {:.0} us",
        samples.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

fn start(first: &Ruleset) -> Result<Running, Failure> {
    let mut ports = Vec::new();
    for (id, spec) in ["gen:seed=1", "null:"].into_iter().enumerate() {
        let spec = PortSpec::parse(spec)?;
        let id = PortId(id as u8);
        ports.push(port::open(&spec, id, &OpenContext::default())?);
    }
    let plan = Plan {
        ports,
        policy: first.policy().as_ref().clone(),
        lists: Arc::clone(first.lists()),
        cpus: allowed_cpus().into_iter().rev().take(1).collect(),
        burst: DEFAULT_BURST,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: engine::DispatchSettings::default(),
        idle: IdleMode::default(),
        limits: Limits::default(),
    };
    Ok(Engine::start(plan)?)
}

fn set() -> Result<SetName, Failure> {
    Ok(SetName::new("list")?)
}

fn add(entries: Vec<NewEntry>) -> Result<Request, Failure> {
    Ok(Request::Add {
        set: set()?,
        entries,
        origin: Origin::Hand,
    })
}

/// Adds single entries until told to stop, or so many; microseconds each.
fn singles(handle: &Handle, count: usize, stop: &AtomicBool, seed: u64) -> Vec<f64> {
    let mut seed = seed;
    let mut times = Vec::new();
    while times.len() < count && !stop.load(Ordering::Relaxed) {
        let entry = Entry::address_v4(splitmix(&mut seed) as u32);
        let begun = Instant::now();
        let asked = add(vec![entry.into()]).map(|request| handle.ask(request));
        if !matches!(asked, Ok(Ok(_))) {
            println!("not added: {asked:?}");
        }
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times
}

fn crowd(handle: &Handle, threads: u64, count: usize) {
    let begun = Instant::now();
    let never = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 0..threads {
            let never = &never;
            scope.spawn(move || singles(handle, count, never, 100 + seed));
        }
    });
    let rate = threads as f64 * count as f64 / begun.elapsed().as_secs_f64();
    println!("{threads} askers: {rate:.0} single adds a second");
}

fn bulk(handle: &Handle, count: u32, piece: u32) -> Result<(), Failure> {
    let begun = Instant::now();
    for first in (0..count).step_by(piece as usize) {
        let entries = (first..(first + piece).min(count))
            .map(|index| Entry::address_v4(index.wrapping_mul(0x9e37_79b1)).into());
        let _ = handle.ask(add(entries.collect())?)?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "{count} adds in requests of {piece}: {seconds:.2} s; {}",
        memory()
    );
    let begun = Instant::now();
    let _ = handle.ask(Request::Flush { set: set()? })?;
    println!(
        "flushed in {:.2} s; {}",
        begun.elapsed().as_secs_f64(),
        memory()
    );
    Ok(())
}

fn replace(
    handle: &Handle,
    running: &Running,
    count: usize,
    seed: &mut u64,
) -> Result<(), Failure> {
    let mut entries = Entries::default();
    entries.v4.addresses = (0..count).map(|_| splitmix(seed) as u32).collect();
    let source = LoadedFrom::named("random");
    let load = Request::Load {
        set: set()?,
        entries,
        source,
        origin: Origin::File,
        force: true,
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let single = scope.spawn(|| singles(handle, usize::MAX, &stop, 77));
        let (begun, before) = (Instant::now(), running.snapshot());
        let loaded = handle.ask(load);
        let seconds = begun.elapsed().as_secs_f64();
        let mpps = (running.snapshot().rx - before.rx) as f64 / seconds / 1e6;
        stop.store(true, Ordering::Relaxed);
        let mut times = single.join().unwrap_or_default();
        let what = loaded.map(|_| "replaced");
        println!(
            "{what:?} {count} in {seconds:.2} s, {mpps:.1} Mpps; {}",
            memory()
        );
        println!("  single adds meanwhile: {}", spread(&mut times));
    });
    Ok(())
}

fn main() -> Result<(), Failure> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse());
    let count: usize = numbers.next().transpose()?.unwrap_or(6_000_000);
    let adds: usize = numbers.next().transpose()?.unwrap_or(10_000);
    pin_to(allowed_cpus()[0])?;
    let dir = std::env::temp_dir().join(format!("linerate-sets-{}", std::process::id()));
    let measured = measure(&dir, count, adds);
    std::fs::remove_dir_all(&dir)?;
    measured
}

fn measure(dir: &Path, count: usize, adds: usize) -> Result<(), Failure> {
    let (journal, kept, _) = Journal::open(dir, OpenOptions::default(), 1)?;
    let rule = SetRule::new("list", Action::Block, Sides::BOTH);
    let config = KeeperConfig::new(vec![SetConfig::new(rule)]);
    let workers = Deferred::default();
    let to_workers = Box::new(workers.clone());
    let restart = daemon::journal::Restart {
        journal: Some(journal),
        kept,
    };
    let (handle, keeper) = Keeper::start(config, restart, to_workers)?;
    let mut running = None;
    let attached = workers.attach(|first| {
        let started = start(&first)?;
        let publisher = started.lists();
        running = Some(started);
        Ok::<_, Failure>(publisher)
    });
    attached.ok_or("the keeper published nothing")??;
    let running = running.ok_or("no run")?;
    thread::sleep(Duration::from_millis(200));
    let never = AtomicBool::new(false);
    println!(
        "one asker: {}",
        spread(&mut singles(&handle, adds, &never, 1))
    );
    crowd(&handle, 8, adds / 4);
    bulk(&handle, 1_000_000, 1_000_000)?;
    bulk(&handle, 1_000_000, 10_000)?;
    let mut seed = 9;
    for _ in 0..4 {
        replace(&handle, &running, count, &mut seed)?;
    }
    println!(
        "one asker: {}",
        spread(&mut singles(&handle, adds, &never, 2))
    );
    keeper.stop();
    running.stop();
    running.join()?;
    Ok(())
}
