//! Packets whose fragments another worker gathers, or this one as [`crate::Gatherer`]: what was
//! decided of each, for the fragments behind the first.
//!
//! Fragments come in the order in which they came in, those that waited before the first. They wait
//! here once more, until the first is judged, which is right behind them.

use std::collections::VecDeque;

use frame::{Burst, Nanos, PortId};
use table::fragments::FragmentLimits;
use wire::{Fragment, Parsed};

use super::early::Early;
use super::meeting::{Followed, is_nested};
use super::tag::{Tag, refused};
use super::{Released, Waiting};
use crate::{DropReason, Verdict, Verdicts};

/// A fragment of the burst that is being judged.
#[derive(Clone, Copy, Debug)]
struct Place {
    tag: Tag,
    at: u8,
    is_first: bool,
}

/// What was decided of the datagram that was last in a place of a gatherer's table.
#[derive(Clone, Copy, Debug)]
struct Judged {
    /// Which one it was; 0 where there was none yet.
    generation: u32,
    verdict: Verdict,
}

const _: () = assert!(
    size_of::<Judged>() == 8,
    "every worker has one for all of every gatherer"
);

/// What was decided of datagrams, by who gathers them.
#[derive(Debug)]
pub(super) struct Elsewhere {
    /// By port of arrival and gatherer, and by the place in its table. Exact: a place has one
    /// datagram at a time, and all that is sent here of what came in by one port keeps its order,
    /// so that the next one with the place begins when this one is over.
    judged: [Vec<Box<[Judged]>>; 2],
    side: usize,
    places: Vec<Place>,
    /// Those whose first has not come.
    early: Early<Tag, Waiting>,
    timeout: u64,
}

impl Elsewhere {
    pub(super) fn new(limits: &FragmentLimits, gatherers: usize) -> Self {
        let none = Judged {
            generation: 0,
            verdict: Verdict::Hold,
        };
        let datagrams = limits.datagrams.clamp(1, 1 << 24) as usize;
        Self {
            judged: [(); 2].map(|()| vec![vec![none; datagrams].into(); gatherers]),
            side: 0,
            places: Vec::with_capacity(frame::BURST_MAX),
            early: Early::new(limits.held as usize),
            timeout: limits.timeout.0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let rows = self.judged.iter().flatten();
        let judged = rows.map(|row| size_of_val(&**row));
        judged.sum::<usize>() + self.places.capacity() * size_of::<Place>() + self.early.bytes()
    }

    pub(super) fn held(&self) -> usize {
        self.early.len()
    }

    /// Those whose first was lost between workers.
    #[inline]
    pub(super) fn expire(&mut self, now: Nanos, lost: &mut VecDeque<Released>) {
        let last = Nanos(now.0.saturating_sub(self.timeout));
        while let Some(early) = self.early.next_until(last) {
            lost.push_back(end(early, DropReason::FragmentTimeout));
        }
    }

    /// Finds the fragments that were gathered of a burst that came in by the port at place `side`;
    /// drops what has no ports and was not.
    pub(super) fn meet(
        &mut self,
        (burst, parsed): (&Burst, &[Parsed]),
        side: usize,
        verdicts: &mut Verdicts,
    ) -> Followed {
        let mut followed = Followed::default();
        self.side = side & 1;
        self.places.clear();
        for (at, (frame, parsed)) in burst.frames().iter().zip(parsed).enumerate() {
            if parsed.fragment == Fragment::Whole {
                continue;
            }
            let forwarded = matches!(verdicts.as_slice().get(at), Some(Verdict::Forward(_)));
            let is_first = parsed.fragment == Fragment::First;
            match Tag::of(frame) {
                // What stops a first one stops the others, too.
                Some(tag) if forwarded || is_first => {
                    followed.add(at);
                    let at = at as u8;
                    self.places.push(Place { tag, at, is_first });
                }
                None if forwarded => match refused(frame) {
                    Some(reason) => verdicts.set(at, Verdict::Drop(reason)),
                    None if is_first && !is_nested(frame, parsed) => {}
                    None => verdicts.set(at, Verdict::Drop(DropReason::FragmentUnknown)),
                },
                _ => {}
            }
        }
        followed
    }

    fn judged(&mut self, tag: Tag) -> Option<&mut Judged> {
        let row = self.judged[self.side].get_mut(tag.gatherer())?;
        row.get_mut(tag.slot())
    }

    /// Gives fragments the verdicts of their firsts; whether one must wait, or goes behind some
    /// that did.
    pub(super) fn decide(&mut self, verdicts: &mut Verdicts) -> bool {
        let mut acts = false;
        for nth in 0..self.places.len() {
            let Place { tag, at, is_first } = self.places[nth];
            let at = usize::from(at);
            if is_first {
                if let Some(&verdict) = verdicts.as_slice().get(at)
                    && let Some(judged) = self.judged(tag)
                {
                    *judged = Judged {
                        generation: tag.generation(),
                        verdict,
                    };
                }
                acts |= self.early.has(&tag);
                continue;
            }
            let judged = self.judged(tag);
            let judged = judged.filter(|judged| judged.generation == tag.generation());
            let verdict = judged.map_or(Verdict::Hold, |judged| judged.verdict);
            acts |= verdict == Verdict::Hold;
            verdicts.set(at, verdict);
        }
        acts
    }

    /// Takes the frames of the burst that was decided on: those that must wait wait, the others are
    /// released, each first one behind what waited for it.
    pub(super) fn settle(
        &mut self,
        burst: &mut Burst,
        (verdicts, from, now): (&Verdicts, PortId, Nanos),
        (released, lost): (&mut VecDeque<Released>, &mut VecDeque<Released>),
    ) {
        let places = std::mem::take(&mut self.places);
        let mut rest = places.iter().peekable();
        for (at, (frame, &verdict)) in burst.drain().zip(verdicts.as_slice()).enumerate() {
            let place = rest.next_if(|place| usize::from(place.at) == at);
            match place {
                Some(&Place { tag, .. }) if verdict == Verdict::Hold => {
                    let gone = self.early.push(tag, Waiting { frame, from }, now);
                    lost.extend(gone.map(|oldest| end(oldest, DropReason::FragmentEvicted)));
                    continue;
                }
                Some(place) if place.is_first => self.release(place.tag, verdict, released),
                _ => {}
            }
            released.push_back(Released {
                frame,
                verdict,
                from,
            });
        }
        self.places = places;
    }

    /// What waited for a first one goes before it.
    fn release(&mut self, tag: Tag, verdict: Verdict, released: &mut VecDeque<Released>) {
        while let Some(Waiting { frame, from }) = self.early.next_of(&tag) {
            released.push_back(Released {
                frame,
                verdict,
                from,
            });
        }
    }

    pub(super) fn clear(&mut self, reason: DropReason, lost: &mut VecDeque<Released>) {
        while let Some(early) = self.early.next_oldest() {
            lost.push_back(end(early, reason));
        }
    }
}

fn end(Waiting { frame, from }: Waiting, reason: DropReason) -> Released {
    Released {
        frame,
        verdict: Verdict::Drop(reason),
        from,
    }
}
