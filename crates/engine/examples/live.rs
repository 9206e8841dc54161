//! How soon a running worker sees a change: single adds and removes with six million addresses
//! and, from standard input, a routing table (one network a line, dealt over 16 lists); then the
//! replacement of all six million, with changes meanwhile. `zcat TABLE.gz | cargo run --release -p
//! linerate-engine --example live [ADDRESSES] [CHANGES]`; `< /dev/null` for no networks.

use std::io::BufRead;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use engine::{DEFAULT_BURST, DEFAULT_POOL_FRAMES, Engine, Limits, Plan, Publisher, allowed_cpus};
use frame::{Nanos, PortId};
use plane::{Action, Policy, SetRule, Sides};
use port::{OpenContext, PortSpec};
use table::live::{Change, Entry, Finished, LiveLists};
use table::{Entries, Network};

type Failure = Box<dyn std::error::Error>;

/// Lists that the networks are dealt over.
const NETWORK_LISTS: usize = 16;

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *seed;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Random addresses; list 0 of all.
fn addresses(count: usize, seed: &mut u64) -> Entries {
    let mut entries = Entries::default();
    entries.v4.addresses = (0..count).map(|_| splitmix(seed) as u32).collect();
    entries
}

/// Deals the networks of standard input over lists 1 to 16; returns how many there were.
fn networks(lists: &mut [Entries], seed: &mut u64) -> Result<usize, Failure> {
    let mut count = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (address, prefix_len) = line.split_once('/').ok_or("a network")?;
        let prefix_len = prefix_len.parse()?;
        let list = &mut lists[1 + splitmix(seed) as usize % NETWORK_LISTS];
        match address.parse()? {
            IpAddr::V4(address) => {
                list.v4
                    .networks
                    .push(Network::holding(address.to_bits(), prefix_len)?);
            }
            IpAddr::V6(address) => {
                list.v6
                    .networks
                    .push(Network::holding(address.to_bits(), prefix_len)?);
            }
        }
        count += 1;
    }
    Ok(count)
}

/// Resident memory now and at most, MB.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) / 1024
    };
    format!(
        "{} MB resident, {} at most",
        field("VmRSS:"),
        field("VmHWM:")
    )
}

/// Durations in microseconds: median, 99th percentile, greatest.
fn spread(samples: &mut [f64]) -> String {
    samples.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (samples.len() as f64 * share) as usize;
        samples
            .get(place.min(samples.len().saturating_sub(1)))
            .copied()
            .unwrap_or(0.0)
    };
    format!(
        "p50 {:7.1}  p99 {:7.1}  max {:8.1} us",
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

/// Times of changes: until they were made, and until every worker had moved on.
#[derive(Default)]
struct Times {
    made: Vec<f64>,
    seen: Vec<f64>,
}

impl Times {
    /// Makes one change and waits until the workers see it.
    fn change(
        &mut self,
        live: &mut LiveLists,
        publisher: &Publisher,
        change: Change,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let version = live.apply(&[change], Nanos(0))?.version;
        self.made.push(begun.elapsed().as_secs_f64() * 1e6);
        publisher.publish_lists(version.lists)?;
        while publisher.reclaim() > 0 {
            std::hint::spin_loop();
        }
        self.seen.push(begun.elapsed().as_secs_f64() * 1e6);
        Ok(())
    }

    fn print(mut self, what: &str) {
        println!("{what:34} made  {}", spread(&mut self.made));
        println!("{:34} seen  {}", "", spread(&mut self.seen));
    }
}

fn start(live: &LiveLists) -> Result<engine::Running, Failure> {
    let mut ports = Vec::new();
    for (id, spec) in ["gen:seed=1", "null:"].into_iter().enumerate() {
        let spec = PortSpec::parse(spec)?;
        ports.push(port::open(
            &spec,
            PortId(id as u8),
            &OpenContext::default(),
        )?);
    }
    let rule = |index: usize| SetRule::new(format!("list-{index}"), Action::Block, Sides::BOTH);
    let plan = Plan {
        ports,
        policy: Policy::new((0..live.list_count()).map(rule).collect())?,
        lists: Arc::clone(&live.version().lists),
        cpus: allowed_cpus().into_iter().rev().take(1).collect(),
        burst: DEFAULT_BURST,
        stride_bytes: 2112,
        pool_frames: DEFAULT_POOL_FRAMES,
        dispatch: engine::DispatchSettings::default(),
        idle: engine::IdleMode::default(),
        limits: Limits::default(),
    };
    Ok(Engine::start(plan)?)
}

fn main() -> Result<(), Failure> {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|number| number.parse::<usize>());
    let count = numbers.next().transpose()?.unwrap_or(6_000_000);
    let changes = numbers.next().transpose()?.unwrap_or(20_000);
    let mut seed = 1;
    let mut files = vec![Entries::default(); 1 + NETWORK_LISTS];
    files[0] = addresses(count, &mut seed);
    let networks = networks(&mut files, &mut seed)?;
    println!(
        "{count} addresses, {networks} networks in {NETWORK_LISTS} lists; {}",
        memory()
    );
    let begun = Instant::now();
    let mut live = LiveLists::new(files)?;
    println!(
        "built in {:.2} s, tables {} MB; {}",
        begun.elapsed().as_secs_f64(),
        live.version().lists.bytes() >> 20,
        memory()
    );
    let running = start(&live)?;
    let publisher = running.lists();
    single_changes(&mut live, &publisher, changes, &mut seed)?;
    replace(&mut live, &publisher, count, &mut seed)?;
    running.stop();
    let report = running.join()?;
    println!(
        "{:.1} Mpps meanwhile",
        report.accounting.rx as f64 / report.seconds / 1e6
    );
    Ok(())
}

