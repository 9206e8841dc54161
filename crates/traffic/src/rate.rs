//! Rates of traffic, and what a frame costs on a wire.

use std::fmt;

/// Bytes of the frame check sequence: part of L2, not of frames in memory.
pub const FCS_BYTES: usize = 4;
/// What L1 has beside L2, a frame: preamble and start delimiter (8 bytes) and the gap between
/// frames (12; IEEE 802.3 clause 4.4.2).
pub const L1_BYTES: usize = 20;

/// What [`Rate::MicroFrames`] counts in a second's place.
pub(crate) const MICROS: u64 = 1_000_000;

const WANTED: &str = "1Mpps or 64000 or 0.5 (frames a second), 1Gbps (bits a second at L1, with \
                      preamble and gap), 1GbpsL2 (with FCS alone), or max";

/// How fast frames are to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    /// As fast as they are taken.
    Unlimited,
    /// Frames a second.
    Frames(u64),
    /// Frames in a million seconds: rates that are no whole number a second, 0.5pps for instance.
    MicroFrames(u64),
    /// Bits a second with preamble, FCS and gap: what the speed of an interface means.
    BitsL1(u64),
    /// Bits a second of frames with FCS.
    BitsL2(u64),
}

impl Rate {
    /// Reads `64000`, `1.5Mpps`, `0.5pps`, `10Gbps` (L1), `10GbpsL2` or `max`; upper and lower
    /// case are the same.
    ///
    /// # Errors
    /// A sentence, for anything else, for less than a frame in a million seconds and for less than
    /// a bit a second.
    pub fn parse(text: &str) -> Result<Self, crate::RecipeError> {
        let refuse = || crate::RecipeError::value("rate", text, WANTED);
        let lower = text.trim().to_ascii_lowercase();
        if lower == "max" {
            return Ok(Self::Unlimited);
        }
        let (number, make): (&str, fn(f64) -> Option<Self>) =
            if let Some(number) = lower.strip_suffix("bpsl2") {
                (number, |bits| whole(bits).map(Self::BitsL2))
            } else if let Some(number) = lower.strip_suffix("bpsl1") {
                (number, |bits| whole(bits).map(Self::BitsL1))
            } else if let Some(number) = lower.strip_suffix("bps") {
                (number, |bits| whole(bits).map(Self::BitsL1))
            } else {
                (lower.strip_suffix("pps").unwrap_or(&lower), frames)
            };
        scaled(number).and_then(make).ok_or_else(refuse)
    }

    /// How many frames are due before `time` is over: `None` without limit, or where that depends
    /// on their sizes.
    #[must_use]
    pub fn frames_within(self, time: std::time::Duration) -> Option<u64> {
        let (rate, unit) = match self {
            Self::Frames(rate) => (rate, 1),
            Self::MicroFrames(rate) => (rate, MICROS),
            Self::Unlimited | Self::BitsL1(_) | Self::BitsL2(_) => return None,
        };
        // Below 2^64 times 2^94 nanoseconds only where a time is beyond all use.
        let due = u128::from(rate).saturating_mul(time.as_nanos());
        let frames = due.div_ceil(u128::from(unit) * 1_000_000_000);
        Some(u64::try_from(frames).unwrap_or(u64::MAX))
    }

    /// What the rate counts in a second, or a million of them; `None` without limit.
    #[must_use]
    pub const fn units(self) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Frames(rate)
            | Self::MicroFrames(rate)
            | Self::BitsL1(rate)
            | Self::BitsL2(rate) => Some(rate),
        }
    }

    /// A rate of the same kind.
    #[must_use]
    pub const fn with_units(self, units: u64) -> Self {
        match self {
            Self::Unlimited => Self::Unlimited,
            Self::Frames(_) => Self::Frames(units),
            Self::MicroFrames(_) => Self::MicroFrames(units),
            Self::BitsL1(_) => Self::BitsL1(units),
            Self::BitsL2(_) => Self::BitsL2(units),
        }
    }

    /// Frames a second at a mean size of `frame_bytes` in memory, without FCS; `None` without
    /// limit.
    #[must_use]
    pub fn frames_per_second(self, frame_bytes: f64) -> Option<f64> {
        let bits = |extra: usize| (frame_bytes + extra as f64) * 8.0;
        match self {
            Self::Unlimited => None,
            Self::Frames(frames) => Some(frames as f64),
            Self::MicroFrames(frames) => Some(frames as f64 / MICROS as f64),
            Self::BitsL1(rate) => Some(rate as f64 / bits(FCS_BYTES + L1_BYTES)),
            Self::BitsL2(rate) => Some(rate as f64 / bits(FCS_BYTES)),
        }
    }
}

/// A number with `k`, `m`, `g` or `t` behind it.
fn scaled(text: &str) -> Option<f64> {
    let (number, scale) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1e3),
        b'm' => (&text[..text.len() - 1], 1e6),
        b'g' => (&text[..text.len() - 1], 1e9),
        b't' => (&text[..text.len() - 1], 1e12),
        _ => (text, 1.0),
    };
    Some(number.replace('_', "").parse::<f64>().ok()? * scale)
}

