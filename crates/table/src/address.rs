//! What the two address families have in common: unsigned integers in host order.

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An address as a host-order integer: `u32` for IPv4, `u128` for IPv6.
pub trait Address:
    Copy + Ord + Hash + Debug + Default + zerocopy::FromZeros + Send + Sync + Sealed + 'static
{
    /// Bits of an address: 32 or 128.
    const BITS: u32;
    /// The last address of the family.
    const MAX: Self;

    /// The address as people write it.
    fn text(self) -> impl Display;
    /// The last address of the network of `prefix_len` bits that holds `self`.
    #[must_use]
    fn last_in(self, prefix_len: u8) -> Self;
    /// The first address of the network of `prefix_len` bits that holds `self`.
    #[must_use]
    fn first_in(self, prefix_len: u8) -> Self;
    /// The address after this one; `None` after the last.
    fn successor(self) -> Option<Self>;
    /// The address before this one; `None` before the first.
    fn predecessor(self) -> Option<Self>;
    /// The upper 16 bits.
    fn top16(self) -> usize;
    /// Byte `index`, counted from the most significant.
    fn byte(self, index: u32) -> u8;
    /// `self` with byte `index` (from the most significant) set to `value` and what follows
    /// cleared.
    #[must_use]
    fn with_byte(self, index: u32, value: u8) -> Self;
    /// From the upper 16 bits; the rest zero.
    fn from_top16(top: u16) -> Self;
    /// Zero-extended.
    fn widen(self) -> u128;
    /// `keys` themselves where the family is that of 128 bits.
    fn wide(keys: &[Self]) -> Option<&[u128]>;
    /// The address whose zero-extension is `wide`; what lies above is cut off.
    fn narrow(wide: u128) -> Self;
}

/// Only `u32` and `u128` are addresses.
pub trait Sealed {}
impl Sealed for u32 {}
impl Sealed for u128 {}

macro_rules! address {
    ($integer:ty, $text:ty, $wide:expr) => {
        impl Address for $integer {
            const BITS: u32 = <$integer>::BITS;
            const MAX: Self = <$integer>::MAX;

            fn text(self) -> impl Display {
                <$text>::from_bits(self)
            }
            #[inline]
            fn last_in(self, prefix_len: u8) -> Self {
                self | Self::MAX.checked_shr(u32::from(prefix_len)).unwrap_or(0)
            }
            #[inline]
            fn first_in(self, prefix_len: u8) -> Self {
                self & !Self::MAX.checked_shr(u32::from(prefix_len)).unwrap_or(0)
            }
            #[inline]
            fn successor(self) -> Option<Self> {
                self.checked_add(1)
            }
            #[inline]
            fn predecessor(self) -> Option<Self> {
                self.checked_sub(1)
            }
            #[inline]
            fn top16(self) -> usize {
                (self >> (Self::BITS - 16)) as usize
            }
            #[inline]
            fn byte(self, index: u32) -> u8 {
                (self >> (Self::BITS - 8 - 8 * index)) as u8
            }
            #[inline]
            fn with_byte(self, index: u32, value: u8) -> Self {
                let shift = Self::BITS - 8 - 8 * index;
                let kept = self.first_in((8 * index) as u8);
                kept | Self::from(value) << shift
            }
            #[inline]
            fn from_top16(top: u16) -> Self {
                Self::from(top) << (Self::BITS - 16)
            }
            #[inline]
            fn widen(self) -> u128 {
                u128::from(self)
            }
            #[inline]
            fn wide(keys: &[Self]) -> Option<&[u128]> {
                $wide(keys)
            }
            #[inline]
            fn narrow(wide: u128) -> Self {
                wide as $integer
            }
        }
    };
}
address!(u32, Ipv4Addr, |_| None);
address!(u128, Ipv6Addr, Some);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_edges() {
        assert_eq!(0x0a01_0203u32.first_in(8), 0x0a00_0000);
        assert_eq!(0x0a01_0203u32.last_in(8), 0x0aff_ffff);
        assert_eq!(7u32.first_in(0), 0);
        assert_eq!(7u32.last_in(0), u32::MAX);
        assert_eq!(7u32.first_in(32), 7);
        assert_eq!(7u128.last_in(128), 7);
        assert_eq!(7u128.last_in(0), u128::MAX);
    }

    #[test]
    fn bytes_from_the_top() {
        let address = 0x0102_0304u32;
        assert_eq!([0, 1, 2, 3].map(|i| address.byte(i)), [1, 2, 3, 4]);
        assert_eq!(address.top16(), 0x0102);
        assert_eq!(address.with_byte(2, 9), 0x0102_0900);
        assert_eq!(u128::from_top16(0x2001) >> 112, 0x2001);
    }
}
