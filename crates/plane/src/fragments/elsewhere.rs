//! Packets whose fragments another worker gathers, or this one as [`crate::Gatherer`]: what was
//! decided of each, for the fragments behind the first.
//!
//! Fragments come in the order in which they came in, those that waited before the first. They wait
//! here once more, until the first is judged, which is right behind them.

use std::collections::VecDeque;

use frame::{Burst, Frame, Nanos, PortId};
use table::fragments::FragmentLimits;
use wire::{Fragment, Parsed};

use super::Released;
use super::meeting::Followed;
use super::tag::{Tag, refused};
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

/// A fragment whose first has not come.
#[derive(Debug)]
struct Early {
    tag: Tag,
    frame: Frame,
    from: PortId,
    since: Nanos,
}

/// What was decided of datagrams, by who gathers them.
#[derive(Debug)]
pub(super) struct Elsewhere {
    /// By port of arrival and gatherer, and by the place in its table. Exact: a place has one
    /// datagram at a time, and all that is sent here of what came in by one port keeps its order,
    /// so that the next one with the place begins when this one is over.
    judged: [Vec<Box<[Judged]>>; 2],
    side: usize,
    places: Vec<Place>,
    /// Oldest first.
    early: VecDeque<Early>,
    early_max: usize,
    timeout: u64,
}

impl Elsewhere {
    pub(super) fn new(limits: &FragmentLimits, gatherers: usize) -> Self {
        let none = Judged {
            generation: 0,
            verdict: Verdict::Hold,
        };
        let datagrams = limits.datagrams.clamp(1, 1 << 24) as usize;
        let early_max = limits.held.max(1) as usize;
        Self {
            judged: [(); 2].map(|()| vec![vec![none; datagrams].into(); gatherers]),
            side: 0,
            places: Vec::with_capacity(frame::BURST_MAX),
            early: VecDeque::with_capacity(early_max),
            early_max,
            timeout: limits.timeout.0,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let rows = self.judged.iter().flatten();
        let judged = rows.map(|row| size_of_val(&**row));
        judged.sum::<usize>()
            + self.places.capacity() * size_of::<Place>()
            + self.early.capacity() * size_of::<Early>()
    }

    pub(super) fn held(&self) -> usize {
        self.early.len()
    }

    /// Those whose first was lost between workers.
    #[inline]
    pub(super) fn expire(&mut self, now: Nanos, lost: &mut VecDeque<Released>) {
        let is_over = |early: &Early| now.since(early.since) >= self.timeout;
        while self.early.front().is_some_and(is_over)
            && let Some(early) = self.early.pop_front()
        {
            lost.push_back(early.end(DropReason::FragmentTimeout));
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
                    None if is_first => {}
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
                acts |= self.early.iter().any(|early| early.tag == tag);
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
                    self.wait(
                        Early {
                            tag,
                            frame,
                            from,
                            since: now,
                        },
                        lost,
                    );
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

    /// The oldest goes where there is no room.
    fn wait(&mut self, early: Early, lost: &mut VecDeque<Released>) {
        if self.early.len() >= self.early_max
            && let Some(oldest) = self.early.pop_front()
        {
            lost.push_back(oldest.end(DropReason::FragmentEvicted));
        }
        self.early.push_back(early);
    }

    fn release(&mut self, tag: Tag, verdict: Verdict, released: &mut VecDeque<Released>) {
        // Where they are not one behind the other, those between stay in their order.
        for _ in 0..self.early.len() {
            let Some(early) = self.early.pop_front() else {
                return;
            };
            if early.tag == tag {
                released.push_back(Released {
                    frame: early.frame,
                    verdict,
                    from: early.from,
                });
            } else {
                self.early.push_back(early);
            }
        }
    }

    pub(super) fn clear(&mut self, reason: DropReason, lost: &mut VecDeque<Released>) {
        lost.extend(self.early.drain(..).map(|early| early.end(reason)));
    }
}

impl Early {
    fn end(self, reason: DropReason) -> Released {
        Released {
            frame: self.frame,
            verdict: Verdict::Drop(reason),
            from: self.from,
        }
    }
}
