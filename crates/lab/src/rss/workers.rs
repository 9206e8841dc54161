//! What more workers bring when they share nothing but the indirection table.

use std::fs;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use engine::pin_to;
use engine::placement::{BucketLoads, Indirection, Owners};
use frame::CpuId;
use table::RssHash;
use wire::toeplitz::Key;

use super::cost::{BURST, Columns, FLOWS};
use super::{Scale, contestant};
use crate::Value;
use crate::contest::Contestant;

/// Frames between two looks at the clock.
const STEP: usize = FLOWS;

/// Two CPUs that are threads of one core.
pub(super) struct Pairs {
    same: [CpuId; 2],
}

/// Two of `cpus` that are threads of one core; none where there are none.
pub(super) fn pairs(cpus: &[CpuId]) -> Option<Pairs> {
    let siblings = |cpu: &CpuId| {
        let path = format!(
            "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list",
            cpu.0
        );
        let text = fs::read_to_string(path).ok()?;
        Some(text.trim().to_owned())
    };
    let known: Vec<_> = cpus.iter().map(|cpu| (*cpu, siblings(cpu))).collect();
    let mut both = known.iter().enumerate().filter_map(|(at, (cpu, list))| {
        list.as_ref()?;
        let other = known[at + 1..].iter().find(|(_, other)| other == list)?;
        Some(Pairs {
            same: [*cpu, other.0],
        })
    });
    both.next()
}

pub(super) fn variant(on: &'static str, workers: u64) -> Vec<(&'static str, Value)> {
    vec![("workers on", on.into()), ("workers", workers.into())]
}

pub(super) fn contestants(cpus: &[CpuId], pairs: Option<&Pairs>, scale: &Scale) -> Vec<Contestant> {
    let trial = scale.trial;
    let mut contestants = Vec::new();
    // Cores first, so that two workers are apart wherever that can be.
    let mut apart = cpus.to_vec();
    if let Some(pairs) = pairs {
        apart.retain(|cpu| *cpu != pairs.same[1]);
        apart.push(pairs.same[1]);
    }
    for workers in 1..=apart.len() {
        let cpus = apart[..workers].to_vec();
        let variant = variant("apart", workers as u64);
        contestants.push(contestant(variant, "frames_per_second", move |_| {
            placed(&cpus, trial)
        }));
    }
    if let Some(pairs) = pairs {
        let same = pairs.same;
        contestants.push(contestant(
            variant("one core", 2),
            "frames_per_second",
            move |_| placed(&same, trial),
        ));
    }
    contestants
}

/// Frames a second that workers on these CPUs place together.
pub(super) fn placed(cpus: &[CpuId], trial: Duration) -> f64 {
    let table = Indirection::dealt(128, cpus.len() as u16);
    let begin = Barrier::new(cpus.len());
    let rates = thread::scope(|scope| {
        let (table, begin) = (&table, &begin);
        let worker = |cpu: &CpuId| {
            let cpu = *cpu;
            scope.spawn(move || work(cpu, &table.owners(), begin, trial))
        };
        let threads: Vec<_> = cpus.iter().map(worker).collect();
        let rates = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(0.0));
        rates.collect::<Vec<_>>()
    });
    rates.into_iter().sum()
}

fn work(cpu: CpuId, owners: &Owners, begin: &Barrier, trial: Duration) -> f64 {
    // An unpinned worker is slower, not wrong.
    let _ = pin_to(cpu);
    let columns = Columns::new(u64::from(cpu.0));
    let hash = RssHash::new(&Key::SYMMETRIC);
    let (mut loads, _reader) = BucketLoads::new(owners.buckets());
    let mut hashes = [0; BURST];
    let mut mine = 0_u64;
    let mut place = |frames: usize| {
        for at in (0..frames).step_by(BURST) {
            hash.hash_v4(columns.burst(at), &mut hashes);
            for hash in hashes {
                let bucket = owners.bucket(hash);
                loads.count(bucket, 60);
                mine += u64::from(owners.owner(bucket).0);
            }
        }
    };
    place(4 * STEP);
    begin.wait();
    let begun = Instant::now();
    let mut frames = 0;
    loop {
        place(STEP);
        frames += STEP;
        if begun.elapsed() >= trial {
            break;
        }
    }
    let rate = frames as f64 / begun.elapsed().as_secs_f64();
    black_box(mine);
    rate
}
