//! The lines, and the change of one address.

use super::codes::{Codes, ESCAPE};
use super::line::{self, LINES_MAX, LINES_MIN, Line, PLACES, Word, after, home, reach, whole};
use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::memory::out_of_memory;
use frame::Paged;

/// Lines per 100 addresses: 1.4 of 4 places are taken, and 1.4 % of the addresses do not fit their
/// line.
///
/// A key whose line passed it on costs a misprediction and one more line, and at the end of a burst
/// nothing hides either. Million lookups a second among 6 million addresses (bursts of 64, hit and
/// miss; then of 256), one run each on a Zen 3 with a limit of 93 to 101: with 45 lines 52 and 57,
/// 62 and 65; with 60 lines 63 and 66, 71 and 73; with 80 lines 66 and 67, 74 and 76. On a Zen 4
/// with a limit of 230, medians of four runs in turn: with 60 lines 106 and 114, 144 and 156; with
/// 70 lines 109 and 116, 152 and 156; with 80 lines 112 and 117, 150 and 157.
const LINES_PER_100: usize = 70;
/// Up to here a line an address: small tables lie in the cache anyway, and may reach less far.
const ROOMY_MAX: usize = 4096;

/// Addresses by line. A clone shares its pages: a change copies those it touches.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// None when there is no address, and a multiple of [`LINES_MIN`] when there is.
    lines: Paged<Line>,
    codes: Codes,
    len: usize,
    /// Marks that were set. Removing leaves them.
    pub(super) marks: usize,
}

/// Where an address lies.
#[derive(Clone, Copy)]
struct Spot {
    line: usize,
    place: usize,
}

impl Spot {
    fn number(self) -> usize {
        self.line * PLACES + self.place
    }
}

impl Table {
    /// A table with room for `count` addresses, and at least `lines_min` lines unless `count` is
    /// 0.
    pub(super) fn with_room_for(count: usize, lines_min: usize) -> Result<Self, CompileError> {
        let count_max = LINES_MAX / LINES_PER_100 * 100;
        if count > count_max {
            return Err(CompileError::TooManyAddresses { count, count_max });
        }
        let lines = match count {
            0 => 0,
            _ => (count * LINES_PER_100 / 100)
                .max(count.min(ROOMY_MAX))
                .max(LINES_MIN)
                .max(lines_min)
                .next_multiple_of(LINES_MIN),
        };
        Ok(Self {
            lines: Paged::zeroed(lines).map_err(out_of_memory)?,
            codes: Codes::new(),
            len: 0,
            marks: 0,
        })
    }

    pub(super) fn lines(&self) -> &Paged<Line> {
        &self.lines
    }

