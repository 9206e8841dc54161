//! Pages to look at: every form of chart with figures that were made up to be difficult.

use lab::{Chart, ChartKind, Outcome, Published, Row, Samples};

use super::render;
use crate::laboratory::sample;

/// Run by hand after a change of the page, then looked at in a browser.
#[test]
#[ignore = "writes pages to the folder that LINERATE_PAGES names"]
fn pages_to_look_at() {
    let folder = std::env::var("LINERATE_PAGES").expect("LINERATE_PAGES names a folder");
    let facts = sample::facts();
    for (name, outcome) in [
        ("ladder", ladder()),
        ("designs", designs()),
        ("memory", memory()),
    ] {
        let path = std::path::Path::new(&folder).join(format!("{name}.html"));
        std::fs::write(path, render(&facts, &outcome)).expect("a folder that can be written");
    }
}

/// Skewed, as times are: most samples near the middle, a few far out on one side.
fn skewed(middle: f64, spread: f64) -> Samples {
    let mut samples = Samples::default();
    for place in [0.0, 0.1, 0.2, -0.1, 0.3, -0.2, 0.5, 0.8, 0.05, 1.5, -0.3] {
        samples.push(middle * (1.0 - spread * place));
    }
    samples
}

fn row(variant: &[(&'static str, lab::Value)], metric: &'static str, samples: Samples) -> Row {
    Row {
        variant: variant.to_vec(),
        metric,
        samples,
    }
}

fn chart(kind: ChartKind, metric: &'static str, x: &'static str, series: &[&'static str]) -> Chart {
    Chart {
        title: format!("{} by {x}", metric.replace('_', " ")),
        caption: "What a reader should see in this chart, in a sentence or two that are long \
                  enough to need a second line on most screens there are."
            .to_owned(),
        kind,
        metric,
        beside: None,
        x,
        series: series.to_vec(),
        only: Vec::new(),
    }
}

fn ladder() -> Outcome {
    let rungs: [(&'static str, f64, Option<f64>); 8] = [
        ("array table, one at a time, stride 2048", 2.7, Some(3.7)),
        ("stride 1920", 3.4, Some(5.0)),
        ("batch 4", 3.5, Some(5.6)),
        ("bucket prefetch", 4.9, Some(7.7)),
        ("2,097,152 heads", 9.9, Some(8.9)),
        ("batch 32, heads and arrays prefetched", 15.2, None),
        ("our set", 61.0, None),
        (
            "our set, stride of an odd number of lines, and a name that is too long",
            64.3,
            None,
        ),
    ];
    let rows = rungs.iter().map(|&(name, rate, _)| {
        row(
            &[("rung", name.into())],
            "frames_per_second",
            skewed(rate * 1e6, 0.08),
        )
    });
    let published = rungs
        .iter()
        .enumerate()
        .filter_map(|(row, &(_, _, figure))| {
            figure.map(|figure| Published {
                row,
                figure,
                unit: "Mpps",
                ratio: figure / 3.7,
            })
        });
    Outcome {
        rows: rows.collect(),
        published: published.collect(),
        charts: vec![chart(ChartKind::Bars, "frames_per_second", "rung", &[])],
        ..sample::outcome()
    }
}

fn designs() -> Outcome {
    let mut rows = Vec::new();
    for (design, rate) in [
        ("ours", 286.0),
        ("bucket16", 254.0),
        ("map8", 167.0),
        ("array", 19.0),
        ("list", 1.9),
    ] {
        for (stream, factor) in [("hit", 1.0), ("miss", 0.97), ("pair", 0.49)] {
            for entries in [10_000u64, 100_000, 1_000_000, 6_000_000, 64_000_000] {
                let falls = 6.0 / (entries as f64).log10();
                let fields = [
                    ("design", design.into()),
                    ("stream", stream.into()),
                    ("entries", entries.into()),
                    ("family", 4u64.into()),
                ];
                let rate = skewed(rate * factor * falls * 1e6, 0.05);
                rows.push(row(&fields, "lookups_per_second", rate));
            }
        }
    }
    let mut bars = chart(ChartKind::Bars, "lookups_per_second", "design", &["stream"]);
    bars.only = vec![("entries", 6_000_000u64.into())];
    let mut lines = chart(
        ChartKind::Lines,
        "lookups_per_second",
        "entries",
        &["design"],
    );
    lines.only = vec![("stream", "hit".into())];
    let all = chart(
        ChartKind::Lines,
        "lookups_per_second",
        "entries",
        &["design", "stream"],
    );
    let words = chart(
        ChartKind::Lines,
        "lookups_per_second",
        "stream",
        &["design", "entries"],
    );
    Outcome {
        rows,
        published: Vec::new(),
        charts: vec![
            bars,
            lines,
            all,
            Chart {
                only: vec![("entries", 10_000u64.into())],
                ..words
            },
        ],
        ..sample::outcome()
    }
}

fn memory() -> Outcome {
    let mut rows = Vec::new();
    for (pages, factor) in [("huge", 1.0), ("4 KiB", 1.8)] {
        for (place, mib) in [24u64, 64, 128, 512, 2048, 8192].into_iter().enumerate() {
            let fields = [
                ("bytes", (mib << 20).into()),
                ("pages", pages.into()),
                ("threads", 1u64.into()),
            ];
            let cost = 2.6 * factor * (1.0 + place as f64 * 0.9);
            rows.push(row(&fields, "ns_per_line", skewed(cost, -0.15)));
        }
    }
    let strides = [1920u64, 1984, 2048, 2112, 2176, 2240, 2304, 3072, 4096];
    for (place, stride) in strides.into_iter().enumerate() {
        let fields = [("stride", stride.into())];
        let rate = 4e8 / (1.0 + place as f64);
        rows.push(row(&fields, "frames_per_second", skewed(rate, 0.3)));
    }
    let mut crowded = chart(ChartKind::Lines, "frames_per_second", "stride", &[]);
    crowded.caption = String::new();
    Outcome {
        rows,
        published: vec![
            Published {
                row: 0,
                figure: 1.0,
                unit: "ns",
                ratio: 1.0,
            },
            Published {
                row: 3,
                figure: 7.0,
                unit: "ns",
                ratio: 7.0,
            },
        ],
        charts: vec![
            chart(ChartKind::Lines, "ns_per_line", "bytes", &["pages"]),
            crowded,
        ],
        ..sample::outcome()
    }
}
