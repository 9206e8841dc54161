//! By how much runs of one program differ from each other.
//!
//! The rounds of a run say how steady the machine was while it lasted. Between two runs more
//! changes: what the neighbours of a virtual machine do, which pages memory is in. Only a further
//! run of the same program shows that.

use super::matched::Matched;
use super::pairs::samples;
use super::recorded::{Recorded, median};

/// Rows of which share stay below what all rows are taken to differ by.
const SHARE: f64 = 0.9;
/// A difference counts from so many times what was seen: two runs rarely show all that there is.
/// With normal noise nine of ten rows are within 1.6 standard deviations, so that this makes 3.3,
/// which one row of a thousand passes.
const TIMES: f64 = 2.0;

/// What runs of one program differed by, by the rows of the first of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Between {
    /// Medians of the slowest over those of the fastest, less 1; none without another run.
    rows: Vec<Option<f64>>,
    /// What nine rows of ten stayed below.
    pub(super) most: Option<f64>,
}

impl Between {
    /// Of `base` and the `nulls`, further runs of the same program; with `relative`, each sample
    /// over its round's mean.
    pub(super) fn of(base: &Recorded, nulls: &[Recorded], relative: bool) -> Self {
        let mut ends = vec![Ends::default(); base.rows.len()];
        for null in nulls {
            let matched = Matched::of(&base.rows, &null.rows);
            let (first, again) = samples(&base.rows, &null.rows, &matched, relative);
            for ((&(at, _), first), again) in matched.both.iter().zip(&first).zip(&again) {
                ends[at].widen(median(first));
                ends[at].widen(median(again));
            }
        }
        let rows: Vec<Option<f64>> = ends.iter().map(Ends::apart).collect();
        let mut sorted: Vec<f64> = rows.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let place = (sorted.len().saturating_sub(1) as f64 * SHARE).ceil() as usize;
        let most = sorted.get(place).copied();
        Self { rows, most }
    }

    /// What a difference of this row must be larger than; 0 where no other run says anything.
    pub(super) fn noise(&self, place: usize) -> f64 {
        let own = self.rows.get(place).copied().flatten().unwrap_or(0.0);
        TIMES * own.max(self.most.unwrap_or(0.0))
    }
}

/// The slowest and the fastest of a row's medians.
#[derive(Clone, Copy, Debug, Default)]
struct Ends(Option<(f64, f64)>);

impl Ends {
    fn widen(&mut self, median: f64) {
        let (low, high) = self.0.unwrap_or((median, median));
        self.0 = Some((low.min(median), high.max(median)));
    }

    fn apart(&self) -> Option<f64> {
        let (low, high) = self.0?;
        (low > 0.0).then(|| high / low - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorded::sample::{row, run};
    use super::*;

    fn steady(rates: [f64; 4]) -> Recorded {
        let rows = (1..)
            .zip(rates)
            .map(|(entries, rate)| row(entries, 1, vec![rate; 10]));
        run(rows.collect())
    }

    #[test]
    fn nothing_is_known_of_one_run() {
        let between = Between::of(&steady([1.0; 4]), &[], false);
        assert_eq!((between.most, between.noise(0)), (None, 0.0));
    }

    #[test]
    fn a_row_must_differ_by_more_than_it_and_most_others_do() {
        let base = steady([100.0, 100.0, 100.0, 100.0]);
        let nulls = [
            steady([101.0, 98.0, 100.0, 150.0]),
            steady([100.0, 100.0, 110.0, 125.0]),
        ];
        let between = Between::of(&base, &nulls, false);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(between.most.expect("runs"), 0.5);
        close(between.noise(0), 1.0);
        // With more rows the one that scatters does not stand for all.
        let many = |last: f64| {
            let rows = (0..20).map(|at| row(at, 1, vec![if at < 19 { 100.0 } else { last }; 10]));
            run(rows.collect())
        };
        let between = Between::of(&many(100.0), &[many(150.0)], false);
        close(between.noise(0), 0.0);
        close(between.noise(19), 1.0);
        // What all rows have in common is no difference among them.
        let relative = Between::of(&base, &[steady([50.0; 4])], true);
        close(relative.most.expect("a run"), 0.0);
    }
}
