//! The slow twin: datagrams by the holes they have, as RFC 815 tells it, without limits.

use std::collections::BTreeMap;

use wire::{DatagramKey, Piece};

use super::{Flaw, Refused};

/// A gap in a datagram: bytes from the first to before the second. The last one has no end.
type Hole = (u32, u32);

/// No end is known.
const OPEN: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Datagram {
    holes: Vec<Hole>,
    pieces: Vec<(u16, u16, u32)>,
    length: Option<u32>,
    flaw: Option<Flaw>,
}

/// Datagrams in pieces.
#[derive(Clone, Debug, Default)]
pub struct Holes {
    datagrams: BTreeMap<(u128, u128, u32, u8, u8), Datagram>,
}

impl Holes {
    /// No datagrams.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a piece in; whether its datagram is whole by it, and then it is forgotten.
    ///
    /// # Errors
    /// As the table refuses it, but for want of room.
    pub fn meet(&mut self, piece: &Piece) -> Result<bool, Refused> {
        let name = name(&piece.key);
        let datagram = self.datagrams.entry(name).or_insert_with(|| Datagram {
            holes: vec![(0, OPEN)],
            pieces: Vec::new(),
            length: None,
            flaw: None,
        });
        let met = datagram.meet(piece);
        if met == Ok(true) {
            self.datagrams.remove(&name);
        }
        met
    }
}

fn name(key: &DatagramKey) -> (u128, u128, u32, u8, u8) {
    let family = key.family as u8;
    (key.src, key.dst, key.identification, key.protocol, family)
}

impl Datagram {
    /// Whether a piece is the first of another datagram.
    fn has_other_first(&self, piece: &Piece) -> bool {
        let mut firsts = self.pieces.iter().filter(|(start, ..)| *start == 0);
        piece.start == 0 && firsts.any(|(.., mark)| *mark != piece.mark)
    }

    fn meet(&mut self, piece: &Piece) -> Result<bool, Refused> {
        if let Some(flaw) = self.flaw {
            return Err(Refused::Flawed(flaw));
        }
        let (start, end) = (u32::from(piece.start), u32::from(piece.end));
        if self.has_other_first(piece) {
            return self.spoil(Flaw::Reused);
        }
        if self.pieces.contains(&(piece.start, piece.end, piece.mark)) {
            return Err(Refused::Duplicate);
        }
        let overlaps =
            |&(from, to, _): &(u16, u16, u32)| start < to.into() && u32::from(from) < end;
        if self.pieces.iter().any(overlaps) {
            return self.spoil(Flaw::Overlap);
        }
        let reach = self.pieces.iter().map(|&(_, to, _)| u32::from(to)).max();
        let wrong = match self.length {
            Some(length) => end > length || piece.last && end != length,
            None => piece.last && end < reach.unwrap_or(0),
        };
        if wrong || start >= end || !piece.last && !end.is_multiple_of(8) {
            return self.spoil(Flaw::Length);
        }
        self.pieces.push((piece.start, piece.end, piece.mark));
        self.fill(start, end, piece.last);
        Ok(self.holes.is_empty())
    }

    fn spoil(&mut self, flaw: Flaw) -> Result<bool, Refused> {
        self.flaw = Some(flaw);
        Err(Refused::Flawed(flaw))
    }

    /// Steps 1 to 8 of section 3: the hole that a piece lies in becomes what is left of it.
    fn fill(&mut self, start: u32, end: u32, last: bool) {
        let holes = std::mem::take(&mut self.holes);
        for (first, behind) in holes {
            if start >= behind || end <= first {
                self.holes.push((first, behind));
                continue;
            }
            if start > first {
                self.holes.push((first, start));
            }
            if end < behind && !last {
                self.holes.push((end, behind));
            }
        }
        if last {
            self.length = Some(end);
            self.holes.retain(|&(first, _)| first < end);
        }
    }
}
