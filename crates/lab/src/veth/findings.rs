//! What follows from the rows of `veth`.

use crate::Samples;
use crate::experiment::Row;
use crate::paired::{paired, with_interval};

const RATE: &str = "frames_per_second";
const NANOS: &str = "ns_per_frame";

pub(super) fn sentences(rows: &[Row]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut entries: Vec<u64> = rows
        .iter()
        .filter_map(|row| row.number("entries"))
        .collect();
    entries.sort_unstable();
    entries.dedup();
    for path in ["xdp", "packet"] {
        let ours = |entries, action| Cell(rows, path, entries, action);
        sentences
            .extend(ours(0, "forward").against(&Cell(rows, "kernel_bridge", 0, "forward"), ""));
        for &entries in &entries {
            for action in ["forward", "drop"] {
                let asked = match (path, entries, action) {
                    ("xdp", 6_000_000, "forward") => " (asked for: 3.5, and at most 1)",
                    _ => "",
                };
                let nft = Cell(rows, "nft", entries, action);
                sentences.extend(ours(entries, action).against(&nft, asked));
            }
        }
        sentences.extend(cost_of_a_set(rows, path, entries.last().copied()));
    }
    sentences.extend(loading(rows, entries.last().copied()));
    sentences.extend(wall(rows));
    sentences
}

/// A path with a set, and what becomes of frames.
struct Cell<'a>(&'a [Row], &'static str, u64, &'static str);

impl<'a> Cell<'a> {
    fn samples(&self, metric: &str) -> Option<&'a Samples> {
        let Self(rows, path, entries, action) = *self;
        let found = rows.iter().find(|row| {
            row.metric == metric
                && row.is("path", path)
                && row.is("entries", entries)
                && row.is("action", action)
        });
        found.map(|row| &row.samples)
    }

    fn ratio(&self, other: &Self, metric: &str) -> Option<String> {
        let ratios = paired(self.samples(metric)?, other.samples(metric)?, |a, b| a / b);
        Some(with_interval(&ratios, 2))
    }

    fn against(&self, other: &Self, asked: &str) -> Option<String> {
        let Self(_, path, entries, action) = self;
        Some(format!(
            "{action}, {entries} entries: {path} has {} times the frames a second of {} for {} \
             times the CPU time a frame{asked}",
            self.ratio(other, RATE)?,
            other.1,
            self.ratio(other, NANOS)?,
        ))
    }
}

fn cost_of_a_set(rows: &[Row], path: &'static str, most: Option<u64>) -> Option<String> {
    let most = most.filter(|&most| most > 0)?;
    let (with, without) = (
        Cell(rows, path, most, "forward"),
        Cell(rows, path, 0, "forward"),
    );
    Some(format!(
        "{path} with {most} entries forwards {} times the frames that it does with none, for {} \
         times the CPU time{}",
        with.ratio(&without, RATE)?,
        with.ratio(&without, NANOS)?,
        match (path, most) {
            ("xdp", 6_000_000) => " (asked for: at least 0.90 of the frames)",
            _ => "",
        }
    ))
}

fn loading(rows: &[Row], most: Option<u64>) -> Option<String> {
    let most = most?;
    let figure = |path, metric| {
        let samples = Cell(rows, path, most, "load").samples(metric)?;
        Some(samples.median())
    };
    Some(format!(
        "{most} entries load in {:.2} s into {:.1} MB, with nft in {:.2} s into {:.1} MB, {:.0} MB \
         at the peak",
        figure("ours", "load_seconds")?,
        figure("ours", "memory_bytes")? / 1e6,
        figure("nft", "load_seconds")?,
        figure("nft", "memory_bytes")? / 1e6,
        figure("nft", "peak_bytes")? / 1e6,
    ))
}

fn wall(rows: &[Row]) -> Option<String> {
    let sending = Cell(rows, "generator_only", 0, "forward");
    let (rate, nanos) = (sending.samples(RATE)?, sending.samples(NANOS)?);
    Some(format!(
        "transmission into a veth pair is the wall, not a set: sending a frame takes {} ns of the \
         sender's CPU, {:.2} Mpps at most, and every path transmits once more (published: 330 ns \
         of the kernel's)",
        with_interval(nanos, 0),
        rate.median() / 1e6,
    ))
}