fn single_changes(
    live: &mut LiveLists,
    publisher: &Publisher,
    changes: usize,
    seed: &mut u64,
) -> Result<(), Failure> {
    let drawn: Vec<u64> = (0..changes).map(|_| splitmix(seed)).collect();
    let address = |word: u64| Entry::address_v4(word as u32);
    let v4 = |word: u64| Network::holding(word as u32, 24).map(Entry::from);
    let v6 = |word: u64| Network::holding(u128::from(word >> 3) << 64 | 1 << 125, 48);
    let mut times = Times::default();
    for &word in &drawn {
        times.change(live, publisher, Change::add(0, address(word)))?;
    }
    times.print("add an address");
    let mut times = Times::default();
    for &word in &drawn {
        times.change(live, publisher, Change::remove(0, address(word)))?;
    }
    times.print("remove an address");
    let (mut adds, mut removes) = (Times::default(), Times::default());
    for &word in &drawn {
        adds.change(live, publisher, Change::add(3, v4(word)?))?;
        removes.change(live, publisher, Change::remove(3, v4(word)?))?;
    }
    adds.print("add a /24");
    removes.print("remove a /24");
    let (mut adds, mut removes) = (Times::default(), Times::default());
    for &word in &drawn {
        adds.change(live, publisher, Change::add(3, v6(word)?))?;
        removes.change(live, publisher, Change::remove(3, v6(word)?))?;
    }
    adds.print("add an IPv6 /48");
    removes.print("remove an IPv6 /48");
    println!("crowded: {}; {}", live.is_crowded(), memory());
    compact(live, publisher)
}

/// Brings the pages that changes have copied home.
fn compact(live: &mut LiveLists, publisher: &Publisher) -> Result<(), Failure> {
    loop {
        let begun = Instant::now();
        let done = live.compact()?;
        let made = begun.elapsed();
        let Some(version) = done.version else {
            return Ok(());
        };
        publisher.publish_lists(version.lists)?;
        while publisher.reclaim() > 0 {
            std::hint::spin_loop();
        }
        println!(
            "straightened: made {:.1} ms, seen {:.1} ms, {} pages displaced still; {}",
            made.as_secs_f64() * 1e3,
            begun.elapsed().as_secs_f64() * 1e3,
            done.displaced,
            memory()
        );
    }
}

/// Replaces all addresses, twice, and changes others meanwhile.
fn replace(
    live: &mut LiveLists,
    publisher: &Publisher,
    count: usize,
    seed: &mut u64,
) -> Result<(), Failure> {
    for _ in 0..2 {
        let load = live.begin_load(0)?;
        let entries = addresses(count, seed);
        let begun = Instant::now();
        let loader = std::thread::spawn(move || load.compile(entries));
        let mut times = Times::default();
        while !loader.is_finished() {
            let entry = Entry::address_v4(splitmix(seed) as u32);
            times.change(live, publisher, Change::add(0, entry))?;
        }
        let compiled = begun.elapsed();
        let changed = times.seen.len();
        times.print("add an address during a load");
        let loaded = loader.join().map_err(|_| "the loader is lost")??;
        let begun = Instant::now();
        let Finished::Published { version, replaced } = live.finish_load(loaded)? else {
            return Err("the only load is not the newest".into());
        };
        let finished = begun.elapsed();
        publisher.publish_lists(version.lists)?;
        while publisher.reclaim() > 0 {
            std::hint::spin_loop();
        }
        let peak = memory();
        drop(replaced);
        publisher.reclaim();
        println!(
            "replaced {count}: compiled {:.2} s, finished with {changed} changes in {:.1} ms, \
             seen {:.1} ms after; {peak}; then {}",
            compiled.as_secs_f64(),
            finished.as_secs_f64() * 1e3,
            (begun.elapsed() - finished).as_secs_f64() * 1e3,
            memory()
        );
    }
    Ok(())
}
