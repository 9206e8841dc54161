//! A histogram of latencies: fixed size, bounded relative error.

/// Buckets of an octave, as a power of two: a value is known to one part in 128 at worst.
const SUB_BITS: u32 = 7;
const SUB: u64 = 1 << SUB_BITS;
/// Values of so many bits; greater ones count as the greatest.
const VALUE_BITS: u32 = 47;
/// Values below `SUB` exactly, then one half-filled group an octave.
const BUCKETS: usize = (SUB as usize) * (1 + (VALUE_BITS - SUB_BITS) as usize);

/// Counts of values in ns, in buckets whose width is at most 1/128 of what is in them.
#[derive(Clone)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// Latencies in ns: each percentile is at least the true one and above it by at most 0.8 %.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LatencyReport {
    /// How many were measured. All others are 0 where this is.
    pub count: u64,
    /// Exact.
    pub min: u64,
    /// Exact up to rounding.
    pub mean: f64,
    /// Half are not above it.
    pub p50: u64,
    /// 90 % are not above it.
    pub p90: u64,
    /// 99 % are not above it.
    pub p99: u64,
    /// 99.9 % are not above it.
    pub p999: u64,
    /// Exact.
    pub max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }
}

impl Histogram {
    /// An empty one: 42 KB.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value, in ns.
    #[inline]
    pub fn record(&mut self, nanos: u64) {
        self.record_many(nanos, 1);
    }

    /// Counts one value, in ns, as if it had come `times` times.
    #[inline]
    pub fn record_many(&mut self, nanos: u64, times: u64) {
        if times == 0 {
            return;
        }
        if let Some(count) = self.counts.get_mut(bucket(nanos)) {
            *count += times;
        }
        self.count += times;
        self.sum += u128::from(nanos) * u128::from(times);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
    }

    /// Adds what another counted.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// How many values were counted.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The least value that at least `share` of all values do not exceed, rounded up to the end of
    /// its bucket; 0 when there are none.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = ((share.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let reached = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        reached.map_or(self.max, |index| bucket_last(index).min(self.max))
    }

    /// The figures a person reads.
    #[must_use]
    pub fn report(&self) -> LatencyReport {
        if self.count == 0 {
            return LatencyReport::default();
        }
        LatencyReport {
            count: self.count,
            min: self.min,
            mean: self.sum as f64 / self.count as f64,
            p50: self.quantile(0.5),
            p90: self.quantile(0.9),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.max,
        }
    }

    /// The buckets that hold anything: greatest value in ns and how many, from the least.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let all = self.counts.iter().enumerate();
        all.filter(|(_, count)| **count > 0)
            .map(|(index, count)| (bucket_last(index), *count))
    }
}

/// The bucket of a value: the value itself below `SUB`; then `SUB` buckets for each octave, chosen
/// by the bits behind its leading one.
#[inline]
fn bucket(value: u64) -> usize {
    let value = value.min((1 << VALUE_BITS) - 1);
    let octave = (u64::BITS - (value >> SUB_BITS).leading_zeros()).saturating_sub(1);
    let above = u64::from((value >> SUB_BITS) != 0);
    (((u64::from(octave) + above) << SUB_BITS) + ((value >> octave) & (SUB - 1))) as usize
}

/// The greatest value of a bucket.
const fn bucket_last(index: usize) -> u64 {
    let (group, within) = (index as u64 >> SUB_BITS, index as u64 & (SUB - 1));
    if group == 0 {
        return within;
    }
    let octave = group - 1;
    ((SUB + within + 1) << octave) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn buckets_follow_each_other_and_are_narrow() {
        let mut last = 0;
        for index in 0..BUCKETS {
            let end = bucket_last(index);
            assert_eq!((bucket(last), bucket(end)), (index, index));
            assert!(
                (end - last) as f64 <= last as f64 / 128.0,
                "{last} to {end}"
            );
            last = end + 1;
        }
        assert_eq!(last, 1 << VALUE_BITS);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut random = Random::new(3, 0);
        for _ in 0..50 {
            let (mut first, mut second) = (Histogram::new(), Histogram::new());
            let mut values: Vec<u64> = (0..1 + random.below(3_000))
                .map(|_| random.next() >> (17 + random.below(46)))
                .collect();
            for (index, value) in values.iter().enumerate() {
                if index % 3 == 0 {
                    &mut first
                } else {
                    &mut second
                }
                .record(*value);
            }
            first.merge(&second);
            values.sort_unstable();
            for share in [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
                let rank = ((share * values.len() as f64).ceil() as usize).max(1);
                let (exact, told) = (values[rank - 1], first.quantile(share));
                let bound = exact as f64 * (1.0 + 1.0 / 128.0);
                assert!(told >= exact && told as f64 <= bound, "{exact} {told}");
            }
            let report = first.report();
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            assert!((report.mean - mean).abs() <= mean * 1e-9);
            assert_eq!(
                (report.min, report.max),
                (values[0], values[values.len() - 1])
            );
            let counted: u64 = first.buckets().map(|(_, count)| count).sum();
            assert_eq!(
                (counted, report.count),
                (first.count(), values.len() as u64)
            );
        }
    }

    #[test]
    fn an_empty_one_says_nothing() {
        assert_eq!(Histogram::new().report(), LatencyReport::default());
        assert_eq!(
            (
                Histogram::new().quantile(0.5),
                Histogram::new().buckets().count()
            ),
            (0, 0)
        );
    }
}
