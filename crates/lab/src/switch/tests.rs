//! Trials of few frames, and sentences of made-up rows.

use super::*;

#[test]
fn every_variant_is_measured_and_loses_nothing() {
    let variants = variants();
    assert_eq!(variants[0].path, Path::Bridge);
    for variant in variants {
        let nanos = trial_of(variant, 3, [8_000, 16_000]).expect("a trial");
        assert!(nanos > 0.0, "{variant:?}");
    }
}

#[test]
fn each_finding_has_its_rows() {
    let row = |(number, variant): (usize, &Variant)| {
        let mut samples = Samples::default();
        samples.push(1.0 / (number as f64 + 1.0));
        Row {
            variant: vec![
                ("path", variant.path.name().into()),
                ("ports", u64::from(variant.ports).into()),
                ("stations", variant.stations.into()),
                ("changes", if variant.changes { "yes" } else { "no" }.into()),
            ],
            metric: METRIC,
            samples,
        }
    };
    let rows: Vec<Row> = variants().iter().enumerate().map(row).collect();
    for sentence in findings(&rows) {
        assert!(!sentence.contains("NaN"), "{sentence}");
    }
}
