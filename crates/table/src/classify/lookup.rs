//! The lookup: one class a field, and what their bitmaps have in common.

use std::ops::ControlFlow;

use super::bitmap::{Bitmaps, WORD};
use super::{Field, Key};

/// Fields that rules can look at: 16, and two for each of 32 lists.
const COLUMNS_MAX: usize = 16 + 64;
/// Addresses of IPv4 share a slot of the index by their first bits.
const INDEX_SHIFT: u32 = 16;

/// Rules, arranged by their fields. Never written after it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classifier {
    pub(super) columns: Vec<Column>,
    pub(super) bitmaps: Bitmaps,
    /// The rules that can match at all.
    pub(super) base: u32,
}

/// A field that some rule looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) field: Field,
    pub(super) classes: Classes,
    /// The class of packets that do not have it.
    pub(super) absent: u32,
}

/// The class of each value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Classes {
    /// By value.
    Direct(Vec<u32>),
    /// Intervals of 32 bits by their first values, an index of their first 16, and their classes.
    Narrow(Vec<u32>, Vec<u32>, Vec<u32>),
    /// Intervals by their first values, and their classes.
    Wide(Vec<u128>, Vec<u32>),
}

impl Classes {
    pub(super) fn narrow(starts: &[u128], classes: Vec<u32>) -> Self {
        let starts: Vec<u32> = starts.iter().map(|&start| start as u32).collect();
        let slots = 0..=1_u64 << INDEX_SHIFT;
        let index = slots.map(|slot| {
            let first = slot << INDEX_SHIFT;
            starts.partition_point(|&start| u64::from(start) < first) as u32
        });
        let index = index.collect();
        Self::Narrow(starts, index, classes)
    }

    #[inline]
    fn of(&self, value: u128) -> Option<u32> {
        match self {
            Self::Direct(classes) => classes.get(usize::try_from(value).ok()?).copied(),
            Self::Narrow(starts, index, classes) => {
                let value = u32::try_from(value).ok()?;
                let slot = (value >> INDEX_SHIFT) as usize;
                let (first, end) = (index[slot] as usize, index[slot + 1] as usize);
                let within = starts[first..end].partition_point(|&start| start <= value);
                classes.get((first + within).checked_sub(1)?).copied()
            }
            Self::Wide(starts, classes) => {
                let after = starts.partition_point(|&start| start <= value);
                classes.get(after.checked_sub(1)?).copied()
            }
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Direct(classes) => 4 * classes.len(),
            Self::Narrow(starts, index, classes) => {
                4 * (starts.len() + index.len() + classes.len())
            }
            Self::Wide(starts, classes) => 16 * starts.len() + 4 * classes.len(),
        }
    }
}

impl Classifier {
    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let columns = self.columns.iter().map(|column| column.classes.bytes());
        self.bitmaps.bytes() + columns.sum::<usize>()
    }

    /// Whether a rule looks at this field.
    #[must_use]
    pub fn looks_at(&self, field: Field) -> bool {
        self.columns.iter().any(|column| column.field == field)
    }

    /// Calls `each` for the rules that match, in their order, until it breaks.
    #[inline]
    pub fn each_match(&self, key: &Key, mut each: impl FnMut(usize) -> ControlFlow<()>) {
        let (mut numbers, mut starts) = ([0; COLUMNS_MAX], [0; COLUMNS_MAX]);
        let count = self.columns.len().min(COLUMNS_MAX - 1) + 1;
        numbers[0] = self.base;
        for (number, column) in numbers[1..].iter_mut().zip(&self.columns) {
            let value = key.get(column.field);
            let class = value.and_then(|value| column.classes.of(value));
            *number = class.unwrap_or(column.absent);
        }
        let (numbers, starts) = (&numbers[..count], &mut starts[..count]);
        for (start, &number) in starts.iter_mut().zip(numbers) {
            *start = self.bitmaps.start(number);
        }
        for at in 0..self.bitmaps.summary_len() {
            let summary = |number: &u32| self.bitmaps.summary(*number, at);
            let mut left = numbers.iter().map(summary).fold(u64::MAX, |a, b| a & b);
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let words = numbers.iter().zip(starts.iter());
                let words = words.map(|(n, &start)| self.bitmaps.word(start, summary(n), bit));
                let mut word = words.fold(u64::MAX, |a, b| a & b);
                while word != 0 {
                    let rule = (at * WORD + bit as usize) * WORD + word.trailing_zeros() as usize;
                    word &= word - 1;
                    if each(rule).is_break() {
                        return;
                    }
                }
            }
            for (start, number) in starts.iter_mut().zip(numbers) {
                *start += summary(number).count_ones();
            }
        }
    }
}
