//! Building the table of lines, from front to back.

use super::codes::{Census, Codes};
use super::line::{Coded, Line};
use super::lines::{Lines, first_of, line_of};
use super::side::Side;
use crate::compiled::CompileError;
use crate::memory::out_of_memory;
use crate::order::Ordered;
use crate::secret::Permutation;
use frame::Paged;

/// The table of `ordered`, which ascends by place, and whose answers are those of `census`.
pub(super) fn fill<L: Line>(
    ordered: &Ordered<u32>,
    census: &Census,
    permutation: Permutation,
) -> Result<Lines<L>, CompileError> {
    let mut filler = Filler::new::<L>(ordered, census, permutation);
    let count = filler.count;
    let mut lines = Paged::<L>::zeroed(count).map_err(out_of_memory)?;
    let per_page = Paged::<L>::per_page();
    for page in 0..count.div_ceil(per_page) {
        let page_lines = lines.page_mut(page).map_err(out_of_memory)?;
        for (index, line) in page_lines.iter_mut().enumerate() {
            *line = filler.line(page * per_page + index);
        }
    }
    let Filler { codes, aside, .. } = filler;
    let mut side = Side::with_room_for(aside.len())?;
    for (place, mask) in aside {
        side.set(place, mask)?;
    }
    Ok(Lines {
        lines,
        codes,
        side,
        permutation,
        count: ordered.keys.len(),
    })
}

struct Filler<'a> {
    ordered: &'a Ordered<u32>,
    permutation: Permutation,
    codes: Codes,
    /// The last answer asked for and its code.
    recent: (u32, Option<u8>),
    /// Lines.
    count: usize,
    /// The next key of `ordered`.
    next: usize,
    /// Places of the line being filled.
    places: Vec<Coded>,
    /// Places and answers for the side table.
    aside: Vec<(u32, u32)>,
}

impl<'a> Filler<'a> {
    fn new<L: Line>(ordered: &'a Ordered<u32>, census: &Census, permutation: Permutation) -> Self {
        Self {
            ordered,
            permutation,
            codes: Codes::of(census, L::CODES),
            recent: (0, None),
            count: (ordered.keys.len() / L::FILL + 1).max(L::LINES_MIN),
            next: 0,
            places: Vec::new(),
            aside: Vec::new(),
        }
    }

    fn line<L: Line>(&mut self, index: usize) -> L {
        self.places.clear();
        let mut overflows = false;
        while let Some(&key) = self.ordered.keys.get(self.next) {
            let place = self.permutation.apply(key);
            if line_of(place, self.count) != index {
                break;
            }
            let mask = self.ordered.mask(self.next);
            let code = self.code(mask);
            let held = code.or(L::ESCAPES.then_some(L::ASIDE));
            let held = held.filter(|_| self.places.len() < L::PLACES);
            if let Some(code) = held {
                self.places.push((place, code));
            }
            if held.is_none() || code.is_none() {
                self.aside.push((place, mask));
            }
            overflows |= held.is_none();
            self.next += 1;
        }
        L::encode(&mut self.places, overflows, first_of(index, self.count))
    }

    fn code(&mut self, mask: u32) -> Option<u8> {
        if self.recent.0 != mask {
            self.recent = (mask, self.codes.find(mask));
        }
        self.recent.1
    }
}
