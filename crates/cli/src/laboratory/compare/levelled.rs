//! Samples of a run without what its rounds had in common.

use lab::Better;

use super::recorded::RecordedRow;

/// The logarithm of each round's mean speed; none where nothing is to be taken out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Level(Vec<f64>);

impl Level {
    /// The geometric mean of each round over these rows, which all have all rounds: what made all
    /// of them slower alike. Rates and costs pull in opposite directions.
    pub(super) fn of(rows: &[&RecordedRow]) -> Self {
        let rounds = rows.iter().map(|row| row.samples.len()).max().unwrap_or(0);
        let mean = |round: usize| {
            let logs = rows
                .iter()
                .filter_map(|row| Some(row.samples.get(round)?.ln() * direction(row)));
            logs.sum::<f64>() / rows.len().max(1) as f64
        };
        Self((0..rounds).map(mean).collect())
    }

    /// The samples of a row without it. Samples that are not one a round stay as they are.
    pub(super) fn taken_out_of(&self, row: &RecordedRow) -> Vec<f64> {
        if row.samples.len() != self.0.len() {
            return row.samples.clone();
        }
        let samples = row.samples.iter().zip(&self.0);
        samples
            .map(|(sample, mean)| sample * (-mean * direction(row)).exp())
            .collect()
    }
}

/// Whether a row can be part of a mean over rows of so many rounds.
pub(super) fn has_speeds(row: &RecordedRow, rounds: usize) -> bool {
    let is_whole = row.samples.len() == rounds && row.samples.iter().all(|&sample| sample > 0.0);
    is_whole && Better::of(&row.metric).is_some()
}

fn direction(row: &RecordedRow) -> f64 {
    match Better::of(&row.metric) {
        Some(Better::Higher) => 1.0,
        Some(Better::Lower) => -1.0,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorded::sample::row;
    use super::super::verdict::{Verdict, judge};
    use super::*;

    #[test]
    fn levelled_rounds_forget_the_machine() {
        let drift = [1.0, 2.0, 0.5, 1.5, 3.0, 1.0, 2.5, 0.7, 1.1, 1.9];
        let slow = |speed: f64| drift.map(|drift| speed * drift * 0.6).to_vec();
        let fast = |speed: f64| drift.map(|drift| speed / drift).to_vec();
        let base = [
            row(1, 1, fast(100.0)),
            row(2, 1, fast(50.0)),
            row(3, 1, fast(10.0)),
        ];
        let new = [
            row(1, 1, slow(100.0)),
            row(2, 1, slow(50.0)),
            row(3, 1, slow(5.0)),
        ];
        let level = |rows: &[RecordedRow]| {
            let level = Level::of(&rows.iter().collect::<Vec<_>>());
            let samples = rows.iter().map(|row| level.taken_out_of(row));
            samples.collect::<Vec<_>>()
        };
        let (bases, news) = (level(&base), level(&new));
        let verdict = |place: usize| {
            judge("lookups_per_second", (&bases[place], &news[place]), 0.0, 1)
                .ratio
                .expect("ten")
                .median
        };
        // A third of what one row lost in the mean of three is what the others gain.
        assert!((verdict(2) / verdict(0) - 0.5).abs() < 1e-6);
        assert!((verdict(0) - 2f64.cbrt()).abs() < 1e-6);
        assert_eq!(
            judge("lookups_per_second", (&bases[2], &news[2]), 0.1, 1).verdict,
            Verdict::Slower
        );
    }

    #[test]
    fn a_row_that_is_no_speed_a_round_is_no_part_of_it() {
        let mut count = row(1, 1, vec![2.0; 10]);
        assert!(has_speeds(&count, 10) && !has_speeds(&count, 9));
        count.samples[3] = 0.0;
        assert!(!has_speeds(&count, 10));
        count.samples[3] = 1.0;
        count.metric = "moved".to_owned();
        assert!(!has_speeds(&count, 10));
        let level = Level::of(&[&row(1, 1, vec![2.0; 10])]);
        assert_eq!(level.taken_out_of(&row(1, 1, vec![7.0])), [7.0]);
        assert_eq!(Level::default().taken_out_of(&count), count.samples);
    }
}