    /// Brings pages home.
    pub(super) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        work.column(&mut self.lines)?;
        self.codes.compact(work)
    }

    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    pub(super) fn codes_mut(&mut self) -> &mut Codes {
        &mut self.codes
    }

    /// Distinct addresses.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// True when lookups would gain from a new table.
    pub(super) fn is_crowded(&self) -> bool {
        let lines = self.lines.len();
        self.len * 10 > lines * 24 || self.marks * 10 > lines * 2
    }

    /// Bytes that a lookup can touch.
    pub(super) fn bytes(&self) -> usize {
        self.lines.len() * size_of::<Line>() + self.codes.bytes()
    }

    /// Writes `lines` from line `first` on, as they were filled elsewhere.
    pub(super) fn fill(&mut self, first: usize, lines: &[Line]) -> Result<(), CompileError> {
        let per_page = Paged::<Line>::per_page();
        let (mut at, mut rest) = (first, lines);
        while !rest.is_empty() {
            let page = self.lines.page_mut(at / per_page).map_err(out_of_memory)?;
            let page = &mut page[at % per_page..];
            let (now, later) = rest.split_at(rest.len().min(page.len()));
            page[..now.len()].copy_from_slice(now);
            at += now.len();
            rest = later;
        }
        Ok(())
    }

    /// Counts what [`Table::fill`] brought.
    pub(super) fn count(&mut self, len: usize, marks: usize) {
        self.len += len;
        self.marks += marks;
    }

    /// The lists that hold `word`.
    pub(super) fn get(&self, word: Word) -> ListMask {
        self.seek(word).map_or(ListMask::EMPTY, |spot| {
            let code = line::code(&self.lines.view()[spot.line], spot.place);
            self.codes.answer(code, spot.number())
        })
    }

    /// Gives `word` an answer in place of what it had; the empty one removes it.
    pub(super) fn set(&mut self, word: Word, mask: ListMask) -> Result<(), CompileError> {
        match (self.seek(word), mask.is_empty()) {
            (None, true) => Ok(()),
            (Some(spot), true) => self.remove(spot),
            (Some(spot), false) => self.answer(spot, mask),
            (None, false) => self.insert(word, mask),
        }
    }

    fn seek(&self, word: Word) -> Option<Spot> {
        let view = self.lines.view();
        let mut at = home(word, view.len());
        // Not even the home line is there in a table without any.
        for _ in 0..=reach(view.len()) {
            let line = view.get(at)?;
            if let Some(place) = line::find(line, word) {
                return Some(Spot { line: at, place });
            }
            if !line::is_marked(line, word) {
                return None;
            }
            at = after(at, view.len());
        }
        None
    }

    fn line_mut(&mut self, at: usize) -> Result<&mut Line, CompileError> {
        self.lines.get_mut(at).map_err(out_of_memory)
    }

    fn answer(&mut self, spot: Spot, mask: ListMask) -> Result<(), CompileError> {
        let code = self.codes.code(mask);
        if code == ESCAPE {
            let places = self.lines.len() * PLACES;
            self.codes.escape(spot.number(), places, mask)?;
        }
        line::set_code(self.line_mut(spot.line)?, spot.place, code);
        Ok(())
    }

    /// The last address of the line takes the place: places are taken from the front.
    fn remove(&mut self, spot: Spot) -> Result<(), CompileError> {
        let line = self.lines.view()[spot.line];
        let last = line::free(&line).unwrap_or(PLACES) - 1;
        let code = line::code(&line, last);
        if code == ESCAPE && last != spot.place {
            let from = Spot {
                place: last,
                ..spot
            };
            let mask = self.codes.answer(code, from.number());
            let places = self.lines.len() * PLACES;
            self.codes.escape(spot.number(), places, mask)?;
        }
        let changed = self.line_mut(spot.line)?;
        line::put(changed, spot.place, line::stored(&line, last), code);
        line::put(changed, last, [0, 0], 0);
        self.len -= 1;
        Ok(())
    }

    /// Puts in a word that is not here.
    fn insert(&mut self, word: Word, mask: ListMask) -> Result<(), CompileError> {
        loop {
            if let Some(spot) = self.make_room(word)? {
                // Until it has an answer the place is free: an error leaves it so.
                line::put(self.line_mut(spot.line)?, spot.place, word, 0);
                self.answer(spot, mask)?;
                self.len += 1;
                return Ok(());
            }
            self.grow()?;
        }
    }

    /// A free place for `word`, with marks on the way to it; `None` when there is none in reach.
    fn make_room(&mut self, word: Word) -> Result<Option<Spot>, CompileError> {
        let lines = self.lines.len();
        let mut at = home(word, lines);
        let mut passed = 0;
        let place = loop {
            let Some(line) = self.lines.view().get(at) else {
                return Ok(None);
            };
            if let Some(place) = line::free(line) {
                break place;
            }
            if passed == reach(lines) {
                return Ok(None);
            }
            passed += 1;
            at = after(at, lines);
        };
        let mut passing = home(word, lines);
        for _ in 0..passed {
            if !line::is_marked(&self.lines.view()[passing], word) {
                line::mark(self.line_mut(passing)?, word);
                self.marks += 1;
            }
            passing = after(passing, lines);
        }
        Ok(Some(Spot { line: at, place }))
    }

    /// A new table with half as many lines again: an address found no room. Rare: the hash is
    /// keyed, and a table is built anew long before, when it is crowded.
    fn grow(&mut self) -> Result<(), CompileError> {
        let lines = self.lines.len();
        if lines >= LINES_MAX {
            let count = self.len + 1;
            let count_max = self.len;
            return Err(CompileError::TooManyAddresses { count, count_max });
        }
        let mut grown = Self::with_room_for(self.len + 1, lines + lines / 2)?;
        grown.codes = self.codes.without_escaped();
        let view = self.lines.view();
        for at in 0..lines {
            let line = &view[at];
            for place in 0..line::free(line).unwrap_or(PLACES) {
                let word = whole(line::stored(line, place), at, lines);
                let spot = Spot { line: at, place };
                let mask = self.codes.answer(line::code(line, place), spot.number());
                grown.insert(word, mask)?;
            }
        }
        *self = grown;
        Ok(())
    }
}
