//! Interleaved rounds.

use crate::Samples;
use crate::shuffle::Seeded;

/// Takes one sample of every variant a round, in a new random order each round, after one round
/// that is thrown away. A machine whose speed drifts slows all variants of a round alike.
///
/// `measure(variant)` gives one sample; `progress(done, total)` is told after each round.
pub fn rounds(
    variants: usize,
    rounds: usize,
    seed: u64,
    mut measure: impl FnMut(usize) -> f64,
    mut progress: impl FnMut(usize, usize),
) -> Vec<Samples> {
    let mut seeded = Seeded::new(seed);
    let mut order: Vec<usize> = (0..variants).collect();
    let mut samples = vec![Samples::default(); variants];
    for &variant in &order {
        measure(variant);
    }
    for round in 0..rounds {
        seeded.shuffle(&mut order);
        for &variant in &order {
            samples[variant].push(measure(variant));
        }
        progress(round + 1, rounds);
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_is_sampled_once_a_round_after_a_warm_up() {
        let mut calls = [0; 3];
        let mut told = Vec::new();
        let samples = rounds(
            3,
            10,
            1,
            |variant| {
                calls[variant] += 1;
                f64::from(calls[variant])
            },
            |done, total| told.push((done, total)),
        );
        assert_eq!(calls, [11; 3]);
        assert_eq!(told.last(), Some(&(10, 10)));
        for samples in samples {
            let expected: Vec<f64> = (2..=11).map(f64::from).collect();
            assert_eq!(samples.all(), expected);
        }
    }
}
