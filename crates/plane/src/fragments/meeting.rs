//! The fragments of one burst, taken into a table together: all reads of its memory are begun
//! before the first is waited for.

use std::collections::VecDeque;

use frame::{BURST_MAX, Burst, Frame, Nanos};
use table::fragments::{DatagramId, FragmentTable, Met};
use wire::{Fragment, Parsed, Piece};

use super::{Released, Waiting, keep_lost, reason_of};
use crate::{DropReason, Verdict, Verdicts};

/// A fragment that was taken in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) id: DatagramId,
    pub(super) at: u8,
    pub(super) is_first: bool,
    pub(super) complete: bool,
    /// What waits for its packet goes before it.
    pub(super) releases: bool,
}

/// Frames of a burst, by place, that are fragments and were taken in or refused.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Followed([u64; BURST_MAX / 64]);

impl Followed {
    pub(super) fn add(&mut self, place: usize) {
        self.0[place / 64 % (BURST_MAX / 64)] |= 1 << (place % 64);
    }

    #[inline]
    pub(crate) fn has(&self, place: usize) -> bool {
        self.0[place / 64 % (BURST_MAX / 64)] >> (place % 64) & 1 == 1
    }
}

/// A table, and what of the last burst was taken into it.
#[derive(Debug)]
pub(super) struct Meeting<V> {
    pub(super) table: FragmentTable<V, Waiting>,
    found: Box<[(Option<Piece>, u64)]>,
    places: Box<[Place]>,
    len: usize,
}

impl<V: Copy> Meeting<V> {
    pub(super) fn new(table: FragmentTable<V, Waiting>) -> Self {
        Self {
            table,
            found: vec![(None, 0); BURST_MAX].into(),
            places: vec![Place::default(); BURST_MAX].into(),
            len: 0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.bytes() + size_of_val(&*self.found) + size_of_val(&*self.places)
    }

    /// The table, and the fragments that were taken into it, in the order of the burst.
    pub(super) fn parts(&mut self) -> (&mut FragmentTable<V, Waiting>, &mut [Place]) {
        (&mut self.table, &mut self.places[..self.len])
    }

    /// Takes in what is to be forwarded of a burst that came in by the port at place `side`, and
    /// drops what is of no use. What that costs others is added to `lost`.
    pub(super) fn meet(
        &mut self,
        (burst, parsed): (&Burst, &[Parsed]),
        (side, now): (u8, Nanos),
        verdicts: &mut Verdicts,
        lost: &mut VecDeque<Released>,
    ) -> Followed {
        let (mut followed, mut found) = (Followed::default(), 0);
        for (at, (frame, parsed)) in burst.frames().iter().zip(parsed).enumerate() {
            let forwarded = matches!(verdicts.as_slice().get(at), Some(Verdict::Forward(_)));
            if parsed.fragment == Fragment::Whole || !forwarded {
                continue;
            }
            let Some(piece) = Piece::of(frame.bytes(), parsed) else {
                if parsed.fragment == Fragment::Later || is_nested(frame, parsed) {
                    verdicts.set(at, Verdict::Drop(DropReason::FragmentUnknown));
                }
                continue;
            };
            let hash = self.table.hash(&piece.key, side);
            self.table.prefetch_head(hash);
            self.found[found] = (Some(piece), hash);
            self.places[found].at = at as u8;
            followed.add(at);
            found += 1;
        }
        for &(_, hash) in &self.found[..found] {
            self.table.prefetch_record(hash);
        }
        self.take_in(found, (side, now), verdicts, lost);
        followed
    }

    fn take_in(
        &mut self,
        found: usize,
        (side, now): (u8, Nanos),
        verdicts: &mut Verdicts,
        lost: &mut VecDeque<Released>,
    ) {
        self.len = 0;
        for (nth, (piece, hash)) in self.found[..found].iter().enumerate() {
            let (Some(piece), at) = (piece, self.places[nth].at) else {
                continue;
            };
            let mut keep = |waiting, why| keep_lost(lost, waiting, why);
            match self.table.meet(piece, (side, *hash), now, &mut keep) {
                Ok(Met { id, complete }) => {
                    self.places[self.len] = Place {
                        id,
                        at,
                        is_first: piece.is_first(),
                        complete,
                        releases: false,
                    };
                    self.len += 1;
                }
                Err(refused) => verdicts.set(at.into(), Verdict::Drop(reason_of(refused))),
            }
        }
    }
}

/// Whether a first fragment is sound and yet no piece: a fragment of a fragment. To let it pass
/// unfollowed would let it overlap those that are followed.
pub(super) fn is_nested(frame: &Frame, parsed: &Parsed) -> bool {
    let sound = parsed.fault.is_none() && !parsed.snapped;
    parsed.fragment == Fragment::First && sound && Piece::of(frame.bytes(), parsed).is_none()
}
