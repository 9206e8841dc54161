//! What a leaf holds of an answer: 16 bits, its *code*.
//!
//! Of up to [`CODED_LISTS`] lists that is the answer itself, a bit a list, and a lookup ends at its
//! leaf. With more lists it is the number of the answer's class, of which there are
//! [`CLASSES_MAX`](super::CLASSES_MAX) at most. [`WORD`] says that the answer lies below.
//!
//! The number of lists decides, not their answers: else the first network in a list beyond the
//! 16th would be a change that makes all anew. A network in all 16 of 16 lists still is.

use crate::class::Classes;
use crate::mask::ListMask;

/// The code of a word of the trie. No class has this number, and an answer of all 16 lists is not
/// held in leaves.
pub(super) const WORD: u16 = u16::MAX;
/// Lists whose answers codes have room for, but for that of all 16.
pub(super) const CODED_LISTS: usize = u16::BITS as usize;

/// How codes are read.
pub(super) trait Coding: Copy {
    /// The answer of a code; `None` of a word, and of what no leaf holds.
    fn answer(self, code: u16) -> Option<ListMask>;
}

/// A code is the answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers;

impl Coding for Answers {
    #[inline(always)]
    fn answer(self, code: u16) -> Option<ListMask> {
        (code != WORD).then_some(ListMask(u32::from(code)))
    }
}

/// A code is the number of a class; these are the answers of all.
impl Coding for &[ListMask] {
    #[inline(always)]
    fn answer(self, code: u16) -> Option<ListMask> {
        self.get(usize::from(code)).copied()
    }
}

/// True when codes have room for the answers of all classes.
pub(super) fn have_room(classes: &Classes) -> bool {
    classes.largest() < u32::from(WORD)
}

/// The code of a class. 0 where codes are answers and have no room for it: then the layout is made
/// anew in the end.
pub(super) fn of(classes: &Classes, codes_are_answers: bool, class: u16) -> u16 {
    if !codes_are_answers {
        return class;
    }
    let answer = classes.masks().get(usize::from(class));
    let code = answer.and_then(|answer| u16::try_from(answer.0).ok());
    code.filter(|&code| code != WORD).unwrap_or(0)
}
