//! The most random lines a second that memory gives for a footprint: what every table is held
//! against, measured in the same rounds.

use std::hint::black_box;
use std::rc::Rc;
use std::sync::Barrier;
use std::time::Instant;

use frame::HugeSlice;

use super::walk::{Line, Method};
use crate::contest::refused;
use crate::key::{Cursor, Stream};
use crate::shuffle::Seeded;
use crate::{LabError, Trial};

/// Lines read in one trial.
const TRIAL_LINES: usize = 1 << 20;
/// Lines read to try a method.
const TRY_LINES: usize = 1 << 18;
/// Times that every method is tried: the machine's speed drifts.
const TRIES: usize = 3;
/// Footprints up to here are read as often as they have lines before a trial, so that what the
/// caches can hold is there.
const WARM_BYTES: usize = 64 << 20;
/// Distances tried.
const DISTANCES: [usize; 3] = [16, 32, 64];

/// Lines and keys that limits of several footprints share: each reads the front of the lines.
pub(crate) struct Field {
    lines: HugeSlice<Line>,
    keys: Stream<u32>,
}

impl Field {
    /// Of `bytes`, in large pages if there are any.
    pub(crate) fn new(bytes: usize, seed: u64) -> Result<Rc<Self>, LabError> {
        // A page more, for shifts.
        let lines = HugeSlice::zeroed(bytes.div_ceil(64) + 64).map_err(refused)?;
        Self::of(lines, seed)
    }

    /// As [`Field::new`], in pages of 4 KiB.
    pub(crate) fn in_small_pages(bytes: usize, seed: u64) -> Result<Rc<Self>, LabError> {
        let lines = HugeSlice::zeroed_in_small_pages(bytes.div_ceil(64) + 64);
        let lines = lines.map_err(refused)?;
        Self::of(lines, seed)
    }

    fn of(lines: HugeSlice<Line>, seed: u64) -> Result<Rc<Self>, LabError> {
        let mut seeded = Seeded::new(seed);
        let keys = Stream::drawn(|| seeded.next() as u32)?;
        Ok(Rc::new(Self { lines, keys }))
    }

    /// The pages got.
    pub(crate) fn pages(&self) -> frame::Pages {
        self.lines.pages()
    }
}

/// Reads of random lines of one footprint, one way.
pub(crate) struct Reader {
    field: Rc<Field>,
    bytes: usize,
    threads: usize,
    method: Method,
    cursor: Cursor,
}

impl Reader {
    pub(crate) fn new(field: &Rc<Field>, bytes: usize, threads: usize, method: Method) -> Self {
        Self {
            field: Rc::clone(field),
            bytes,
            threads,
            method,
            cursor: Cursor::default(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) fn method(&self) -> Method {
        self.method
    }

    /// Lines a second over all threads.
    pub(crate) fn measure(&mut self, count: usize, shift_lines: usize) -> f64 {
        let first = shift_lines.min(63);
        let lines = &self.field.lines[first..first + self.bytes.div_ceil(64).max(1)];
        let all = self.field.keys.keys();
        if self.bytes <= WARM_BYTES {
            let keys = self.cursor.take(all, lines.len(), shift_lines * 16);
            black_box(Method::OUT_OF_ORDER.walk(lines, keys));
        }
        let keys = self
            .cursor
            .take(all, count * self.threads, shift_lines * 16);
        if self.threads == 1 {
            return rate(self.method, lines, keys);
        }
        let begin = Barrier::new(self.threads);
        let method = self.method;
        std::thread::scope(|scope| {
            let share = keys.len().div_ceil(self.threads);
            let begin = &begin;
            let read = |keys| {
                scope.spawn(move || {
                    begin.wait();
                    rate(method, lines, keys)
                })
            };
            let running: Vec<_> = keys.chunks(share).map(read).collect();
            running
                .into_iter()
                .filter_map(|thread| thread.join().ok())
                .sum()
        })
    }
}

fn rate(method: Method, lines: &[Line], keys: &[u32]) -> f64 {
    let begun = Instant::now();
    black_box(method.walk(lines, keys));
    keys.len() as f64 / begun.elapsed().as_secs_f64()
}

/// The limit of one footprint on one CPU, by the method that was best when it was made.
pub(crate) struct Limit {
    reader: Reader,
}

impl Limit {
    /// For a footprint of `bytes`, with memory of its own.
    #[allow(dead_code)] // For experiments of one footprint.
    pub(crate) fn new(bytes: usize, seed: u64) -> Result<Self, LabError> {
        Ok(Self::within(&Field::new(bytes, seed)?, bytes))
    }

    /// For the first `bytes` of a field. Tries every method some milliseconds.
    pub(crate) fn within(field: &Rc<Field>, bytes: usize) -> Self {
        let tried = |method: Method| Reader::new(field, bytes, 1, method);
        let mut readers: Vec<_> = Method::all(&DISTANCES).into_iter().map(tried).collect();
        let mut best = vec![0f64; readers.len()];
        for _ in 0..TRIES {
            for (best, reader) in best.iter_mut().zip(&mut readers) {
                *best = best.max(reader.measure(TRY_LINES, 0));
            }
        }
        let chosen = (0..best.len()).max_by(|&a, &b| best[a].total_cmp(&best[b]));
        Self {
            reader: readers.swap_remove(chosen.unwrap_or(0)),
        }
    }

    /// Lines a second.
    pub(crate) fn measure(&mut self, trial: &Trial) -> f64 {
        self.reader.measure(TRIAL_LINES, trial.shift_lines)
    }

    /// How it reads.
    pub(crate) fn method(&self) -> Method {
        self.reader.method
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footprints_of_one_field_have_limits() {
        let field = Field::new(1 << 20, 1).expect("memory");
        let trial = Trial {
            round: 0,
            shift_lines: 63,
            seed: 1,
        };
        for bytes in [1, 1 << 12, 1 << 20] {
            let mut limit = Limit::within(&field, bytes);
            assert!(limit.measure(&trial) > 0.0, "{}", limit.method());
        }
    }

    #[test]
    fn threads_add_up() {
        let field = Field::in_small_pages(1 << 16, 1).expect("memory");
        assert_eq!(field.pages(), frame::Pages::Small);
        let mut reader = Reader::new(&field, 1 << 16, 2, Method::CHAIN);
        assert!(reader.measure(1000, 7) > 0.0);
    }
}
