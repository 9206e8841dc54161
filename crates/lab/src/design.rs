//! Other ways to keep a set of IPv4 addresses, for comparison: each as fast as its idea allows.
//!
//! None of them is keyed: they are yardsticks, not for use.

pub(crate) mod array;
pub(crate) mod bitmap;
pub(crate) mod bucket16;
pub(crate) mod dir24;
pub(crate) mod list;
pub(crate) mod map8;
#[cfg(test)]
mod tests;

/// Lines on their way in the designs that roll.
const AHEAD: usize = 48;

/// A set of IPv4 addresses.
pub(crate) trait Design {
    /// Bytes that a lookup can touch.
    fn bytes(&self) -> usize;
    /// Writes which keys are in the set and tells how many are. `found` is as long as `keys`.
    fn contains_burst(&self, keys: &[u32], found: &mut [bool]) -> usize;
}

/// Fibonacci hashing (Knuth 6.4): the upper bits of a product.
#[inline(always)]
fn hash(address: u32) -> u32 {
    address.wrapping_mul(0x9e37_79b9)
}

/// A bucket of `count`, whatever number that is.
#[inline(always)]
pub(crate) fn bucket(address: u32, count: usize) -> usize {
    ((u64::from(hash(address)) * count as u64) >> 32) as usize
}

/// Looks keys up one after the other, each asked for [`AHEAD`] before.
#[inline(always)]
fn roll(
    keys: &[u32],
    found: &mut [bool],
    ask: impl Fn(u32),
    contains: impl Fn(u32) -> bool,
) -> usize {
    for &key in keys.iter().take(AHEAD) {
        ask(key);
    }
    let mut hits = 0;
    for (index, found) in found.iter_mut().enumerate().take(keys.len()) {
        if let Some(&key) = keys.get(index + AHEAD) {
            ask(key);
        }
        *found = contains(keys[index]);
        hits += usize::from(*found);
    }
    hits
}

/// Asks for the line of `slice[index]`.
#[inline(always)]
pub(crate) fn ask<T>(slice: &[T], index: usize) {
    frame::prefetch::read(slice.as_ptr().wrapping_add(index).cast());
}
