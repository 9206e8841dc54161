//! The RSS hash of IPv4 four-tuples in bursts of 64, beside the plain loop over bytes.

mod random;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use random::Random;
use std::hint::black_box;
use table::{FlowColumns, RssHash};
use wire::toeplitz::{Key, Toeplitz};

/// Flows hashed over and over: 48 KiB of columns, which the second-level cache holds.
const FLOWS: usize = 4096;
const BURST: usize = 64;

/// What most programs do: a table of 256 for each byte of the input, and a loop over its bytes.
struct Plain(Vec<[u32; 256]>);

impl Plain {
    fn new(key: &Key) -> Self {
        let entry = |place: usize, value: usize| {
            let mut input = [0; 36];
            input[place] = value as u8;
            key.hash_bytes(&input)
        };
        let table = |place| std::array::from_fn(|value| entry(place, value));
        Self((0..36).map(table).collect())
    }

    fn hash(&self, input: &[u8]) -> u32 {
        let bytes = input.iter().zip(&self.0);
        bytes.fold(0, |hash, (&byte, table)| hash ^ table[usize::from(byte)])
    }
}

fn rss(criterion: &mut Criterion) {
    let mut random = Random::new(1);
    let (src, dst): (Vec<u32>, Vec<u32>) = (random.column(FLOWS), random.column(FLOWS));
    let ports: Vec<u32> = random.column(FLOWS);
    let mut group = criterion.benchmark_group("rss, IPv4 four-tuples");
    group.throughput(Throughput::Elements(FLOWS as u64));
    let key = Key::MICROSOFT;
    let mut hashes = [0; BURST];
    let plain = Plain::new(&key);
    group.bench_function("plain", |bencher| {
        bencher.iter(|| {
            for at in 0..FLOWS {
                let mut input = [0; 12];
                input[..4].copy_from_slice(&src[at].to_be_bytes());
                input[4..8].copy_from_slice(&dst[at].to_be_bytes());
                input[8..].copy_from_slice(&ports[at].to_be_bytes());
                hashes[at % BURST] = plain.hash(&input);
            }
            black_box(&mut hashes);
        });
    });
    let one = Toeplitz::new(&key);
    group.bench_function("one at a time", |bencher| {
        bencher.iter(|| {
            for at in 0..FLOWS {
                hashes[at % BURST] = one.hash_v4(src[at], dst[at], ports[at]);
            }
            black_box(&mut hashes);
        });
    });
    for way in [RssHash::portable(&key), RssHash::new(&key)] {
        group.bench_function(way.means(), |bencher| {
            bencher.iter(|| {
                for at in (0..FLOWS).step_by(BURST) {
                    let flows = FlowColumns {
                        src: &src[at..at + BURST],
                        dst: &dst[at..at + BURST],
                        ports: &ports[at..at + BURST],
                    };
                    way.hash_v4(flows, &mut hashes);
                    black_box(&mut hashes);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, rss);
criterion_main!(benches);
