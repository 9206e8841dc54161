//! A run as it stands against the first.

use super::levelled::{Level, has_speeds};
use super::matched::Matched;
use super::recorded::{Recorded, RecordedRow};

/// A run whose rows are known by their places in the first run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Side<'a> {
    run: &'a Recorded,
    /// For each row of the first run, the place of this one's.
    partners: Vec<Option<usize>>,
    level: Level,
}

impl<'a> Side<'a> {
    fn new(base: &Recorded, run: &'a Recorded) -> Self {
        let rows = base.rows.len();
        let partners = match std::ptr::eq(base, run) {
            true => (0..rows).map(Some).collect(),
            false => Matched::of(&base.rows, &run.rows).partners(rows),
        };
        Self {
            run,
            partners,
            level: Level::default(),
        }
    }

    /// Its row for the row `at` of the first run.
    fn row(&self, at: usize) -> Option<&'a RecordedRow> {
        Some(&self.run.rows[self.partners[at]?])
    }

    /// The samples of that row, without what its rounds had in common if that is asked for.
    pub(super) fn samples(&self, at: usize) -> Option<Vec<f64>> {
        Some(self.level.taken_out_of(self.row(at)?))
    }

    /// Whether it has any row of the first run.
    pub(super) fn has_some(&self) -> bool {
        self.partners.iter().any(Option::is_some)
    }

    fn rounds(&self) -> usize {
        let samples = self.run.rows.iter().map(|row| row.samples.len());
        samples.max().unwrap_or(0)
    }
}

/// The first run and the others, each against the first.
pub(super) fn sides<'a>(base: &'a Recorded, others: &[&'a Recorded]) -> Vec<Side<'a>> {
    let all = [base].into_iter().chain(others.iter().copied());
    all.map(|run| Side::new(base, run)).collect()
}

/// From now on samples are over the mean of their round, taken over the rows that all have: each
/// of them is the same mixture then.
///
/// The error is a sentence: fewer than two rows have no mean to be held against.
pub(super) fn level(base: &Recorded, sides: &mut [Side<'_>]) -> Result<(), String> {
    let rounds: Vec<usize> = sides.iter().map(Side::rounds).collect();
    let in_all = |&at: &usize| {
        let mut all = sides.iter().zip(&rounds);
        all.all(|(side, &rounds)| side.row(at).is_some_and(|row| has_speeds(row, rounds)))
    };
    let common: Vec<usize> = (0..base.rows.len()).filter(in_all).collect();
    if common.len() < 2 {
        return Err(format!(
            "--relative needs two rows or more with a speed each round in all runs, and there is \
             {}: leave it out",
            if common.is_empty() { "none" } else { "one" }
        ));
    }
    for side in sides {
        let rows: Vec<&RecordedRow> = common.iter().filter_map(|&at| side.row(at)).collect();
        side.level = Level::of(&rows);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::recorded::sample::{row, run};
    use super::*;

    fn rates(rates: &[(u64, f64)]) -> Recorded {
        let rows = rates
            .iter()
            .map(|&(entries, rate)| row(entries, 1, vec![rate; 10]));
        run(rows.collect())
    }

    #[test]
    fn all_runs_are_held_against_the_rows_that_all_have() {
        let base = rates(&[(1, 100.0), (2, 100.0), (3, 1.0)]);
        let (new, null) = (
            rates(&[(1, 50.0), (2, 50.0), (3, 1.0)]),
            rates(&[(2, 10.0), (1, 10.0)]),
        );
        let mut sides = sides(&base, &[&new, &null]);
        level(&base, &mut sides).expect("two rows");
        for side in &sides {
            for at in [0, 1] {
                let samples = side.samples(at).expect("a row");
                assert!((samples[0] - 1.0).abs() < 1e-9, "{samples:?}");
            }
        }
        assert_eq!(sides[2].samples(2), None);
        let third = |side: usize| sides[side].samples(2).expect("a row")[0];
        assert!((third(1) / third(0) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn one_row_is_relative_to_nothing() {
        let (base, new) = (rates(&[(1, 1.0), (2, 1.0)]), rates(&[(1, 1.0)]));
        let mut sides = sides(&base, &[&new]);
        let refused = level(&base, &mut sides).expect_err("one row");
        assert!(refused.contains("there is one"), "{refused}");
    }
}
