//! When frames are due.

use frame::Nanos;

use crate::rate::MICROS;
use crate::{FCS_BYTES, L1_BYTES, Rate};

/// What a second of time is in units of a clock.
const PER_SECOND: u128 = 1_000_000_000;
/// Greater rates (9 Pb/s), bursts and frames than these are taken as these: what keeps every
/// product below 2^127.
const RATE_MAX: u64 = 1 << 53;
const BURST_MAX: usize = 1 << 20;
const UNITS_MAX: f64 = 4_294_967_296.0;

/// How well the frames kept to their times.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PacingError {
    /// Frames sent by the clock.
    pub frames: u64,
    /// How late a frame was on average, in ns.
    pub late_mean_ns: f64,
    /// How late the latest was, in ns.
    pub late_max_ns: u64,
    /// Time in ns by which the whole schedule was put off, each time more was due than a burst
    /// may be: what the offered rate fell short by is this share of the time it ran.
    pub lost_ns: u64,
    /// How many times that was.
    pub lost_times: u64,
}

/// A clock that says how many frames are due. Frame k is due when all before it have taken their
/// time at the rate, to the bit: nothing is rounded, and no frame is early.
///
/// At most `burst_max` frames are due at once. Where more would be, the schedule is put off instead
/// of being caught up with, and [`PacingError::lost_ns`] says by how much.
#[derive(Debug, Clone)]
pub struct Pacer {
    rate: Rate,
    burst_max: usize,
    /// Units a second: frames, their millionths, or bits.
    per_second: u64,
    /// Up to when time was counted.
    until: Nanos,
    /// How far the schedule is behind its clock, in units times ns a second; negative while the
    /// next frame is not due.
    credit: i128,
    /// Units a frame on average so far.
    units: u128,
    frames: u64,
    late_sum: f64,
    late_max: u64,
    lost: u128,
    lost_times: u64,
}

impl Pacer {
    /// A clock whose first frame is due at `start`. `burst_max` is at least 1, or taken as 1.
    #[must_use]
    pub fn new(rate: Rate, burst_max: usize, start: Nanos) -> Self {
        let per_second = match rate {
            Rate::Unlimited => 0,
            Rate::Frames(rate)
            | Rate::MicroFrames(rate)
            | Rate::BitsL1(rate)
            | Rate::BitsL2(rate) => rate.clamp(1, RATE_MAX),
        };
        let mut pacer = Self {
            rate,
            burst_max: burst_max.clamp(1, BURST_MAX),
            per_second,
            until: start,
            credit: 0,
            units: 1,
            frames: 0,
            late_sum: 0.0,
            late_max: 0,
            lost: 0,
            lost_times: 0,
        };
        pacer.set_frame_bytes(crate::recipe::FRAME_BYTES_MIN as f64);
        pacer
    }

    /// Says how long frames are on average in memory, without FCS: how many are due at a rate in
    /// bits depends on it, how much time they take only on what [`Self::sent`] is told. 60 until
    /// it is said.
    pub fn set_frame_bytes(&mut self, mean: f64) {
        let extra = match self.rate {
            Rate::Unlimited | Rate::Frames(_) => {
                self.units = 1;
                return;
            }
            Rate::MicroFrames(_) => {
                self.units = MICROS.into();
                return;
            }
            Rate::BitsL1(_) => FCS_BYTES + L1_BYTES,
            Rate::BitsL2(_) => FCS_BYTES,
        };
        let mean = if mean.is_nan() { 0.0 } else { mean };
        self.units = ((mean + extra as f64) * 8.0).clamp(1.0, UNITS_MAX) as u128;
    }
}

