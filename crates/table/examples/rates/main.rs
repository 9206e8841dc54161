//! Million lookups a second beside the random lines a second that memory gives for as many
//! bytes, in the same round. `cargo run --release -p linerate-table --example rates [ENTRIES]`;
//! networks (one a line) on standard input with `routes` as the argument: dealt over 16 lists,
//! looked up with exact addresses beside them and alone; with `changes`: changed one by one; with
//! `pauses`: looked up as loaded, after such changes, and after a pause.

mod pauses;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::BufRead;
use std::time::Instant;
use table::live::{Change, Entry, LiveLists};
use table::{Address, CompiledLists, Entries, FamilyEntries, ListMask, Network, PrefixSet};

/// Keys a stream: 64 MB and more, so that no cache holds it.
const KEYS: usize = 1 << 24;

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *seed;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

fn wide(seed: &mut u64) -> u128 {
    u128::from(splitmix(seed)) << 64 | u128::from(splitmix(seed))
}

/// Random lines of `bytes` of memory a second, rolling prefetch, millions.
fn limit(lines: &[[u32; 16]], keys: &[u32]) -> f64 {
    let at = |key: u32| ((u64::from(key) * lines.len() as u64) >> 32) as usize;
    let start = Instant::now();
    let mut sum = 0u32;
    for (index, &key) in keys.iter().enumerate() {
        if let Some(&ahead) = keys.get(index + 48) {
            frame::prefetch::read(lines.as_ptr().wrapping_add(at(ahead)).cast());
        }
        sum = sum.wrapping_add(lines[at(key)][3]);
    }
    black_box(sum);
    keys.len() as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn rate<K>(keys: &[K], burst: usize, lookup: impl Fn(&[K], &mut [ListMask])) -> (f64, f64) {
    let mut masks = [ListMask::EMPTY; 512];
    let mut hits = 0;
    let start = Instant::now();
    for burst_keys in keys.chunks(burst) {
        // The stream comes from memory, as no caller's keys do: asking for it early keeps it
        // out of the measurement.
        let ahead = burst_keys.as_ptr().wrapping_add(2 * burst).cast::<u8>();
        for line in 0..size_of_val(burst_keys) / 64 {
            frame::prefetch::read(ahead.wrapping_add(64 * line));
        }
        lookup(burst_keys, &mut masks);
        hits += usize::from(!masks[0].is_empty());
    }
    let seconds = start.elapsed().as_secs_f64();
    (
        keys.len() as f64 / seconds / 1e6,
        hits as f64 * burst as f64 / keys.len() as f64,
    )
}

struct Streams {
    v4: Vec<(&'static str, Vec<u32>)>,
    v6: Vec<(&'static str, Vec<u128>)>,
}

fn measure(name: &str, lists: &[Entries], streams: &Streams) {
    let lists: Vec<&Entries> = lists.iter().collect();
    let entries: usize = lists.iter().map(|list| list.count()).sum();
    let start = Instant::now();
    let compiled = CompiledLists::compile(&lists).expect("compiles");
    let (seconds, bytes) = (start.elapsed().as_secs_f64(), compiled.bytes());
    println!(
        "{name}: {} lists, {entries} entries, compiled in {seconds:.3} s, {:.1} MB, {:.2} bytes \
         an entry, {:?}",
        lists.len(),
        bytes as f64 / 1e6,
        bytes as f64 / entries as f64,
        compiled.pages().map(|pages| pages.to_string()),
    );
    let mut lines = frame::HugeSlice::<[u32; 16]>::zeroed(bytes / 64 + 1).expect("memory");
    lines.fill([1; 16]);
    let mut seed = 77;
    let random: Vec<u32> = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
    for round in 0..3 {
        let limit = limit(&lines, &random);
        print!("  round {round}: limit {limit:.0};");
        for burst in [64, 256] {
            print!(" burst {burst}:");
            let v4 = streams
                .v4
                .iter()
                .filter(|_| std::env::var("ONLY").ok().as_deref() != Some("6"))
                .map(|(name, keys)| {
                    (
                        name,
                        rate(keys, burst, |keys, masks| {
                            compiled.lookup_burst_v4(keys, masks);
                        }),
                    )
                });
            let v6 = streams
                .v6
                .iter()
                .filter(|_| std::env::var("ONLY").ok().as_deref() != Some("4"))
                .map(|(name, keys)| {
                    (
                        name,
                        rate(keys, burst, |keys, masks| {
                            compiled.lookup_burst_v6(keys, masks);
                        }),
                    )
                });
            for (name, (rate, hits)) in v4.chain(v6) {
                print!(
                    " {name} {rate:.0} ({:.2} of limit, {hits:.2} hit)",
                    rate / limit
                );
            }
        }
        println!();
    }
}

fn exact(entries: usize) {
    let mut seed = 1;
    for list_count in [1, 16] {
        let mut lists = vec![Entries::default(); list_count];
        for index in 0..entries {
            lists[index % list_count]
                .v4
                .addresses
                .push(splitmix(&mut seed) as u32);
        }
        let pick = |seed: &mut u64| {
            let index = splitmix(seed) as usize % entries;
            lists[index % list_count].v4.addresses[index / list_count]
        };
        let hit = (0..KEYS).map(|_| pick(&mut seed)).collect();
        let miss = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
        let streams = Streams {
            v4: vec![("hit", hit), ("miss", miss)],
            v6: vec![],
        };
        measure("IPv4 addresses", &lists, &streams);
    }
    let mut list = Entries::default();
    list.v6.addresses = (0..entries).map(|_| wide(&mut seed)).collect();
    let pick = |seed: &mut u64| list.v6.addresses[splitmix(seed) as usize % entries];
    let hit = (0..KEYS).map(|_| pick(&mut seed)).collect();
    let miss = (0..KEYS).map(|_| wide(&mut seed)).collect();
    let streams = Streams {
        v4: vec![],
        v6: vec![("hit", hit), ("miss", miss)],
    };
    measure("IPv6 addresses", &[list], &streams);
}

/// Networks from standard input, dealt over 16 lists.
fn read_networks() -> Vec<Entries> {
    let mut lists = vec![Entries::default(); 16];
    let mut seed = 4;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Some((address, len)) = line.trim().split_once('/') else {
            continue;
        };
        let (Ok(address), Ok(len)) = (address.parse(), len.parse()) else {
            continue;
        };
        let list = &mut lists[splitmix(&mut seed) as usize % 16];
        match address {
            std::net::IpAddr::V4(v4) => list.v4.networks.extend(Network::holding(v4.into(), len)),
            std::net::IpAddr::V6(v6) => list.v6.networks.extend(Network::holding(v6.into(), len)),
        }
    }
    lists
}

fn routes() {
    let lists = read_networks();
    let v4: Vec<_> = lists.iter().map(|list| &list.v4).collect();
    let v6: Vec<_> = lists.iter().map(|list| &list.v6).collect();
    let mut seed = 6;
    let uniform = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
    let uniform_v6 = (0..KEYS).map(|_| wide(&mut seed) >> 3 | 1 << 125).collect();
    let streams = Streams {
        v4: vec![
            ("v4 uniform", uniform),
            ("v4 from the table", keys_within(&v4)),
        ],
        v6: vec![
            ("v6 of 2000::/3", uniform_v6),
            ("v6 from the table", keys_within(&v6)),
        ],
    };
    measure("routes", &lists, &streams);
    networks("IPv4 networks alone", &v4, &streams.v4);
    networks("IPv6 networks alone", &v6, &streams.v6);
    for count in [10, 1000, 20_000] {
        let v4 = sample(&v4, count);
        let mut streams = vec![streams.v4[0].clone()];
        streams.push(("from the table", keys_within(&[&v4])));
        networks("IPv4 networks alone", &[&v4], &streams);
        let v6 = sample(&v6, count);
        let streams = [("from the table", keys_within(&[&v6]))];
        networks("IPv6 networks alone", &[&v6], &streams);
    }
}

fn all<A: Address>(lists: &[&FamilyEntries<A>]) -> Vec<Network<A>> {
    let networks = lists.iter().flat_map(|list| list.networks.iter());
    networks.copied().collect()
}

fn sample<A: Address>(lists: &[&FamilyEntries<A>], count: usize) -> FamilyEntries<A> {
    let mut entries = FamilyEntries::default();
    let networks = all(lists);
    let step = (networks.len() / count).max(1);
    entries.networks = networks.into_iter().step_by(step).collect();
    entries
}

/// Keys within the networks, each as often as the other.
fn keys_within<A: Address>(lists: &[&FamilyEntries<A>]) -> Vec<A> {
    let (networks, mut seed) = (all(lists), 5);
    let key = |_| {
        let network = networks[splitmix(&mut seed) as usize % networks.len()];
        let (first, last) = (network.first().widen(), network.last().widen());
        A::narrow(first | wide(&mut seed) & (last ^ first))
    };
    (0..KEYS).map(key).collect()
}

/// Adds a list to a span of a map that tells from where on which lists hold, or takes it away.
fn toggle<A: Address>(map: &mut BTreeMap<A, u32>, network: Network<A>, list: usize) {
    let (first, last) = (network.first(), network.last());
    let after = last.successor();
    for edge in [Some(first), after].into_iter().flatten() {
        let mask = map.range(..=edge).next_back().map_or(0, |(_, &mask)| mask);
        map.insert(edge, mask);
    }
    for (_, mask) in map.range_mut(first..=last) {
        *mask ^= 1 << list;
    }
}

/// The network table of one family without exact addresses.
fn networks<A: Address>(
    name: &str,
    lists: &[&FamilyEntries<A>],
    streams: &[(&'static str, Vec<A>)],
) {
    let mut map = BTreeMap::from([(A::default(), 0)]);
    for (list, entries) in lists.iter().enumerate() {
        let mut networks = entries.networks.clone();
        networks.sort_unstable_by_key(|network| (network.first(), network.last()));
        networks.dedup();
        for network in networks {
            toggle(&mut map, network, list);
        }
    }
    let mut set = PrefixSet::new(&FamilyEntries::default()).expect("memory");
    set.rewrite(A::default(), A::MAX, &map).expect("memory");
    println!(
        "{name}: {} runs, {:.2} MB",
        set.run_count(),
        set.bytes() as f64 / 1e6
    );
    let mut lines = frame::HugeSlice::<[u32; 16]>::zeroed(set.bytes() / 64 + 1).expect("memory");
    lines.fill([1; 16]);
    let mut seed = 77;
    let random: Vec<u32> = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
    for round in 0..3 {
        let limit = limit(&lines, &random);
        print!("  round {round}: limit {limit:.0};");
        for (stream, keys) in streams {
            print!(" {stream}:");
            // 128 keys are the pairs of 64 frames.
            for burst in [64, 128, 256] {
                let (rate, _) = rate(keys, burst, |keys, masks| {
                    let masks = &mut masks[..keys.len()];
                    masks.fill(ListMask::EMPTY);
                    set.add_burst(keys, masks);
                });
                print!(" {rate:.0} ({:.2})", rate / limit);
            }
        }
        println!();
    }
}

/// What changes of one network each cost, by prefix length: until the version is there.
fn live(lists: Vec<Entries>) {
    let v4: Vec<_> = lists.iter().map(|list| list.v4.clone()).collect();
    let v6: Vec<_> = lists.iter().map(|list| list.v6.clone()).collect();
    let v4 = all(&v4.iter().collect::<Vec<_>>());
    let v6 = all(&v6.iter().collect::<Vec<_>>());
    let mut live = LiveLists::new(lists).expect("memory");
    for len in [32, 28, 24, 20, 16, 12, 8] {
        changes("IPv4", &mut live, &v4, len);
    }
    for len in [128, 64, 56, 48, 44, 40, 36, 32, 29, 24, 20, 16, 8, 0] {
        changes("IPv6", &mut live, &v6, len);
    }
}

/// Networks go in and out again, half of them where one is, half near one.
fn changes<A: Address>(family: &str, live: &mut LiveLists, networks: &[Network<A>], len: u8)
where
    Network<A>: Into<Entry>,
{
    let count = if len < 16 { 50 } else { 1000 };
    let (mut seed, mut micros) = (8, Vec::new());
    for _ in 0..count {
        let near = networks[splitmix(&mut seed) as usize % networks.len()].first();
        let away = wide(&mut seed) >> (128 - A::BITS) >> (A::BITS / 4) >> 1;
        let away = away * u128::from(splitmix(&mut seed) & 1);
        let address = A::narrow(near.widen() ^ away);
        let network = Network::holding(address, len).expect("a length of the family");
        let list = splitmix(&mut seed) as usize % 16;
        for change in [Change::add(list, network), Change::remove(list, network)] {
            let start = Instant::now();
            live.apply(&[change], frame::Nanos::ZERO).expect("memory");
            micros.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    micros.sort_unstable_by(f64::total_cmp);
    let [median, p90, p99] = [50, 90, 99].map(|percent| micros[micros.len() * percent / 100]);
    println!(
        "  change of an {family} /{len}: {median:.0} us, p90 {p90:.0}, p99 {p99:.0}, most {:.0}; \
         crowded: {}",
        micros[micros.len() - 1],
        live.is_crowded()
    );
}

fn main() {
    if cfg!(debug_assertions) {
        println!("the rates of a debug build mean nothing: add --release");
    }
    match std::env::args().nth(1).as_deref() {
        Some("routes") => routes(),
        Some("changes") => live(read_networks()),
        Some("pauses") => pauses::measure(&read_networks()),
        entries => exact(
            entries
                .and_then(|text| text.parse().ok())
                .unwrap_or(6_000_000),
        ),
    }
}
