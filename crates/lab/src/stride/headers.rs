//! Headers in memory as a pool would lay them out, and three ways of touching them.

use std::hint::black_box;
use std::time::Instant;

use frame::HugeSlice;

use crate::experiment::LabError;
use crate::shuffle::Seeded;

const LINE_BYTES: u32 = 64;
/// Lines that a round may shift all frames by.
const SHIFTS: usize = 64;
/// Headers touched for one sample, whatever the pool; fewer where each waits for the one before.
const TOUCHES: usize = 1 << 17;
const TOUCHES_CHASED: usize = 1 << 15;
/// Which word of a header names the next one, and which is written.
const NEXT: usize = 3;
const WRITTEN: usize = 5;

type Line = [u32; 16];

/// The order in which frames come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As they lie in memory.
    Ring,
    /// In a random order, always the same: that of a pool in use for long.
    Shuffled,
}

/// What is done with a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// A word is read; the address of the next is known before.
    Read,
    /// The same, and the header half the pool ahead is written, as a NIC would.
    Written,
    /// The word tells which header is next: each read waits for the one before.
    Chased,
}

/// Where a header begins in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offset {
    /// At this many bytes, in every frame.
    Bytes(u32),
    /// One line further from frame to frame, eight places in all.
    Spread,
}

/// One way of laying headers out and touching them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) stride_bytes: u32,
    pub(super) pool: u32,
    pub(super) order: Order,
    pub(super) access: Access,
    pub(super) offset: Offset,
}

impl Variant {
    /// The line of the header of frame `frame`, counted from the first frame.
    fn line(&self, frame: u32) -> u32 {
        let offset = match self.offset {
            Offset::Bytes(bytes) => bytes / LINE_BYTES,
            Offset::Spread => frame % 8,
        };
        frame * (self.stride_bytes / LINE_BYTES) + offset
    }
}

/// Memory for the largest pool at the longest stride; every variant lays its frames out in it, so
/// that none has better pages than another.
pub(super) struct Headers {
    lines: HugeSlice<Line>,
    /// The lines of the headers, in the order in which they are touched.
    touched: Vec<u32>,
    /// Where the chase stands: a pass begins where the last one ended, or short ones would overlap.
    chased: u32,
    seed: u64,
}

impl Headers {
    pub(super) fn new(pool: u32, stride_bytes: u32, seed: u64) -> Result<Self, LabError> {
        let lines = pool as usize * (stride_bytes / LINE_BYTES) as usize + SHIFTS;
        let lines = HugeSlice::zeroed(lines).map_err(|error| LabError(error.to_string()))?;
        Ok(Self {
            lines,
            touched: Vec::new(),
            chased: 0,
            seed,
        })
    }

    /// Nanoseconds a header, all frames `shift_lines` further on.
    pub(super) fn nanos_per_frame(&mut self, variant: &Variant, shift_lines: usize) -> f64 {
        self.lay_out(variant, shift_lines);
        let touches = match variant.access {
            Access::Chased => TOUCHES_CHASED,
            _ => TOUCHES,
        };
        let passes = (touches / self.touched.len()).max(1);
        self.pass(variant.access);
        let begun = Instant::now();
        for _ in 0..passes {
            black_box(self.pass(variant.access));
        }
        begun.elapsed().as_nanos() as f64 / (passes * self.touched.len()) as f64
    }

    /// Decides where headers are and writes into each which is next.
    fn lay_out(&mut self, variant: &Variant, shift_lines: usize) {
        let mut frames: Vec<u32> = (0..variant.pool).collect();
        if variant.order == Order::Shuffled {
            Seeded::new(self.seed).shuffle(&mut frames);
        }
        let shift = shift_lines as u32;
        self.touched.clear();
        self.touched
            .extend(frames.iter().map(|&frame| shift + variant.line(frame)));
        self.chased = self.touched[0];
        let next = self.touched.iter().cycle().skip(1);
        for (&line, &next) in self.touched.iter().zip(next) {
            self.lines[line as usize][NEXT] = next;
        }
    }

    /// Touches every header once.
    fn pass(&mut self, access: Access) -> u64 {
        match access {
            Access::Read => self.read(),
            Access::Written => self.write_and_read(),
            Access::Chased => self.chase(),
        }
    }

    fn read(&self) -> u64 {
        let read = |&line: &u32| u64::from(self.lines[line as usize][NEXT]);
        self.touched.iter().map(read).sum()
    }

    fn write_and_read(&mut self) -> u64 {
        let mut sum = 0;
        let (first, second) = self.touched.split_at(self.touched.len() / 2);
        for (near, far) in [(first, second), (second, first)] {
            for (&near, &far) in near.iter().zip(far) {
                self.lines[far as usize][WRITTEN] = near;
                sum += u64::from(self.lines[near as usize][NEXT]);
            }
        }
        sum
    }

    fn chase(&mut self) -> u64 {
        let mut line = self.chased;
        for _ in 0..self.touched.len() {
            line = self.lines[line as usize][NEXT];
        }
        self.chased = line;
        u64::from(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const POOL: u32 = 64;

    fn variants() -> Vec<Variant> {
        let mut variants = Vec::new();
        for order in [Order::Ring, Order::Shuffled] {
            for access in [Access::Read, Access::Written, Access::Chased] {
                for offset in [Offset::Bytes(128), Offset::Spread] {
                    variants.push(Variant {
                        stride_bytes: 1984,
                        pool: POOL,
                        order,
                        access,
                        offset,
                    });
                }
            }
        }
        variants
    }

    /// A chase that met a shorter circle would stay in it.
    #[test]
    fn a_pass_touches_every_header_once_and_comes_back() {
        let mut headers = Headers::new(POOL, 2048, 3).expect("memory");
        for variant in variants() {
            headers.lay_out(&variant, 63);
            let all: HashSet<u32> = headers.touched.iter().copied().collect();
            assert_eq!(all.len(), POOL as usize);
            let sum: u64 = headers.touched.iter().map(|&line| u64::from(line)).sum();
            let expected = match variant.access {
                Access::Chased => u64::from(headers.touched[0]),
                _ => sum,
            };
            assert_eq!(headers.pass(variant.access), expected, "{variant:?}");
            let (mut line, mut seen) = (headers.touched[0], HashSet::new());
            while seen.insert(line) {
                line = headers.lines[line as usize][NEXT];
            }
            assert_eq!(seen, all);
            assert!(headers.nanos_per_frame(&variant, 0) > 0.0);
        }
    }

    #[test]
    fn headers_lie_where_a_pool_would_put_them() {
        let mut variant = variants()[0];
        let lines = [0, 1, 2].map(|frame| variant.line(frame));
        assert_eq!(lines, [2, 33, 64]);
        variant.offset = Offset::Spread;
        let lines = [0, 1, 8].map(|frame| variant.line(frame));
        assert_eq!(lines, [0, 32, 248]);
    }

    /// As a NIC's writes are: every header, half a pool before it is read.
    #[test]
    fn a_pass_writes_every_header_once() {
        let mut headers = Headers::new(POOL, 2048, 3).expect("memory");
        let variant = Variant {
            access: Access::Written,
            order: Order::Shuffled,
            ..variants()[0]
        };
        headers.lay_out(&variant, 0);
        headers.pass(Access::Written);
        let half = headers.touched.len() / 2;
        for (place, &line) in headers.touched.iter().enumerate() {
            let reader = headers.touched[(place + half) % headers.touched.len()];
            assert_eq!(headers.lines[line as usize][WRITTEN], reader);
        }
    }
}
