//! Some ports of a pipeline, as a rule names them.

use frame::PortId;

/// Ports by their numbers, below [`Ports::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports(u64);

impl Ports {
    /// How many ports can be told apart.
    pub const MAX: usize = u64::BITS as usize;
    /// Every port.
    pub const ALL: Self = Self(u64::MAX);
    /// No port.
    pub const NONE: Self = Self(0);

    /// One port alone; none if its number is not below [`Ports::MAX`].
    #[must_use]
    pub const fn only(port: PortId) -> Self {
        match 1_u64.checked_shl(port.0 as u32) {
            Some(bit) => Self(bit),
            None => Self::NONE,
        }
    }

    /// The first `count` ports.
    #[must_use]
    pub const fn first(count: usize) -> Self {
        match 1_u64.checked_shl(count as u32) {
            Some(bit) => Self(bit - 1),
            None => Self::ALL,
        }
    }

    /// These and `port`.
    #[must_use]
    pub const fn with(self, port: PortId) -> Self {
        Self(self.0 | Self::only(port).0)
    }

    /// These without `port`.
    #[must_use]
    pub const fn without(self, port: PortId) -> Self {
        Self(self.0 & !Self::only(port).0)
    }

    /// The ports of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The ports of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The ports of these that `other` does not have.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether `port` is among them.
    #[must_use]
    pub const fn contains(self, port: PortId) -> bool {
        self.0 & Self::only(port).0 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The ports, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = PortId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let port = PortId(u8::try_from(left.trailing_zeros()).ok()?);
            left &= left.checked_sub(1)?;
            Some(port)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(ports: Ports) -> Vec<u8> {
        let listed: Vec<u8> = ports.iter().map(|port| port.0).collect();
        let contained = (0..=u8::MAX).filter(|&port| ports.contains(PortId(port)));
        assert_eq!(listed, contained.collect::<Vec<_>>());
        assert_eq!(listed.len(), ports.len());
        assert_eq!(listed.is_empty(), ports.is_empty());
        listed
    }

    #[test]
    fn ports_are_those_that_were_named() {
        let some = Ports::only(PortId(1)).with(PortId(63));
        assert_eq!(among(some), [1, 63]);
        assert_eq!(among(some.without(PortId(1))), [63]);
        assert_eq!(among(Ports::ALL), (0..64).collect::<Vec<_>>());
        assert_eq!(among(Ports::NONE.with(PortId(64))), []);
        assert_eq!(among(Ports::NONE.without(PortId(64))), []);
        assert_eq!(among(Ports::first(3)), [0, 1, 2]);
        assert_eq!(among(Ports::first(64)), among(Ports::ALL));
        assert_eq!(among(some.or(Ports::first(2))), [0, 1, 63]);
        assert_eq!(among(some.and(Ports::first(2))), [1]);
        assert_eq!(among(some.minus(Ports::first(2))), [63]);
    }
}
