//! Which code stands for which answer, and the answers that have no code.

use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::memory::out_of_memory;
use frame::Paged;

/// Seven bits that stand for an answer; 0 for none.
pub(super) type Code = u8;
/// The answer is in a column, by place.
pub(super) const ESCAPE: Code = 127;

/// The sign that an answer may have to be looked up by place. It is an answer too, a rare one:
/// then looking costs time, no more.
pub(super) const ESCAPED: ListMask = ListMask(u32::MAX);

/// Answers by code. Codes are given in the order in which answers come and not taken back: what
/// is common comes early.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    /// Place 0 holds the empty answer, place [`ESCAPE`] the sign [`ESCAPED`].
    masks: [u32; 128],
    used: usize,
    /// Answers by place, where the code is [`ESCAPE`]; no column as long as none is.
    escaped: Option<Paged<u32>>,
}

/// Answers by code; [`ESCAPED`] for [`ESCAPE`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers<'a> {
    all: &'a [u32; 128],
    few: Option<&'a [u32; 32]>,
}

impl<'a> Answers<'a> {
    /// The answer of a code, of which the lower seven bits count.
    #[inline(always)]
    pub(super) fn of(self, code: Code) -> ListMask {
        ListMask(self.all[usize::from(code & 127)])
    }

    /// The answers by the lower five bits of their codes, if these tell them apart.
    #[inline(always)]
    pub(super) fn few(self) -> Option<&'a [u32; 32]> {
        self.few
    }
}

impl Codes {
    pub(super) fn new() -> Self {
        let mut masks = [0; 128];
        masks[usize::from(ESCAPE)] = ESCAPED.0;
        Self {
            masks,
            used: 0,
            escaped: None,
        }
    }

    /// What a lookup needs of them.
    #[inline(always)]
    pub(super) fn answers(&self) -> Answers<'_> {
        Answers {
            all: &self.masks,
            // No code is [`ESCAPE`] then.
            few: self.masks.first_chunk().filter(|few| self.used < few.len()),
        }
    }

    /// The code of an answer that is not empty, a new one if there are any left.
    pub(super) fn code(&mut self, mask: ListMask) -> Code {
        debug_assert!(!mask.is_empty());
        let known = self.masks[1..=self.used].iter();
        if let Some(index) = known.clone().position(|&known| known == mask.0) {
            return index as Code + 1;
        }
        if self.used + 1 == usize::from(ESCAPE) {
            return ESCAPE;
        }
        self.used += 1;
        self.masks[self.used] = mask.0;
        self.used as Code
    }

    /// True when some answers have no code.
    #[inline(always)]
    pub(super) fn has_escaped(&self) -> bool {
        self.escaped.is_some()
    }

    /// The answer of a place that has `code`.
    #[inline]
    pub(super) fn answer(&self, code: Code, place: usize) -> ListMask {
        if code != ESCAPE {
            return ListMask(self.masks[usize::from(code & 127)]);
        }
        let escaped = self.escaped.as_ref();
        ListMask(escaped.map_or(0, |column| column.view()[place]))
    }

    /// Asks for the answer of a place whose code is [`ESCAPE`].
    #[inline]
    pub(super) fn prefetch(&self, place: usize) {
        if let Some(column) = &self.escaped {
            column.view().prefetch(place);
        }
    }

    /// Keeps the answer of a place, one of `places`, whose code is [`ESCAPE`].
    pub(super) fn escape(
        &mut self,
        place: usize,
        places: usize,
        mask: ListMask,
    ) -> Result<(), CompileError> {
        let column = match &mut self.escaped {
            Some(column) => column,
            none => none.insert(Paged::zeroed(places).map_err(out_of_memory)?),
        };
        *column.get_mut(place).map_err(out_of_memory)? = mask.0;
        Ok(())
    }

    /// Brings pages home.
    pub(super) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        self.escaped
            .iter_mut()
            .try_for_each(|column| work.column(column))
    }

    /// The same codes, no answers kept by place: for a table with other places.
    pub(super) fn without_escaped(&self) -> Self {
        Self {
            masks: self.masks,
            used: self.used,
            escaped: None,
        }
    }

    /// Bytes that a lookup can touch.
    pub(super) fn bytes(&self) -> usize {
        let escaped = self.escaped.as_ref().map_or(0, |column| 4 * column.len());
        size_of_val(&self.masks[..=self.used]) + escaped
    }
}
