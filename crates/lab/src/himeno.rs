//! A stencil over fourteen arrays, by the distance that each array has from the start of a page.
//!
//! Arrays of a power of two, each at the start of a page, have all their first lines in one set of
//! an L1 cache. The stencil reads one line of each at a time, so that fourteen lines compete for
//! the eight or twelve ways of that set. An offset that compounds (0, n, 2n, ...) spreads them.

mod stencil;

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::caches::Caches;
use crate::experiment::{LabError, Outcome, Published, Row, Settings};
use crate::{Chart, ChartKind, Ratio, Samples, interleave};
use stencil::{ARRAYS, Arena, FLOPS, Grid};

const GRIDS: [Grid; 3] = [
    Grid {
        x: 32,
        y: 32,
        z: 64,
    },
    Grid {
        x: 64,
        y: 64,
        z: 128,
    },
    Grid {
        x: 128,
        y: 128,
        z: 256,
    },
];
const GRIDS_QUICK: usize = 2;
/// By how much more than the array before it an array lies behind the start of its page, bytes.
const OFFSETS: [usize; 11] = [0, 16, 32, 64, 128, 192, 256, 320, 512, 1024, 4096];
/// The offset that stands beside the published figure without alignment to pages: one line.
const SPREAD: usize = 64;
/// MFLOPS of the published pair: with page-aligned arrays, and without.
const PUBLISHED: [f64; 2] = [831.0, 1692.0];
const ROUNDS_QUICK: usize = 11;
const ROUNDS: usize = 21;
/// A trial of a full run makes sweeps for at least this long.
const TRIAL: Duration = Duration::from_millis(10);
const METRIC: &str = "flop_per_second";

/// A row to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    grid: Grid,
    offset: usize,
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let (grids, rounds) = match settings.quick {
        true => (&GRIDS[..GRIDS_QUICK], ROUNDS_QUICK),
        false => (&GRIDS[..], ROUNDS),
    };
    let variants = variants(grids);
    let mut arena = Arena::new(grids[grids.len() - 1]);
    let measured = interleave(settings, variants.len(), rounds, |variant, _| {
        flop_per_second(&mut arena, variants[variant])
    });
    let rows = variants.iter().zip(measured.samples);
    let rows: Vec<Row> = rows
        .map(|(variant, samples)| variant.row(samples))
        .collect();
    Ok(Outcome {
        findings: findings(&rows, grids),
        varies: varies(),
        published: published(grids),
        charts: vec![chart()],
        rows,
        noise: Some(measured.noise),
        ..Outcome::default()
    })
}

fn variants(grids: &[Grid]) -> Vec<Variant> {
    let all = grids.iter().flat_map(|&grid| {
        let offsets = OFFSETS.into_iter();
        offsets.map(move |offset| Variant { grid, offset })
    });
    all.collect()
}

/// One trial: fresh contents, an untimed sweep, and sweeps until time is up.
fn flop_per_second(arena: &mut Arena, variant: Variant) -> f64 {
    let mut arrays = arena.arrays(variant.grid, variant.offset);
    black_box(arrays.sweep());
    let begun = Instant::now();
    let mut sweeps = 0;
    loop {
        black_box(arrays.sweep());
        sweeps += 1;
        let taken = begun.elapsed();
        if taken >= TRIAL {
            let flop = sweeps * variant.grid.inner() * FLOPS;
            return flop as f64 / taken.as_secs_f64();
        }
    }
}

impl Variant {
    fn row(&self, samples: Samples) -> Row {
        Row {
            variant: vec![
                ("bytes", working_set(self.grid).into()),
                ("offset", self.offset.into()),
                ("sets", sets_of_starts(self.offset).into()),
            ],
            metric: METRIC,
            samples,
        }
    }
}

/// Bytes of all arrays.
fn working_set(grid: Grid) -> usize {
    ARRAYS * grid.array_bytes()
}

/// Sets of the L1 cache that the first lines of the arrays fall into; 0 where the kernel does not
/// describe the cache.
fn sets_of_starts(offset: usize) -> usize {
    let Some(cache) = Caches::read().first else {
        return 0;
    };
    let starts = (0..ARRAYS).map(|number| cache.set((number * offset) as u64));
    starts.collect::<BTreeSet<u64>>().len()
}

