//! A table of lines, and its changes by version.

use super::codes::Codes;
use super::line::{Coded, Line};
use super::side::Side;
use crate::compact::Compacting;
use crate::compiled::CompileError;
use crate::memory::out_of_memory;
use crate::secret::Permutation;
use crate::simd::Portable;
use frame::{Paged, Pages};
use zerocopy::{FromBytes, IntoBytes};

/// Addresses by place. Clones share memory; a change copies what it touches.
#[derive(Clone, Debug)]
pub(crate) struct Lines<L> {
    pub(super) lines: Paged<L>,
    pub(super) codes: Codes,
    pub(super) side: Side,
    pub(super) permutation: Permutation,
    /// Addresses.
    pub(super) count: usize,
}

/// The line of a place.
#[inline(always)]
pub(super) fn line_of(place: u32, lines: usize) -> usize {
    ((u64::from(place) * lines as u64) >> 32) as usize
}

/// The lowest place of a line.
pub(super) fn first_of(line: usize, lines: usize) -> u32 {
    ((line as u64) << 32).div_ceil(lines as u64) as u32
}

impl<L: Line> Lines<L> {
    /// How many addresses there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The memory of the lines.
    pub(crate) fn pages(&self) -> Option<Pages> {
        self.lines.pages()
    }

    /// The lines, where they lie side by side.
    pub(crate) fn as_words(&self) -> Option<&[[u64; 8]]> {
        let bytes = self.lines.as_slice()?.as_bytes();
        <[[u64; 8]]>::ref_from_bytes(bytes).ok()
    }

    /// Bytes that a lookup can touch.
    pub(crate) fn bytes(&self) -> usize {
        self.lines.len() * size_of::<L>() + self.side.bytes()
    }

    /// True when more addresses are in the side table than a newly built table would leave there.
    pub(crate) fn is_crowded(&self) -> bool {
        self.side.len() > 1024 + self.count / 64
    }

    /// Brings pages home.
    pub(crate) fn compact(&mut self, work: &mut Compacting) -> Result<(), CompileError> {
        work.column(&mut self.lines)?;
        self.side.compact(work)
    }

    /// The lists of one address.
    pub(crate) fn get(&self, address: u32) -> u32 {
        let place = self.permutation.apply(address);
        let line = &self.lines.view()[line_of(place, self.lines.len())];
        match line.find(Portable, place) {
            code if code == L::ASIDE => self.side.get(place),
            code => self.codes.answers().all()[usize::from(code)],
        }
    }

    /// Gives an address its lists; none removes it.
    pub(crate) fn assign(&mut self, address: u32, mask: u32) -> Result<(), CompileError> {
        let before = self.get(address);
        if before == mask {
            return Ok(());
        }
        let place = self.permutation.apply(address);
        let index = line_of(place, self.lines.len());
        let first = first_of(index, self.lines.len());
        let line = self.lines.view()[index];
        let mut places = Vec::with_capacity(L::PLACES);
        line.decode(first, &mut places);
        let was_aside = before != 0 && {
            let code = places.iter().find(|coded| coded.0 == place);
            code.is_none_or(|coded| coded.1 == L::ASIDE)
        };
        places.retain(|coded| coded.0 != place);
        let mut codes = self.codes;
        let overflows = self.put(&mut places, &mut codes, place, mask);
        let goes_aside = mask != 0 && codes.find(mask).is_none_or(|_| overflows);
        if goes_aside {
            self.side.set(place, mask)?;
        }
        let overflowed = line.overflowed() | overflows;
        *self.lines.get_mut(index).map_err(out_of_memory)? =
            L::encode(&mut places, overflowed, first);
        self.codes = codes;
        if was_aside && !goes_aside {
            self.side.set(place, 0)?;
        }
        self.count = self.count + usize::from(mask != 0) - usize::from(before != 0);
        Ok(())
    }

    /// Adds a place to those of its line if it can; tells whether the line overflows by it.
    fn put(&self, places: &mut Vec<Coded>, codes: &mut Codes, place: u32, mask: u32) -> bool {
        if mask == 0 {
            return false;
        }
        let code = codes.find_or_add(mask);
        let code = code.or(L::ESCAPES.then_some(L::ASIDE));
        match code {
            Some(code) => {
                let fits = places.len() < L::PLACES;
                places.extend(fits.then_some((place, code)));
                !fits
            }
            None => true,
        }
    }
}
