//! The unit of an interface's timestamps (option if_tsresol): any power of ten or of two.

/// One tick is 10^-n or 2^-n of a second, n up to 127.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeResolution(u8);

impl TimeResolution {
    /// 10^-6 s, which holds where an interface says nothing.
    pub const MICRO: Self = Self(6);
    /// 10^-9 s.
    pub const NANO: Self = Self(9);

    /// From the byte of the option: the top bit chooses base 2.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// The byte of the option.
    #[must_use]
    pub const fn to_byte(self) -> u8 {
        self.0
    }

    const fn exponent(self) -> u32 {
        (self.0 & 0x7f) as u32
    }

    const fn is_binary(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// Whether every tick is a whole number of nanoseconds, so that no time is rounded.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        // 10^9 = 2^9 * 5^9: 2^-n s is a whole number of nanoseconds up to n = 9, as is 10^-n.
        self.exponent() <= 9
    }

    /// Nanoseconds in `ticks`, rounded down; saturates at the ends of `u128`.
    #[must_use]
    pub const fn nanos(self, ticks: u64) -> u128 {
        let exponent = self.exponent();
        if self.is_binary() {
            // 64 bits times 30 bits stay within 94.
            return (ticks as u128 * 1_000_000_000) >> exponent;
        }
        if exponent <= 9 {
            return ticks as u128 * 10_u128.pow(9 - exponent);
        }
        // 10^20 exceeds any count of ticks: nothing is left below a nanosecond.
        if exponent - 9 >= 20 {
            0
        } else {
            ticks as u128 / 10_u128.pow(exponent - 9)
        }
    }

    /// Nanoseconds since 1970 of a timestamp with the interface's offset (if_tsoffset, seconds);
    /// times before 1970 or after 2554 are clamped to the ends of what a `u64` holds.
    #[inline]
    #[must_use]
    pub const fn time_ns(self, ticks: u64, offset_s: i64) -> u64 {
        // Nearly every capture: spares 128-bit arithmetic, 10 ns a frame.
        if offset_s == 0 && self.0 == Self::NANO.0 {
            return ticks;
        }
        let time_ns = self.unclamped_ns(ticks, offset_s);
        if time_ns < 0 {
            0
        } else if time_ns > u64::MAX as i128 {
            u64::MAX
        } else {
            time_ns as u64
        }
    }

    /// Whether [`Self::time_ns`] is the time itself and not an end of what a `u64` holds.
    #[must_use]
    pub const fn has_time(self, ticks: u64, offset_s: i64) -> bool {
        let time_ns = self.unclamped_ns(ticks, offset_s);
        0 <= time_ns && time_ns <= u64::MAX as i128
    }

    const fn unclamped_ns(self, ticks: u64, offset_s: i64) -> i128 {
        // Both terms stay below 2^94.
        self.nanos(ticks) as i128 + offset_s as i128 * 1_000_000_000
    }
}
