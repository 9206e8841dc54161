//! Looking a burst up.

use super::codes::ESCAPE;
use super::line::{Word, after, home, look};
use super::table::Table;
use crate::mask::ListMask;
use crate::secret::WidePermutation;
use crate::simd::{Job, Lanes};

/// Lines on their way while a burst is looked up; mixed addresses wait as long.
const AHEAD: usize = 64;
/// Keys looked up together.
pub(super) const WINDOW: usize = 256;

/// What a lookup leaves for each key.
pub(super) trait Answer: Copy {
    /// True when the lists matter, not only whether there are any.
    const LISTS: bool;
    fn of(code: u8, masks: &[ListMask; 128]) -> Self;
    fn from_mask(mask: ListMask) -> Self;
}

impl Answer for ListMask {
    const LISTS: bool = true;
    #[inline(always)]
    fn of(code: u8, masks: &[ListMask; 128]) -> Self {
        masks[usize::from(code & 127)]
    }
    #[inline(always)]
    fn from_mask(mask: ListMask) -> Self {
        mask
    }
}

impl Answer for bool {
    const LISTS: bool = false;
    #[inline(always)]
    fn of(code: u8, _: &[ListMask; 128]) -> Self {
        code != 0
    }
    #[inline(always)]
    fn from_mask(mask: ListMask) -> Self {
        !mask.is_empty()
    }
}

/// Up to [`WINDOW`] keys, as many answers. The table has lines.
pub(super) struct Lookup<'a, A> {
    pub(super) table: &'a Table,
    pub(super) mix: WidePermutation,
    pub(super) keys: &'a [u128],
    pub(super) answers: &'a mut [A],
}

/// Keys whose line does not answer them, to be seen to at the end. Written without a branch.
struct Later {
    indices: [u8; WINDOW],
    count: usize,
}

impl<A: Answer> Job for Lookup<'_, A> {
    type Answer = ();

    #[inline(always)]
    fn run<S: Lanes>(self, lanes: S) {
        let mut later = Later {
            indices: [0; WINDOW],
            count: 0,
        };
        let Self {
            table,
            mix,
            keys,
            answers,
        } = self;
        roll(lanes, table, mix, keys, answers, &mut later);
        for &index in &later.indices[..later.count] {
            let index = usize::from(index);
            answers[index] = A::from_mask(table.get(mix.apply(keys[index])));
        }
    }
}

#[inline(always)]
fn roll<S: Lanes, A: Answer>(
    lanes: S,
    table: &Table,
    mix: WidePermutation,
    keys: &[u128],
    answers: &mut [A],
    later: &mut Later,
) {
    let answers = &mut answers[..keys.len()];
    let lines = table.lines().view();
    let codes = table.codes();
    let masks = codes.masks();
    let escapes = A::LISTS && codes.has_escaped();
    let mut words: [Word; AHEAD] = [[0; 2]; AHEAD];
    for (word, &key) in words.iter_mut().zip(keys) {
        *word = mix.apply(key);
        lines.prefetch(home(*word, lines.len()));
    }
    for index in 0..keys.len() {
        let slot = &mut words[index % AHEAD];
        let word = *slot;
        if let Some(&key) = keys.get(index + AHEAD) {
            *slot = mix.apply(key);
            lines.prefetch(home(*slot, lines.len()));
        }
        let at = home(word, lines.len());
        let found = look(lanes, &lines[at], word);
        answers[index] = A::of(found.code, masks);
        let mut waits = found.passed;
        if escapes {
            waits |= found.code == ESCAPE;
            codes.prefetch(at * super::line::PLACES);
        }
        later.indices[later.count % WINDOW] = index as u8;
        later.count += usize::from(waits);
        // One that nobody needs is cheaper than a branch that is guessed wrong.
        lines.prefetch(if found.passed {
            after(at, lines.len())
        } else {
            at
        });
    }
}
