//! The round-trip time and the retransmission timeout (RFC 6298).

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// RFC 6298 asks for a second; shorter ones are usual since clocks are fine.
const RTO_MIN: u64 = 200 * MS;
const RTO_MAX: u64 = 60 * SECOND;
const RTO_FIRST: u64 = SECOND;
const GRANULARITY: u64 = MS;

/// What was measured of a path, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    smoothed: Option<u64>,
    variation: u64,
    /// How often the timeout was doubled.
    backoff: u32,
}

impl RoundTrip {
    /// Takes a measured round trip of a segment that was sent once.
    pub(super) fn measured(&mut self, nanos: u64) {
        match self.smoothed {
            None => {
                self.smoothed = Some(nanos);
                self.variation = nanos / 2;
            }
            Some(smoothed) => {
                let error = smoothed.abs_diff(nanos);
                self.variation = (3 * self.variation + error) / 4;
                self.smoothed = Some((7 * smoothed + nanos) / 8);
            }
        }
        self.backoff = 0;
    }

    pub(super) fn smoothed(&self) -> u64 {
        self.smoothed.unwrap_or(RTO_FIRST)
    }

    pub(super) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    pub(super) fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    pub(super) fn timeout(&self) -> u64 {
        let base = match self.smoothed {
            None => RTO_FIRST,
            Some(smoothed) => smoothed + (4 * self.variation).max(GRANULARITY),
        };
        (base.max(RTO_MIN) << self.backoff).min(RTO_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_follows_the_rfc() {
        let cases: [(&[u64], u32, u64); 6] = [
            (&[], 0, 1000),
            (&[], 2, 4000),
            (&[], 16, 60_000),
            (&[100], 0, 300),
            (&[10, 10, 10], 0, 200),
            (&[1000, 1000], 1, 5000),
        ];
        for (samples, backoff, expected) in cases {
            let mut trip = RoundTrip::default();
            for sample in samples {
                trip.measured(sample * MS);
            }
            for _ in 0..backoff {
                trip.back_off();
            }
            assert_eq!(trip.timeout() / MS, expected, "{samples:?}, {backoff}");
        }
    }
}
