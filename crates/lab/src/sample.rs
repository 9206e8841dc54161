//! Samples of one quantity and what may be said of them.

/// Every sample of one variant, in the order taken. The quantity is skewed, since disturbances
/// only ever slow a machine down: the median and the quartiles are said of it, never a mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Keeps one more sample.
    pub fn push(&mut self, sample: f64) {
        self.0.push(sample);
    }

    /// All samples, in the order taken.
    #[must_use]
    pub fn all(&self) -> &[f64] {
        &self.0
    }

    /// The middle sample; not a number where there is none.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The first quartile.
    #[must_use]
    pub fn low(&self) -> f64 {
        self.quantile(0.25)
    }

    /// The third quartile.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.quantile(0.75)
    }

    /// The value below which this share of the samples lies, 0 to 1, between neighbours by
    /// distance.
    fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else {
            return f64::NAN;
        };
        let place = share.clamp(0.0, 1.0) * last as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(last);
        sorted[below] + (sorted[above] - sorted[below]) * place.fract()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        let mut samples = Samples::default();
        assert!(samples.median().is_nan());
        for sample in [4.0, 1.0, 3.0, 2.0] {
            samples.push(sample);
        }
        assert_eq!(
            (samples.low(), samples.median(), samples.high()),
            (1.75, 2.5, 3.25)
        );
        assert_eq!(samples.all(), [4.0, 1.0, 3.0, 2.0]);
        samples.push(100.0);
        assert_eq!(samples.median(), 3.0);
    }
}
