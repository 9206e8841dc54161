//! Quantities of two variants, computed round by round, so that a drift of the machine cancels.

use crate::{Ratio, Samples};

/// A sample a round, of the two of that round.
pub(crate) fn paired(a: &Samples, b: &Samples, of: impl Fn(f64, f64) -> f64) -> Samples {
    let mut found = Samples::default();
    for (&a, &b) in a.all().iter().zip(b.all()) {
        found.push(of(a, b));
    }
    found
}

/// The median with its 95 % interval, `decimals` behind the point; alone where the samples are too
/// few for an interval.
pub(crate) fn with_interval(samples: &Samples, decimals: usize) -> String {
    let median = samples.median();
    // The interval of the ratio to one: what `Ratio` says of ratios holds for any quantity.
    let mut ones = Samples::default();
    samples.all().iter().for_each(|_| ones.push(1.0));
    match Ratio::paired(samples, &ones) {
        Some(Ratio { low, high, .. }) => {
            format!("{median:.decimals$} [{low:.decimals$} to {high:.decimals$}]")
        }
        None => format!("{median:.decimals$}"),
    }
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

    /// Ranks as in the tables of the sign test: 10 samples, the second and the ninth.
    #[test]
    fn an_interval_is_that_of_the_sign_test() {
        let count = |count: i32| samples((-2..count - 2).map(f64::from));
        assert_eq!(with_interval(&count(10), 1), "2.5 [-1.0 to 6.0]");
        assert_eq!(with_interval(&count(5), 0), "0");
    }
}
