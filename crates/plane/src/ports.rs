//! Some ports of a pipeline, as a rule names them.

use frame::PortId;

/// Ports by their numbers, below [`Ports::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports(u8);

impl Ports {
    /// How many ports can be told apart.
    pub const MAX: usize = u8::BITS as usize;
    /// Every port.
    pub const ALL: Self = Self(u8::MAX);
    /// No port.
    pub const NONE: Self = Self(0);

    /// One port alone; none if its number is not below [`Ports::MAX`].
    #[must_use]
    pub const fn only(port: PortId) -> Self {
        match 1_u8.checked_shl(port.0 as u32) {
            Some(bit) => Self(bit),
            None => Self::NONE,
        }
    }

    /// These and `port`.
    #[must_use]
    pub const fn with(self, port: PortId) -> Self {
        Self(self.0 | Self::only(port).0)
    }

    /// Whether `port` is among them.
    #[must_use]
    pub const fn contains(self, port: PortId) -> bool {
        self.0 & Self::only(port).0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_those_that_were_named() {
        let some = Ports::only(PortId(1)).with(PortId(7));
        let among = |ports: Ports| {
            (0..=u8::MAX)
                .filter(|&port| ports.contains(PortId(port)))
                .collect::<Vec<_>>()
        };
        assert_eq!(among(some), [1, 7]);
        assert_eq!(among(Ports::ALL), (0..8).collect::<Vec<_>>());
        assert_eq!(among(Ports::NONE.with(PortId(8))), []);
    }
}
