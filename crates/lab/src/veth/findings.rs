//! What follows from the rows of `veth`.

use super::FarEnd;
use crate::Samples;
use crate::experiment::Row;
use crate::paired::{paired, with_interval};

const RATE: &str = "frames_per_second";
const NANOS: &str = "ns_per_frame";

/// What was asked for of forwarding by `xdp` against another path.
const ASKED: [(&str, u64, &str); 3] = [
    ("testpmd_af_xdp", 0, " (asked for: 1.2)"),
    (
        "xdp_hash_map",
        6_000_000,
        " (asked for: 1.4, and at most 1)",
    ),
    ("nft", 6_000_000, " (asked for: 3.5, and at most 1)"),
];

/// Random addresses, each once: a set has a few fewer than it was asked for.
fn about(entries: u64) -> u64 {
    match entries {
        5_900_000..=6_000_000 => 6_000_000,
        _ => entries,
    }
}

pub(super) fn sentences(rows: &[Row]) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut entries: Vec<u64> = rows
        .iter()
        .filter_map(|row| row.number("entries"))
        .collect();
    entries.sort_unstable();
    entries.dedup();
    for far in FarEnd::ALL {
        let rows = Rows(rows, far);
        for path in ["xdp_redirect", "xdp", "xdp_shortcut", "packet"] {
            sentences.extend(of_path(&rows, path, &entries));
        }
        for path in ["switch_xdp", "switch_packet"] {
            for other in ["kernel_bridge", "open_vswitch"] {
                sentences.extend(against(&rows, path, other, 0, "forward"));
            }
        }
        sentences.extend(wall(&rows, entries.last().copied()));
    }
    for design in ["nft", "xdp_hash_map"] {
        sentences.extend(loading(rows, design, entries.last().copied()));
    }
    sentences
}

fn of_path(rows: &Rows<'_>, path: &'static str, entries: &[u64]) -> Vec<String> {
    let mut sentences = Vec::new();
    let testpmd = match path {
        "packet" => "testpmd_af_packet",
        _ => "testpmd_af_xdp",
    };
    for other in ["kernel_bridge", testpmd] {
        sentences.extend(against(rows, path, other, 0, "forward"));
    }
    for &entries in entries.iter().filter(|_| is_xdp(path)) {
        for other in ["nft", "xdp_hash_map"] {
            for action in ["forward", "drop"] {
                sentences.extend(against(rows, path, other, entries, action));
            }
        }
    }
    sentences.extend(cost_of_a_set(rows, path, entries.last().copied()));
    sentences
}

/// Whether the path is a port on AF_XDP.
fn is_xdp(path: &str) -> bool {
    path.starts_with("xdp") && path != "xdp_hash_map"
}

fn against(
    rows: &Rows<'_>,
    path: &'static str,
    other: &'static str,
    entries: u64,
    action: &'static str,
) -> Option<String> {
    let asked = ASKED.iter().find(|(name, count, _)| {
        is_xdp(path) && action == "forward" && (*name, *count) == (other, about(entries))
    });
    let other = Cell(rows, other, entries, action);
    Cell(rows, path, entries, action).against(&other, asked.map_or("", |asked| asked.2))
}

/// Those with one far end.
struct Rows<'a>(&'a [Row], FarEnd);

/// A path with a set, and what becomes of frames.
struct Cell<'a>(&'a Rows<'a>, &'static str, u64, &'static str);

impl<'a> Cell<'a> {
    fn samples(&self, metric: &str) -> Option<&'a Samples> {
        let Self(&Rows(rows, far), path, entries, action) = *self;
        let found = rows.iter().find(|row| {
            row.metric == metric
                && row.is("far_end", far.name())
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
        let Self(Rows(_, far), path, entries, action) = self;
        let far = far.name();
        Some(format!(
            "far end {far}, {action}, {entries} entries: {path} has {} times the frames a second \
             of {} for {} times the CPU time a frame{asked}",
            self.ratio(other, RATE)?,
            other.1,
            self.ratio(other, NANOS)?,
        ))
    }
}

fn cost_of_a_set(rows: &Rows<'_>, path: &'static str, most: Option<u64>) -> Option<String> {
    let most = most.filter(|&most| most > 0)?;
    let (with, without) = (
        Cell(rows, path, most, "forward"),
        Cell(rows, path, 0, "forward"),
    );
    Some(format!(
        "far end {}: {path} with {most} entries forwards {} times the frames that it does with \
         none, for {} times the CPU time{}",
        rows.1.name(),
        with.ratio(&without, RATE)?,
        with.ratio(&without, NANOS)?,
        match (path, most) {
            (_, 5_900_000..=6_000_000) if is_xdp(path) =>
                " (asked for: at least 0.90 of the frames)",
            _ => "",
        }
    ))
}

fn loading(rows: &[Row], design: &'static str, most: Option<u64>) -> Option<String> {
    let most = most?;
    let figure = |path, metric| {
        let found = rows
            .iter()
            .find(|row| row.metric == metric && row.is("path", path) && row.is("entries", most));
        found.map(|row| row.samples.median())
    };
    let peak =
        figure(design, "peak_bytes").map(|bytes| format!(", {:.0} MB at the peak", bytes / 1e6));
    Some(format!(
        "{most} entries load in {:.2} s into {:.1} MB, with {design} in {:.2} s into {:.1} MB{}",
        figure("ours", "load_seconds")?,
        figure("ours", "memory_bytes")? / 1e6,
        figure(design, "load_seconds")?,
        figure(design, "memory_bytes")? / 1e6,
        peak.unwrap_or_default(),
    ))
}

fn wall(rows: &Rows<'_>, most: Option<u64>) -> Option<String> {
    let most = most?;
    let nanos = |action| Cell(rows, "xdp", most, action).samples(NANOS);
    let sending = Cell(rows, "generator_only", 0, "forward").samples(NANOS)?;
    Some(format!(
        "far end {}: transmission into a veth pair is the wall, not a set: a frame that xdp drops \
         costs {} of the CPU time of one that it forwards; sending costs another {} ns",
        rows.1.name(),
        with_interval(&paired(nanos("drop")?, nanos("forward")?, |a, b| a / b), 2),
        with_interval(sending, 0),
    ))
}
