//! From trials to rows.

use super::bench::{Bench, Measured};
use super::loads::Load;
use super::{Path, Variant};
use crate::experiment::Row;
use crate::{Samples, Value};

/// The trials of the rounds that count: a warm-up round comes before them, and the first variant
/// is measured twice a round.
pub(super) fn kept(all: &[Measured], rounds: usize) -> Vec<Measured> {
    let a_round = all.len() / (rounds + 1).max(1);
    let a_round = a_round.max(1);
    all.iter().skip(a_round).step_by(a_round).copied().collect()
}

/// All rows: rates, CPU time, then what loading took.
pub(super) fn of(
    bench: &Bench,
    variants: &[Variant],
    measured: &[Vec<Measured>],
    rates: &[Samples],
) -> Vec<Row> {
    let entries = |variant: &Variant| bench.sets[variant.set].addresses.len();
    let mut rows = Vec::new();
    for (variant, rates) in variants.iter().zip(rates) {
        rows.push(row(
            *variant,
            entries(variant),
            "frames_per_second",
            rates.clone(),
        ));
    }
    let alone: Vec<f64> = measured
        .first()
        .map(|trials| trials.iter().map(Measured::send_nanos).collect())
        .unwrap_or_default();
    for (variant, trials) in variants.iter().zip(measured) {
        let nanos = nanos(*variant, trials, &alone);
        rows.push(row(*variant, entries(variant), "ns_per_frame", nanos));
    }
    for (place, set) in bench.sets.iter().enumerate() {
        let designs = [
            ("ours", Some(set.load)),
            ("nft", bench.nft_loads[place]),
            ("xdp_hash_map", bench.hash_loads[place]),
        ];
        for (design, load) in designs {
            let count = set.addresses.len();
            rows.extend(
                load.into_iter()
                    .flat_map(|load| loading(design, count, load)),
            );
        }
    }
    rows
}

/// Of sending alone all of it, of others what is beyond.
fn nanos(variant: Variant, trials: &[Measured], alone: &[f64]) -> Samples {
    let mut samples = Samples::default();
    for (trial, &alone) in trials.iter().zip(alone) {
        samples.push(match variant.path {
            Path::GeneratorOnly => trial.send_nanos(),
            _ => trial.nanos_per_frame(alone),
        });
    }
    samples
}

fn row(variant: Variant, entries: usize, metric: &'static str, samples: Samples) -> Row {
    let action = if variant.hits { "drop" } else { "forward" };
    let mut fields = fields(variant.path.name(), entries, action);
    fields.insert(1, ("far_end", variant.far.name().into()));
    Row {
        variant: fields,
        metric,
        samples,
    }
}

fn fields(path: &'static str, entries: usize, action: &'static str) -> Vec<(&'static str, Value)> {
    vec![
        ("path", path.into()),
        ("entries", entries.into()),
        ("action", action.into()),
    ]
}

/// A set without entries has nothing to load.
fn loading(design: &'static str, entries: usize, load: Load) -> Vec<Row> {
    let row = |metric, figure| {
        let mut samples = Samples::default();
        samples.push(figure);
        Row {
            variant: fields(design, entries, "load"),
            metric,
            samples,
        }
    };
    if entries == 0 {
        return Vec::new();
    }
    let mut rows = vec![
        row("load_seconds", load.seconds),
        row("memory_bytes", load.bytes as f64),
    ];
    rows.extend(load.peak_bytes.map(|bytes| row("peak_bytes", bytes as f64)));
    rows
}
