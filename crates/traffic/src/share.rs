//! A share of frames, from none to all.

use std::fmt;

use crate::RecipeError;

/// A share between 0 and 1. Kept as a count of 2^32 parts, which is what a random number is
/// compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// 0 (none) to 2^32 (all).
    parts: u64,
}

impl Share {
    /// No frame.
    pub const NONE: Self = Self { parts: 0 };
    /// Every frame.
    pub const ALL: Self = Self { parts: 1 << 32 };

    /// A share from a number; `None` unless it is from 0 to 1.
    #[must_use]
    pub fn new(share: f64) -> Option<Self> {
        if !(0.0..=1.0).contains(&share) {
            return None;
        }
        Some(Self {
            parts: (share * (1_u64 << 32) as f64).round() as u64,
        })
    }

    /// Reads `0.1` or `10%`, the value of `key`.
    ///
    /// # Errors
    /// A sentence that names the key, for anything else.
    pub fn parse(key: &str, text: &str) -> Result<Self, RecipeError> {
        let number = match text.strip_suffix('%') {
            Some(percent) => percent.parse().map(|percent: f64| percent / 100.0),
            None => text.parse(),
        };
        number
            .ok()
            .and_then(Self::new)
            .ok_or_else(|| RecipeError::value(key, text, "a share from 0 to 1, or from 0% to 100%"))
    }

    /// The share as a number from 0 to 1.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.parts as f64 / (1_u64 << 32) as f64
    }

    /// Parts of 2^32.
    #[inline(always)]
    #[must_use]
    pub(crate) const fn parts(self) -> u64 {
        self.parts
    }

    /// Whether a random number below 2^32 is within the share.
    #[inline(always)]
    #[must_use]
    pub const fn takes(self, random: u64) -> bool {
        random < self.parts
    }
}

impl fmt::Display for Share {
    /// As short as tells it from its neighbours: nine digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.as_f64() * 1e9).round() / 1e9)
    }
}
