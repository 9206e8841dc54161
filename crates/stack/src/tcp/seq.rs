//! Sequence numbers (RFC 9293 section 3.4): arithmetic modulo 2^32.

/// A sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seq(pub u32);

impl Seq {
    /// The number `len` further.
    #[must_use]
    pub const fn after(self, len: u32) -> Self {
        Self(self.0.wrapping_add(len))
    }

    /// The number `len` before.
    #[must_use]
    pub const fn back(self, len: u32) -> Self {
        Self(self.0.wrapping_sub(len))
    }

    /// How far it is from `earlier`, which must not be later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Whether it is before `other`: at most 2^31 away.
    #[must_use]
    pub const fn is_before(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// Whether it is `other` or after it.
    #[must_use]
    pub const fn is_at_least(self, other: Self) -> bool {
        !self.is_before(other)
    }

    /// The later of both.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        if self.is_before(other) { other } else { self }
    }

    /// The earlier of both.
    #[must_use]
    pub const fn min(self, other: Self) -> Self {
        if self.is_before(other) { self } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_holds_over_the_wrap() {
        for (a, b, before) in [
            (0, 1, true),
            (1, 0, false),
            (5, 5, false),
            (u32::MAX, 0, true),
            (0, u32::MAX, false),
            (0xFFFF_FF00, 0x100, true),
            (0, 0x7FFF_FFFF, true),
        ] {
            assert_eq!(Seq(a).is_before(Seq(b)), before, "{a} before {b}");
        }
        assert_eq!(Seq(3).since(Seq(u32::MAX)), 4);
        assert_eq!(Seq(3).back(4), Seq(u32::MAX));
    }
}
