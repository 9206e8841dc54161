//! One variant against another: the ratio, and how sure it is.
//!
//! No distribution is assumed, since disturbances only ever slow a machine down: the interval of
//! paired rounds is that of the sign test (two of their order statistics), the interval of two
//! runs that of Mann and Whitney (two of the order statistics of all quotients).

use crate::Samples;

/// Half-width of a normal 95 % interval, in standard deviations.
const SIGMAS: f64 = 1.96;
/// How often an interval may miss what it is of.
const MISSES: f64 = 0.05;
/// From here on the normal approximation of a binomial serves, and 2^-n would be no number.
const PAIRS_EXACT_MAX: usize = 200;

/// A ratio with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The middle one.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Ratio {
    /// `ours` over `base`, round by round: samples of the same index come from the same round.
    /// None where the rounds do not match or are fewer than six, too few for any 95 % interval.
    #[must_use]
    pub fn paired(ours: &Samples, base: &Samples) -> Option<Self> {
        if ours.all().len() != base.all().len() {
            return None;
        }
        let pairs = ours.all().iter().zip(base.all());
        let mut ratios: Vec<f64> = pairs.map(|(ours, base)| ours / base).collect();
        let below = sign_test(ratios.len())?;
        Some(Self::without(&mut ratios, below))
    }

    /// `ours` over `base` where the rounds of the two have nothing to do with each other, as in
    /// two runs. It is one of `of` such intervals, all of which together are right in 95 % of all
    /// cases (Bonferroni): of a hundred rows five would differ by chance otherwise. None where the
    /// samples are too few for such an interval, as fewer than four of either always are.
    ///
    /// It tells whether the runs differ, not why: a machine whose speed drifts between two runs
    /// makes them differ.
    #[must_use]
    pub fn unpaired(ours: &[f64], base: &[f64], of: usize) -> Option<Self> {
        let below = rank_test(ours.len(), base.len(), of)?;
        let quotient = |ours: f64| base.iter().map(move |base| ours / base);
        let mut ratios: Vec<f64> = ours.iter().flat_map(|&ours| quotient(ours)).collect();
        Some(Self::without(&mut ratios, below))
    }

    /// Whether it is a difference: 1 lies outside of the interval, and the faster is faster by
    /// more than `noise`, the share by which one variant differs from itself.
    #[must_use]
    pub fn differs(&self, noise: f64) -> bool {
        let outside = self.low > 1.0 || self.high < 1.0;
        outside && apart(self.median) > noise
    }

    /// The other way round.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            median: 1.0 / self.median,
            low: 1.0 / self.high,
            high: 1.0 / self.low,
        }
    }

    /// With `below` ratios left out at either end. Selecting is enough: all quotients of two rows
    /// are too many to sort for nothing.
    fn without(ratios: &mut [f64], below: usize) -> Self {
        let last = ratios.len() - 1;
        let mut at = |place: usize| *ratios.select_nth_unstable_by(place, f64::total_cmp).1;
        Self {
            median: (at(last / 2) + at(last.div_ceil(2))) / 2.0,
            low: at(below),
            high: at(last - below),
        }
    }
}