impl Pacer {
    /// Frames that may go now, at most the burst's bound. What is left of them stays due.
    pub fn due(&mut self, now: Nanos) -> usize {
        if self.rate == Rate::Unlimited {
            return self.burst_max;
        }
        let passed = i128::from(now.since(self.until)) * i128::from(self.per_second);
        self.until = self.until.max(now);
        self.credit += passed;
        if self.credit < 0 {
            return 0;
        }
        let cost = self.units * PER_SECOND;
        let most = (cost * self.burst_max as u128) as i128 - 1;
        if self.credit > most {
            self.lost += (self.credit - most) as u128;
            self.lost_times += 1;
            self.credit = most;
        }
        (self.credit as u128 / cost) as usize + 1
    }

    /// Takes note of frames that went at the time of the last [`Self::due`], and of their bytes in
    /// memory, without FCS.
    pub fn sent(&mut self, frames: usize, bytes: u64) {
        if self.rate == Rate::Unlimited || frames == 0 {
            self.frames += frames as u64;
            return;
        }
        let (count, bytes) = (frames as u64, i128::from(bytes));
        let units = match self.rate {
            Rate::BitsL1(_) => (bytes + i128::from(count) * (FCS_BYTES + L1_BYTES) as i128) * 8,
            Rate::BitsL2(_) => (bytes + i128::from(count) * FCS_BYTES as i128) * 8,
            Rate::Frames(_) | Rate::Unlimited => count.into(),
            Rate::MicroFrames(_) => i128::from(count) * i128::from(MICROS),
        };
        let cost = units * PER_SECOND as i128;
        let late = self.credit.max(0) as f64 / self.per_second as f64;
        let apart = cost as f64 / self.per_second as f64 / count as f64;
        self.late_sum += (late - apart * (count - 1) as f64 / 2.0).max(0.0) * count as f64;
        self.late_max = self.late_max.max(late as u64);
        self.frames += count;
        self.credit -= cost;
    }

    /// When the next frame is due: a worker may rest until then. With a schedule that is behind, or
    /// none, the time of the last [`Self::due`].
    #[must_use]
    pub fn next_due(&self) -> Nanos {
        if self.credit >= 0 || self.rate == Rate::Unlimited {
            return self.until;
        }
        let wait = self
            .credit
            .unsigned_abs()
            .div_ceil(u128::from(self.per_second));
        self.until.after(u64::try_from(wait).unwrap_or(u64::MAX))
    }

    /// When the next frame is due, or was; of a rate.
    #[must_use]
    pub fn due_at(&self) -> Nanos {
        match u128::try_from(self.credit) {
            Ok(credit @ 1..) => {
                let late = credit / u128::from(self.per_second.max(1));
                Nanos(
                    self.until
                        .0
                        .saturating_sub(u64::try_from(late).unwrap_or(u64::MAX)),
                )
            }
            _ => self.next_due(),
        }
    }

    /// How long the next frame has been due at `at`, in ns; 0 where it is not.
    #[must_use]
    pub fn late(&self, at: Nanos) -> u64 {
        let per_second = i128::from(self.per_second.max(1));
        u64::try_from(self.credit_at(at).max(0) / per_second).unwrap_or(u64::MAX)
    }

    /// Frames that are due by `at` and did not go, however many that are, of the mean size.
    #[must_use]
    pub fn left(&self, at: Nanos) -> u64 {
        let (credit, cost) = (self.credit_at(at), self.units * PER_SECOND);
        match u128::try_from(credit) {
            Ok(credit) if self.rate != Rate::Unlimited => (credit / cost) as u64 + 1,
            _ => 0,
        }
    }

    fn credit_at(&self, at: Nanos) -> i128 {
        let passed = i128::from(at.0) - i128::from(self.until.0);
        self.credit + passed * i128::from(self.per_second)
    }

    /// How well the frames kept to their times so far.
    #[must_use]
    pub fn error(&self) -> PacingError {
        let lost = self.lost / u128::from(self.per_second.max(1));
        PacingError {
            frames: self.frames,
            late_mean_ns: self.late_sum / (self.frames.max(1)) as f64,
            late_max_ns: self.late_max,
            lost_ns: u64::try_from(lost).unwrap_or(u64::MAX),
            lost_times: self.lost_times,
        }
    }
}

#[cfg(test)]
mod tests;
