//! From prefixes that lie within each other to runs of addresses with one answer.

use std::num::NonZeroU32;

use crate::address::Address;
use crate::flatten::{MergedSpans, Runs, Span};

/// Prefixes, each its first address and length, in their order.
type Prefix<A> = ((A, u8), NonZeroU32);

/// The runs of the whole family, of prefixes in order; 0 where there is none.
pub(super) fn of<A: Address>(prefixes: impl Iterator<Item = Prefix<A>>) -> Runs<A> {
    collected(swept(prefixes).into_iter())
}

/// Runs in order as columns.
pub(super) fn collected<A: Address>(runs: impl Iterator<Item = (A, u32)>) -> Runs<A> {
    let mut columns = Runs::none();
    runs.for_each(|(start, answer)| columns.push(start, answer));
    columns
}

/// Spans in order, one for all that lie in the same block: the memory of lookups is written by
/// blocks, of 16 bits in IPv4 and of 32 in IPv6.
pub(super) fn by_block<A: Address>(spans: Vec<Span<A>>) -> Vec<Span<A>> {
    let block_len = if A::BITS == 32 { 16 } else { 32 };
    let mut joined: Vec<Span<A>> = Vec::new();
    for (first, last) in MergedSpans::of(spans).spans {
        let before = joined.last_mut();
        match before.filter(|before| before.1.first_in(block_len) == first.first_in(block_len)) {
            Some(before) => before.1 = last,
            None => joined.push((first, last)),
        }
    }
    joined
}

/// The runs of prefixes in order.
fn swept<A: Address>(prefixes: impl Iterator<Item = Prefix<A>>) -> Vec<(A, u32)> {
    let mut made = vec![(A::default(), 0)];
    // Those that hold the address that was come to, the longest last.
    let mut open: Vec<(A, u32)> = Vec::new();
    for ((start, len), answer) in prefixes {
        close(&mut open, &mut made, |last| last < start);
        push(&mut made, start, answer.get());
        open.push((start.last_in(len), answer.get()));
    }
    close(&mut open, &mut made, |_| true);
    made
}

/// Ends the prefixes whose last address is passed.
fn close<A: Address>(
    open: &mut Vec<(A, u32)>,
    made: &mut Vec<(A, u32)>,
    is_passed: impl Fn(A) -> bool,
) {
    while let Some((last, _)) = open.pop_if(|&mut (last, _)| is_passed(last)) {
        let outer = open.last().map_or(0, |&(_, answer)| answer);
        if let Some(behind) = last.successor() {
            push(made, behind, outer);
        }
    }
}

/// Appends a run; one at the start of the last replaces it.
fn push<A: Address>(made: &mut Vec<(A, u32)>, start: A, answer: u32) {
    made.pop_if(|&mut (last, _)| last == start);
    made.push((start, answer));
}
