//! Where the fragments of a packet meet, of several workers: they wait here for the first, which
//! says whose flow the packet is of, and go to that worker in the order in which they came.
//!
//! What is wrong with a packet is found here, and nobody else looks for it. The worker of a packet
//! is chosen once, for all its fragments: their verdict stays there if the flow moves.

use std::collections::VecDeque;

use frame::{BURST_MAX, Burst, Frame, Nanos, PortId, WorkerId};
use table::fragments::{FragmentCounts, FragmentLimits, FragmentTable, Refused, State};
use wire::Parsed;

use super::meeting::{Meeting, Place};
use super::tag::{self, Tag};
use super::{Released, Waiting, keep_lost, reason_of};
use crate::{DropReason, Verdict, Verdicts};

/// Where the fragments of a packet go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Who decides on them.
    pub worker: WorkerId,
    /// The bucket of their flow.
    pub bucket: u16,
}

/// A fragment on its way to the worker that decides on it.
#[derive(Debug)]
pub struct Gathered {
    /// The frame, marked with its datagram.
    pub frame: Frame,
    /// Where it goes.
    pub route: Route,
    /// The port it came in by.
    pub from: PortId,
    /// It is the first of its packet.
    pub is_first: bool,
}

/// Packets in fragments that one of several workers gathers.
#[derive(Debug)]
pub struct Gatherer {
    me: WorkerId,
    now: Nanos,
    meeting: Meeting<Route>,
    gathered: VecDeque<Gathered>,
    lost: VecDeque<Released>,
}

impl Gatherer {
    /// That of worker `me`, with the memory for as many packets as the limits say.
    #[must_use]
    pub fn new(limits: FragmentLimits, me: WorkerId) -> Self {
        let table = FragmentTable::new(limits);
        let room = table.limits().held as usize + BURST_MAX;
        Self {
            me,
            now: Nanos(0),
            meeting: Meeting::new(table),
            gathered: VecDeque::with_capacity(room),
            lost: VecDeque::with_capacity(room),
        }
    }

    /// What was counted of packets.
    #[must_use]
    pub fn counts(&self) -> &FragmentCounts {
        self.meeting.table.counts()
    }

    /// Packets that are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.meeting.table.len()
    }

    /// True when no packet is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.meeting.table.is_empty()
    }

    /// Bytes of memory; they do not change.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.meeting.bytes()
            + self.gathered.capacity() * size_of::<Gathered>()
            + self.lost.capacity() * size_of::<Released>()
    }

    /// Frames that it holds: that wait, that are to go on, and that waited in vain.
    #[must_use]
    #[inline]
    pub fn held(&self) -> usize {
        self.meeting.table.held() + self.gathered.len() + self.lost.len()
    }

    /// What time it is, by a clock that never goes back; ends what is over, some at a time.
    #[inline]
    pub fn set_now(&mut self, now: Nanos) {
        self.now = now;
        let lost = &mut self.lost;
        self.meeting
            .table
            .expire(now, &mut |waiting, why| keep_lost(lost, waiting, why));
    }

    /// Takes a burst in that came by `from`, at place `side` of the two ports: what waits or goes
    /// on is kept here. `rest` gets what is to be judged at once: what the policy does not forward,
    /// by `verdicts`, what is of no use, marked with the reason, and what is no fragment that can
    /// be followed; it has room for the burst.
    /// `route` is asked about first fragments.
    pub fn gather(
        &mut self,
        (burst, parsed): (&mut Burst, &[Parsed]),
        (from, side): (PortId, usize),
        verdicts: &mut Verdicts,
        (route, rest): (&mut dyn FnMut(&Frame) -> Route, &mut Burst),
    ) {
        let now = self.now;
        let lost = &mut self.lost;
        let followed = self
            .meeting
            .meet((burst, parsed), (side as u8, now), verdicts, lost);
        let (table, places) = self.meeting.parts();
        let mut settling = Settling {
            table,
            gathered: &mut self.gathered,
            lost,
            me: self.me,
            from,
        };
        let mut places = places.iter().peekable();
        for (at, (frame, &verdict)) in burst.drain().zip(verdicts.as_slice()).enumerate() {
            match places.next_if(|place| usize::from(place.at) == at) {
                Some(place) => settling.settle(place, frame, (&mut *route, &mut *rest)),
                None => settling.pass(frame, (verdict, followed.has(at)), rest),
            }
        }
    }

    /// The next frame to go on, in the order in which they are to.
    #[must_use]
    #[inline]
    pub fn first_gathered(&self) -> Option<&Gathered> {
        self.gathered.front()
    }

    /// Takes it.
    #[inline]
    pub fn next_gathered(&mut self) -> Option<Gathered> {
        self.gathered.pop_front()
    }

    /// Gives back what was taken last and found no room.
    pub fn put_back(&mut self, gathered: Gathered) {
        self.gathered.push_front(gathered);
    }

    /// Appends frames that are of no use, or waited in vain, to a burst: those of one port, whose
    /// number is returned, as many as there is room for. They bear the reason, for which
    /// [`crate::Bridge::decide`] drops them, where no set does.
    pub fn take_lost(&mut self, burst: &mut Burst) -> Option<PortId> {
        let from = self.lost.front()?.from;
        while burst.len() < BURST_MAX
            && self.lost.front().is_some_and(|one| one.from == from)
            && let Some(mut one) = self.lost.pop_front()
        {
            if let Verdict::Drop(reason) = one.verdict {
                tag::refuse(&mut one.frame, reason);
            }
            if let Err(frame) = burst.push(one.frame) {
                // There is room.
                self.lost.push_front(Released { frame, ..one });
                break;
            }
        }
        Some(from)
    }

    /// The next of them, to be dropped at once.
    #[inline]
    pub fn next_lost(&mut self) -> Option<Released> {
        self.lost.pop_front()
    }

    /// Ends all that waits, as lost for this reason.
    pub fn clear(&mut self, reason: DropReason) {
        let verdict = Verdict::Drop(reason);
        let lost = &mut self.lost;
        self.meeting.table.clear(&mut |Waiting { frame, from }, _| {
            lost.push_back(Released {
                frame,
                verdict,
                from,
            });
        });
        lost.extend(self.gathered.drain(..).map(|gathered| Released {
            frame: gathered.frame,
            verdict,
            from: gathered.from,
        }));
    }
}

