//! What copies of a frame cost on its way through a router, and where its header lies.
//!
//! A driver that may not write where the stack reads, or hardware that wants other alignment than
//! the CPU, copies each frame once or twice. A small router of 2015 spent most of its time so.

mod path;

use std::time::Duration;

use crate::experiment::{LabError, Outcome, Published, Row, Settings};
use crate::{Chart, ChartKind, Ratio, Samples, interleave};
use path::{HEADER_ALIGNED, HEADER_ASTRIDE, Path};

const COPIES: [usize; 3] = [0, 1, 2];
/// The shortest and the longest frame of Ethernet, without FCS.
const LENGTHS: [usize; 2] = [60, 1514];
/// Buffers of a ring: 512 KiB and 16 MiB.
const RINGS: [usize; 2] = [256, 8192];
const STARTS: [usize; 2] = [HEADER_ASTRIDE, HEADER_ALIGNED];
/// Mbit/s of the published router, before and after: the first with copies and a header that the
/// CPU could not read in one piece, the second without both.
const PUBLISHED: [f64; 2] = [130.0, 720.0];
const ROUNDS_QUICK: usize = 11;
const ROUNDS: usize = 21;
const TRIAL: Duration = Duration::from_millis(10);
const METRIC: &str = "frames_per_second";

/// A row to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    length: usize,
    ring: usize,
    copies: usize,
    start: usize,
}

pub(crate) fn run(settings: &mut Settings<'_>) -> Result<Outcome, LabError> {
    let rounds = if settings.quick { ROUNDS_QUICK } else { ROUNDS };
    let variants = variants();
    let mut path = Path::new(RINGS[RINGS.len() - 1]);
    let measured = interleave(settings, variants.len(), rounds, |number, _| {
        let variant = variants[number];
        path.fill(variant.ring, variant.start, variant.length);
        path.frames_per_second(variant.copies, TRIAL)
    });
    let rows = variants.iter().zip(measured.samples);
    let rows: Vec<Row> = rows
        .map(|(variant, samples)| variant.row(samples))
        .collect();
    Ok(Outcome {
        findings: findings(&rows),
        varies: varies(),
        published: published(&variants),
        charts: vec![chart()],
        rows,
        noise: Some(measured.noise),
        ..Outcome::default()
    })
}

fn variants() -> Vec<Variant> {
    let mut all = Vec::new();
    for length in LENGTHS {
        for ring in RINGS {
            for copies in COPIES {
                all.extend(STARTS.map(|start| Variant {
                    length,
                    ring,
                    copies,
                    start,
                }));
            }
        }
    }
    all
}

impl Variant {
    fn row(&self, samples: Samples) -> Row {
        Row {
            variant: vec![
                ("length", self.length.into()),
                ("ring", self.ring.into()),
                ("copies", self.copies.into()),
                ("header", header(self.start).into()),
            ],
            metric: METRIC,
            samples,
        }
    }
}

fn header(start: usize) -> &'static str {
    match start {
        HEADER_ALIGNED => "aligned",
        _ => "astride",
    }
}

fn row_of(rows: &[Row], wanted: Variant) -> Option<&Row> {
    rows.iter().find(|row| {
        row.is("length", wanted.length)
            && row.is("ring", wanted.ring)
            && row.is("copies", wanted.copies)
            && row.is("header", header(wanted.start))
    })
}

/// A sentence for each length and ring: what the copies cost, and what alignment does.
fn findings(rows: &[Row]) -> Vec<String> {
    let places = LENGTHS.iter().flat_map(|&length| {
        let rings = RINGS.iter();
        rings.map(move |&ring| (length, ring))
    });
    places
        .filter_map(|(length, ring)| finding(rows, length, ring))
        .collect()
}

fn finding(rows: &[Row], length: usize, ring: usize) -> Option<String> {
    let variant = |copies, start| Variant {
        length,
        ring,
        copies,
        start,
    };
    let against = |ours, base| {
        let (ours, base) = (row_of(rows, ours)?, row_of(rows, base)?);
        Ratio::paired(&ours.samples, &base.samples)
    };
    let bare = variant(0, HEADER_ALIGNED);
    let copied = against(bare, variant(2, HEADER_ALIGNED))?;
    let aligned = against(bare, variant(0, HEADER_ASTRIDE))?;
    Some(format!(
        "{length} bytes, {ring} buffers a ring: without copies {:.2} [{:.2} to {:.2}] times as \
         fast as with two; an aligned header {:.2} [{:.2} to {:.2}] times as fast as one astride",
        copied.median, copied.low, copied.high, aligned.median, aligned.low, aligned.high,
    ))
}

/// The published pair beside long frames over the large ring.
fn published(variants: &[Variant]) -> Vec<Published> {
    let ends = [(2, HEADER_ASTRIDE), (0, HEADER_ALIGNED)];
    let beside = |((copies, start), figure): ((usize, usize), f64)| {
        let wanted = Variant {
            length: LENGTHS[1],
            ring: RINGS[1],
            copies,
            start,
        };
        Some(Published {
            row: variants.iter().position(|variant| *variant == wanted)?,
            figure,
            unit: "Mbit/s",
            ratio: figure / PUBLISHED[0],
        })
    };
    ends.into_iter().zip(PUBLISHED).filter_map(beside).collect()
}

fn varies() -> Vec<String> {
    [
        "Varied: the length of a frame, the buffers of a ring of 2048 bytes each, how often a \
         frame is copied into another ring before its header is read, and whether the IPv4 header \
         begins at a multiple of four bytes ('aligned') or two bytes beside one ('astride').",
        "Held: one thread; each frame's destination is read and its time to live is decremented. \
         There is no port: a frame lies where the last walk left it, so that a large ring comes \
         from memory as after a DMA without a share of the cache.",
        "The published router had a CPU that cannot read a word astride. This CPU can: its rows \
         tell copies from alignment, which the published pair has in one figure.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn chart() -> Chart {
    Chart {
        title: "Frames a second by copies".to_owned(),
        caption: "Long frames pay for their bytes, short ones for the lines that they touch."
            .to_owned(),
        kind: ChartKind::Lines,
        metric: METRIC,
        beside: None,
        x: "copies",
        series: vec!["length", "ring"],
        only: vec![("header", "aligned".into())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_pair_stands_beside_its_rows() {
        let variants = variants();
        let published = published(&variants);
        let rows = published.iter().map(|beside| variants[beside.row]);
        let rows: Vec<_> = rows.map(|row| (row.copies, row.start)).collect();
        assert_eq!(rows, [(2, HEADER_ASTRIDE), (0, HEADER_ALIGNED)]);
        assert!((published[1].ratio - 5.538).abs() < 0.001);
    }

    #[test]
    fn copies_and_alignment_are_told_apart() {
        let rows: Vec<Row> = variants()
            .iter()
            .map(|variant| {
                let mut samples = Samples::default();
                let speed = match (variant.copies, variant.start) {
                    (0, HEADER_ALIGNED) => 4.0,
                    (0, _) => 2.0,
                    _ => 1.0,
                };
                (0..10).for_each(|_| samples.push(speed));
                variant.row(samples)
            })
            .collect();
        let said = findings(&rows);
        assert_eq!(said.len(), LENGTHS.len() * RINGS.len());
        let first = "60 bytes, 256 buffers a ring: without copies 4.00 [4.00 to 4.00] times as \
                     fast as with two; an aligned header 2.00 [2.00 to 2.00] times as fast as one \
                     astride";
        assert_eq!(said[0], first);
    }
}