/// By what share the larger of two is larger, whichever stands above: 0.25 for 0.8 and for 1.25.
/// As a distance from 1 no ratio below it could ever be as much as 1.
pub(crate) fn apart(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

/// How many order statistics of `count` pairs may be left out at either end, so that the rest
/// holds the median in at least 95 % of all cases.
fn sign_test(count: usize) -> Option<usize> {
    if count > PAIRS_EXACT_MAX {
        let half = count as f64 / 2.0 - SIGMAS / 2.0 * (count as f64).sqrt();
        return Some(half.floor() as usize - 1);
    }
    let mut chance = 0.5f64.powi(count as i32);
    let mut sum = chance;
    let mut below = None;
    for left_out in 0..count {
        if sum > 0.025 {
            break;
        }
        below = Some(left_out);
        chance *= (count - left_out) as f64 / (left_out + 1) as f64;
        sum += chance;
    }
    below
}

/// The same for all quotients of `a` and `b` samples, of which `of` intervals are asked for.
fn rank_test(a: usize, b: usize, of: usize) -> Option<usize> {
    let misses = MISSES / of.max(1) as f64;
    if a.min(b) < 4 || orders_of(a, b) < 2.0 / misses {
        return None;
    }
    let (a, b) = (a as f64, b as f64);
    let half = a * b / 2.0 - sigmas(misses / 2.0) * (a * b * (a + b + 1.0) / 12.0).sqrt();
    // Below 0 where the normal approximation asks for more than the samples can tell.
    Some((half.floor() as usize).saturating_sub(1))
}

/// In how many orders `a` and `b` samples can stand. That they lie apart, all of one above all of
/// the other, is two of them.
fn orders_of(a: usize, b: usize) -> f64 {
    let factor = |place: usize| (b + place) as f64 / place as f64;
    (1..=a).map(factor).product()
}

/// How many standard deviations a normal variable exceeds in this share of all cases, to 0.0005
/// (Abramowitz and Stegun, 26.2.23).
fn sigmas(share: f64) -> f64 {
    let t = (-2.0 * share.ln()).sqrt();
    let over = 2.515517 + t * (0.802853 + t * 0.010328);
    let under = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    t - over / under
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shuffle::Seeded;

    fn samples(all: impl IntoIterator<Item = f64>) -> Samples {
        let mut samples = Samples::default();
        all.into_iter().for_each(|sample| samples.push(sample));
        samples
    }

    #[test]
    fn order_statistics_are_those_of_the_tables() {
        // The usual table of the sign test at 95 %: how many to leave out of n.
        let table = [
            (5, None),
            (6, Some(0)),
            (10, Some(1)),
            (15, Some(3)),
            (25, Some(7)),
        ];
        for (count, below) in table {
            assert_eq!(sign_test(count), below, "{count}");
        }
        // Where exact and approximate meet they agree to one.
        let exact = sign_test(200).expect("many");
        assert!(sign_test(201).expect("many").abs_diff(exact) <= 1);
        // The usual table of Mann and Whitney: 23 of 100 for two times ten, 64 of 225.
        assert_eq!(rank_test(10, 10, 1), Some(23));
        assert_eq!(rank_test(15, 15, 1), Some(64));
        assert_eq!(rank_test(3, 100, 1), None);
        // Its table for 1 %, which five intervals of 5 % need, says 16: this is a little wider.
        assert_eq!(rank_test(10, 10, 5), Some(14));
    }

    /// Usual quantiles, and what ten samples of each can tell at most: 184,756 orders.
    #[test]
    fn many_intervals_are_wider() {
        for (share, expected) in [(0.025, 1.960), (0.005, 2.576), (0.0001, 3.719)] {
            assert!((sigmas(share) - expected).abs() < 0.001, "{share}");
        }
        assert_eq!(orders_of(10, 10).round(), 184_756.0);
        assert_eq!(rank_test(10, 10, 1_000), Some(0));
        assert_eq!(rank_test(10, 10, 10_000), None);
        assert_eq!(rank_test(4, 4, 2), None);
    }

    #[test]
    fn paired_rounds_are_blind_to_drift() {
        let drift = [1.0, 2.0, 0.5, 1.5, 3.0, 1.0, 2.5, 0.7, 1.1, 1.9];
        let base = samples(drift);
        let ours = samples(drift.map(|speed| speed * 1.25));
        let ratio = Ratio::paired(&ours, &base).expect("ten rounds");
        assert!(ratio.low > 1.2499 && ratio.high < 1.2501, "{ratio:?}");
        assert!(ratio.differs(0.1) && !ratio.differs(0.3));
        assert!(ratio.inverse().differs(0.24) && !ratio.inverse().differs(0.26));
        let tenth = Ratio::paired(&base, &samples(drift.map(|speed| speed * 10.0)));
        let tenth = tenth.expect("ten rounds");
        assert!(tenth.differs(8.9) && tenth.inverse().differs(8.9));
        assert!((ratio.inverse().median - 0.8).abs() < 1e-9);
    }

    #[test]
    fn rounds_that_do_not_match_have_no_ratio() {
        let six = samples([1.0; 6]);
        assert_eq!(Ratio::paired(&six, &samples([1.0; 7])), None);
        assert_eq!(Ratio::paired(&samples([1.0; 5]), &samples([1.0; 5])), None);
        assert!(!Ratio::paired(&six, &six).expect("six").differs(0.0));
    }

    #[test]
    fn an_interval_holds_the_truth_in_at_least_nine_cases_of_ten() {
        let seed = 7;
        let mut seeded = Seeded::new(seed);
        let mut draw = || {
            let uniform = (seeded.next() >> 11) as f64 / (1u64 << 53) as f64;
            // Skewed, as times are.
            1.0 + uniform.powi(4)
        };
        let (mut paired, mut unpaired) = (0, 0);
        let holds =
            |ratio: Option<Ratio>| ratio.is_some_and(|ratio| ratio.low <= 1.0 && 1.0 <= ratio.high);
        for _ in 0..1000 {
            let ours = samples((0..12).map(|_| draw()));
            let base = samples((0..12).map(|_| draw()));
            paired += i32::from(holds(Ratio::paired(&ours, &base)));
            unpaired += i32::from(holds(Ratio::unpaired(ours.all(), base.all(), 1)));
        }
        assert!(
            paired > 930 && unpaired > 930,
            "{paired} {unpaired}, seed {seed}"
        );
        assert!(
            paired < 1000 && unpaired < 1000,
            "the intervals are not infinite"
        );
    }
}
