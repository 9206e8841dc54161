//! Filling a table from columns of addresses.
//!
//! Addresses are parted by the upper bits of their home line into pieces whose lines fit the L2
//! cache. A piece is filled there and copied into the table, so that memory is written once and
//! in order. What finds its own line full waits until all of the piece are at home; what would
//! lie beyond the piece waits until all pieces are filled.

use super::codes::{Code, Codes, ESCAPE};
use super::line::{self, Line, Word, home, reach};
use super::table::Table;
use crate::compiled::CompileError;
use crate::mask::ListMask;
use crate::order::Parted;
use crate::secret::WidePermutation;

/// Addresses that wait for room, and their lists.
type Waiting = Vec<(Word, u8)>;

/// The table of `columns`: column `i` belongs to list `i`. Also tells, for each list, how many
/// duplicates it had.
pub(super) fn table(
    columns: &[impl AsRef<[u128]>],
    mix: WidePermutation,
) -> Result<(Table, Vec<u64>), CompileError> {
    let parted = Parted::new(columns, |key| (mix.apply(key)[1] >> 32) as u32)?;
    let given = |column: &&_| !AsRef::<[u128]>::as_ref(*column).is_empty();
    let only = columns
        .iter()
        .position(|column| given(&column))
        .unwrap_or(0) as u8;
    let table = Table::with_room_for(distinct(&parted), 0)?;
    let mut filler = Filler {
        steps: Steps::new(),
        duplicates: vec![0; columns.len()],
        lines: table.lines().len(),
        table,
        first: 0,
        piece: Vec::new(),
        displaced: Vec::new(),
        beyond: Vec::new(),
        len: 0,
        marks: 0,
    };
    for (index, bounds) in parted.bounds.windows(2).enumerate() {
        let pieces = parted.bounds.len() as u64 - 1;
        filler.begin(((index as u64 + 1) << 32).div_ceil(pieces))?;
        for at in bounds[0]..bounds[1] {
            let list = parted.lists.get(at).copied().unwrap_or(only);
            filler.add_at_home(mix.apply(parted.keys[at]), list)?;
        }
        filler.settle()?;
    }
    filler.finish()
}

/// Addresses that are counted to learn how many of all are distinct.
const SAMPLE: usize = 1 << 14;

/// How many addresses are distinct: exactly if there are few, or else as many as the first pieces
/// suggest. Pieces are random samples in which equal addresses meet.
fn distinct(parted: &Parted<u128>) -> usize {
    let count = parted.keys.len();
    let end = parted.bounds.iter().copied().find(|&end| end >= SAMPLE);
    let mut sample = parted.keys[..end.unwrap_or(count)].to_vec();
    let sampled = sample.len().max(1);
    sample.sort_unstable();
    sample.dedup();
    (count as u128 * sample.len() as u128).div_ceil(sampled as u128) as usize
}

struct Filler {
    table: Table,
    /// Lines of the table.
    lines: usize,
    /// The lines being filled, from line `first` on.
    piece: Vec<Line>,
    first: usize,
    displaced: Waiting,
    beyond: Waiting,
    steps: Steps,
    duplicates: Vec<u64>,
    len: usize,
    marks: usize,
}

impl Filler {
    /// Begins the piece whose upper halves lie below `end` (in their upper 32 bits). Its first
    /// line may hold addresses of the piece before.
    fn begin(&mut self, end: u64) -> Result<(), CompileError> {
        if self.lines == 0 {
            return Ok(());
        }
        let last = home([0, (end - 1) << 32], self.lines);
        let kept = self.piece.pop();
        self.table.fill(self.first, &self.piece)?;
        self.first += self.piece.len();
        self.piece.clear();
        self.piece.extend(kept);
        self.piece.resize(last + 1 - self.first, [0; 8]);
        Ok(())
    }

