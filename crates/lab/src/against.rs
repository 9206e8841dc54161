//! Every row against the first of its metric.

use crate::{Noise, Outcome, Ratio};

/// A row against the first of its metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The index of that first row.
    pub first: usize,
    /// Ours over the first, by the medians where the rounds do not match.
    pub median: f64,
    /// With its interval, where the rounds match and are enough.
    pub ratio: Option<Ratio>,
    /// False where it is no difference. True without an interval, when nobody can tell.
    pub differs: bool,
}

impl Outcome {
    /// The row of this index against the first of its metric; none for that first row itself.
    #[must_use]
    pub fn against_first(&self, row: usize) -> Option<Against> {
        let ours = self.rows.get(row)?;
        let first = self
            .rows
            .iter()
            .position(|base| base.metric == ours.metric)?;
        if first == row {
            return None;
        }
        let base = &self.rows[first].samples;
        let noise = self.noise.as_ref().map_or(0.0, Noise::share);
        let ratio = Ratio::paired(&ours.samples, base);
        let medians = ours.samples.median() / base.median();
        Some(Against {
            first,
            median: ratio.map_or(medians, |ratio| ratio.median),
            ratio,
            differs: ratio.is_none_or(|ratio| ratio.differs(noise)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Row, Samples};

    fn row(metric: &'static str, middle: f64, rounds: usize) -> Row {
        let mut samples = Samples::default();
        for round in 0..rounds {
            samples.push(middle * (1.0 + round as f64 / 100.0));
        }
        Row {
            variant: Vec::new(),
            metric,
            samples,
        }
    }

    #[test]
    fn rows_are_held_against_the_first_of_their_metric() {
        let mut noise = Noise {
            ratios: Samples::default(),
        };
        noise.ratios.push(1.05);
        let outcome = Outcome {
            rows: vec![
                row("ns_per_frame", 10.0, 10),
                row("frames_per_second", 1e6, 10),
                row("ns_per_frame", 10.4, 10),
                row("ns_per_frame", 20.0, 10),
                row("ns_per_frame", 20.0, 3),
            ],
            noise: Some(noise),
            ..Outcome::default()
        };
        assert_eq!(outcome.against_first(0), None);
        assert_eq!(outcome.against_first(1), None);
        assert_eq!(outcome.against_first(9), None);
        let found = |row| outcome.against_first(row).expect("not the first");
        assert_eq!((found(2).first, found(2).differs), (0, false));
        assert!(found(3).differs && found(3).ratio.is_some());
        assert!(found(4).differs && found(4).ratio.is_none() && found(4).median > 1.8);
    }
}
