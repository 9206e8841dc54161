//! What the harness calls a difference where there is none.

use crate::Samples;
use crate::ratio::apart;

/// The outcome of a null run: one variant measured twice a round, as if it were two.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise {
    /// The second measurement over the first, one a round.
    pub ratios: Samples,
}

impl Noise {
    /// The relative difference that the null run reached in nine of ten rounds: a smaller one
    /// between two variants is no difference. 0 where there were no rounds.
    #[must_use]
    pub fn share(&self) -> f64 {
        let mut away: Vec<f64> = self.ratios.all().iter().map(|&r| apart(r)).collect();
        away.sort_by(f64::total_cmp);
        let place = (away.len() * 9).div_ceil(10);
        place.checked_sub(1).map_or(0.0, |place| away[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_rounds_of_ten_stay_below() {
        let mut ratios = Samples::default();
        assert_eq!(
            Noise {
                ratios: ratios.clone()
            }
            .share(),
            0.0
        );
        for ratio in [1.0, 1.01, 0.99, 1.02, 1.0, 1.0, 1.0, 1.0, 1.0 / 1.03, 1.5] {
            ratios.push(ratio);
        }
        assert!((Noise { ratios }.share() - 0.03).abs() < 1e-9);
    }
}
