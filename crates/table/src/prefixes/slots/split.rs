//! How the bits 32 to 47 of an address choose one of the lines that a slot leads to.
//!
//! Changes of answer crowd. Who has a network of 32 bits deals networks of 48 from the first on, or
//! from the first of each 36 or 40: many lie side by side, and between them there is nothing. By
//! the upper bits crowds cannot be told apart, and by all of them there would be many lines for
//! each change. So a parting passes over some upper bits and takes the next. Numbers that differ
//! only in what was passed over share a line, which is no matter: a line has places and answers of
//! any ascending numbers, and between crowds there are few. Of the routing table 42 % of keys lie
//! in networks that have no such parting by the upper bits, 11 % where bits are passed over.

use super::line::{Answer, RUNS, RUNS_BESIDE_WORDS, Run};
use super::{LINES_MAX, NODE, low};
use crate::prefixes::trie::build::Block;

/// The lower bits of a word of a slot: how many upper bits are passed over, in twos, and from the
/// fourth bit down how far [`BITS_MAX`] is from the bits taken.
const FIELD_BITS: u32 = 7;
const SKIP_AT: u32 = 4;
/// What the lower four bits can say, which are a mask.
const BITS_MAX: u32 = 15;
/// Upper bits passed over, at most. All in twos are tried: of all numbers 9 % of keys would have
/// nodes, of these 11, of 0, 4, 8 and 12 as many as 13.
///
/// It is the mask of what a word says when it is shifted by one bit less than [`SKIP_AT`], which
/// takes steps of two.
const SKIP_MAX: u32 = 14;
const SKIP_STEP: usize = 2;
/// The number of a line, behind the field.
pub(super) const LINE_NUMBER: u32 = (NODE >> FIELD_BITS) - 1;
const _: () = assert!(2 * LINES_MAX <= LINE_NUMBER as usize + 1);

/// Some of the bits 32 to 47: behind `skip` upper ones as many as `bits`, which tell the *part* of
/// a number of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prefixes) struct Split {
    skip: u32,
    pub(super) bits: u32,
}

/// What a slot's word leads a key to, of which this is [`twice`](crate::simd::twice) the bits 32 to
/// 47: the number of a line in its lower bits. Negative if that is a node.
#[inline(always)]
pub(super) fn line_of(word: u32, compared: u32) -> i32 {
    let bits = (compared ^ 1 << 31) << (word >> (SKIP_AT - 1) & SKIP_MAX);
    // Two shifts: one by 32 is none.
    let part = bits >> (u32::BITS - BITS_MAX) >> (word & BITS_MAX);
    (word.cast_signed() >> FIELD_BITS).wrapping_add(part.cast_signed())
}

/// The word of a slot that leads to lines from number `first` on.
pub(super) fn word(first: u32, split: Split, has_nodes: bool) -> u32 {
    let kind = if has_nodes { NODE } else { 0 };
    let field = split.skip / SKIP_STEP as u32 * (1 << SKIP_AT) + (BITS_MAX - split.bits);
    kind | first << FIELD_BITS | field
}

/// The number of the first line that a slot's word leads to.
pub(super) fn first(word: u32) -> u32 {
    word >> FIELD_BITS & LINE_NUMBER
}

impl Split {
    /// One part.
    pub(super) const WHOLE: Self = Self::upper(0);

