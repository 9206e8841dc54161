//! One address goes into lists of six million, or out of them: the time until its version is there.

mod random;

use criterion::{Criterion, criterion_group, criterion_main};
use frame::Nanos;
use random::Random;
use table::live::{Change, Entry, LiveLists};
use table::{Address, Entries};

const ENTRIES: usize = 6_000_000;
const START: Nanos = Nanos::ZERO;

/// Adds an address that is in no list, and takes it out the next time.
fn change<A: Address>(
    criterion: &mut Criterion,
    name: &str,
    file: Entries,
    entry: impl Fn(A) -> Entry,
) {
    let mut lists = LiveLists::new(vec![file]).expect("the machine has the memory");
    let mut random = Random::new(2);
    let mut added = None;
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            let change = match added.take() {
                Some(address) => Change::remove(0, address),
                None => Change::add(0, *added.insert(entry(random.address()))),
            };
            lists.apply(&[change], START).expect("a change is made")
        });
    });
}

fn live(criterion: &mut Criterion) {
    let mut file = Entries::default();
    file.v4.addresses = Random::new(1).column(ENTRIES);
    change(criterion, "live, one IPv4 address", file, Entry::address_v4);
    let mut file = Entries::default();
    file.v6.addresses = Random::new(1).column(ENTRIES);
    change(criterion, "live, one IPv6 address", file, Entry::address_v6);
}

criterion_group!(benches, live);
criterion_main!(benches);
