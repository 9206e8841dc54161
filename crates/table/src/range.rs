//! A range as given: first and last address, both inside.

use crate::address::Address;
use crate::network::Network;
use std::fmt;

/// Addresses from `first` to `last`, both inside; `first <= last`: only [`Range::new`] makes
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range<A> {
    first: A,
    last: A,
}

/// The first address lies after the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeError<A> {
    /// As given.
    pub first: A,
    /// As given.
    pub last: A,
}

impl<A: Address> Range<A> {
    /// A range.
    ///
    /// # Errors
    /// [`RangeError`] when `first > last`.
    pub fn new(first: A, last: A) -> Result<Self, RangeError<A>> {
        if first <= last {
            Ok(Self { first, last })
        } else {
            Err(RangeError { first, last })
        }
    }

    /// The range of one address.
    #[must_use]
    pub fn single(address: A) -> Self {
        Self {
            first: address,
            last: address,
        }
    }

    /// From `first` to `last`, which is known not to lie before it.
    pub(crate) fn between(first: A, last: A) -> Self {
        debug_assert!(first <= last);
        Self { first, last }
    }

    /// The first address.
    #[inline]
    #[must_use]
    pub fn first(self) -> A {
        self.first
    }

    /// The last address.
    #[inline]
    #[must_use]
    pub fn last(self) -> A {
        self.last
    }

    /// True when `address` lies in the range.
    #[inline]
    #[must_use]
    pub fn contains(self, address: A) -> bool {
        self.first <= address && address <= self.last
    }
}

impl<A: Address> From<Network<A>> for Range<A> {
    fn from(network: Network<A>) -> Self {
        Self {
            first: network.first(),
            last: network.last(),
        }
    }
}

impl<A: Address> fmt::Display for Range<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first.text(), self.last.text())
    }
}

impl<A: Address> fmt::Display for RangeError<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the range ends before it begins ({} > {})",
            self.first.text(),
            self.last.text()
        )
    }
}

impl<A: Address> std::error::Error for RangeError<A> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_backwards() {
        let error = Range::new(2u32, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the range ends before it begins (0.0.0.2 > 0.0.0.1)"
        );
        let one = Range::new(1u32, 1).unwrap();
        assert!(one.contains(1) && !one.contains(2) && !one.contains(0));
    }
}
