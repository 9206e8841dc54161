//! The limit: how many independent random cache lines of a footprint memory gives a second.
//!
//! The lines to read come from a stream in memory that no cache holds, as the keys of a table do,
//! and the stream itself is asked for ahead. Three ways of reading are tried in every trial, and
//! the best counts: what the processor's own reordering reaches, and a rolling prefetch at two
//! distances.

use std::hint::black_box;
use std::time::Instant;

use frame::{HugeSlice, prefetch};

use crate::experiment::LabError;
use crate::shuffle::Seeded;

const LINE_BYTES: usize = 64;
/// Keys of the stream: 64 MiB, read on from trial to trial.
const KEYS: usize = 1 << 24;
/// Keys between the one in use and the one asked for: four pages hold what the stream's own
/// prefetch must run ahead of.
const STREAM_AHEAD: usize = 1024;
/// Keys of one way in one trial: a few milliseconds.
const KEYS_A_WAY: usize = 1 << 19;
/// Lines on their way at once; 0 leaves it to the processor.
const DISTANCES: [usize; 3] = [0, 48, 64];

type Line = [u32; LINE_BYTES / 4];

/// Memory to read random lines of, and the order to read them in.
pub(crate) struct RandomLines {
    lines: HugeSlice<Line>,
    keys: HugeSlice<u32>,
    next: usize,
}

impl RandomLines {
    /// Lines over this many bytes.
    pub(crate) fn new(bytes: usize, seed: u64) -> Result<Self, LabError> {
        let refused = |error: frame::MemoryError| LabError(error.to_string());
        let mut lines = HugeSlice::<Line>::zeroed(bytes.div_ceil(LINE_BYTES)).map_err(refused)?;
        lines.fill([1; LINE_BYTES / 4]);
        let mut keys = HugeSlice::<u32>::zeroed(KEYS).map_err(refused)?;
        let mut seeded = Seeded::new(seed);
        keys.fill_with(|| seeded.next() as u32);
        Ok(Self {
            lines,
            keys,
            next: 0,
        })
    }

    /// One trial of every way; the best of them.
    pub(crate) fn lines_per_second(&mut self) -> f64 {
        let mut best = 0.0f64;
        for distance in DISTANCES {
            let first = self.next;
            self.next = (first + KEYS_A_WAY) % KEYS;
            let keys = &self.keys[first..first + KEYS_A_WAY];
            let begun = Instant::now();
            black_box(sum(&self.lines, keys, distance));
            best = best.max(keys.len() as f64 / begun.elapsed().as_secs_f64());
        }
        best
    }
}

fn line_of(key: u32, lines: usize) -> usize {
    ((u64::from(key) * lines as u64) >> 32) as usize
}

/// Reads the line of every key.
fn sum(lines: &[Line], keys: &[u32], distance: usize) -> u64 {
    let mut sum = 0;
    for (place, &key) in keys.iter().enumerate() {
        if place.is_multiple_of(LINE_BYTES / 4) {
            let ahead = keys.as_ptr().wrapping_add(place + STREAM_AHEAD);
            prefetch::read(ahead.cast());
        }
        if distance != 0
            && let Some(&ahead) = keys.get(place + distance)
        {
            let line = lines.as_ptr().wrapping_add(line_of(ahead, lines.len()));
            prefetch::read(line.cast());
        }
        sum += u64::from(lines[line_of(key, lines.len())][3]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_reads_one_line() {
        let lines = [[1; LINE_BYTES / 4]; 7];
        let keys: Vec<u32> = (0..1000u32)
            .map(|key| key.wrapping_mul(0x9E37_79B9))
            .collect();
        for distance in DISTANCES {
            assert_eq!(sum(&lines, &keys, distance), 1000);
        }
        assert!(keys.iter().all(|&key| line_of(key, 7) < 7));
        assert_eq!(line_of(u32::MAX, 7), 6);
    }

    #[test]
    fn the_stream_goes_round() {
        let mut lines = RandomLines::new(1 << 12, 1).expect("memory");
        for _ in 0..2 * KEYS / KEYS_A_WAY / DISTANCES.len() {
            assert!(lines.lines_per_second() > 0.0);
        }
    }
}
