//! What was sent and is not acknowledged: which of it arrived, which is lost (RFC 6675).

use std::collections::VecDeque;

use frame::Nanos;

use super::Seq;

/// Segments in flight at most.
pub(super) const SEGMENTS_MAX: usize = 1024;
/// Segments that arrived behind one that did not, which prove that it is lost.
const PROOF: u32 = 3;

/// A segment in flight; SYN and FIN count as a byte each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) first: Seq,
    pub(super) len: u32,
    pub(super) at: Nanos,
    pub(super) has_arrived: bool,
    pub(super) is_lost: bool,
    /// It was sent more than once: it measures no round trip (Karn's algorithm).
    pub(super) is_again: bool,
}

impl Sent {
    fn end(&self) -> Seq {
        self.first.after(self.len)
    }

    /// Bytes of it that are on their way, as far as is known.
    fn on_way(&self) -> u32 {
        match self.has_arrived || self.is_lost {
            true => 0,
            false => self.len,
        }
    }
}

/// Segments in flight, in order, without gaps.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    segments: VecDeque<Sent>,
    /// What is on its way of all of them: kept, since every segment that leaves asks for it.
    pipe: u32,
}

impl InFlight {
    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.segments.len() >= SEGMENTS_MAX
    }

    pub(super) fn push(&mut self, first: Seq, len: u32, at: Nanos) {
        self.pipe += len;
        self.segments.push_back(Sent {
            first,
            len,
            at,
            has_arrived: false,
            is_lost: false,
            is_again: false,
        });
    }

    /// Bytes that are on their way, as far as is known.
    pub(super) fn pipe(&self) -> u32 {
        self.pipe
    }

    /// Takes out what is acknowledged. Returns when the last of it was sent, if none of it was
    /// sent again.
    pub(super) fn acknowledge(&mut self, ack: Seq) -> Option<Nanos> {
        let mut sent_at = None;
        let mut is_again = false;
        while let Some(first) = self.segments.front_mut() {
            let before = first.on_way();
            if ack.is_before(first.end()) {
                let known = if first.first.is_before(ack) {
                    ack.since(first.first)
                } else {
                    0
                };
                first.first = first.first.after(known);
                first.len -= known;
                self.pipe -= before - first.on_way();
                break;
            }
            self.pipe -= before;
            is_again |= first.is_again;
            // What SACK told of before was on its way for less time than until now.
            sent_at = (!first.has_arrived).then_some(first.at).or(sent_at);
            self.segments.pop_front();
        }
        if self.segments.is_empty() {
            // Most connections are idle most of the time.
            self.segments.shrink_to(0);
        }
        sent_at.filter(|_| !is_again)
    }

    /// Notes what arrived by a SACK block.
    pub(super) fn arrived(&mut self, (first, end): (Seq, Seq)) {
        let is_within = |sent: &Sent| sent.first.is_at_least(first) && !end.is_before(sent.end());
        for sent in self.segments.iter_mut().filter(|sent| is_within(sent)) {
            self.pipe -= sent.on_way();
            sent.has_arrived = true;
            sent.is_lost = false;
        }
    }

    /// Marks what is lost by what arrived: three segments behind it did, or, where it was sent
    /// again, one that was sent `reordering` nanoseconds later than it (RFC 8985 section 6.2).
    /// Returns whether there is anything new.
    pub(super) fn find_lost(&mut self, reordering: u64) -> bool {
        let arrived = self
            .segments
            .iter()
            .filter(|sent| sent.has_arrived && !sent.is_again);
        let latest = arrived.map(|sent| sent.at).max();
        let mut behind = 0;
        let mut has_found = false;
        for sent in self.segments.iter_mut().rev() {
            if sent.has_arrived {
                behind += 1;
                continue;
            }
            let is_proven = match sent.is_again {
                false => behind >= PROOF,
                true => latest.is_some_and(|latest| sent.at.after(reordering) < latest),
            };
            if is_proven && !sent.is_lost {
                self.pipe -= sent.on_way();
                sent.is_lost = true;
                has_found = true;
            }
        }
        has_found
    }

    /// Marks the first segment as lost.
    pub(super) fn lose_first(&mut self) {
        if let Some(first) = self.segments.front_mut() {
            self.pipe -= first.on_way();
            first.is_lost = !first.has_arrived;
        }
    }

    /// Marks all as lost, also what SACK told of: the other end may have dropped it (RFC 2018
    /// section 8).
    pub(super) fn lose_all(&mut self) {
        self.pipe = 0;
        for sent in &mut self.segments {
            sent.is_lost = true;
            sent.has_arrived = false;
        }
    }

    /// The first segment that is lost.
    pub(super) fn first_lost(&self) -> Option<&Sent> {
        self.segments.iter().find(|sent| sent.is_lost)
    }

    /// The first segment that is lost is sent once more.
    pub(super) fn sent_again(&mut self, at: Nanos) {
        if let Some(sent) = self.segments.iter_mut().find(|sent| sent.is_lost) {
            sent.is_lost = false;
            sent.is_again = true;
            sent.at = at;
            self.pipe += sent.on_way();
        }
    }

    /// Whether the first segment was sent more than once.
    pub(super) fn is_first_again(&self) -> bool {
        self.segments.front().is_some_and(|first| first.is_again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn five() -> InFlight {
        let mut flight = InFlight::default();
        for at in 0..5 {
            flight.push(Seq(at * 10), 10, Nanos(at.into()));
        }
        flight
    }

    #[test]
    fn three_segments_behind_prove_a_loss() {
        for (blocks, lost) in [
            (&[][..], None),
            (&[(10, 30)], None),
            (&[(10, 40)], Some(0)),
            (&[(10, 20), (30, 50)], Some(0)),
            (&[(20, 50)], Some(0)),
            (&[(11, 49)], None),
        ] {
            let mut flight = five();
            for &(first, end) in blocks {
                flight.arrived((Seq(first), Seq(end)));
            }
            assert_eq!(flight.find_lost(0), lost.is_some(), "{blocks:?}");
            assert_eq!(flight.first_lost().map(|sent| sent.first.0), lost);
        }
    }

    #[test]
    fn acknowledgments_cut_and_measure_what_was_sent_once() {
        for (ack, pipe, measured) in [
            (0, 50, None),
            (5, 45, None),
            (20, 30, Some(1)),
            (50, 0, Some(4)),
        ] {
            let mut flight = five();
            assert_eq!(flight.acknowledge(Seq(ack)), measured.map(Nanos), "{ack}");
            assert_eq!(flight.pipe(), pipe, "{ack}");
        }
        let mut flight = five();
        flight.lose_all();
        assert_eq!(flight.pipe(), 0);
        flight.sent_again(Nanos(9));
        assert_eq!(flight.pipe(), 10);
        assert_eq!(flight.acknowledge(Seq(20)), None);
        assert_eq!(flight.pipe(), 0);
    }

    /// Whatever happens in whatever order, what is kept is what a walk finds.
    #[test]
    fn bytes_on_their_way_are_those_of_a_walk() {
        let mut draw = 1u64;
        let mut next = move |below: u64| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (draw >> 33) % below
        };
        let mut flight = InFlight::default();
        let (mut una, mut end) = (0u32, 0u32);
        for step in 0..20_000 {
            let within = |part: u64| una + (u64::from(end - una) * part / 8) as u32;
            match next(8) {
                0..3 if !flight.is_full() => {
                    let len = 1 + next(1460) as u32;
                    flight.push(Seq(end), len, Nanos(step));
                    end += len;
                }
                0..=3 => {
                    una = within(next(9));
                    flight.acknowledge(Seq(una));
                }
                4 => {
                    let (first, last) = (next(8), 1 + next(8));
                    flight.arrived((Seq(within(first)), Seq(within(last))));
                }
                5 => {
                    flight.find_lost(next(100));
                }
                6 => flight.sent_again(Nanos(step)),
                _ if next(8) == 0 => flight.lose_all(),
                _ => flight.lose_first(),
            }
            let walked: u32 = flight.segments.iter().map(Sent::on_way).sum();
            assert_eq!(flight.pipe(), walked, "step {step}");
        }
    }
}