fn row_of(rows: &[Row], grid: Grid, offset: usize) -> Option<&Row> {
    let mut rows = rows.iter();
    rows.find(|row| row.is("bytes", working_set(grid)) && row.is("offset", offset))
}

fn findings(rows: &[Row], grids: &[Grid]) -> Vec<String> {
    grids
        .iter()
        .filter_map(|&grid| finding(rows, grid))
        .collect()
}

/// The fastest offset of a grid against none.
fn finding(rows: &[Row], grid: Grid) -> Option<String> {
    let aligned = row_of(rows, grid, 0)?;
    let others = OFFSETS[1..].iter();
    let others = others.filter_map(|&offset| Some((offset, row_of(rows, grid, offset)?)));
    let (offset, best) =
        others.max_by(|(_, a), (_, b)| a.samples.median().total_cmp(&b.samples.median()))?;
    let speed = Ratio::paired(&best.samples, &aligned.samples)?;
    Some(format!(
        "{:.1} MiB in {ARRAYS} arrays: an offset of {offset} bytes from array to array is {:.2} \
         [{:.2} to {:.2}] times as fast as arrays that all begin a page",
        working_set(grid) as f64 / f64::from(1 << 20),
        speed.median,
        speed.low,
        speed.high,
    ))
}

/// The published pair beside each grid.
fn published(grids: &[Grid]) -> Vec<Published> {
    let offsets = [0, SPREAD].map(|wanted| OFFSETS.iter().position(|&offset| offset == wanted));
    let pairs = (0..grids.len()).flat_map(|grid| {
        let figures = offsets.into_iter().zip(PUBLISHED);
        figures.filter_map(move |(offset, figure)| {
            Some(Published {
                row: grid * OFFSETS.len() + offset?,
                figure,
                unit: "MFLOPS",
                ratio: figure / PUBLISHED[0],
            })
        })
    });
    pairs.collect()
}

fn varies() -> Vec<String> {
    [
        "Varied: the working set ('bytes', all arrays), and the offset: array n begins n times so \
         many bytes behind the start of a page. 'sets' is how many sets of the L1 cache the first \
         lines of the arrays fall into.",
        "Held: one thread, the same memory, a stencil of 19 points over 14 arrays of 32-bit \
         floats, 34 floating-point operations a point. The published program has as many points \
         and arrays; this code is our own.",
        "The published pair is of one program with page-aligned arrays and without. Which offset \
         and which size it had is not established: it stands beside 0 and 64 bytes of each size.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn chart() -> Chart {
    Chart {
        title: "Speed of the stencil by offset".to_owned(),
        caption: "At 0 and 4096 all arrays begin a page, and their lines share sets of the L1 \
                  cache."
            .to_owned(),
        kind: ChartKind::Lines,
        metric: METRIC,
        beside: None,
        x: "offset",
        series: vec!["bytes"],
        only: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(of: impl Fn(&Variant) -> f64) -> Vec<Row> {
        let row = |variant: &Variant| {
            let mut samples = Samples::default();
            (0..10).for_each(|_| samples.push(of(variant)));
            variant.row(samples)
        };
        variants(&GRIDS).iter().map(row).collect()
    }

    #[test]
    fn published_figures_stand_beside_page_aligned_and_spread_arrays() {
        let variants = variants(&GRIDS);
        let published = published(&GRIDS);
        assert_eq!(published.len(), 2 * GRIDS.len());
        for (pair, grid) in published.chunks_exact(2).zip(GRIDS) {
            let offsets = pair.iter().map(|beside| variants[beside.row]);
            let expected = [0, SPREAD].map(|offset| Variant { grid, offset });
            assert_eq!(offsets.collect::<Vec<_>>(), expected);
            assert!((pair[1].ratio - 2.036).abs() < 0.001 && pair[0].ratio == 1.0);
        }
    }

    #[test]
    fn the_fastest_offset_of_each_size_is_named() {
        let rows = rows(|variant| if variant.offset == 192 { 3.0 } else { 2.0 });
        let said = findings(&rows, &GRIDS);
        assert_eq!(said.len(), GRIDS.len());
        let first = "3.5 MiB in 14 arrays: an offset of 192 bytes from array to array is 1.50 \
                     [1.50 to 1.50] times as fast as arrays that all begin a page";
        assert_eq!(said[0], first);
    }
}