    #[inline]
    fn add_at_home(&mut self, word: Word, list: u8) -> Result<(), CompileError> {
        let at = home(word, self.lines) - self.first;
        let line = &mut self.piece[at];
        if let Some(place) = line::find(line, word) {
            return self.join(at, place, list);
        }
        match line::free(line) {
            Some(place) => self.put(at, place, word, list),
            None => {
                self.displaced.push((word, list));
                Ok(())
            }
        }
    }

    /// Finds room for what its own line did not take.
    fn settle(&mut self) -> Result<(), CompileError> {
        let displaced = std::mem::take(&mut self.displaced);
        for &(word, list) in &displaced {
            self.add_further(word, list)?;
        }
        self.displaced = displaced;
        self.displaced.clear();
        Ok(())
    }

    fn add_further(&mut self, word: Word, list: u8) -> Result<(), CompileError> {
        let own = home(word, self.lines) - self.first;
        let end = self.piece.len().min(own + reach(self.lines) + 1);
        let free = |at: &usize| line::free(&self.piece[*at]).is_some();
        for at in own..end {
            if let Some(place) = line::find(&self.piece[at], word) {
                return self.join(at, place, list);
            }
            if !line::is_marked(&self.piece[at], word) {
                break;
            }
        }
        let Some(at) = (own..end).find(free) else {
            self.beyond.push((word, list));
            return Ok(());
        };
        for passed in &mut self.piece[own..at] {
            self.marks += usize::from(!line::is_marked(passed, word));
            line::mark(passed, word);
        }
        let place = line::free(&self.piece[at]).unwrap_or(0);
        self.put(at, place, word, list)
    }

    fn number(&self, at: usize, place: usize) -> usize {
        (self.first + at) * line::PLACES + place
    }

    fn put(&mut self, at: usize, place: usize, word: Word, list: u8) -> Result<(), CompileError> {
        let (code, mask) = self
            .steps
            .next(self.table.codes_mut(), 0, list, ListMask::EMPTY);
        line::put(&mut self.piece[at], place, word, code);
        self.len += 1;
        self.escape(at, place, code, mask)
    }

    /// One more list holds an address.
    fn join(&mut self, at: usize, place: usize, list: u8) -> Result<(), CompileError> {
        let old = line::code(&self.piece[at], place);
        let mask = self.table.codes().answer(old, self.number(at, place));
        if mask.contains(usize::from(list)) {
            self.duplicates[usize::from(list)] += 1;
            return Ok(());
        }
        let (code, mask) = self.steps.next(self.table.codes_mut(), old, list, mask);
        line::set_code(&mut self.piece[at], place, code);
        self.escape(at, place, code, mask)
    }

    fn escape(
        &mut self,
        at: usize,
        place: usize,
        code: Code,
        mask: ListMask,
    ) -> Result<(), CompileError> {
        if code != ESCAPE {
            return Ok(());
        }
        let number = self.number(at, place);
        let places = self.lines * line::PLACES;
        self.table.codes_mut().escape(number, places, mask)
    }

    fn finish(mut self) -> Result<(Table, Vec<u64>), CompileError> {
        self.table.fill(self.first, &self.piece)?;
        self.table.count(self.len, self.marks);
        for &(word, list) in &self.beyond {
            let mask = self.table.get(word);
            let joined = mask | ListMask::only(usize::from(list));
            self.duplicates[usize::from(list)] += u64::from(joined == mask);
            self.table.set(word, joined)?;
        }
        Ok((self.table, self.duplicates))
    }
}

/// What code an address has when one more list holds it, by the code it had.
struct Steps {
    known: Vec<[Code; 32]>,
}

impl Steps {
    fn new() -> Self {
        Self {
            known: vec![[0; 32]; 128],
        }
    }

    /// The code and the answer after `mask`, whose code is `old`.
    #[inline]
    fn next(&mut self, codes: &mut Codes, old: Code, list: u8, mask: ListMask) -> (Code, ListMask) {
        let joined = mask | ListMask::only(usize::from(list));
        let known = &mut self.known[usize::from(old & 127)][usize::from(list & 31)];
        if *known == 0 || old == ESCAPE {
            *known = codes.code(joined);
        }
        (*known, joined)
    }
}
