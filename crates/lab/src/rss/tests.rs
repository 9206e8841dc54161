//! The workload is what the page says.

use table::{FlowColumns, RssHash};
use wire::toeplitz::Key;

use super::spread::{BUCKETS, balanced, chi_square, counts, max_to_mean, zipf};
use super::*;

#[test]
fn spread_is_measured_as_it_is_named() {
    assert!((max_to_mean(&[1, 1, 2]) - 1.5).abs() < 1e-9);
    assert!((chi_square(&[5, 5, 5]) - 0.0).abs() < 1e-9);
    assert!((chi_square(&[0, 8]) - 8.0).abs() < 1e-9);
    let (_, random) = TRAFFIC[0];
    let random = counts(random, &Key::MICROSOFT, 3);
    assert_eq!(random.iter().sum::<u64>(), 4096);
    // 127 degrees of freedom: a standard deviation of 0.125.
    assert!((0.3..2.0).contains(&chi_square(&random)), "{random:?}");
    // A sequence of addresses is a linear space: evenly spread by a key of full rank.
    let (_, sequence) = TRAFFIC[3];
    assert_eq!(
        counts(sequence, &Key::MICROSOFT, 3),
        [4096 / BUCKETS as u64; BUCKETS]
    );
}

#[test]
fn balancing_takes_load_off_the_busier() {
    for (_, exponent) in EXPONENTS {
        for seed in 0..20 {
            let loads = zipf(exponent, seed);
            let (before, after, moved) = balanced(&loads);
            assert!(after <= before, "{exponent} {seed}");
            assert!(moved > 0 || after >= before, "{exponent} {seed}");
        }
    }
}

#[test]
fn ways_agree_and_workers_work() {
    let (columns, key) = (cost::Columns::new(5), Key::MICROSOFT);
    let flows: FlowColumns<'_, u32> = columns.burst(64);
    let mut hashes = [0; cost::BURST];
    RssHash::new(&key).hash_v4(flows, &mut hashes);
    let plain = cost::Plain::new(&key);
    for (at, hash) in hashes.iter().enumerate() {
        let words = [flows.src[at], flows.dst[at], flows.ports[at]];
        let bytes = words.map(u32::to_be_bytes).concat();
        assert_eq!(plain.hash(&bytes), *hash);
    }
    let cpus = engine::allowed_cpus();
    assert!(workers::placed(&cpus, Duration::from_nanos(1)) > 0.0);
    assert!(workers::pairs(&cpus[..1]).is_none(), "one CPU is no pair");
}

#[test]
fn the_linear_line_is_one_worker_times_their_number() {
    let mut samples = Samples::default();
    samples.push(5.0);
    let row = |workers| Row {
        variant: workers::variant("apart", workers),
        metric: "frames_per_second",
        samples: samples.clone(),
    };
    let mut rows = vec![row(1), row(2)];
    add_linear(&mut rows);
    let linear = rows.iter().find(|row| of_workers(row, "linear", 2));
    assert_eq!(linear.expect("of two").samples.all(), [10.0]);
    assert!(
        findings(&rows)
            .iter()
            .any(|finding| finding.contains("0.50 of 2 times one"))
    );
}
