//! Interleaved rounds of trials.

use std::hint::black_box;

use crate::experiment::{LabError, Settings};
use crate::shuffle::Seeded;
use crate::{Noise, Samples};

/// Lines that stack and arrays are shifted by, at most: a page.
const SHIFTS: u64 = 64;

/// One trial of one variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The round, from 0; the warm-up has no number of its own and says 0.
    pub round: usize,
    /// How many 64-byte lines to shift arrays by in this round; below 64. The stack is shifted
    /// already.
    pub shift_lines: usize,
    /// A seed for this round, the same for all its variants.
    pub seed: u64,
}

/// What interleaved rounds gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Interleaved {
    /// By variant.
    pub samples: Vec<Samples>,
    /// From variant 0, measured twice a round.
    pub noise: Noise,
}

/// Takes one sample of every variant a round, in a new random order each round, after one round
/// that is thrown away: a machine whose speed drifts slows all variants of a round alike. Variant
/// 0 is measured twice, and the difference of the two is the noise.
///
/// `measure` gives one sample. Layout alone has changed results by more than the effects
/// measured, so each round shifts the stack by a seeded multiple of 64 bytes and asks `measure`
/// to shift its arrays.
pub fn interleave(
    settings: &mut Settings<'_>,
    variants: usize,
    rounds: usize,
    mut measure: impl FnMut(usize, &Trial) -> f64,
) -> Interleaved {
    let mut seeded = Seeded::new(settings.seed);
    let mut order: Vec<usize> = (0..variants + usize::from(variants > 0)).collect();
    let mut samples = vec![Samples::default(); order.len()];
    for round in 0..=rounds {
        seeded.shuffle(&mut order);
        let trial = Trial {
            round: round.saturating_sub(1),
            shift_lines: (seeded.next() % SHIFTS) as usize,
            seed: seeded.next(),
        };
        for (trials, &place) in order.iter().enumerate() {
            let variant = if place == variants { 0 } else { place };
            let sample = shifted(trial.shift_lines, &mut || measure(variant, &trial));
            if round > 0 {
                samples[place].push(sample);
            }
            let done = round * order.len() + trials + 1;
            (settings.progress)(done, (rounds + 1) * order.len());
        }
    }
    let mut ratios = Samples::default();
    if let Some(again) = (variants > 0).then(|| samples.pop()).flatten() {
        for (again, first) in again.all().iter().zip(samples[0].all()) {
            ratios.push(again / first);
        }
    }
    Interleaved {
        samples,
        noise: Noise { ratios },
    }
}

/// As [`interleave`], of trials that can fail.
///
/// # Errors
/// That of the last trial that failed.
pub(crate) fn try_interleave(
    settings: &mut Settings<'_>,
    variants: usize,
    rounds: usize,
    mut measure: impl FnMut(usize, &Trial) -> Result<f64, LabError>,
) -> Result<Interleaved, LabError> {
    let mut failed = None;
    let found = interleave(settings, variants, rounds, |variant, trial| {
        measure(variant, trial).unwrap_or_else(|error| {
            failed = Some(error);
            f64::NAN
        })
    });
    failed.map_or(Ok(found), Err)
}

/// Calls `measure` with the stack this many lines lower.
#[inline(never)]
fn shifted(lines: usize, measure: &mut dyn FnMut() -> f64) -> f64 {
    if lines == 0 {
        return measure();
    }
    let line = black_box([0u8; 64]);
    let sample = shifted(lines - 1, measure);
    black_box(&line);
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(progress: &mut dyn FnMut(usize, usize)) -> Settings<'_> {
        Settings {
            quick: true,
            seed: 1,
            wire: None,
            progress,
        }
    }

    #[test]
    fn every_variant_is_sampled_once_a_round_after_a_warm_up() {
        let mut calls = [0; 3];
        let mut told = Vec::new();
        let mut progress = |done, total| told.push((done, total));
        let found = interleave(&mut settings(&mut progress), 3, 10, |variant, trial| {
            calls[variant] += 1;
            assert!(trial.round < 10 && trial.shift_lines < 64);
            variant as f64 + 1.0
        });
        assert_eq!(calls, [22, 11, 11]);
        let all = |variant: usize| found.samples[variant].all().to_vec();
        assert_eq!(all(2), [3.0; 10]);
        assert_eq!(found.noise.ratios.all(), [1.0; 10]);
        assert_eq!((told.len(), told.last()), (44, Some(&(44, 44))));
    }

    #[test]
    fn nothing_to_measure_is_no_error() {
        let found = interleave(&mut settings(&mut |_, _| {}), 0, 2, |_, _| 0.0);
        assert!(found.samples.is_empty() && found.noise.ratios.all().is_empty());
    }

    #[test]
    fn the_stack_moves_by_at_least_a_line() {
        let address = |lines| {
            let mut at = 0;
            shifted(lines, &mut || {
                let here = 0u8;
                at = std::ptr::from_ref(black_box(&here)).addr();
                0.0
            });
            at
        };
        assert!(address(0).abs_diff(address(8)) >= 8 * 64);
    }
}