/// What becomes of the frames of a burst that was taken in.
struct Settling<'a> {
    table: &'a mut FragmentTable<Route, Waiting>,
    gathered: &'a mut VecDeque<Gathered>,
    lost: &'a mut VecDeque<Released>,
    me: WorkerId,
    from: PortId,
}

impl Settling<'_> {
    /// A frame that was not taken in: the policy's, or refused.
    fn pass(&mut self, mut frame: Frame, (verdict, refused): (Verdict, bool), rest: &mut Burst) {
        if let (Verdict::Drop(reason), true) = (verdict, refused) {
            tag::refuse(&mut frame, reason);
        }
        if let Err(frame) = rest.push(frame) {
            // There is room.
            self.lose(frame, Verdict::Drop(DropReason::FragmentUnknown));
        }
    }

    /// A fragment that was taken in; its packet may have turned out bad meanwhile.
    fn settle(
        &mut self,
        place: &Place,
        frame: Frame,
        (route, rest): (&mut dyn FnMut(&Frame) -> Route, &mut Burst),
    ) {
        match self.table.state(place.id) {
            Some(State::Judged(route)) => self.send(place, frame, route),
            Some(State::Waiting) if place.is_first => {
                let route = route(&frame);
                self.table.judge(place.id, route);
                self.release(place, route);
                self.send(place, frame, route);
            }
            Some(State::Waiting) => self.hold(place, frame),
            Some(State::Bad(flaw)) => {
                let reason = reason_of(Refused::Flawed(flaw));
                self.pass(frame, (Verdict::Drop(reason), true), rest);
            }
            None => self.lose(frame, Verdict::Drop(DropReason::FragmentEvicted)),
        }
    }

    fn hold(&mut self, place: &Place, frame: Frame) {
        let waiting = Waiting {
            frame,
            from: self.from,
        };
        let lost = &mut *self.lost;
        let mut keep = |waiting, why| keep_lost(lost, waiting, why);
        if let Err((waiting, why)) = self.table.hold(place.id, waiting, &mut keep) {
            keep_lost(self.lost, waiting, why);
        }
    }

    /// What waited goes on; they came before the first.
    fn release(&mut self, place: &Place, route: Route) {
        let tag = Tag::new(self.me, place.id);
        let gathered = &mut *self.gathered;
        self.table
            .release(place.id, &mut |Waiting { mut frame, from }| {
                tag.write(&mut frame);
                gathered.push_back(Gathered {
                    frame,
                    route,
                    from,
                    is_first: false,
                });
            });
    }

    fn send(&mut self, place: &Place, mut frame: Frame, route: Route) {
        Tag::new(self.me, place.id).write(&mut frame);
        self.gathered.push_back(Gathered {
            frame,
            route,
            from: self.from,
            is_first: place.is_first,
        });
        if place.complete {
            self.table.finish(place.id);
        }
    }

    fn lose(&mut self, frame: Frame, verdict: Verdict) {
        self.lost.push_back(Released {
            frame,
            verdict,
            from: self.from,
        });
    }
}
