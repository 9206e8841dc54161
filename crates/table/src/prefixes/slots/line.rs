//! The lines behind slots.
//!
//! A leaf: the 16 [codes](super::code) of the answers before, between and behind up to 15 changes;
//! then the places of these, ascending, and one that no key is behind. So the number of a run is
//! where its code is. [`WORD`] says that the code is a word of the trie, which stands in a line of
//! words at the number of its run. A leaf with such has 13 changes at most, and in its last two
//! codes the number of that line.
//!
//! A node: the places of up to 30 changes, ascending, at which the next leaf begins; then the
//! number of the first leaf, low and high.

use super::code::WORD;
use crate::simd::Lanes;

/// 16-bit numbers of one cache line.
pub(super) type Line = [u16; 32];

/// Runs of a leaf, and of one with words.
pub(super) const RUNS: usize = 16;
pub(super) const RUNS_BESIDE_WORDS: usize = 14;
/// Leaves of a node.
pub(super) const LEAVES: usize = 31;
/// Where a number of 32 bits is in a node, and in a leaf.
const NODE_NUMBER: usize = 30;
const LEAF_NUMBER: usize = RUNS_BESIDE_WORDS;
/// The place of a change that there is not: no key is behind it.
const NEVER: u16 = 0x7fff;

/// From a number of the bits 32 to 47 on, this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: u16,
    pub(super) answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Class(u16),
    /// More than one: the word of the trie for this network of 48 bits.
    Below(u32),
}

impl Answer {
    pub(super) fn is_below(self) -> bool {
        matches!(self, Self::Below(_))
    }
}

/// What a line holds of the place of a change. Keys that are not before it are behind the number
/// before, as signed numbers: what vectors have one instruction for.
fn place(start: u16) -> u16 {
    start.wrapping_sub(1) ^ 1 << 15
}

fn start_of(place: u16) -> u16 {
    (place ^ 1 << 15).wrapping_add(1)
}

fn number_at(line: &Line, at: usize) -> u32 {
    u32::from(line[at]) | u32::from(line[at + 1]) << 16
}

fn set_number_at(line: &mut Line, at: usize, number: u32) {
    line[at] = number as u16;
    line[at + 1] = (number >> 16) as u16;
}

/// The number of the first leaf of a node.
#[inline(always)]
pub(super) fn number(node: &Line) -> u32 {
    number_at(node, NODE_NUMBER)
}

/// The number of the line of words of a leaf that has one.
#[inline(always)]
pub(super) fn words_number(leaf: &Line) -> u32 {
    number_at(leaf, LEAF_NUMBER)
}

/// The code of a key in a leaf.
#[inline(always)]
pub(super) fn code<L: Lanes>(lanes: L, leaf: &Line, compared: u32) -> u16 {
    // At most 16, by how it is counted.
    leaf[run(lanes, leaf, compared) & 31]
}

/// The number of the run of a key in a leaf.
#[inline(always)]
pub(super) fn run<L: Lanes>(lanes: L, leaf: &Line, compared: u32) -> usize {
    lanes.below16(leaf, compared) as usize
}

/// The number of the leaf of a key in a node.
#[inline(always)]
pub(super) fn child<L: Lanes>(lanes: L, node: &Line, compared: u32) -> u32 {
    number(node).wrapping_add(lanes.below30(node, compared))
}

/// The places of the changes of a leaf.
fn places(leaf: &Line) -> impl Iterator<Item = u16> {
    let places = leaf[RUNS..].iter().copied();
    places.take_while(|&place| place != NEVER)
}

/// The leaf of one answer.
pub(super) fn plain(code: u16) -> Line {
    let mut line = [NEVER; 32];
    line[..RUNS].fill(code);
    line
}

/// True when a leaf has one answer only, and no words.
pub(super) fn is_plain(leaf: &Line) -> bool {
    leaf[RUNS] == NEVER && leaf[0] != WORD
}

/// How many runs a leaf has.
pub(super) fn run_count(leaf: &Line) -> usize {
    places(leaf).count() + 1
}

/// Runs, in as many portions as they need leaves.
pub(super) fn portions(mut runs: &[Run]) -> impl Iterator<Item = &[Run]> {
    std::iter::from_fn(move || {
        let count = runs.len().min(RUNS);
        let has_words = runs[..count].iter().any(|run| run.answer.is_below());
        let most = if has_words { RUNS_BESIDE_WORDS } else { RUNS };
        let (portion, rest) = runs.split_at(count.min(most));
        runs = rest;
        (!portion.is_empty()).then_some(portion)
    })
}

/// The leaf of a portion, and its line of words, if it has one. `code` tells the code of a class.
pub(super) fn leaf(portion: &[Run], code: impl Fn(u16) -> u16) -> (Line, Option<Line>) {
    let (mut leaf, mut words) = (plain(0), [0; 32]);
    let mut has_words = false;
    for (at, run) in portion.iter().enumerate() {
        if at > 0 {
            leaf[RUNS + at - 1] = place(run.start);
        }
        leaf[at] = match run.answer {
            Answer::Class(class) => code(class),
            Answer::Below(word) => {
                words[2 * at] = word as u16;
                words[2 * at + 1] = (word >> 16) as u16;
                has_words = true;
                WORD
            }
        };
    }
    (leaf, has_words.then_some(words))
}

/// `leaf` with its words in line `number`.
pub(super) fn with_words(mut leaf: Line, number: u32) -> Line {
    set_number_at(&mut leaf, LEAF_NUMBER, number);
    leaf
}

/// The number of the line of words of a leaf, if it has one.
pub(super) fn words(leaf: &Line) -> Option<u32> {
    let codes = &leaf[..RUNS_BESIDE_WORDS];
    codes.contains(&WORD).then(|| words_number(leaf))
}

/// The word of a run of a leaf in the line of its words.
pub(super) fn word(words: &Line, run: usize) -> u32 {
    let at = (2 * run) % words.len();
    u32::from(words[at]) | u32::from(words[at + 1]) << 16
}

/// Where the runs of a leaf begin that are words, and their numbers; the leaf begins at `start`.
pub(super) fn below(leaf: &Line, start: u16) -> impl Iterator<Item = (u16, usize)> {
    let starts = std::iter::once(start).chain(places(leaf).map(start_of));
    let runs = starts.zip(0..);
    runs.filter(|&(_, run)| leaf[run] == WORD)
}

/// The node of leaves that begin with these runs; the first of them is number `first`.
pub(super) fn node(starts: &[u16], first: u32) -> Line {
    let mut line = [NEVER; 32];
    for (place_of, &start) in line.iter_mut().zip(&starts[1..]) {
        *place_of = place(start);
    }
    set_number_at(&mut line, NODE_NUMBER, first);
    line
}

/// The leaves of a node that begins at `start`: their numbers, and where they begin.
pub(super) fn leaves(node: &Line, start: u16) -> impl Iterator<Item = (u32, u16)> {
    let first = number(node);
    let starts = node[..LEAVES - 1]
        .iter()
        .take_while(|&&place| place != NEVER);
    let starts = std::iter::once(start).chain(starts.map(|&place| start_of(place)));
    (first..).zip(starts)
}
