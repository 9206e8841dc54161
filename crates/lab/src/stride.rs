//! Distance of two frames in memory: how many cache sets their headers share.
//!
//! A header lies in one line of its frame, so frames at a distance of `n` lines use
//! `64 / gcd(n, 64)` of the 64 sets of a first-level cache. At 2,048 bytes that is two sets: a
//! dozen ways each, and no more headers than that stay near. At an odd number of lines every set
//! is used. Varies stride and pool; holds the header's place in the frame and the order.

use std::hint::black_box;
use std::time::Instant;

use frame::{Burst, Frame, FramePool, PoolRequest, Region};

use crate::experiment::{LabError, Outcome, Row, Settings};
use crate::interleave;

const LINE_BYTES: u32 = 64;
/// Sets of a first-level cache on the processors of the last ten years.
const SETS: u32 = 64;
const STRIDES: [u32; 9] = [1920, 1984, 2048, 2112, 2176, 2240, 2304, 3072, 4096];
const STRIDES_QUICK: [u32; 4] = [1920, 1984, 2048, 2112];
const POOLS: [u32; 5] = [256, 1024, 2048, 8192, 65536];
const POOLS_QUICK: [u32; 3] = [256, 2048, 8192];
const HEADROOM_BYTES: u32 = 128;
/// Headers read for one sample, whatever the pool.
const READS: usize = 1 << 18;

/// One stride and pool size with its frames, taken once and held.
struct Variant {
    stride_bytes: u32,
    pool_frames: u32,
    frames: Vec<Frame>,
    pool: FramePool,
}

impl Variant {
    fn new(stride_bytes: u32, pool_frames: u32) -> Result<Self, LabError> {
        let request = PoolRequest {
            frames: pool_frames,
            stride_bytes,
            headroom_bytes: HEADROOM_BYTES,
            node: None,
        };
        let refused = |error: frame::RegionError| LabError(error.to_string());
        let mut pool = Region::with_pools(&[request]).map_err(refused)?.1.remove(0);
        let mut frames = Vec::with_capacity(pool_frames as usize);
        while let Some(mut frame) = pool.alloc() {
            // Written once, as a received frame is.
            frame
                .copy_from(&[0xAB; 60])
                .map_err(|error| LabError(error.to_string()))?;
            frames.push(frame);
        }
        Ok(Self {
            stride_bytes,
            pool_frames,
            frames,
            pool,
        })
    }

    /// Reads one header line of every frame, again and again; nanoseconds a frame.
    fn measure(&self) -> f64 {
        let passes = (READS / self.frames.len()).max(1);
        let begun = Instant::now();
        let mut sum = 0u64;
        for _ in 0..passes {
            for frame in black_box(&self.frames) {
                sum += frame.bytes().get(12).copied().map_or(0, u64::from);
            }
        }
        black_box(sum);
        begun.elapsed().as_nanos() as f64 / (passes * self.frames.len()) as f64
    }

    fn give_back(mut self) {
        let mut burst = Burst::new();
        for frame in self.frames.drain(..) {
            if let Err(frame) = burst.push(frame) {
                self.pool.free_burst(&mut burst);
                self.pool.free(frame);
            }
        }
        self.pool.free_burst(&mut burst);
    }
}

fn sets_used(stride_bytes: u32) -> u32 {
    let (mut a, mut b) = (stride_bytes / LINE_BYTES, SETS);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    SETS / a
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let (strides, pools, count): (&[u32], &[u32], usize) = if settings.quick {
        (&STRIDES_QUICK, &POOLS_QUICK, 10)
    } else {
        (&STRIDES, &POOLS, 15)
    };
    let mut variants = Vec::new();
    for &pool in pools {
        for &stride in strides {
            variants.push(Variant::new(stride, pool)?);
        }
    }
    let measured = interleave(settings, variants.len(), count, |variant, _| {
        variants[variant].measure()
    });
    let mut rows = Vec::new();
    for (variant, samples) in variants.into_iter().zip(measured.samples) {
        rows.push(Row {
            variant: vec![
                ("stride", variant.stride_bytes.into()),
                ("sets", sets_used(variant.stride_bytes).into()),
                ("pool", variant.pool_frames.into()),
            ],
            metric: "ns_per_frame",
            samples,
        });
        variant.give_back();
    }
    let findings = findings(&rows);
    Ok(Outcome {
        rows,
        findings,
        noise: Some(measured.noise),
        ..Outcome::default()
    })
}

/// The fastest stride of every pool, and what 2,048 costs against it.
fn findings(rows: &[Row]) -> Vec<String> {
    let of = |row: &Row, name: &str| row.number(name).unwrap_or(0);
    let mut pools: Vec<u64> = rows.iter().map(|row| of(row, "pool")).collect();
    pools.dedup();
    let sentence = |&pool: &u64| {
        let rows = rows.iter().filter(|row| of(row, "pool") == pool);
        let median = |row: &&Row| row.samples.median();
        let best = rows
            .clone()
            .min_by(|a, b| median(a).total_cmp(&median(b)))?;
        let plain = rows.clone().find(|row| of(row, "stride") == 2048)?;
        Some(format!(
            "{pool} frames: {:.2} ns a header at stride {}, {:.1} times that at 2048",
            best.samples.median(),
            of(best, "stride"),
            plain.samples.median() / best.samples.median(),
        ))
    };
    pools.iter().filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_strides_use_every_set() {
        assert_eq!(
            [1920, 1984, 2048, 2112, 4096].map(sets_used),
            [32, 64, 2, 64, 1]
        );
    }

    #[test]
    fn a_variant_reads_its_frames_and_gives_them_back() {
        let variant = Variant::new(192, 8).expect("memory");
        assert_eq!(variant.frames.len(), 8);
        assert!(variant.measure() > 0.0);
        variant.give_back();
    }
}
