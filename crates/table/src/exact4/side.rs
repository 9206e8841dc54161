//! Addresses that their lines could not take, and answers that have no code.
//!
//! Small and seldom read: an address in a hundred at most. Each line holds seven places and their
//! answers; a line that is full passes on to the next.

use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::memory::out_of_memory;
use frame::Paged;

/// Seven places, seven answers (none where the place is not in use), the mark of a line that
/// passed something on.
type Line = [u32; 16];
const PLACES: usize = 7;
const PASSED_ON: usize = 14;
/// Places a line is meant to hold: beyond, the table is built anew with twice the lines.
const FILL: usize = 3;

/// Answers by place, for few places.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    lines: Paged<Line>,
    len: usize,
}

impl Side {
    /// Room for `count` places.
    pub(crate) fn with_room_for(count: usize) -> Result<Self, CompileError> {
        let lines = Paged::zeroed(count / FILL + 1).map_err(out_of_memory)?;
        Ok(Self { lines, len: 0 })
    }

    /// How many places have an answer here.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that a lookup can touch.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.len() * size_of::<Line>()
    }

    /// Brings pages home.
    pub(crate) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        work.column(&mut self.lines)
    }

    /// Neighbours in the main table are strangers here: the lower half of a place leads.
    #[inline]
    fn home(&self, place: u32) -> usize {
        let mixed = u64::from(place.rotate_left(16));
        ((mixed * self.lines.len() as u64) >> 32) as usize
    }

    /// Asks for the line of `place`.
    #[inline]
    pub(crate) fn prefetch(&self, place: u32) {
        self.lines.view().prefetch(self.home(place));
    }

    /// The answer of `place`; 0 where it has none.
    pub(crate) fn get(&self, place: u32) -> u32 {
        let lines = self.lines.view();
        let mut at = self.home(place);
        for _ in 0..lines.len() {
            let line = &lines[at];
            if let Some(slot) = slot_of(line, place) {
                return line[PLACES + slot];
            }
            if line[PASSED_ON] == 0 {
                return 0;
            }
            at = (at + 1) % lines.len();
        }
        0
    }

    /// Gives `place` an answer, or takes it away (0).
    pub(crate) fn set(&mut self, place: u32, mask: u32) -> Result<(), CompileError> {
        if self.replace(place, mask)? || mask == 0 {
            return Ok(());
        }
        if self.len >= self.lines.len() * 2 * FILL {
            self.grow()?;
        }
        self.insert(place, mask)
    }

    /// Changes the answer that `place` has; false when it has none.
    fn replace(&mut self, place: u32, mask: u32) -> Result<bool, CompileError> {
        let mut at = self.home(place);
        for _ in 0..self.lines.len() {
            let line = self.lines.view()[at];
            if let Some(slot) = slot_of(&line, place) {
                self.line_mut(at)?[PLACES + slot] = mask;
                self.len -= usize::from(mask == 0);
                return Ok(true);
            }
            if line[PASSED_ON] == 0 {
                break;
            }
            at = (at + 1) % self.lines.len();
        }
        Ok(false)
    }

    /// Puts in a place that is not here. There is room.
    fn insert(&mut self, place: u32, mask: u32) -> Result<(), CompileError> {
        let mut at = self.home(place);
        loop {
            let line = self.line_mut(at)?;
            if let Some(slot) = (0..PLACES).find(|slot| line[PLACES + slot] == 0) {
                (line[slot], line[PLACES + slot]) = (place, mask);
                self.len += 1;
                return Ok(());
            }
            line[PASSED_ON] = 1;
            at = (at + 1) % self.lines.len();
        }
    }

    fn grow(&mut self) -> Result<(), CompileError> {
        let mut grown = Self::with_room_for(2 * self.len)?;
        let lines = self.lines.view();
        for at in 0..lines.len() {
            let line = &lines[at];
            for slot in (0..PLACES).filter(|slot| line[PLACES + slot] != 0) {
                grown.insert(line[slot], line[PLACES + slot])?;
            }
        }
        *self = grown;
        Ok(())
    }

    fn line_mut(&mut self, at: usize) -> Result<&mut Line, CompileError> {
        self.lines.get_mut(at).map_err(out_of_memory)
    }
}

/// Where `line` has `place`, in use.
fn slot_of(line: &Line, place: u32) -> Option<usize> {
    (0..PLACES).find(|&slot| line[slot] == place && line[PLACES + slot] != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_side_table_is_a_map() {
        let mut side = Side::with_room_for(0).expect("memory");
        let mut map = HashMap::new();
        let mut state = 1u32;
        for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Few different places, so that some come again; clusters, so that lines pass on.
            let place = (state >> 8 & 0x3f) << 26 | (state >> 16 & 0xf);
            let mask = if state >> 30 == 0 { 0 } else { state | 1 };
            side.set(place, mask).expect("memory");
            if mask == 0 {
                map.remove(&place);
            } else {
                map.insert(place, mask);
            }
            assert_eq!(side.len(), map.len());
        }
        for high in (0..64).step_by(if cfg!(miri) { 3 } else { 1 }) {
            for low in (0..16).step_by(if cfg!(miri) { 5 } else { 1 }) {
                let place = high << 26 | low;
                assert_eq!(side.get(place), map.get(&place).copied().unwrap_or(0));
            }
        }
    }

    #[test]
    fn a_version_keeps_its_answers() {
        let mut side = Side::with_room_for(10).expect("memory");
        side.set(5, 1).expect("memory");
        let old = side.clone();
        side.set(5, 0).expect("memory");
        side.set(6, 2).expect("memory");
        assert_eq!((old.get(5), old.get(6), old.len()), (1, 0, 1));
        assert_eq!((side.get(5), side.get(6), side.len()), (0, 2, 1));
    }
}
