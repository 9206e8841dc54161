//! Every scheme finds the next hop of the longest prefix, and rows are as the contract says.

use std::collections::HashSet;

use table::{Entries, Network};

use super::scheme::{Access, BURST, FlowCache};
use super::traffic::Zipf;
use super::*;
use crate::Trial;
use crate::shuffle::Seeded;

fn scale() -> Scale {
    Scale {
        rounds: 1,
        trial: Duration::from_micros(1),
        destinations: 500,
        packets: 1000,
        keys: 4096,
        seed: 3,
    }
}

/// Prefixes that lie within each other, and beside.
fn source() -> Source {
    let mut entries = Entries::default();
    let prefixes = [
        (0, 0),
        (0x0a00_0000, 8),
        (0x0a01_0000, 16),
        (0x0a01_0200, 24),
    ];
    let longer = [(0x0a01_0280, 25), (0x0a01_0203, 32), (0xc000_0200, 24)];
    for (first, len) in prefixes.into_iter().chain(longer) {
        entries.v4.networks.extend(Network::holding(first, len));
    }
    entries.v6.networks.extend(Network::holding(1 << 125, 48));
    Source {
        name: "test",
        entries,
    }
}

#[test]
fn every_scheme_finds_the_longest_prefix_of_every_table() {
    let whole = Table::whole(&source().entries).expect("routes");
    let tables = PARTS.map(|parts| Table::split(parts).expect("memory"));
    let mut seeded = Seeded::new(9);
    for table in tables.iter().chain([&whole]) {
        let mut keys = table.destinations(300, 4);
        // A key that has no route where there is no default route, and the cache's empty slot.
        keys.extend([0x0900_0001, 0, 0xffff_ffff]);
        keys.extend((0..200).map(|_| seeded.next() as u32));
        let longest = |key: u32| {
            let numbered = table.prefixes.iter().zip(1..);
            let holding = numbered.filter(|(network, _)| network.contains(key));
            holding
                .max_by_key(|(network, _)| network.prefix_len())
                .map_or(0, |(_, hop)| hop)
        };
        let wanted: Vec<u32> = keys.iter().map(|&key| longest(key)).collect();
        let shared = Shared::new(&table.fib, table.prefixes.len(), 2);
        for scheme in Scheme::EVERY {
            let mut cache = FlowCache::new().expect("memory");
            let mut access = Access {
                shared: &shared,
                scheme,
                reader: 1,
                cache: &mut cache,
            };
            // The second time a cache knows what it has seen.
            for _ in 0..2 {
                for (keys, wanted) in keys.chunks(BURST).zip(wanted.chunks(BURST)) {
                    let mut hops = [u32::MAX; BURST];
                    access.forward(keys, &mut hops);
                    assert_eq!(hops[..keys.len()], *wanted, "{scheme:?}");
                }
            }
        }
        let routed = wanted.iter().filter(|&&hop| hop != 0).count();
        assert_eq!(shared.counts(), (2 * routed as u32, false));
    }
}

#[test]
fn a_split_route_covers_what_the_whole_one_did() {
    for parts in PARTS {
        let table = Table::split(parts).expect("memory");
        let sizes = table
            .prefixes
            .iter()
            .map(|one| one.last() - one.first() + 1);
        assert_eq!(sizes.sum::<u32>(), 1 << 24);
        let destinations = table.destinations(4000, 1);
        let routes: HashSet<u32> = destinations
            .iter()
            .map(|&to| table.fib.lookup(to))
            .collect();
        assert_eq!(routes, (1..=parts).collect());
    }
}

#[test]
fn rows_keep_the_contract() {
    let bench = Bench::new(&source(), &scale()).expect("memory");
    let variants = bench.variants();
    let loads = if bench.cpus.len() > 1 { 3 } else { 2 };
    assert_eq!(variants.len(), 5 * loads * Scheme::EVERY.len());
    let mut seen = HashSet::new();
    for &variant in &variants {
        let rate = bench.rate(variant, Duration::from_micros(1));
        assert!(rate > 0.0 && rate.is_finite());
        let row = bench.row(variant, Samples::default());
        assert!(seen.insert(row.variant.clone()), "{:?}", row.variant);
        let threads = row.number("threads").expect("a number");
        assert!(threads == 1 || threads == bench.cpus.len() as u64);
        assert!(!row.is("flows", 1_u64) || threads == 1);
    }
}

#[test]
fn findings_and_published_figures_name_their_rows() {
    let bench = Bench::new(&source(), &scale()).expect("memory");
    let mut rows = Vec::new();
    for variant in bench.variants() {
        let mut samples = Samples::default();
        let rate = bench.rate(variant, Duration::from_micros(1));
        (0..10).for_each(|_| samples.push(rate));
        rows.push(bench.row(variant, samples));
    }
    let trial = Trial {
        round: 0,
        shift_lines: 5,
        seed: 1,
    };
    let mut contestants = lookups::contestants(&source(), &scale()).expect("memory");
    for contestant in &mut contestants {
        let mut samples = Samples::default();
        let rate = (contestant.measure)(&trial);
        assert!(rate > 0.0 && rate.is_finite(), "{:?}", contestant.variant);
        (0..10).for_each(|_| samples.push(rate));
        rows.push(Row {
            variant: contestant.variant.clone(),
            metric: contestant.metric,
            samples,
        });
    }
    // Two designs with three streams each and a limit, and four sizes.
    assert_eq!(contestants.len(), 2 * 3 + 2 + 4);
    assert_eq!(published(&rows).len(), 3);
    assert_eq!(published(&rows)[0].ratio, 1.0);
    let found = findings::sentences(&rows);
    assert_eq!(found.len(), Scheme::EVERY.len() + 2 + 3 + 1, "{found:#?}");
}

/// The first of n has 1/H(n) of all draws, the second half of that.
#[test]
fn zipf_draws_are_as_the_law_says() {
    let law = Zipf::new(100);
    let mut seeded = Seeded::new(7);
    let mut counts = [0_u32; 100];
    (0..100_000).for_each(|_| counts[law.draw(&mut seeded)] += 1);
    let harmonic: f64 = (1..=100).map(|rank| 1.0 / f64::from(rank)).sum();
    for rank in [1_u32, 2, 10] {
        let expected = 100_000.0 / harmonic / f64::from(rank);
        let share = f64::from(counts[rank as usize - 1]) / expected;
        assert!((0.9..1.1).contains(&share), "{rank}: {share}");
    }
    assert!(counts.iter().all(|&count| count > 0));
}

#[test]
fn a_file_without_ipv4_is_refused_by_name() {
    let error = Table::whole(&Entries::default()).err().expect("refused");
    assert!(error.0.contains("IPv4 prefixes"), "{error}");
}
