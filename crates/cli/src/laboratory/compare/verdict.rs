//! What is said of a row that two runs have.

use lab::{Better, Ratio};
use serde::Serialize;

/// The second run against the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Faster,
    Slower,
    NoDifference,
    /// Nobody knows which way this metric is better, or a sample is 0 or less.
    NotJudged,
    /// Too few samples for an interval.
    TooFew,
}

impl Verdict {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::NoDifference => "no difference",
            Self::NotJudged => "not judged",
            Self::TooFew => "too few samples",
        }
    }
}

/// A verdict and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    pub(super) verdict: Verdict,
    /// The speed of the second run over that of the first; for a metric that is not judged, the
    /// ratio of its figures.
    pub(super) ratio: Option<Ratio>,
}

/// Judges the samples of two runs, one row of `of`; a difference below `noise` is none.
pub(super) fn judge(
    metric: &str,
    (base, new): (&[f64], &[f64]),
    noise: f64,
    of: usize,
) -> Judgement {
    if base.iter().chain(new).any(|&sample| sample <= 0.0) {
        return Judgement {
            verdict: Verdict::NotJudged,
            ratio: None,
        };
    }
    let better = Better::of(metric);
    let figures = Ratio::unpaired(new, base, of);
    let ratio = figures.map(|ratio| match better {
        Some(Better::Lower) => ratio.inverse(),
        _ => ratio,
    });
    let verdict = match (better, ratio) {
        (None, _) => Verdict::NotJudged,
        (_, None) => Verdict::TooFew,
        (_, Some(ratio)) if !ratio.differs(noise) => Verdict::NoDifference,
        (_, Some(ratio)) if ratio.median > 1.0 => Verdict::Faster,
        _ => Verdict::Slower,
    };
    Judgement { verdict, ratio }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(middle: f64) -> Vec<f64> {
        (0..10)
            .map(|place| middle * (0.991 + 0.002 * f64::from(place)))
            .collect()
    }

    #[test]
    fn rates_and_costs_have_opposite_good_ends() {
        let verdict = |metric, base, new, noise| {
            judge(metric, (&around(base), &around(new)), noise, 1).verdict
        };
        assert_eq!(
            verdict("frames_per_second", 1e6, 1.2e6, 0.05),
            Verdict::Faster
        );
        assert_eq!(
            verdict("frames_per_second", 1e6, 0.8e6, 0.05),
            Verdict::Slower
        );
        assert_eq!(verdict("ns_per_frame", 10.0, 12.0, 0.05), Verdict::Slower);
        assert_eq!(verdict("ns_per_frame", 10.0, 8.0, 0.05), Verdict::Faster);
        assert_eq!(
            verdict("ns_per_frame", 10.0, 10.001, 0.0),
            Verdict::NoDifference
        );
        assert_eq!(
            verdict("ns_per_frame", 10.0, 12.0, 0.3),
            Verdict::NoDifference
        );
        assert_eq!(verdict("sets", 10.0, 12.0, 0.0), Verdict::NotJudged);
        let none = judge("ns_per_frame", (&[0.0; 9], &around(1.0)), 0.0, 1);
        assert_eq!((none.verdict, none.ratio), (Verdict::NotJudged, None));
        let few = judge("ns_per_frame", (&[1.0; 3], &[2.0; 3]), 0.0, 1);
        assert_eq!((few.verdict, few.ratio), (Verdict::TooFew, None));
    }

    #[test]
    fn the_ratio_is_that_of_speeds() {
        let cost = judge("ns_per_frame", (&around(10.0), &around(20.0)), 0.0, 1);
        let ratio = cost.ratio.expect("ten samples");
        assert!((ratio.median - 0.5).abs() < 0.01 && ratio.low < 0.5 && ratio.high > 0.5);
    }
}
