//! What to do about blocks that lie badly, measured.

use crate::{Ratio, Samples};

/// A way to place the blocks, and what it gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remedy {
    /// All of the blocks this much further, bytes; none where each needs a distance of its own.
    pub apart_bytes: Option<u64>,
    /// How many times as fast as the default.
    pub speed: Ratio,
    /// Whether that is a difference.
    pub works: bool,
}

impl Remedy {
    /// None where the rounds are too few to tell.
    pub(super) fn checked(
        apart_bytes: Option<u64>,
        speeds: &Samples,
        default: &Samples,
        noise: f64,
    ) -> Option<Self> {
        let speed = Ratio::paired(speeds, default)?;
        Some(Self {
            apart_bytes,
            speed,
            works: speed.median > 1.0 && speed.differs(noise),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_works_or_it_does_not() {
        let samples = |speed: f64| {
            let mut samples = Samples::default();
            (0..6).for_each(|_| samples.push(speed));
            samples
        };
        for (speed, noise, works) in [(1.5, 0.1, true), (1.05, 0.1, false), (0.5, 0.1, false)] {
            let found = Remedy::checked(Some(64), &samples(speed), &samples(1.0), noise);
            assert_eq!(found.map(|remedy| remedy.works), Some(works), "{speed}");
        }
        assert_eq!(
            Remedy::checked(None, &Samples::default(), &Samples::default(), 0.0),
            None
        );
    }
}
