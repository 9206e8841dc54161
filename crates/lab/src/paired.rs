//! Comparing samples of the same rounds.

use crate::Samples;

/// A quantity of two variants, computed round by round, so that a drift of the machine cancels.
pub(crate) fn paired(a: &Samples, b: &Samples, of: impl Fn(f64, f64) -> f64) -> Samples {
    let mut found = Samples::default();
    for (&a, &b) in a.all().iter().zip(b.all()) {
        found.push(of(a, b));
    }
    found
}

/// An interval that holds the true median with at least this confidence, whatever the
/// distribution (order statistics: the number of samples below the median is binomial); none
/// where the samples are too few for it.
pub(crate) fn median_interval(samples: &Samples, confidence: f64) -> Option<(f64, f64)> {
    let mut sorted = samples.all().to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    // Chance that at most `rank` of `count` samples lie below the median, summed term by term.
    let (mut term, mut below, mut rank) = (0.5f64.powi(i32::try_from(count).ok()?), 0.0, 0);
    while rank < count / 2 && 2.0 * (below + term) <= 1.0 - confidence {
        below += term;
        term *= (count - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    // The interval from the `rank`-th smallest to the `rank`-th largest, counted from one.
    (rank > 0).then(|| (sorted[rank - 1], sorted[count - rank]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(all: impl IntoIterator<Item = f64>) -> Samples {
        let mut samples = Samples::default();
        all.into_iter().for_each(|sample| samples.push(sample));
        samples
    }

    #[test]
    fn pairs_are_of_one_round() {
        let ratios = paired(&samples([2.0, 4.0, 9.0]), &samples([1.0, 2.0]), |a, b| {
            a / b
        });
        assert_eq!(ratios.all(), [2.0, 2.0]);
    }

    /// Ranks as in the tables of the sign test: 6 samples 1 and 6, 10 samples 2 and 9, 30 samples
    /// 10 and 21.
    #[test]
    fn ranks_are_those_of_the_sign_test() {
        let interval = |count: i32| median_interval(&samples((1..=count).map(f64::from)), 0.95);
        assert_eq!(interval(5), None);
        assert_eq!(interval(6), Some((1.0, 6.0)));
        assert_eq!(interval(10), Some((2.0, 9.0)));
        assert_eq!(interval(30), Some((10.0, 21.0)));
        assert_eq!(interval(0), None);
    }
}
