//! Threads that find next hops for the packets of one flow or of many.

use std::hint::black_box;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use frame::CpuId;

use super::scheme::{Access, BURST, FlowCache, Scheme, Shared};
use crate::LabError;
use crate::key::{Cursor, drive};
use crate::lock::locked;
use crate::shuffle::Seeded;

/// Packets between two looks at the clock.
const KEYS_A_LOOK: usize = 64 * BURST;
/// As much before the clock starts: the trial before has taken the caches.
const LOOKS_WARM: usize = 16;

/// Packets of some flows, dealt over threads as RSS deals them: a flow stays with one.
pub(super) struct Load {
    pub(super) flows: usize,
    threads: Vec<Mutex<Thread>>,
}

/// What a thread keeps from one trial to the next.
struct Thread {
    /// Destinations of its packets.
    keys: Vec<u32>,
    cursor: Cursor,
    cache: FlowCache,
}

impl Load {
    /// `packets` each of so many threads, to destinations that each of them has a share of.
    pub(super) fn new(
        destinations: &[u32],
        threads: usize,
        packets: usize,
        seed: u64,
    ) -> Result<Self, LabError> {
        let mut seeded = Seeded::new(seed);
        let share = destinations.len().div_ceil(threads);
        let mut thread = |own: &[u32]| {
            let draw = |_| own[seeded.next() as usize % own.len()];
            Ok(Mutex::new(Thread {
                keys: (0..packets).map(draw).collect(),
                cursor: Cursor::default(),
                cache: FlowCache::new()?,
            }))
        };
        let threads: Result<_, LabError> = destinations.chunks(share).map(&mut thread).collect();
        Ok(Self {
            flows: destinations.len(),
            threads: threads?,
        })
    }

    pub(super) fn threads(&self) -> usize {
        self.threads.len()
    }

    /// Packets a second, the sum over all threads, each by its own clock.
    pub(super) fn rate(
        &self,
        (shared, scheme): (&Shared, Scheme),
        cpus: &[CpuId],
        wanted: Duration,
    ) -> f64 {
        let begin = &Barrier::new(self.threads.len());
        thread::scope(|scope| {
            let mut running = Vec::new();
            for (reader, (own, &cpu)) in self.threads.iter().zip(cpus).enumerate() {
                running.push(scope.spawn(move || {
                    // The CPU was allowed when the list was read; else the thread stays.
                    let _stays = engine::pin_to(cpu);
                    // Nobody else takes it: a mutex lets a trial write what a load keeps.
                    locked(own).rate((shared, scheme, reader), begin, wanted)
                }));
            }
            let rates = running.into_iter().filter_map(|thread| thread.join().ok());
            rates.sum()
        })
    }
}

impl Thread {
    fn rate(
        &mut self,
        (shared, scheme, reader): (&Shared, Scheme, usize),
        begin: &Barrier,
        wanted: Duration,
    ) -> f64 {
        let mut access = Access {
            shared,
            scheme,
            reader,
            cache: &mut self.cache,
        };
        let mut hops = [0; BURST];
        let mut look = || {
            let keys = self.cursor.take(&self.keys, KEYS_A_LOOK, 0);
            drive(keys, BURST, |keys| {
                access.forward(keys, &mut hops);
                black_box(&hops);
            });
            keys.len()
        };
        for _ in 0..LOOKS_WARM {
            look();
        }
        begin.wait();
        let begun = Instant::now();
        let mut packets = 0;
        while begun.elapsed() < wanted {
            packets += look();
        }
        packets as f64 / begun.elapsed().as_secs_f64()
    }
}