    /// All there are.
    #[cfg(all(test, not(miri)))]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let skips = (0..=SKIP_MAX).step_by(SKIP_STEP);
        let all = skips.flat_map(|skip| (0..=12).map(move |bits| Self { skip, bits }));
        all.filter(|split| split.skip + split.bits <= 16)
    }

    /// By so many upper bits.
    pub(super) const fn upper(bits: u32) -> Self {
        Self { skip: 0, bits }
    }

    /// What a slot's word, which is not [`NOTHING`](super::NOTHING), says.
    pub(super) fn of(word: u32) -> Self {
        Self {
            skip: word >> (SKIP_AT - 1) & SKIP_MAX,
            bits: BITS_MAX - (word & BITS_MAX),
        }
    }

    /// The first parting of `bits` that gives each part of these runs room in a leaf.
    pub(super) fn into_leaves(runs: &[Run], mut bits: impl Iterator<Item = u32>) -> Option<Self> {
        bits.find_map(|bits| {
            let most = if bits == 0 {
                0
            } else {
                SKIP_MAX.min(16 - bits)
            };
            let splits = (0..=most).step_by(SKIP_STEP);
            let mut splits = splits.map(|skip| Self { skip, bits });
            splits.find(|split| split.fits_leaves(runs))
        })
    }

    /// True when there are upper bits that do not count.
    pub(in crate::prefixes) fn passes_over(self) -> bool {
        self.skip > 0
    }

    /// True when the runs of `touched` parts are found faster by dealing all runs. By themselves
    /// each is looked for in as many pieces as the bits passed over say, at 0.15 us; a part has
    /// some five runs to be dealt, at 0.04 us. A network of 300 networks of 48 bits, of which 16
    /// parts of 1,024 pieces are touched, took 400 us by itself and 200 dealt (Zen 5).
    pub(super) fn is_dealt_faster(self, touched: usize) -> bool {
        self.passes_over() && touched << self.skip > 1 << self.bits
    }

    /// How many parts there are.
    pub(in crate::prefixes) fn parts(self) -> u32 {
        1 << self.bits
    }

    /// The first number of a part.
    pub(super) fn start(self, part: u32) -> u16 {
        (part << self.width()) as u16
    }

    /// The bits behind those taken.
    fn width(self) -> u32 {
        16 - self.skip - self.bits
    }

    /// The parts that have numbers from `first` to `last`, and the first such number of each.
    pub(super) fn touched(self, first: u16, last: u16) -> impl Iterator<Item = (u32, u16)> {
        let [from, to] = [first, last].map(|number| u32::from(number) >> self.width());
        let pieces = from..=to.min(from + self.parts() - 1);
        pieces.map(move |piece| {
            let start = (piece << self.width()) as u16;
            (piece & (self.parts() - 1), start.max(first))
        })
    }

    /// The runs of each part. `runs` are those of all numbers.
    pub(super) fn deal(self, runs: &[Run]) -> Vec<Vec<Run>> {
        let mut parts = vec![Vec::new(); self.parts() as usize];
        for (part, run) in self.pieces(runs) {
            push(&mut parts[part as usize], run);
        }
        parts
    }

    /// True when a leaf has room for each part of these runs, which are those of all numbers; false
    /// also where they are more than all leaves have room for, though in parts some may meet.
    fn fits_leaves(self, runs: &[Run]) -> bool {
        if runs.len() > RUNS << self.bits {
            return false;
        }
        let mut tallies = vec![Tally::default(); self.parts() as usize];
        let mut pieces = self.pieces(runs);
        pieces.all(|(part, run)| tallies[part as usize].takes(run.answer))
    }

    /// Each run as it is in each part that it has numbers in.
    fn pieces(self, runs: &[Run]) -> impl Iterator<Item = (u32, Run)> {
        let ends = runs.iter().skip(1).map(|next| next.start - 1);
        let runs = runs.iter().zip(ends.chain([u16::MAX]));
        runs.flat_map(move |(run, end)| {
            let touched = self.touched(run.start, end);
            touched.map(|(part, start)| (part, Run { start, ..*run }))
        })
    }

    /// The first piece of a part, side by side in it, of a network of 32 bits.
    pub(super) fn first_piece(self, network: Block, part: u32) -> Block {
        network.slot(part as usize, self.skip + self.bits)
    }

    /// The first piece behind `piece`, in its part, that reaches as far as `address`, which lies in
    /// the same network of 32 bits behind it.
    pub(super) fn piece_at(self, piece: Block, address: u128) -> Option<Block> {
        let at = u32::from(low(address));
        let above = 16 - self.skip;
        let same = u32::from(low(piece.first)) & ((1 << above) - 1);
        let begin = at >> above << above | same;
        let begin = if at >> self.width() > begin >> self.width() {
            begin + (1 << above)
        } else {
            begin
        };
        let number = u16::try_from(begin).ok()?;
        let first = piece.first >> 96 << 96 | u128::from(number) << 80;
        Some(Block { first, ..piece })
    }
}

/// Adds a run, unless the last one goes on in it.
pub(super) fn push(runs: &mut Vec<Run>, run: Run) {
    if run.answer.is_below() || runs.last().is_none_or(|last| last.answer != run.answer) {
        runs.push(run);
    }
}

/// What a leaf has to hold.
#[derive(Clone, Copy, Default)]
struct Tally {
    runs: usize,
    has_words: bool,
    last: Option<Answer>,
}

impl Tally {
    /// Adds a run; false when there is no room.
    fn takes(&mut self, answer: Answer) -> bool {
        self.runs += usize::from(answer.is_below() || self.last != Some(answer));
        self.has_words |= answer.is_below();
        self.last = Some(answer);
        let room = if self.has_words {
            RUNS_BESIDE_WORDS
        } else {
            RUNS
        };
        self.runs <= room
    }
}

