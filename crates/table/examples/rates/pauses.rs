//! What changes one by one leave of the rate, and what a pause gives back.

use super::{KEYS, all, keys_within, rate, splitmix};
use std::collections::VecDeque;
use std::sync::Arc;
use table::live::{Change, Entry, LiveLists};
use table::{Address, CompiledLists, Entries, FamilyEntries, ListMask, Network};

/// Changes before it is measured, each put in and taken out.
const CHANGES: usize = 4000;
/// Versions that a reader lags behind.
const LAG: usize = 5;
const ROUNDS: usize = 7;
const BURSTS: [usize; 4] = [64, 128, 256, 512];

/// Looks a burst up.
type Lookup<'a, K> = &'a dyn Fn(&CompiledLists, &[K], &mut [ListMask]);

/// Six million addresses, and the networks of each family alone.
pub(crate) fn measure(networks: &[Entries]) {
    let mut seed = 3;
    let mut list = Entries::default();
    list.v4.addresses = (0..6_000_000).map(|_| splitmix(&mut seed) as u32).collect();
    let any: Vec<u32> = (0..KEYS).map(|_| splitmix(&mut seed) as u32).collect();
    let (v4, v6) = (
        &CompiledLists::lookup_burst_v4,
        &CompiledLists::lookup_burst_v6,
    );
    let address = |word: u64| Entry::address_v4(word as u32);
    tables("IPv4 addresses", &[list], &any, v4, &address);
    let mut v4_lists = networks.to_vec();
    v4_lists
        .iter_mut()
        .for_each(|list| list.v6 = Default::default());
    among("IPv4 networks", &v4_lists, |list| &list.v4, 24, v4);
    let mut v6_lists = networks.to_vec();
    v6_lists
        .iter_mut()
        .for_each(|list| list.v4 = Default::default());
    among("IPv6 networks", &v6_lists, |list| &list.v6, 48, v6);
}

/// Keys within the networks of a family; networks of so many bits near them come and go.
fn among<A: Address>(
    name: &str,
    lists: &[Entries],
    family: fn(&Entries) -> &FamilyEntries<A>,
    prefix_len: u8,
    lookup: Lookup<'_, A>,
) where
    Network<A>: Into<Entry>,
{
    let columns: Vec<_> = lists.iter().map(family).collect();
    let near = all(&columns);
    let network = |word: u64| {
        let first = near[word as usize % near.len()].first();
        let network = Network::holding(first, prefix_len);
        network.expect("a length of the family").into()
    };
    tables(name, lists, &keys_within(&columns), lookup, &network);
}

/// The same lists as loaded, as changes have left them, and compacted.
fn tables<K>(
    name: &str,
    lists: &[Entries],
    keys: &[K],
    lookup: Lookup<'_, K>,
    entry: &dyn Fn(u64) -> Entry,
) {
    let loaded = LiveLists::new(lists.to_vec()).expect("memory");
    let (changed, mut straight) = (scattered(lists, entry), scattered(lists, entry));
    let mut calls = 0;
    while straight.compact().expect("memory").version.is_some() {
        calls += 1;
    }
    let tables = [&loaded, &changed, &straight].map(|live| Arc::clone(&live.version().lists));
    let mut rates = [[(); BURSTS.len()]; 3].map(|row| row.map(|()| Vec::new()));
    for _ in 0..ROUNDS {
        for (table, rates) in tables.iter().zip(&mut rates) {
            for (burst, rates) in BURSTS.into_iter().zip(rates) {
                let (rate, _) = rate(keys, burst, |keys, masks| {
                    lookup(table, keys, &mut masks[..keys.len()]);
                });
                rates.push(rate);
            }
        }
    }
    println!("{name}, bursts of {BURSTS:?}; straightened by {calls} calls");
    for (state, rates) in ["as loaded", "changed", "straightened"]
        .iter()
        .zip(&mut rates)
    {
        print!("  {state:12}");
        for rates in rates {
            rates.sort_unstable_by(f64::total_cmp);
            print!(" {:5.0}", rates[rates.len() / 2]);
        }
        println!();
    }
}

/// Lists that entries went into and out of again, one at a time.
fn scattered(lists: &[Entries], entry: &dyn Fn(u64) -> Entry) -> LiveLists {
    let mut live = LiveLists::new(lists.to_vec()).expect("memory");
    let (mut seed, mut held) = (99, VecDeque::new());
    for _ in 0..CHANGES {
        let (list, entry) = (
            splitmix(&mut seed) as usize % lists.len(),
            entry(splitmix(&mut seed)),
        );
        for change in [Change::add(list, entry), Change::remove(list, entry)] {
            let applied = live.apply(&[change], frame::Nanos::ZERO).expect("memory");
            held.push_back(applied.version);
            if held.len() > LAG {
                held.pop_front();
            }
        }
    }
    live
}
