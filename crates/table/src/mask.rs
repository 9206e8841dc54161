//! The answer of a lookup: which lists match.

/// Most lists one [`CompiledLists`](crate::CompiledLists) holds: one bit each of [`ListMask`].
pub const LISTS_MAX: usize = 32;

/// A set of lists: bit `i` stands for the list at index `i` of the slice given to `compile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ListMask(pub u32);

impl ListMask {
    /// No list.
    pub const EMPTY: Self = Self(0);

    /// The set that holds only the list at `index`; empty when `index` is not below
    /// [`LISTS_MAX`].
    #[inline]
    #[must_use]
    pub const fn only(index: usize) -> Self {
        if index < LISTS_MAX {
            Self(1 << index)
        } else {
            Self(0)
        }
    }

    /// True when no list matches.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True when the list at `index` is in the set.
    #[inline]
    #[must_use]
    pub const fn contains(self, index: usize) -> bool {
        index < LISTS_MAX && self.0 >> index & 1 == 1
    }

    /// True when the two sets share a list.
    #[inline]
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// How many lists match.
    #[inline]
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Indices of the lists in the set, ascending.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let index = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            (index < LISTS_MAX).then_some(index)
        })
    }
}

impl std::ops::BitOr for ListMask {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitAnd for ListMask {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl std::ops::BitOrAssign for ListMask {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_the_bits() {
        assert_eq!(ListMask(0).indices().count(), 0);
        assert_eq!(
            ListMask(0x8000_0005).indices().collect::<Vec<_>>(),
            [0, 2, 31]
        );
        assert_eq!(ListMask(u32::MAX).indices().count(), LISTS_MAX);
        assert!(ListMask::only(31).contains(31));
        assert!(ListMask::only(32).is_empty());
        assert!(!ListMask(u32::MAX).contains(32));
    }
}
