//! The addresses that hits are drawn from, in large pages where there are any.

use std::ops::Deref;
use std::sync::Arc;

use frame::HugeSlice;

/// Addresses that are only read, in any order.
pub(super) enum Samples<A> {
    /// A copy in pages of 2 MiB, as far as the kernel has them.
    Huge(HugeSlice<A>),
    /// The list as given, where there is no memory for a copy.
    Shared(Arc<[A]>),
}

impl Samples<u32> {
    /// Copies the list, so that a random sample costs no page walk beside the read itself: six
    /// million lie in 5,860 small pages or in 12 large ones.
    pub(super) fn huge_v4(list: &Arc<[u32]>) -> Self {
        HugeSlice::copy_of(list).map_or_else(|_| Self::Shared(Arc::clone(list)), Self::Huge)
    }
}

impl Samples<u128> {
    /// The same for IPv6.
    pub(super) fn huge_v6(list: &Arc<[u128]>) -> Self {
        HugeSlice::copy_of(list).map_or_else(|_| Self::Shared(Arc::clone(list)), Self::Huge)
    }
}

impl<A> Deref for Samples<A> {
    type Target = [A];

    #[inline(always)]
    fn deref(&self) -> &[A] {
        match self {
            Self::Huge(copy) => copy,
            Self::Shared(list) => list,
        }
    }
}
