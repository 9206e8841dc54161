//! Reads of random lines: how many are on their way at a time, and who asks for them.

use std::fmt;

use frame::prefetch;

/// A cache line: all zero in memory of its own, whatever it holds in tables.
pub(crate) type Line = [u64; 8];

/// Keys that one line of the key stream holds.
const KEYS_A_LINE: usize = 16;
/// Keys of the stream that are asked for ahead.
const STREAM_AHEAD: usize = 512;

/// Who asks for a line before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nobody: the CPU runs ahead by itself.
    OutOfOrder,
    /// As many as the distance are asked for, then read, then the next.
    Batch,
    /// With each line read, the one at the distance is asked for.
    Rolling,
    /// Nobody, and the place of a line depends on what the one before holds: latency.
    Chain,
}

/// How lines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method {
    pub(crate) kind: Kind,
    /// Lines on their way; 0 where nobody asks.
    pub(crate) distance: usize,
    /// Asked into the second cache level only.
    pub(crate) far: bool,
}

impl Method {
    pub(crate) const OUT_OF_ORDER: Self = Self::plain(Kind::OutOfOrder);
    pub(crate) const CHAIN: Self = Self::plain(Kind::Chain);

    /// Fast at any footprint where the first cache level keeps many misses under way.
    pub(crate) const ROLLING: Self = Self {
        kind: Kind::Rolling,
        distance: 64,
        far: false,
    };

    const fn plain(kind: Kind) -> Self {
        Self {
            kind,
            distance: 0,
            far: false,
        }
    }

    /// All ways that may give the most lines: at these distances, and by itself.
    pub(crate) fn all(distances: &[usize]) -> Vec<Self> {
        let mut all = vec![Self::OUT_OF_ORDER];
        for kind in [Kind::Batch, Kind::Rolling] {
            for far in [false, true] {
                all.extend(distances.iter().map(|&distance| Self {
                    kind,
                    distance,
                    far,
                }));
            }
        }
        all
    }

    /// Its name in a row, without the distance.
    pub(crate) fn name(self) -> &'static str {
        match (self.kind, self.far) {
            (Kind::OutOfOrder, _) => "out of order",
            (Kind::Batch, false) => "batch t0",
            (Kind::Batch, true) => "batch t1",
            (Kind::Rolling, false) => "rolling t0",
            (Kind::Rolling, true) => "rolling t1",
            (Kind::Chain, _) => "chain",
        }
    }

    /// Reads the line of every key; the sum is for the reader to keep.
    pub(crate) fn walk(self, lines: &[Line], keys: &[u32]) -> u64 {
        match (self.kind, self.far) {
            (Kind::OutOfOrder, _) => out_of_order(lines, keys),
            (Kind::Chain, _) => chain(lines, keys),
            (Kind::Batch, false) => batch::<false>(lines, keys, self.distance),
            (Kind::Batch, true) => batch::<true>(lines, keys, self.distance),
            (Kind::Rolling, false) => rolling::<false>(lines, keys, self.distance),
            (Kind::Rolling, true) => rolling::<true>(lines, keys, self.distance),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self.distance {
            0 => Ok(()),
            distance => write!(f, " at distance {distance}"),
        }
    }
}

#[inline(always)]
fn place(key: u32, lines: &[Line]) -> usize {
    ((u64::from(key) * lines.len() as u64) >> 32) as usize
}

#[inline(always)]
fn ask<const FAR: bool>(lines: &[Line], key: u32) {
    let line = lines.as_ptr().wrapping_add(place(key, lines)).cast();
    prefetch::read_into::<FAR>(line);
}

/// Asks for keys, in the way that sets have theirs asked for.
#[inline(always)]
fn ask_stream(keys: &[u32]) {
    prefetch::read_far(keys.as_ptr().wrapping_add(STREAM_AHEAD).cast());
}

#[inline(always)]
fn read(lines: &[Line], key: u32) -> u64 {
    lines[place(key, lines)][3]
}

#[inline(never)]
fn out_of_order(lines: &[Line], keys: &[u32]) -> u64 {
    let mut sum = 0u64;
    for chunk in keys.chunks(KEYS_A_LINE) {
        ask_stream(chunk);
        for &key in chunk {
            sum = sum.wrapping_add(read(lines, key));
        }
    }
    sum
}

/// Lines are zero, which the CPU cannot know: each place waits for the line before.
#[inline(never)]
fn chain(lines: &[Line], keys: &[u32]) -> u64 {
    let mut sum = 0u64;
    for chunk in keys.chunks(KEYS_A_LINE) {
        ask_stream(chunk);
        for &key in chunk {
            sum = sum.wrapping_add(lines[place(key, lines) + sum as usize][3]);
        }
    }
    sum
}

#[inline(never)]
fn batch<const FAR: bool>(lines: &[Line], keys: &[u32], distance: usize) -> u64 {
    let mut sum = 0u64;
    for chunk in keys.chunks(distance.max(1)) {
        for part in chunk.chunks(KEYS_A_LINE) {
            ask_stream(part);
            for &key in part {
                ask::<FAR>(lines, key);
            }
        }
        for &key in chunk {
            sum = sum.wrapping_add(read(lines, key));
        }
    }
    sum
}

#[inline(never)]
fn rolling<const FAR: bool>(lines: &[Line], keys: &[u32], distance: usize) -> u64 {
    let distance = distance.min(keys.len());
    let (first, ahead) = keys.split_at(distance);
    for &key in first {
        ask::<FAR>(lines, key);
    }
    let mut sum = 0u64;
    let asked = ahead.chunks(KEYS_A_LINE);
    for (asked, now) in asked.zip(keys.chunks(KEYS_A_LINE)) {
        ask_stream(asked);
        for (&asked, &now) in asked.iter().zip(now) {
            ask::<FAR>(lines, asked);
            sum = sum.wrapping_add(read(lines, now));
        }
    }
    for &key in &keys[ahead.len()..] {
        sum = sum.wrapping_add(read(lines, key));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shuffle::Seeded;

    #[test]
    fn every_method_reads_the_line_of_every_key_once() {
        let mut seeded = Seeded::new(5);
        let lines: Vec<Line> = (0..1000).map(|_| [seeded.next(); 8]).collect();
        let keys: Vec<u32> = (0..5003).map(|_| seeded.next() as u32).collect();
        let expected = keys.iter().fold(0u64, |sum, &key| {
            sum.wrapping_add(lines[(key as usize * 1000) >> 32][0])
        });
        for count in [0, 1, 7, 5003] {
            let slow = out_of_order(&lines, &keys[..count]);
            for method in Method::all(&[1, 8, 33, 64]) {
                assert_eq!(method.walk(&lines, &keys[..count]), slow, "{method}");
            }
        }
        assert_eq!(out_of_order(&lines, &keys), expected);
    }

    #[test]
    fn a_chain_reads_zeros() {
        let lines = vec![[0; 8]; 10];
        assert_eq!(Method::CHAIN.walk(&lines, &[0, u32::MAX, 7]), 0);
    }
}
