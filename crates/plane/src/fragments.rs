//! Packets in fragments, for a bridge that judges by ports: what comes before the first fragment of
//! its packet waits for it, and all have the verdict of the first.
//!
//! Fragments leave unchanged, in the order in which they came. Once the first has been judged,
//! later ones pass without waiting. A packet that turns out bad is dropped from there on, until its
//! time is over; what has left cannot be recalled.

#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;

use frame::{BURST_MAX, Burst, Frame, Nanos, PortId};
use table::fragments::{
    DatagramId, Flaw, FragmentCounts, FragmentLimits, FragmentTable, Lost, Met, Refused, State,
};
use wire::{Fragment, Parsed, Piece};

use crate::{DropReason, Verdict, Verdicts};

/// A frame that waited, or came behind one that did, and what is decided of it.
#[derive(Debug)]
pub struct Released {
    /// The frame.
    pub frame: Frame,
    /// Forwarded or dropped.
    pub verdict: Verdict,
    /// The port it came in by.
    pub from: PortId,
}

/// A frame that waits.
#[derive(Debug)]
struct Waiting {
    frame: Frame,
    from: PortId,
}

/// A fragment of the burst that is being judged.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    id: DatagramId,
    at: u8,
    is_first: bool,
    complete: bool,
    /// What waits for its packet goes before it.
    releases: bool,
}

/// Packets in fragments, and frames that wait; owned by one worker.
#[derive(Debug)]
pub struct Fragments {
    table: FragmentTable<Verdict, Waiting>,
    now: Nanos,
    from: PortId,
    found: Box<[(Option<Piece>, u64)]>,
    places: Box<[Place]>,
    len: usize,
    /// By place in the burst: whether it is a fragment that was taken in.
    followed: [u64; BURST_MAX / 64],
    /// Something of the burst waits, or goes behind what waited.
    acts: bool,
    released: VecDeque<Released>,
    /// What waited in vain, since it was last taken.
    lost: VecDeque<Released>,
}

impl Fragments {
    /// No packets yet, and the memory for as many as the limits say.
    #[must_use]
    pub fn new(limits: FragmentLimits) -> Self {
        let table = FragmentTable::new(limits);
        let room = table.limits().held as usize + BURST_MAX;
        Self {
            table,
            now: Nanos(0),
            from: PortId(0),
            found: vec![(None, 0); BURST_MAX].into(),
            places: vec![Place::default(); BURST_MAX].into(),
            len: 0,
            followed: [0; BURST_MAX / 64],
            acts: false,
            released: VecDeque::with_capacity(room),
            lost: VecDeque::with_capacity(room),
        }
    }

    /// What was counted of packets.
    #[must_use]
    pub fn counts(&self) -> &FragmentCounts {
        self.table.counts()
    }

