//! Congestion control: NewReno (RFC 5681, 6582) and CUBIC (RFC 9438), initial window 10 (RFC 6928).

use frame::Nanos;

/// How the congestion window grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionControl {
    /// A segment each round trip.
    NewReno,
    /// By a cubic function of the time since the last loss.
    #[default]
    Cubic,
}

const INITIAL_SEGMENTS: u32 = 10;
/// What is left of the window after a loss, and the factor of the cubic function.
const BETA: f64 = 0.7;
const C: f64 = 0.4;
/// Growth of a flow that halves nothing more than CUBIC does, segments a round trip.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
const WINDOW_MAX: u32 = 1 << 30;

/// The congestion window of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Congestion {
    control: CongestionControl,
    mss: u32,
    window: u32,
    threshold: u32,
    /// Bytes acknowledged since the window grew last.
    credit: u32,
    /// The window before the last loss, in segments.
    before_loss: f64,
    epoch: Option<Epoch>,
}

/// A time of growth without loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Nanos,
    /// When the cubic function is at its plateau, seconds after the beginning.
    plateau: f64,
    /// What NewReno would have, segments.
    estimate: f64,
}

/// What an acknowledgment says of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub(super) bytes: u32,
    pub(super) now: Nanos,
    pub(super) round_trip: u64,
}

impl Congestion {
    pub(super) fn new(control: CongestionControl, mss: u32) -> Self {
        Self {
            control,
            mss,
            window: INITIAL_SEGMENTS * mss,
            threshold: u32::MAX,
            credit: 0,
            before_loss: 0.0,
            epoch: None,
        }
    }

    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// Whether the window is below what the path is thought to carry.
    pub(super) fn is_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// New data arrived at the other end, while the window was what limited it.
    pub(super) fn grow(&mut self, acked: Acked) {
        if self.is_slow_start() {
            // Appropriate byte counting (RFC 3465) with a limit of two segments.
            self.window += acked.bytes.min(2 * self.mss);
        } else {
            let window = f64::from(self.window);
            let share = match self.control {
                CongestionControl::NewReno => f64::from(self.mss) * f64::from(acked.bytes) / window,
                CongestionControl::Cubic => self.cubic(acked),
            };
            self.credit = self.credit.saturating_add(share as u32);
            self.window += std::mem::take(&mut self.credit);
        }
        self.window = self.window.min(WINDOW_MAX);
    }

    /// Bytes that the window grows by CUBIC.
    fn cubic(&mut self, acked: Acked) -> f64 {
        let mss = f64::from(self.mss);
        let window = f64::from(self.window) / mss;
        let before = self.before_loss.max(window);
        let mut epoch = self.epoch.unwrap_or(Epoch {
            began: acked.now,
            plateau: ((before - window) / C).cbrt(),
            estimate: window,
        });
        let segments = f64::from(acked.bytes) / mss;
        let alpha = if epoch.estimate < before { ALPHA } else { 1.0 };
        epoch.estimate += alpha * segments / window;
        self.epoch = Some(epoch);
        let elapsed = seconds(acked.now.since(epoch.began));
        let at = |time: f64| C * (time - epoch.plateau).powi(3) + before;
        if at(elapsed) < epoch.estimate {
            return (epoch.estimate - window).max(0.0) * mss;
        }
        let target = at(elapsed + seconds(acked.round_trip)).clamp(window, 1.5 * window);
        (target - window) / window * segments * mss
    }

    /// A loss was found by duplicate acknowledgments or SACK.
    pub(super) fn reduce(&mut self, in_flight: u32) {
        let segments = f64::from(self.window) / f64::from(self.mss);
        let converges = segments < self.before_loss;
        self.before_loss = match converges {
            true => segments * (1.0 + BETA) / 2.0,
            false => segments,
        };
        let left = match self.control {
            CongestionControl::NewReno => in_flight / 2,
            CongestionControl::Cubic => (f64::from(in_flight) * BETA) as u32,
        };
        self.threshold = left.max(2 * self.mss);
        self.window = self.threshold;
        self.credit = 0;
        self.epoch = None;
    }

    /// The retransmission timer fired for the first time for some data.
    pub(super) fn collapse(&mut self, in_flight: u32) {
        self.reduce(in_flight);
        self.window = self.mss;
    }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn acked(ms: u64) -> Acked {
        Acked {
            bytes: MSS,
            now: Nanos(ms * 1_000_000),
            round_trip: 100_000_000,
        }
    }

    #[test]
    fn a_window_doubles_shrinks_and_comes_back() {
        for (control, after_loss) in [
            (CongestionControl::NewReno, 10_000),
            (CongestionControl::Cubic, 14_000),
        ] {
            let mut congestion = Congestion::new(control, MSS);
            assert_eq!(congestion.window(), 10 * MSS);
            (0..10).for_each(|_| congestion.grow(acked(0)));
            assert_eq!(congestion.window(), 20 * MSS, "slow start doubles");
            congestion.reduce(20 * MSS);
            assert_eq!(congestion.window(), after_loss, "{control:?}");
            let mut rounds = 0;
            while congestion.window() < 20 * MSS {
                rounds += 1;
                assert!(rounds < 100, "{control:?} comes back");
                (0..congestion.window() / MSS).for_each(|_| congestion.grow(acked(rounds * 100)));
            }
            assert!(rounds > 3, "{control:?} does not jump: {rounds}");
            congestion.collapse(20 * MSS);
            assert_eq!(congestion.window(), MSS);
        }
    }
}
