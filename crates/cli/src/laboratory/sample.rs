//! Constructed runs for tests.

use engine::Machine;
use lab::{Chart, ChartKind, Conditions, LoadRecord, Noise, Outcome, Published, Row, Samples};

use super::facts::Facts;

/// Ten samples around `middle`, from a hundredth below to a hundredth above.
pub(super) fn around(middle: f64) -> Samples {
    let mut samples = Samples::default();
    for place in 0..10 {
        samples.push(middle * (0.991 + 0.002 * f64::from(place)));
    }
    samples
}

pub(super) fn row(design: &'static str, batch: u64, rate: f64) -> Row {
    Row {
        variant: vec![
            ("design", design.into()),
            ("batch", batch.into()),
            ("entries", 6_000_000u64.into()),
        ],
        metric: "frames_per_second",
        samples: around(rate),
    }
}

/// Three variants, two of them alike, with published figures beside two.
pub(super) fn outcome() -> Outcome {
    let mut noise = Noise {
        ratios: Samples::default(),
    };
    for place in 0..10 {
        noise.ratios.push(0.98 + 0.004 * f64::from(place));
    }
    let published = |row, figure, ratio| Published {
        row,
        figure,
        unit: "Mpps",
        ratio,
    };
    Outcome {
        rows: vec![
            row("array", 1, 4e6),
            row("array", 4, 4.004e6),
            row("ours", 32, 8e6),
        ],
        findings: vec!["ours is twice as fast".to_owned()],
        varies: vec!["Varied: design and batch.".to_owned()],
        skipped: vec!["NUMA: this machine has one node.".to_owned()],
        published: vec![published(0, 3.7, 1.0), published(2, 7.7, 7.7 / 3.7)],
        charts: vec![
            chart(ChartKind::Bars, "design"),
            chart(ChartKind::Lines, "batch"),
        ],
        noise: Some(noise),
    }
}

pub(super) fn chart(kind: ChartKind, x: &'static str) -> Chart {
    Chart {
        title: "Frames a second".to_owned(),
        caption: "Higher is better.".to_owned(),
        kind,
        metric: "frames_per_second",
        beside: None,
        x,
        series: if x == "design" {
            vec!["batch"]
        } else {
            vec!["design"]
        },
        only: Vec::new(),
    }
}

/// A run on a machine that does not exist.
pub(super) fn facts() -> Facts {
    let conditions = Conditions {
        machine: Machine {
            cpu: "A CPU".to_owned(),
            kernel: "6.1.0".to_owned(),
            cpus: 2,
            memory_available_bytes: 8 << 30,
        },
        governor: None,
        turbo: Some(true),
        threads_per_core: Some(2),
        transparent_huge_pages: Some("madvise".to_owned()),
        huge_pages_free_bytes: 0,
        numa_nodes: 1,
        virtual_machine: true,
        counters: false,
    };
    Facts {
        experiment: *lab::find("stride").expect("it exists"),
        quick: true,
        seed: 1,
        date: Some("2026-11-20T23:53:55Z".to_owned()),
        commit: Some("bc8c195"),
        debug: false,
        conditions,
        load: LoadRecord::default(),
        warnings: vec!["the CPU frequency governor is powersave".to_owned()],
        command: "linerate lab run stride --quick --seed 1".to_owned(),
    }
}
