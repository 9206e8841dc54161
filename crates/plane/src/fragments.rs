//! Packets in fragments, for a bridge that judges by ports: what comes before the first fragment of
//! its packet waits for it, and all have the verdict of the first.
//!
//! Fragments leave unchanged, in the order in which they came. Once the first has been judged,
//! later ones pass without waiting. A packet that turns out bad is dropped from there on, until its
//! time is over; what has left cannot be recalled.

mod early;
mod elsewhere;
mod gatherer;
mod meeting;
mod tag;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::VecDeque;

use frame::{BURST_MAX, Burst, Frame, Nanos, PortId};
use table::fragments::{Flaw, FragmentCounts, FragmentLimits, FragmentTable, Lost, Refused, State};
use wire::Parsed;

use crate::{DropReason, Verdict, Verdicts};

pub use gatherer::{Gathered, Gatherer, Route};
pub(crate) use meeting::Followed;
pub use tag::datagram_place;

use elsewhere::Elsewhere;
use meeting::Meeting;

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

/// Packets in fragments, and frames that wait; owned by one worker.
#[derive(Debug)]
pub struct Fragments {
    known: Known,
    now: Nanos,
    from: PortId,
    /// Of the burst that is being judged.
    followed: Followed,
    /// Something of the burst waits, or goes behind what waited.
    acts: bool,
    released: VecDeque<Released>,
    /// What waited in vain, since it was last taken.
    lost: VecDeque<Released>,
}

/// Where the fragments of a packet meet.
#[derive(Debug)]
enum Known {
    /// Here: nobody else works.
    Here(Box<Meeting<Verdict>>),
    /// At a [`Gatherer`], another worker's or this one's.
    Elsewhere(Box<Elsewhere>),
}

impl Fragments {
    /// No packets yet, and the memory for as many as the limits say.
    #[must_use]
    pub fn new(limits: FragmentLimits) -> Self {
        let meeting = Meeting::new(FragmentTable::new(limits));
        Self::over(Known::Here(Box::new(meeting)), &limits)
    }

    /// The same behind the gatherers of this many workers, which have these limits.
    #[must_use]
    pub fn gathered(limits: FragmentLimits, gatherers: usize) -> Self {
        let elsewhere = Elsewhere::new(&limits, gatherers);
        Self::over(Known::Elsewhere(Box::new(elsewhere)), &limits)
    }

    fn over(known: Known, limits: &FragmentLimits) -> Self {
        let room = limits.held.max(1) as usize + BURST_MAX;
        Self {
            known,
            now: Nanos(0),
            from: PortId(0),
            followed: Followed::default(),
            acts: false,
            released: VecDeque::with_capacity(room),
            lost: VecDeque::with_capacity(room),
        }
    }

    /// What was counted of packets; nothing where a gatherer counts.
    #[must_use]
    pub fn counts(&self) -> &FragmentCounts {
        const NONE: &FragmentCounts = &FragmentCounts::NONE;
        match &self.known {
            Known::Here(meeting) => meeting.table.counts(),
            Known::Elsewhere(_) => NONE,
        }
    }

    /// Packets that are known, but for those that a gatherer knows.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.known {
            Known::Here(meeting) => meeting.table.len(),
            Known::Elsewhere(_) => 0,
        }
    }

    /// True when no packet is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory; they do not change.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let queued = self.released.capacity() + self.lost.capacity();
        let known = match &self.known {
            Known::Here(meeting) => meeting.bytes(),
            Known::Elsewhere(elsewhere) => elsewhere.bytes(),
        };
        known + queued * size_of::<Released>()
    }

    /// Frames that it holds: that wait, that are released, and that waited in vain.
    #[must_use]
    #[inline]
    pub fn held(&self) -> usize {
        let waiting = match &self.known {
            Known::Here(meeting) => meeting.table.held(),
            Known::Elsewhere(elsewhere) => elsewhere.held(),
        };
        waiting + self.released.len() + self.lost.len()
    }

    /// What time it is, by a clock that never goes back; ends what is over, some at a time.
    #[inline]
    pub fn set_now(&mut self, now: Nanos) {
        self.now = now;
        let lost = &mut self.lost;
        match &mut self.known {
            Known::Here(meeting) => {
                let mut keep = |waiting, why| keep_lost(lost, waiting, why);
                meeting.table.expire(now, &mut keep);
            }
            Known::Elsewhere(elsewhere) => elsewhere.expire(now, lost),
        }
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
        self.acts = false;
        let (now, lost) = (self.now, &mut self.lost);
        self.followed = match &mut self.known {
            Known::Here(meeting) => {
                meeting.meet((burst, parsed), (arrival as u8, now), verdicts, lost)
            }
            Known::Elsewhere(elsewhere) => elsewhere.meet((burst, parsed), arrival, verdicts),
        };
    }

    /// Which frames of the burst are fragments that were taken in, or refused.
    #[inline]
    pub(crate) fn followed(&self) -> &Followed {
        &self.followed
    }

    /// Gives the fragments of the burst the verdicts of their packets, when the first ones are
    /// judged.
    pub fn decide(&mut self, verdicts: &mut Verdicts) {
        self.acts = match &mut self.known {
            Known::Here(meeting) => decide_here(meeting, verdicts),
            Known::Elsewhere(elsewhere) => elsewhere.decide(verdicts),
        };
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
        self.acts = false;
        let queues = (&mut self.released, &mut self.lost);
        match &mut self.known {
            Known::Here(meeting) => settle_here(meeting, burst, (verdicts, self.from), queues),
            Known::Elsewhere(elsewhere) => {
                elsewhere.settle(burst, (verdicts, self.from, self.now), queues);
            }
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
        match &mut self.known {
            Known::Here(meeting) => meeting.table.clear(&mut |Waiting { frame, from }, _| {
                lost.push_back(Released {
                    frame,
                    verdict,
                    from,
                });
            }),
            Known::Elsewhere(elsewhere) => elsewhere.clear(reason, lost),
        }
        lost.extend(self.released.drain(..).map(|released| Released {
            verdict,
            ..released
        }));
    }
}

/// Whether a fragment must wait, or goes behind some that did.
fn decide_here(meeting: &mut Meeting<Verdict>, verdicts: &mut Verdicts) -> bool {
    let (table, places) = meeting.parts();
    for place in places.iter().filter(|place| place.is_first) {
        if let Some(&verdict) = verdicts.as_slice().get(usize::from(place.at)) {
            table.judge(place.id, verdict);
        }
    }
    let mut acts = false;
    for place in places {
        let verdict = match table.state(place.id) {
            Some(State::Judged(verdict)) => {
                place.releases = table.is_awaited(place.id);
                acts |= place.releases;
                if place.complete && !place.releases {
                    table.finish(place.id);
                }
                verdict
            }
            Some(State::Waiting) => {
                acts = true;
                Verdict::Hold
            }
            Some(State::Bad(flaw)) => Verdict::Drop(reason_of(Refused::Flawed(flaw))),
            None => Verdict::Drop(DropReason::FragmentEvicted),
        };
        verdicts.set(place.at.into(), verdict);
    }
    acts
}

fn settle_here(
    meeting: &mut Meeting<Verdict>,
    burst: &mut Burst,
    (verdicts, from): (&Verdicts, PortId),
    (released, lost): (&mut VecDeque<Released>, &mut VecDeque<Released>),
) {
    let (table, places) = meeting.parts();
    let mut places = places.iter().peekable();
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