/// The nearest whole number, at least 1 and at most 2^53, where a fraction ceases to be exact.
fn whole(value: f64) -> Option<u64> {
    (1.0..=(1_u64 << 53) as f64)
        .contains(&value)
        .then(|| value.round() as u64)
}

/// Frames a second, with their fraction as far as it counts.
fn frames(value: f64) -> Option<Rate> {
    let micros = value * MICROS as f64;
    if value.fract() == 0.0 || micros > (1_u64 << 53) as f64 {
        return whole(value).map(Rate::Frames);
    }
    match whole(micros)? {
        micros if micros.is_multiple_of(MICROS) => Some(Rate::Frames(micros / MICROS)),
        micros => Some(Rate::MicroFrames(micros)),
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("max"),
            Self::Frames(rate) => write!(f, "{}pps", Scaled(*rate)),
            Self::MicroFrames(rate) => write!(f, "{}pps", *rate as f64 / MICROS as f64),
            Self::BitsL1(rate) => write!(f, "{}bps", Scaled(*rate)),
            Self::BitsL2(rate) => write!(f, "{}bpsL2", Scaled(*rate)),
        }
    }
}

/// A number with the largest prefix that leaves it whole.
struct Scaled(u64);

impl fmt::Display for Scaled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefixes = [
            (1_000_000_000_000, "T"),
            (1_000_000_000, "G"),
            (1_000_000, "M"),
            (1_000, "k"),
        ];
        match prefixes
            .iter()
            .find(|(scale, _)| self.0.is_multiple_of(*scale))
        {
            Some((scale, prefix)) => write!(f, "{}{prefix}", self.0 / scale),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_written() {
        let cases = [
            ("1Mpps", Rate::Frames(1_000_000), "1Mpps"),
            ("64000", Rate::Frames(64_000), "64kpps"),
            ("1.5kpps", Rate::Frames(1_500), "1500pps"),
            ("1.5pps", Rate::MicroFrames(1_500_000), "1.5pps"),
            ("0.5", Rate::MicroFrames(500_000), "0.5pps"),
            ("0.0001kpps", Rate::MicroFrames(100_000), "0.1pps"),
            ("0.000001pps", Rate::MicroFrames(1), "0.000001pps"),
            (
                "14880952.4pps",
                Rate::MicroFrames(14_880_952_400_000),
                "14880952.4pps",
            ),
            ("300bps", Rate::BitsL1(300), "300bps"),
            ("10Gbps", Rate::BitsL1(10_000_000_000), "10Gbps"),
            ("10gbpsl2", Rate::BitsL2(10_000_000_000), "10GbpsL2"),
            ("2_000kbps", Rate::BitsL1(2_000_000), "2Mbps"),
            ("max", Rate::Unlimited, "max"),
        ];
        for (text, rate, shown) in cases {
            assert_eq!(Rate::parse(text), Ok(rate), "{text}");
            assert_eq!(rate.to_string(), shown);
            assert_eq!(Rate::parse(shown), Ok(rate));
        }
    }

    #[test]
    fn frames_within_a_time_are_those_due_before_its_end() {
        for (rate, millis, frames) in [
            ("1pps", 3_000, 3),
            ("10pps", 1_000, 10),
            ("100pps", 500, 50),
            ("100pps", 501, 51),
            ("0.5pps", 3_000, 2),
            ("1.5pps", 2_000, 3),
            ("14.88Mpps", 1_000, 14_880_000),
            ("1pps", 1, 1),
            ("1pps", 0, 0),
        ] {
            let rate = Rate::parse(rate).unwrap();
            let time = std::time::Duration::from_millis(millis);
            assert_eq!(rate.frames_within(time), Some(frames), "{rate} {millis} ms");
            let ever = rate.frames_within(std::time::Duration::MAX);
            assert!(ever.is_some_and(|frames| frames > u64::MAX / 4), "{rate}");
        }
        assert_eq!(
            Rate::BitsL1(1).frames_within(std::time::Duration::MAX),
            None
        );
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in [
            "",
            "0",
            "0.0000001pps",
            "0.2bps",
            "-1",
            "-0.5pps",
            "nan",
            "inf",
            "1e300",
            "Mpps",
            "1Qbps",
            "é",
            "1Mpp",
        ] {
            let error = Rate::parse(text).unwrap_err().to_string();
            assert!(error.contains("1Mpps"), "{text}: {error}");
        }
    }

    #[test]
    fn a_line_of_ten_gigabits_is_14_88_million_of_the_shortest_frames() {
        let frames = Rate::BitsL1(10_000_000_000)
            .frames_per_second(60.0)
            .unwrap();
        assert_eq!(frames as u64, 14_880_952);
        assert_eq!(Rate::BitsL2(512).frames_per_second(60.0), Some(1.0));
        assert_eq!(Rate::Unlimited.frames_per_second(60.0), None);
    }
}
