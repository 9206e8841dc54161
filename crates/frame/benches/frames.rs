//! What a frame costs besides its bytes: lent, filled, freed, sent home, passed through a ring.
//! Figures are for a burst of 64; divide by it. `rtrb` is the yardstick of the ring.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use frame::{Burst, Frame, FramePool, PoolRequest, Region, ring};

const BURST: usize = 64;

fn pools() -> Vec<FramePool> {
    let request = PoolRequest {
        frames: 16_384,
        stride_bytes: 1920,
        headroom_bytes: 256,
        node: None,
    };
    Region::with_pools(&[request; 2])
        .expect("60 MiB of memory")
        .1
}

fn pool(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pool");
    group.throughput(Throughput::Elements(BURST as u64));
    let mut pools = pools();
    let [here, there] = &mut pools[..] else {
        return;
    };
    let mut burst = Burst::new();
    group.bench_function("alloc and free one by one", |bencher| {
        bencher.iter(|| {
            for _ in 0..BURST {
                if let Some(frame) = here.alloc() {
                    here.free(black_box(frame));
                }
            }
        });
    });
    group.bench_function("alloc and free a burst", |bencher| {
        bencher.iter(|| {
            here.alloc_burst(&mut burst, BURST);
            here.free_burst(black_box(&mut burst));
        });
    });
    group.bench_function("alloc, fill with 60 bytes, free a burst", |bencher| {
        let bytes = black_box([0x5a; 60]);
        bencher.iter(|| {
            here.alloc_burst(&mut burst, BURST);
            for frame in burst.frames_mut() {
                frame.copy_from(&bytes).expect("60 bytes fit");
            }
            here.free_burst(black_box(&mut burst));
        });
    });
    group.bench_function("alloc here, free there, collect", |bencher| {
        bencher.iter(|| {
            here.alloc_burst(&mut burst, BURST);
            there.free_burst(black_box(&mut burst));
            here.collect();
        });
    });
    group.finish();
}

fn rings(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ring");
    group.throughput(Throughput::Elements(BURST as u64));
    let mut pools = pools();
    let mut burst = Burst::new();
    pools[0].alloc_burst(&mut burst, BURST);
    group.bench_function("burst", |bencher| {
        let (mut producer, mut consumer) = ring::<Frame>(1024);
        bencher.iter(|| {
            burst.send(&mut producer);
            burst.receive(&mut consumer, BURST);
            black_box(&mut burst);
        });
    });
    group.bench_function("rtrb, chunk", |bencher| {
        let (mut producer, mut consumer) = rtrb::RingBuffer::<Frame>::new(1024);
        bencher.iter(|| {
            let slots = producer
                .write_chunk_uninit(BURST)
                .expect("the ring is empty");
            slots.fill_from_iter(burst.drain());
            for frame in consumer.read_chunk(BURST).expect("the ring holds a burst") {
                burst.push(frame).expect("the burst is empty");
            }
            black_box(&mut burst);
        });
    });
    pools[0].free_burst(&mut burst);
    group.finish();
}

criterion_group!(benches, pool, rings);
criterion_main!(benches);
