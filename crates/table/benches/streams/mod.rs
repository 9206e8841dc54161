//! Keys from streams that no cache holds, looked up in bursts.

use criterion::{BenchmarkId, Criterion, Throughput};
use std::hint::black_box;
use table::{Address, ListMask};

/// Keys a stream: 64 MB of IPv4 addresses, 256 MB of IPv6 addresses.
pub(crate) const KEYS: usize = 1 << 24;
/// Keys, or frames of two keys, handed over at a time.
const BURSTS: [usize; 2] = [64, 256];

/// What is looked up.
pub(crate) struct Stream<A> {
    pub(crate) name: &'static str,
    pub(crate) keys: Vec<A>,
    /// Keys a frame: 2 is source and destination, side by side as the classifier has them.
    pub(crate) each: usize,
}

/// Asks for keys, which come from memory here as no caller's do.
fn ask_for<A>(keys: &[A]) {
    let first = keys.as_ptr().cast::<u8>();
    for line in 0..size_of_val(keys).div_ceil(64) {
        frame::prefetch::read(first.wrapping_add(64 * line));
    }
}

/// Lookups a second of each stream, in each size of burst.
pub(crate) fn bench<A: Address>(
    criterion: &mut Criterion,
    set: &str,
    streams: &[Stream<A>],
    lookup: impl Fn(&[A], &mut [ListMask]),
) {
    let mut group = criterion.benchmark_group(set);
    for stream in streams {
        for burst in BURSTS {
            let count = burst * stream.each;
            let mut bursts = stream.keys.chunks_exact(count).cycle();
            let mut next = bursts.next().expect("streams are longer than a burst");
            let mut masks = vec![ListMask::EMPTY; count];
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new(stream.name, burst), |bencher| {
                bencher.iter(|| {
                    let now = next;
                    next = bursts.next().unwrap_or(now);
                    ask_for(next);
                    lookup(now, &mut masks);
                    black_box(&mut masks);
                });
            });
        }
    }
    group.finish();
}