// Not under Miri: no unsafe code, and all partings take minutes.
#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::prefixes::change_tests::Draws;
    use crate::simd::twice;

    /// Runs of networks of many sizes, some of them words.
    fn drawn(seed: u64, count: usize) -> Vec<Run> {
        let mut draws = Draws::new(seed);
        let mut below = |count| draws.below(count) as u32;
        let mut all = vec![0; 1 << 16];
        for _ in 0..count {
            let width = below(13);
            let first = below(1 << 16) >> width << width;
            all[first as usize..][..1 << width].fill(below(5));
        }
        let mut runs = Vec::new();
        for (start, class) in (0..=u16::MAX).zip(all) {
            // Of the last class each number is a word.
            let answer = match class {
                4 => Answer::Below(0),
                class => Answer::Class(class as u16),
            };
            push(&mut runs, Run { start, answer });
        }
        runs
    }

    fn answer(runs: &[Run], number: u16) -> Answer {
        runs[runs.partition_point(|run| run.start <= number) - 1].answer
    }

    #[test]
    fn words_say_where_numbers_go() {
        for split in Split::all() {
            for has_nodes in [false, true] {
                let word = word(7 << 12, split, has_nodes);
                assert_eq!((first(word), Split::of(word)), (7 << 12, split));
                for number in (0..=u16::MAX).step_by(97).chain([u16::MAX]) {
                    let behind = u32::from(number) << (16 + split.skip);
                    let part = u64::from(behind) << split.bits >> 32;
                    let line = line_of(word, twice(number));
                    assert_eq!(line < 0, has_nodes);
                    assert_eq!(u64::from(line as u32 & LINE_NUMBER), (7 << 12) + part);
                }
            }
        }
    }

    #[test]
    fn parts_answer_as_the_whole() {
        for (seed, count) in [(1, 3), (2, 40), (3, 400), (4, 4000)] {
            let runs = drawn(seed, count);
            for split in Split::all() {
                let parts = split.deal(&runs);
                assert_eq!(parts.len(), split.parts() as usize);
                let word = word(0, split, false);
                for number in (0..=u16::MAX).step_by(11) {
                    let part = &parts[line_of(word, twice(number)) as usize];
                    assert_eq!(
                        answer(part, number),
                        answer(&runs, number),
                        "{seed} {split:?}"
                    );
                }
                let is_small = |part: &Vec<Run>| line_count(part) == 1;
                let fits = split.fits_leaves(&runs);
                assert_eq!(fits, parts.iter().all(is_small), "{seed} {split:?}");
            }
        }
    }

    #[test]
    fn full_leaves_do() {
        let answers = [Answer::Class(0), Answer::Class(1)].into_iter().cycle();
        let starts = (0..64).map(|at| at << 10);
        let runs: Vec<Run> = starts
            .zip(answers)
            .map(|(start, answer)| Run { start, answer })
            .collect();
        assert_eq!(Split::into_leaves(&runs, 0..=12), Some(Split::upper(2)));
    }

    fn line_count(runs: &[Run]) -> usize {
        super::super::line::portions(runs).count()
    }

    #[test]
    fn touched_are_the_parts_between() {
        for split in Split::all() {
            let word = word(0, split, false);
            for (first, last) in [
                (0, 0),
                (0, 65_535),
                (77, 77),
                (4000, 4100),
                (32_767, 32_769),
            ] {
                let mut wanted = vec![None; split.parts() as usize];
                for number in (first..=last).rev() {
                    wanted[line_of(word, twice(number)) as usize] = Some(number);
                }
                let mut found = vec![None; split.parts() as usize];
                for (part, start) in split.touched(first, last) {
                    assert!(found[part as usize].replace(start).is_none(), "twice");
                }
                assert_eq!(found, wanted, "{split:?} {first} {last}");
            }
        }
    }

    #[test]
    fn pieces_reach_as_far_as_asked() {
        let network = Block {
            first: 0x2001_0db8 << 96,
            depth: 32,
        };
        for split in Split::all() {
            let word = word(0, split, false);
            let part = split.parts() - 1;
            let piece = split.first_piece(network, part);
            for number in (0..=u16::MAX).step_by(61).chain([u16::MAX]) {
                let address = network.first | u128::from(number) << 80 | 99;
                if address <= piece.last() {
                    continue;
                }
                let mut wanted = number..=u16::MAX;
                let wanted = wanted.find(|&n| line_of(word, twice(n)) as u32 == part);
                let found = split.piece_at(piece, address);
                let found = found.map(|found| low(found.first.max(address)));
                assert_eq!(found, wanted, "{split:?} {number}");
            }
        }
    }
}
