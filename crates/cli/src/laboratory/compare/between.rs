//! By how much runs of one program differ from each other.
//!
//! The rounds of a run say how steady the machine was while it lasted. Between two runs more
//! changes: what the neighbours of a virtual machine do, which pages memory is in. Only a further
//! run of the same program shows that.

use lab::Better;

use super::recorded::{RecordedRow, median};
use super::side::Side;

/// Rows of which share stay below what all rows are taken to differ by.
const SHARE: f64 = 0.9;
/// A difference counts from so many times what was seen: two runs rarely show all that there is.
/// With normal noise nine of ten rows are within 1.6 standard deviations, so that this makes 3.3,
/// which one row of a thousand passes.
const TIMES: f64 = 2.0;

/// What runs of one program differed by, by the rows of the first of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Between {
    /// Medians of the largest over those of the smallest, less 1; none without another run.
    rows: Vec<Option<f64>>,
    /// What nine rows of ten stayed below, of those whose metric is a speed or a cost.
    pub(super) most: Option<f64>,
}

impl Between {
    /// Of `base`, whose rows these are, and `nulls`, further runs of the same program.
    pub(super) fn of(rows: &[RecordedRow], base: &Side<'_>, nulls: &[Side<'_>]) -> Self {
        let medians = |at: usize| -> Vec<f64> {
            let sides = [base].into_iter().chain(nulls);
            let samples = sides.filter_map(|side| side.samples(at));
            samples.map(|samples| median(&samples)).collect()
        };
        let apart: Vec<Option<f64>> = (0..rows.len()).map(|at| spread(&medians(at))).collect();
        let judged = rows.iter().zip(&apart);
        let judged = judged.filter(|(row, _)| Better::of(&row.metric).is_some());
        let mut sorted: Vec<f64> = judged.filter_map(|(_, &apart)| apart).collect();
        sorted.sort_by(f64::total_cmp);
        let place = (sorted.len().saturating_sub(1) as f64 * SHARE).ceil() as usize;
        let most = sorted.get(place).copied();
        Self { rows: apart, most }
    }

    /// What a difference of this row must be larger than; 0 where no other run says anything.
    pub(super) fn noise(&self, at: usize) -> f64 {
        let own = self.rows.get(at).copied().flatten().unwrap_or(0.0);
        TIMES * own.max(self.most.unwrap_or(0.0))
    }
}

/// The largest over the smallest, less 1; none where there are not two, or one is no speed.
fn spread(medians: &[f64]) -> Option<f64> {
    let low = medians.iter().copied().fold(f64::MAX, f64::min);
    let high = medians.iter().copied().fold(0.0, f64::max);
    (medians.len() > 1 && low > 0.0).then(|| high / low - 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::recorded::Recorded;
    use super::super::recorded::sample::{row, run};
    use super::super::side::{level, sides};
    use super::*;

    fn steady(rates: &[f64]) -> Recorded {
        let rows = (1..).zip(rates);
        run(rows.map(|(at, &rate)| row(at, 1, vec![rate; 10])).collect())
    }

    fn between(base: &Recorded, nulls: &[&Recorded], relative: bool) -> Between {
        let mut sides = sides(base, nulls);
        if relative {
            level(base, &mut sides).expect("rows");
        }
        Between::of(&base.rows, &sides[0], &sides[1..])
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn nothing_is_known_of_one_run() {
        let between = between(&steady(&[1.0; 4]), &[], false);
        assert_eq!((between.most, between.noise(0)), (None, 0.0));
    }

    #[test]
    fn a_row_must_differ_by_more_than_it_and_most_others_do() {
        let base = steady(&[100.0, 100.0, 100.0, 100.0]);
        let nulls = [
            steady(&[101.0, 98.0, 100.0, 150.0]),
            steady(&[100.0, 100.0, 110.0, 125.0]),
        ];
        let found = between(&base, &[&nulls[0], &nulls[1]], false);
        close(found.most.expect("runs"), 0.5);
        close(found.noise(0), 1.0);
        // What all rows have in common is no difference among them.
        let relative = between(&base, &[&steady(&[50.0; 4])], true);
        close(relative.most.expect("a run"), 0.0);
    }

    /// With more rows the one that scatters does not stand for all; what is no speed for none.
    #[test]
    fn few_rows_do_not_stand_for_all() {
        let many = |last: f64, count: f64| {
            let mut rates = [100.0; 23];
            rates[19] = last;
            rates[20..].fill(count);
            let mut run = steady(&rates);
            run.rows[20..]
                .iter_mut()
                .for_each(|row| row.metric = "moved".to_owned());
            run
        };
        let found = between(&many(100.0, 1.0), &[&many(150.0, 9.0)], false);
        close(found.noise(0), 0.0);
        close(found.noise(19), 1.0);
        close(found.noise(20), 16.0);
    }
}
