//! The class of each place of a table, touched only by a hit, and only when answers differ.

use crate::class::Classes;
use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::memory::{Slab, zeroed};
use crate::simd::prefetch;

/// Answers by place, as narrow as the number of different answers allows.
#[derive(Debug)]
pub(crate) enum Column {
    /// Every hit has the same answer.
    One(ListMask),
    /// Up to 256 answers.
    Bytes(Slab<u8>, Vec<ListMask>),
    /// Up to 65,536 answers.
    Shorts(Slab<u16>, Vec<ListMask>),
    /// More: the answer itself.
    Masks(Slab<u32>),
}

impl Column {
    /// Room for `places` answers, all of which are among `classes`.
    pub(crate) fn new(classes: Classes, places: usize) -> Result<Self, CompileError> {
        let masks = classes.into_masks();
        Ok(match masks.len() {
            0..=2 => Self::One(masks.last().copied().unwrap_or_default()),
            3..=0x100 => Self::Bytes(zeroed(places)?, masks),
            0x101..=0x1_0000 => Self::Shorts(zeroed(places)?, masks),
            _ => Self::Masks(zeroed(places)?),
        })
    }

    /// Sets the answer of a place.
    pub(crate) fn set(&mut self, place: usize, class: u32, mask: u32) {
        match self {
            Self::One(_) => {}
            Self::Bytes(classes, _) => classes[place] = class as u8,
            Self::Shorts(classes, _) => classes[place] = class as u16,
            Self::Masks(masks) => masks[place] = mask,
        }
    }

    /// The answer of a place; empty where there is no such place.
    #[inline(always)]
    pub(crate) fn get(&self, place: usize) -> ListMask {
        let of = |masks: &[ListMask], class: usize| masks.get(class).copied().unwrap_or_default();
        match self {
            Self::One(mask) => *mask,
            Self::Bytes(classes, masks) => {
                of(masks, classes.get(place).copied().map_or(0, usize::from))
            }
            Self::Shorts(classes, masks) => {
                of(masks, classes.get(place).copied().map_or(0, usize::from))
            }
            Self::Masks(masks) => ListMask(masks.get(place).copied().unwrap_or_default()),
        }
    }

    /// Asks for the line of a place.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: usize) {
        match self {
            Self::One(_) => {}
            Self::Bytes(classes, _) => prefetch(classes, place),
            Self::Shorts(classes, _) => prefetch(classes, place),
            Self::Masks(masks) => prefetch(masks, place),
        }
    }

    /// The answer all hits share.
    #[inline(always)]
    pub(crate) fn only(&self) -> Option<ListMask> {
        if let Self::One(mask) = self {
            Some(*mask)
        } else {
            None
        }
    }

    /// Bytes that a lookup can touch.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Bytes(classes, masks) => classes.len() + 4 * masks.len(),
            Self::Shorts(classes, masks) => 2 * classes.len() + 4 * masks.len(),
            Self::Masks(masks) => 4 * masks.len(),
        }
    }
}
