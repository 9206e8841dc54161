//! One burst through a switch: its frames are read, their stations' entries begin to load, then
//! each is learned from and gets its verdict, in order.

use frame::{Burst, Frame, Nanos, PortId, prefetch};
use table::fdb::{Learned, Probe};

use super::{Admitted, Switch, VLANS, exchange};
use crate::{DropReason, Forwarding, Origin, Outgoing, Ports, Verdict, Verdicts};

/// What the first pass found of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    /// It has its verdict already.
    Decided,
    /// It is not taken in.
    Refused(DropReason),
    /// It is looked up.
    Taken {
        admitted: Admitted,
        source: Probe,
        destination: Probe,
    },
}

impl Switch {
    /// Replaces each [`Verdict::Forward`] by the switch's answer: the port that the frame leaves
    /// by, for which it is made ready, or a reason to drop it. Copies for further ports go to
    /// `cx.out`. Frames with another verdict teach nothing.
    pub fn forward(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts) {
        debug_assert_eq!(burst.len(), verdicts.as_slice().len());
        self.fdb.set_now(cx.now);
        self.quiet.end(cx.now);
        self.read(cx.from, burst, verdicts);
        for at in 0..self.seen.len().min(burst.len()) {
            let verdict = match self.seen[at] {
                Seen::Decided => continue,
                Seen::Refused(reason) => Verdict::Drop(reason),
                Seen::Taken {
                    admitted,
                    source,
                    destination,
                } => {
                    self.learn(cx, &source, &admitted);
                    let frame = &mut burst.frames_mut()[at];
                    let copies = self.copies;
                    let verdict = self.decide(cx, &admitted, &destination, at, frame);
                    let left = u64::from(matches!(verdict, Verdict::Forward(_)));
                    let frames = &mut self.vlan_frames[usize::from(admitted.vlan) % VLANS];
                    frames.received += 1;
                    frames.sent += left + self.copies - copies;
                    verdict
                }
            };
            verdicts.set(at, verdict);
        }
    }

    /// The first pass: headers are read, and the lines of the database begin to load.
    fn read(&mut self, from: PortId, burst: &Burst, verdicts: &Verdicts) {
        for frame in burst.frames() {
            prefetch::read(frame.header_ptr());
        }
        self.seen.clear();
        for (frame, verdict) in burst.frames().iter().zip(verdicts.as_slice()) {
            let seen = match verdict {
                Verdict::Forward(_) => self.read_one(from, frame.bytes()),
                _ => Seen::Decided,
            };
            self.seen.push(seen);
        }
    }

    #[inline]
    fn read_one(&self, from: PortId, bytes: &[u8]) -> Seen {
        if self.quiet.ports().contains(from) {
            return Seen::Refused(DropReason::LoopQuiet);
        }
        match self.table.admit(from, bytes) {
            Ok(admitted) => Seen::Taken {
                source: self.fdb.probe(admitted.vlan, &admitted.source),
                destination: self.fdb.probe(admitted.vlan, &admitted.destination),
                admitted,
            },
            Err(reason) => Seen::Refused(reason),
        }
    }

    #[inline]
    fn learn(&mut self, cx: &Forwarding<'_>, source: &Probe, admitted: &Admitted) {
        let learning = self.fdb.learn(source, cx.from);
        if let Learned::Moved { from } = learning.learned {
            let station = (admitted.vlan, admitted.source);
            if self.moves.moved(cx.now, station, [from, cx.from]) {
                self.end_loop(cx.now, from.max(cx.from));
            }
        }
        if let Some(sighting) = learning.tell {
            exchange::tell(&mut self.links, &mut self.fdb, &sighting);
        }
    }

    /// Leaves the port out that a loop was noticed at, where that is asked for.
    #[cold]
    fn end_loop(&mut self, now: Nanos, port: PortId) {
        if let Some(lasts) = self.table.config().loop_quiet {
            self.quiet.begin(port, now, lasts);
            self.fdb.forget_port(port);
        }
    }

    #[inline]
    fn decide(
        &mut self,
        cx: &mut Forwarding<'_>,
        admitted: &Admitted,
        destination: &Probe,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        let out = self.table.ports_out(cx.from, admitted.vlan);
        let out = out.minus(self.quiet.ports());
        if admitted.is_to_group() {
            if self.table.keeps(admitted) {
                return Verdict::Drop(DropReason::ReservedAddress);
            }
            return self.flood(cx, admitted, out, at, frame);
        }
        match self.fdb.lookup(destination) {
            Some(to) if out.contains(to) => self.send(cx.from, admitted, to, frame),
            Some(to) => Verdict::Drop(self.why_not(cx.from, admitted.vlan, to)),
            None => self.flood(cx, admitted, out, at, frame),
        }
    }

    /// Why a frame for a known station does not leave by the port that the station is behind.
    #[cold]
    fn why_not(&self, from: PortId, vlan: u16, to: PortId) -> DropReason {
        let may_return = self.table.port(from).is_some_and(|port| port.hairpin);
        if from == to && !may_return {
            return DropReason::SamePort;
        }
        if self.quiet.ports().contains(to) {
            return DropReason::LoopQuiet;
        }
        match self.table.are_isolated(from, vlan, to) {
            true => DropReason::Isolated,
            false => DropReason::NotMember,
        }
    }

    /// Makes the frame itself ready for its port.
    #[inline]
    fn send(&self, from: PortId, admitted: &Admitted, to: PortId, frame: &mut Frame) -> Verdict {
        match self.table.retag(from, admitted, to).apply(frame) {
            true => Verdict::Forward(to),
            false => Verdict::Drop(DropReason::NoTagRoom),
        }
    }

    /// A copy for each port but the last, which the frame itself leaves by.
    fn flood(
        &mut self,
        cx: &mut Forwarding<'_>,
        admitted: &Admitted,
        out: Ports,
        at: usize,
        frame: &mut Frame,
    ) -> Verdict {
        let Some(last) = out.iter().last() else {
            return Verdict::Drop(DropReason::NoPort);
        };
        let storm = self.storms.get_mut(cx.from.index());
        if storm.is_some_and(|storm| !storm.take(cx.now)) {
            return Verdict::Drop(DropReason::Storm);
        }
        self.flooded += 1;
        for to in out.without(last).iter() {
            match self.copy(cx, admitted, to, at, frame) {
                true => self.copies += 1,
                false => self.copies_failed += 1,
            }
        }
        self.send(cx.from, admitted, last, frame)
    }

    /// Puts a copy for one port into the outbox; false when there is no room for it anywhere.
    fn copy(
        &self,
        cx: &mut Forwarding<'_>,
        admitted: &Admitted,
        to: PortId,
        after: usize,
        frame: &Frame,
    ) -> bool {
        let Some(mut copy) = cx.pool.alloc() else {
            return false;
        };
        if !self
            .table
            .retag(cx.from, admitted, to)
            .copy(frame, &mut copy)
        {
            cx.pool.free(copy);
            return false;
        }
        let pushed = cx.out.push(Outgoing {
            frame: copy,
            from: cx.from,
            origin: Origin::Copy,
            verdict: Verdict::Forward(to),
            after,
        });
        match pushed {
            Ok(()) => true,
            Err(copy) => {
                cx.pool.free(copy);
                false
            }
        }
    }
}
