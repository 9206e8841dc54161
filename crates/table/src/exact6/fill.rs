//! From ordered addresses to lines.

use super::{AddressSetV6, FILL, FINGERPRINTS, Line, OVERFLOWED, line_of};
use crate::class::Classes;
use crate::column::Column;
use crate::compiled::CompileError;
use crate::memory::{copy_of, zeroed};
use crate::order::Ordered;
use crate::secret::Hash;
use crate::simd::Level;

/// Most addresses of a set: 31 bits of a line say where its addresses begin.
const KEYS_MAX: usize = (1 << 31) - 1;

/// The set of `ordered`, which ascends by the upper half of `hash`, hence by line.
pub(super) fn set(ordered: &Ordered<u128>, hash: Hash) -> Result<AddressSetV6, CompileError> {
    let count = ordered.keys.len();
    if count > KEYS_MAX {
        return Err(CompileError::TooManyAddresses {
            count,
            count_max: KEYS_MAX,
        });
    }
    let mut lines = zeroed::<Line>(if count == 0 { 0 } else { count / FILL + 1 })?;
    let line_count = lines.len();
    let mut next = 0;
    for (index, line) in lines.iter_mut().enumerate() {
        let first = next;
        while next < count && line_of(hash.apply(ordered.keys[next]), line_count) == index {
            if next - first < FINGERPRINTS {
                line[next - first] = hash.apply(ordered.keys[next]) as u16;
            }
            next += 1;
        }
        line[30] = first as u16;
        line[31] = (first >> 16) as u16;
        if next - first > FINGERPRINTS {
            line[31] |= OVERFLOWED;
        }
    }
    let mut classes = ordered.classes();
    let column = answers(ordered, &mut classes)?;
    let keys = copy_of(&ordered.keys)?;
    Ok(AddressSetV6 {
        hash,
        lines,
        keys,
        column,
        level: Level::best(),
    })
}

fn answers(ordered: &Ordered<u128>, classes: &mut Classes) -> Result<Column, CompileError> {
    let mut column = Column::new(ordered.classes(), ordered.keys.len())?;
    if column.only().is_none() {
        for index in 0..ordered.keys.len() {
            let mask = ordered.mask(index);
            column.set(index, classes.intern(mask), mask);
        }
    }
    Ok(column)
}
