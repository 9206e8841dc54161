//! What is kept of one datagram: two cache lines, four pieces among them.

use frame::Nanos;
use wire::{DatagramKey, Family, Piece};

use super::Flaw;
use super::held::Waiting;
use super::pieces::{INLINE, Likeness, MorePieces, Span};

/// No record, no block.
pub(super) const NONE: u32 = u32::MAX;

/// A datagram, as long as it is known: a later one in its place has another number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DatagramId {
    pub(super) at: u32,
    pub(super) generation: u32,
}

impl DatagramId {
    /// Its place in the table, and how many had that place before it.
    #[must_use]
    #[inline]
    pub fn parts(self) -> (u32, u32) {
        (self.at, self.generation)
    }
}

/// What is known of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State<V> {
    /// Its first piece has not come, or was not judged.
    Waiting,
    /// What holds for all its pieces.
    Judged(V),
    /// It is bad, and so are all its pieces.
    Bad(Flaw),
}

/// One datagram, or a free place.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Record<V> {
    src: u128,
    dst: u128,
    identification: u32,
    protocol: u8,
    family: Family,
    side: u8,
    used: bool,
    /// The next of its chain.
    pub(super) next: u32,
    pub(super) chain: u32,
    pub(super) born: Nanos,
    generation: u32,
    pub(super) source: u16,
    /// Pieces there are.
    pub(super) count: u16,
    pub(super) state: State<V>,
    /// Bytes that its pieces hold.
    bytes: u16,
    /// The byte behind the last one known of.
    pub(super) reach: u16,
    /// Its length is known to be `reach`.
    has_last: bool,
    /// Its first piece is there, with this mark.
    has_first: bool,
    first_mark: u32,
    pub(super) waiting: Waiting,
    more: u32,
    spans: [Span; INLINE],
}

const _: () = assert!(
    size_of::<Record<u32>>() == 128,
    "two lines, fetched together"
);

impl<V: Copy> Record<V> {
    pub(super) fn new() -> Self {
        Self {
            src: 0,
            dst: 0,
            identification: 0,
            protocol: 0,
            family: Family::None,
            side: 0,
            used: false,
            next: NONE,
            chain: 0,
            born: Nanos(0),
            generation: 0,
            source: 0,
            count: 0,
            state: State::Waiting,
            bytes: 0,
            reach: 0,
            has_last: false,
            has_first: false,
            first_mark: 0,
            waiting: Waiting::NONE,
            more: NONE,
            spans: [Span::default(); INLINE],
        }
    }

    #[inline]
    pub(super) fn is_used(&self) -> bool {
        self.used
    }

    #[inline]
    pub(super) fn is(&self, key: &DatagramKey, side: u8) -> bool {
        self.src == key.src
            && self.dst == key.dst
            && self.identification == key.identification
            && (self.protocol, self.family, self.side) == (key.protocol, key.family, side)
    }

    #[inline]
    pub(super) fn id(&self, at: u32) -> DatagramId {
        DatagramId {
            at,
            generation: self.generation,
        }
    }

    #[inline]
    pub(super) fn has(&self, id: DatagramId) -> bool {
        self.used && self.generation == id.generation
    }

    /// A datagram begins here; its pieces are added by themselves.
    #[inline]
    pub(super) fn begin(&mut self, piece: &Piece, side: u8, (source, now): (u16, Nanos)) {
        (self.src, self.dst) = (piece.key.src, piece.key.dst);
        self.identification = piece.key.identification;
        (self.protocol, self.family) = (piece.key.protocol, piece.key.family);
        (self.side, self.used) = (side, true);
        (self.born, self.source, self.count) = (now, source, 0);
        (self.state, self.bytes, self.reach) = (State::Waiting, 0, 0);
        (self.has_last, self.has_first) = (false, false);
        (self.waiting, self.more) = (Waiting::NONE, NONE);
    }

    /// Its pieces are forgotten and nothing waits.
    #[inline]
    pub(super) fn end(&mut self) {
        self.used = false;
        self.generation = self.generation.wrapping_add(1);
    }

    /// Whether a piece is the first of another datagram with the same identification.
    #[inline]
    pub(super) fn has_other_first(&self, piece: &Piece) -> bool {
        piece.is_first() && self.has_first && self.first_mark != piece.mark
    }

    /// Whether a piece agrees with what is known of the length: it holds something, and a multiple
    /// of 8 if more follows (RFC 791 section 3.2, RFC 8200 section 4.5); there is one end, and
    /// nothing behind it.
    #[inline]
    pub(super) fn fits(&self, piece: &Piece) -> bool {
        let end = piece.end;
        let sound = piece.start < piece.end && (piece.last || piece.end.is_multiple_of(8));
        let within = if piece.last {
            end >= self.reach && (!self.has_last || end == self.reach)
        } else {
            !self.has_last || end <= self.reach
        };
        sound && within
    }

    /// How a piece that begins before the end of others stands to them.
    pub(super) fn compare(&self, piece: &Piece, more: &MorePieces) -> Likeness {
        let span = Span::of(piece);
        let inline = usize::from(self.count).min(INLINE);
        let mut likeness = Likeness::among(&span, &self.spans[..inline]);
        if likeness == Likeness::Apart && usize::from(self.count) > INLINE {
            likeness = more.compare(&span, self.more);
        }
        likeness
    }

    /// Adds a piece; `false` where there is no memory for it.
    #[inline]
    pub(super) fn push(&mut self, piece: &Piece, more: &mut MorePieces) -> bool {
        let span = Span::of(piece);
        match self.spans.get_mut(usize::from(self.count)) {
            Some(place) => *place = span,
            None if !more.push(&mut self.more, usize::from(self.count) - INLINE, span) => {
                return false;
            }
            None => {}
        }
        self.count += 1;
        // Pieces share no bytes, so that they are no more than the last one's end.
        self.bytes += piece.end - piece.start;
        self.reach = self.reach.max(piece.end);
        self.has_last |= piece.last;
        if piece.is_first() {
            (self.has_first, self.first_mark) = (true, piece.mark);
        }
        true
    }

    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.has_last && self.bytes == self.reach
    }

    #[inline]
    pub(super) fn forget_pieces(&mut self, more: &mut MorePieces) {
        if self.more != NONE {
            more.give_back(&mut self.more);
        }
        self.count = 0;
    }
}