    /// Packets that are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// True when no packet is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Bytes of memory; they do not change.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let queued = self.released.capacity() + self.lost.capacity();
        self.table.bytes()
            + size_of_val(&*self.found)
            + size_of_val(&*self.places)
            + queued * size_of::<Released>()
    }

    /// Frames that it holds: that wait, that are released, and that waited in vain.
    #[must_use]
    #[inline]
    pub fn held(&self) -> usize {
        self.table.held() + self.released.len() + self.lost.len()
    }

    /// What time it is, by a clock that never goes back; ends what is over, some at a time.
    #[inline]
    pub fn set_now(&mut self, now: Nanos) {
        self.now = now;
        let lost = &mut self.lost;
        self.table
            .expire(now, &mut |waiting, why| keep_lost(lost, waiting, why));
    }

    /// Takes in the fragments of a burst that came in by `from`, at place `arrival` of the two
    /// ports, and drops those that are of no use. Before the first ones are judged.
    pub fn meet(
        &mut self,
        burst: &Burst,
        parsed: &[Parsed],
        (from, arrival): (PortId, usize),
        verdicts: &mut Verdicts,
    ) {
        self.from = from;
        (self.len, self.acts) = (0, false);
        self.followed = [0; BURST_MAX / 64];
        let mut found = 0;
        for (at, (frame, parsed)) in burst.frames().iter().zip(parsed).enumerate() {
            let forwarded = matches!(verdicts.as_slice().get(at), Some(Verdict::Forward(_)));
            if parsed.fragment == Fragment::Whole || !forwarded {
                continue;
            }
            let Some(piece) = Piece::of(frame.bytes(), parsed) else {
                if parsed.fragment == Fragment::Later {
                    verdicts.set(at, Verdict::Drop(DropReason::FragmentUnknown));
                }
                continue;
            };
            let hash = self.table.hash(&piece.key, arrival as u8);
            self.table.prefetch_head(hash);
            self.found[found] = (Some(piece), hash);
            self.places[found].at = at as u8;
            self.followed[at / 64 % (BURST_MAX / 64)] |= 1 << (at % 64);
            found += 1;
        }
        for &(_, hash) in &self.found[..found] {
            self.table.prefetch_record(hash);
        }
        self.take_in(found, arrival as u8, verdicts);
    }

    fn take_in(&mut self, found: usize, side: u8, verdicts: &mut Verdicts) {
        let Self {
            table,
            now,
            found: pieces,
            places,
            lost,
            len,
            ..
        } = self;
        for (nth, (piece, hash)) in pieces[..found].iter().enumerate() {
            let (Some(piece), at) = (piece, places[nth].at) else {
                continue;
            };
            let mut keep = |waiting, why| keep_lost(lost, waiting, why);
            match table.meet(piece, (side, *hash), *now, &mut keep) {
                Ok(Met { id, complete }) => {
                    places[*len] = Place {
                        id,
                        at,
                        is_first: piece.is_first(),
                        complete,
                        releases: false,
                    };
                    *len += 1;
                }
                Err(refused) => verdicts.set(at.into(), Verdict::Drop(reason_of(refused))),
            }
        }
    }

    /// Whether the frame at this place of the burst is a fragment that was taken in, or refused.
    #[inline]
    pub(crate) fn follows(&self, place: usize) -> bool {
        self.followed[place / 64 % (BURST_MAX / 64)] >> (place % 64) & 1 == 1
    }

    /// Gives the fragments of the burst the verdicts of their packets, when the first ones are
    /// judged.
    pub fn decide(&mut self, verdicts: &mut Verdicts) {
        let places = &mut self.places[..self.len];
        for place in places.iter().filter(|place| place.is_first) {
            if let Some(&verdict) = verdicts.as_slice().get(usize::from(place.at)) {
                self.table.judge(place.id, verdict);
            }
        }
        for place in places {
            let verdict = match self.table.state(place.id) {
                Some(State::Judged(verdict)) => {
                    place.releases = self.table.is_awaited(place.id);
                    self.acts |= place.releases;
                    if place.complete && !place.releases {
                        self.table.finish(place.id);
                    }
                    verdict
                }
                Some(State::Waiting) => {
                    self.acts = true;
                    Verdict::Hold
                }
                Some(State::Bad(flaw)) => Verdict::Drop(reason_of(Refused::Flawed(flaw))),
                None => Verdict::Drop(DropReason::FragmentEvicted),
            };
            verdicts.set(place.at.into(), verdict);
        }
    }

    /// Whether a frame of the last burst must wait, or go behind one that did: then
    /// [`Fragments::settle`] has to take the burst.
    #[must_use]
    #[inline]
    pub fn acts(&self) -> bool {
        self.acts
    }

    /// Takes the frames of the burst that was decided on: those that must wait wait, the others
    /// are released, each behind what waited for its packet.
    pub fn settle(&mut self, burst: &mut Burst, verdicts: &Verdicts) {
        let Self {
            table,
            released,
            lost,
            from,
            places,
            len,
            ..
        } = self;
        self.acts = false;
        let from = *from;
        let mut places = places[..*len].iter().peekable();
        for (at, (frame, &verdict)) in burst.drain().zip(verdicts.as_slice()).enumerate() {
            let place = places.next_if(|place| usize::from(place.at) == at);
            if let (Some(place), Verdict::Hold) = (place, verdict) {
                let waiting = Waiting { frame, from };
                let mut keep = |waiting, why| keep_lost(lost, waiting, why);
                if let Err((waiting, why)) = table.hold(place.id, waiting, &mut keep) {
                    keep_lost(lost, waiting, why);
                }
                continue;
            }
            if let Some(place) = place.filter(|place| place.releases) {
                table.release(place.id, &mut |Waiting { frame, from }| {
                    released.push_back(Released {
                        frame,
                        verdict,
                        from,
                    });
                });
                if place.complete {
                    table.finish(place.id);
                }
            }
            released.push_back(Released {
                frame,
                verdict,
                from,
            });
        }
    }

    /// The next frame to be forwarded or dropped, in the order in which they are to leave.
    #[inline]
    pub fn next_released(&mut self) -> Option<Released> {
        self.released.pop_front()
    }

    /// Whether any is to leave.
    #[must_use]
    #[inline]
    pub fn has_released(&self) -> bool {
        !self.released.is_empty()
    }

    /// The next frame that waited in vain.
    #[inline]
    pub fn next_lost(&mut self) -> Option<Released> {
        self.lost.pop_front()
    }

    /// Ends all that waits, as lost for this reason.
    pub fn clear(&mut self, reason: DropReason) {
        let lost = &mut self.lost;
        let verdict = Verdict::Drop(reason);
        self.table.clear(&mut |Waiting { frame, from }, _| {
            lost.push_back(Released {
                frame,
                verdict,
                from,
            });
        });
        lost.extend(self.released.drain(..).map(|released| Released {
            verdict,
            ..released
        }));
    }
}

fn keep_lost(lost: &mut VecDeque<Released>, waiting: Waiting, why: Lost) {
    lost.push_back(Released {
        frame: waiting.frame,
        verdict: Verdict::Drop(reason_of_lost(why)),
        from: waiting.from,
    });
}

/// The reason by which a fragment is dropped that waited.
pub(crate) fn reason_of_lost(why: Lost) -> DropReason {
    match why {
        Lost::TimedOut => DropReason::FragmentTimeout,
        Lost::Evicted => DropReason::FragmentEvicted,
        Lost::Source => DropReason::FragmentSource,
        Lost::Flawed(flaw) => reason_of(Refused::Flawed(flaw)),
    }
}

/// The reason by which a fragment is dropped that is not taken in.
pub(crate) fn reason_of(refused: Refused) -> DropReason {
    match refused {
        Refused::Duplicate => DropReason::FragmentDuplicate,
        Refused::Source => DropReason::FragmentSource,
        Refused::Flawed(Flaw::Overlap) => DropReason::FragmentOverlap,
        Refused::Flawed(Flaw::Length) => DropReason::FragmentLength,
        Refused::Flawed(Flaw::Pieces) => DropReason::FragmentPieces,
        Refused::Flawed(Flaw::Reused) => DropReason::FragmentReused,
    }
}
