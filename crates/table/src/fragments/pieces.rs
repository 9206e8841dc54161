//! The pieces of a datagram: some in its record, more in blocks of one cache line.
//!
//! In no order: a piece is held against all others only if it begins before the end of one.

use wire::Piece;

use super::record::NONE;

/// Pieces in a record.
pub(super) const INLINE: usize = 4;
/// Pieces in a block.
const OF_BLOCK: usize = 7;

/// From where to where a piece goes, and its mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    start: u16,
    end: u16,
    mark: u32,
}

impl Span {
    #[inline]
    pub(super) fn of(piece: &Piece) -> Self {
        Self {
            start: piece.start,
            end: piece.end,
            mark: piece.mark,
        }
    }
}

/// How a piece stands to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It shares no byte with any.
    Apart,
    /// It is one of them.
    Same,
    /// It shares bytes with one and is not the same.
    Overlap,
}

impl Likeness {
    #[inline]
    pub(super) fn among(span: &Span, spans: &[Span]) -> Self {
        let meets = |other: &&Span| span.start < other.end && other.start < span.end;
        match spans.iter().find(meets) {
            None => Self::Apart,
            Some(other) if span == other => Self::Same,
            Some(_) => Self::Overlap,
        }
    }
}

/// A line of pieces.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Block {
    spans: [Span; OF_BLOCK],
    next: u32,
    used: u32,
}

/// Blocks that all datagrams share. The newest of a datagram is the first of its chain.
#[derive(Debug)]
pub(super) struct MorePieces {
    blocks: Box<[Block]>,
    /// The first free one.
    free: u32,
}

impl MorePieces {
    pub(super) fn new(count: u32) -> Self {
        let count = count.max(16);
        let block = |at: u32| Block {
            spans: [Span::default(); OF_BLOCK],
            next: if at + 1 == count { NONE } else { at + 1 },
            used: 0,
        };
        Self {
            blocks: (0..count).map(block).collect(),
            free: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.blocks)
    }

    /// Adds a piece to a chain that has `count`; `false` where there is no room.
    pub(super) fn push(&mut self, chain: &mut u32, count: usize, span: Span) -> bool {
        let place = count % OF_BLOCK;
        if place == 0 {
            let Some(block) = self.blocks.get_mut(self.free as usize) else {
                return false;
            };
            let at = self.free;
            self.free = block.next;
            block.next = *chain;
            *chain = at;
        }
        if let Some(block) = self.blocks.get_mut(*chain as usize) {
            block.spans[place] = span;
            block.used = place as u32 + 1;
        }
        true
    }

    pub(super) fn compare(&self, span: &Span, chain: u32) -> Likeness {
        let mut at = chain;
        while let Some(block) = self.blocks.get(at as usize) {
            let used = (block.used as usize).min(OF_BLOCK);
            match Likeness::among(span, &block.spans[..used]) {
                Likeness::Apart => at = block.next,
                likeness => return likeness,
            }
        }
        Likeness::Apart
    }

    /// Takes a chain back.
    pub(super) fn give_back(&mut self, chain: &mut u32) {
        let mut at = std::mem::replace(chain, NONE);
        while let Some(block) = self.blocks.get_mut(at as usize) {
            let next = std::mem::replace(&mut block.next, self.free);
            self.free = at;
            at = next;
        }
    }

    /// Blocks that are free.
    #[cfg(test)]
    pub(super) fn free_count(&self) -> usize {
        let next = |&at: &u32| self.blocks.get(at as usize).map(|block| block.next);
        std::iter::successors(Some(self.free), next).count() - 1
    }
}
