//! The threads of a trial: readers tied to CPUs, perhaps a writer, started together.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use frame::CpuId;
use table::ListMask;

use super::scheme::{BURST, Scheme, Shared, Table};
use super::writer::Source;
use crate::design::Design;
use crate::design::array::ArrayTable;
use crate::key::{Cursor, drive};
use crate::lock::locked;

/// Between two changes of the writer.
const CHANGE_EVERY: Duration = Duration::from_micros(1000);
/// Keys between two looks at the clock.
const KEYS_A_LOOK: usize = 8 * 2 * BURST;
/// As much before the clock starts: it brings the lock's lines into the state that they stay in.
const LOOKS_WARM: usize = 8;
/// How often the table is read before that, in lines, without a lock: the trial before may have
/// left another table in the caches. Without it a scheme that followed itself was 20 % faster.
const TABLE_WARM: usize = 4;

/// What a trial is to do.
#[derive(Clone, Copy)]
pub(super) struct Crew<'a> {
    pub(super) scheme: Scheme,
    /// One a reader.
    pub(super) readers: &'a [CpuId],
    /// Where the writer runs, if there is one.
    pub(super) writer: Option<CpuId>,
    /// What readers begin with.
    pub(super) table: &'a Table,
    /// The table of the published experiment.
    pub(super) array: &'a Arc<ArrayTable>,
    /// What the writer puts in its place.
    pub(super) source: Source<'a>,
    /// Two a frame, from memory.
    pub(super) keys: &'a [u32],
    /// Where the first reader begins in them.
    pub(super) first: usize,
    pub(super) duration: Duration,
}

/// What one reader did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    pub(super) frames: u64,
    /// Addresses that were in the table.
    pub(super) hits: u64,
    /// Frames of which not exactly one address was: for tests.
    pub(super) uneven: u64,
    pub(super) seconds: f64,
}

/// Lets all threads go at once: they spin, since a sleeper wakes late.
struct Gate {
    waiting: AtomicUsize,
    wanted: usize,
}

impl Gate {
    fn pass(&self) {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        while self.waiting.load(Ordering::Acquire) < self.wanted {
            // Where threads outnumber CPUs the others must get on.
            thread::yield_now();
        }
    }
}

impl Crew<'_> {
    /// Runs the trial; a share a reader.
    pub(super) fn run(&self) -> Vec<Share> {
        let shared = Shared::new(self.table, self.array, self.readers.len());
        let gate = Gate {
            waiting: AtomicUsize::new(0),
            wanted: self.readers.len() + usize::from(self.writer.is_some()),
        };
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let (shared, gate, done) = (&shared, &gate, &done);
            let readers: Vec<_> = (0..self.readers.len())
                .map(|reader| scope.spawn(move || self.read(reader, shared, gate)))
                .collect();
            if let Some(cpu) = self.writer {
                scope.spawn(move || self.write(cpu, shared, gate, done));
            }
            let shares = readers.into_iter();
            let shares = shares
                .map(|reader| reader.join().unwrap_or_default())
                .collect();
            done.store(true, Ordering::Relaxed);
            shares
        })
    }

    fn read(&self, reader: usize, shared: &Shared, gate: &Gate) -> Share {
        pin(self.readers[reader]);
        let mut access = shared.access(self.scheme, reader);
        let mut masks = [ListMask::EMPTY; 2 * BURST];
        // Readers begin evenly apart, each at a whole burst.
        let apart = self.keys.len() / self.readers.len() * reader;
        let begin = (self.first + apart) % self.keys.len();
        let mut cursor = Cursor::at(begin / (2 * BURST) * 2 * BURST);
        let mut share = Share::default();
        let bytes = match self.scheme.is_array() {
            true => self.array.bytes(),
            false => self.table.bytes(),
        };
        for _ in 0..(TABLE_WARM * bytes / 64).div_ceil(KEYS_A_LOOK) {
            let keys = cursor.take(self.keys, KEYS_A_LOOK, 0);
            drive(keys, 2 * BURST, |keys| match self.scheme.is_array() {
                true => access.look_up(keys, &mut masks),
                false => self.table.lookup_burst_v4(keys, &mut masks),
            });
        }
        for _ in 0..LOOKS_WARM {
            let keys = cursor.take(self.keys, KEYS_A_LOOK, 0);
            drive(keys, 2 * BURST, |keys| access.look_up(keys, &mut masks));
        }
        gate.pass();
        let begun = Instant::now();
        while begun.elapsed() < self.duration {
            let keys = cursor.take(self.keys, KEYS_A_LOOK, 0);
            drive(keys, 2 * BURST, |keys| {
                access.look_up(keys, &mut masks);
                share.count(&masks);
            });
        }
        share.seconds = begun.elapsed().as_secs_f64();
        share
    }

    /// Changes the table a thousand times a second until the readers are done. Spins in between,
    /// so that the wait costs the same whatever the scheme.
    fn write(&self, cpu: CpuId, shared: &Shared, gate: &Gate, done: &AtomicBool) {
        pin(cpu);
        match self.source {
            Source::Changed(writer) => {
                let mut writer = locked(writer);
                self.write_each(shared, gate, done, || writer.change());
            }
            Source::Whole(tables) => {
                let mut turns = tables.iter().cycle().skip(1);
                self.write_each(shared, gate, done, || {
                    Table::clone(turns.next().unwrap_or(self.table))
                });
            }
        }
    }

    fn write_each(
        &self,
        shared: &Shared,
        gate: &Gate,
        done: &AtomicBool,
        mut next: impl FnMut() -> Table,
    ) {
        gate.pass();
        let mut due = Instant::now();
        while !done.load(Ordering::Relaxed) {
            if Instant::now() < due {
                spin_loop();
                continue;
            }
            shared.replace(self.scheme, next());
            due += CHANGE_EVERY;
        }
    }
}

impl Share {
    #[inline(always)]
    fn count(&mut self, masks: &[ListMask; 2 * BURST]) {
        for pair in masks.as_chunks::<2>().0 {
            let hits = pair
                .iter()
                .map(|mask| u64::from(!mask.is_empty()))
                .sum::<u64>();
            self.hits += hits;
            self.uneven += u64::from(hits != 1);
        }
        self.frames += BURST as u64;
    }

    pub(super) fn frames_per_second(&self) -> f64 {
        if self.seconds == 0.0 {
            return 0.0;
        }
        self.frames as f64 / self.seconds
    }
}

/// The CPU was allowed when the list was read; a thread that cannot go there runs where it is.
fn pin(cpu: CpuId) {
    let _stays = engine::pin_to(cpu);
}
