//! Samples of a run without what its rounds had in common.

use lab::Better;

use super::recorded::RecordedRow;

/// Samples over the geometric mean of their round's: what made all rows of a round slower alike
/// is gone. Rates and costs pull in opposite directions.
pub(super) fn levelled(rows: &[&RecordedRow]) -> Vec<Vec<f64>> {
    let rounds = rows.iter().map(|row| row.samples.len()).max().unwrap_or(0);
    let direction = |row: &RecordedRow| match Better::of(&row.metric) {
        Some(Better::Higher) => 1.0,
        Some(Better::Lower) => -1.0,
        None => 0.0,
    };
    let mean = |round: usize| {
        let speeds = rows.iter().filter(|row| direction(row) != 0.0);
        let logs: Vec<f64> = speeds
            .filter_map(|row| Some(row.samples.get(round)?.ln() * direction(row)))
            .filter(|log| log.is_finite())
            .collect();
        logs.iter().sum::<f64>() / logs.len().max(1) as f64
    };
    let means: Vec<f64> = (0..rounds).map(mean).collect();
    let level = |row: &&RecordedRow| {
        let samples = row.samples.iter().zip(&means);
        samples
            .map(|(sample, mean)| sample * (-mean * direction(row)).exp())
            .collect()
    };
    rows.iter().map(level).collect()
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
        let level = |rows: &[RecordedRow]| levelled(&rows.iter().collect::<Vec<_>>());
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
}
