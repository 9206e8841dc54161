//! What a worker does with fragments that its bridge holds.

use frame::BURST_MAX;
use plane::{DropReason, Fragments, Node, Released};

use crate::attachment::Attachment;
use crate::carried::Parts;
use crate::counters::Count;
use crate::worker::Worker;

impl<N: Node> Worker<N> {
    /// Whether frames wait to be staged behind fragments that were held.
    #[inline]
    pub(crate) fn has_released(&self) -> bool {
        self.bridge.has_released()
    }

    /// Looks after what is held: sends what is released as far as there is room, and drops what
    /// waited in vain. Returns how many frames moved.
    #[inline]
    pub(crate) fn attend_held(&mut self) -> usize {
        if self.bridge.held() == 0 {
            return 0;
        }
        self.bridge.set_now(self.plane_now());
        self.discard_lost();
        let clear = self.attachments.iter().all(Attachment::may_decide);
        if !self.has_released() || !clear {
            return 0;
        }
        let sent = self.send_released();
        self.flush();
        sent
    }

    /// Carries out a burst in which some frame must wait or go behind one that did; `false` where
    /// there is none.
    #[inline]
    pub(crate) fn settle_fragments(&mut self) -> bool {
        let Self {
            bridge,
            burst,
            verdicts,
            ..
        } = self;
        let Some(fragments) = bridge.fragments() else {
            return false;
        };
        let acts = fragments.acts();
        if acts {
            fragments.settle(burst, verdicts);
            self.send_released();
        }
        self.discard_lost();
        acts
    }

    /// Stages what is released, a burst of it: as much as there is room for, whatever the verdicts.
    fn send_released(&mut self) -> usize {
        let sent = (0..BURST_MAX).take_while(|_| self.carry_out_held(Fragments::next_released));
        sent.count()
    }

    /// Drops what waited in vain.
    #[inline]
    fn discard_lost(&mut self) {
        while self.carry_out_held(Fragments::next_lost) {}
    }

    /// Carries out what `next` gives; `false` where that is nothing.
    #[inline]
    fn carry_out_held(&mut self, next: impl Fn(&mut Fragments) -> Option<Released>) -> bool {
        let Parts {
            bridge,
            mut departure,
            ..
        } = self.parts();
        let Some(one) = bridge.fragments().and_then(next) else {
            return false;
        };
        departure.carry_out(one.frame, one.verdict, one.from);
        true
    }

    /// Drops all that is held, at the end of a run.
    pub(crate) fn discard_held(&mut self, reason: DropReason) {
        if let Some(fragments) = self.bridge.fragments() {
            fragments.clear(reason);
        }
        self.discard_lost();
        let kept = self.node.held() as u64;
        self.node.give_up(&mut self.pool);
        self.counters.drop_frames(reason, kept);
        self.counters.set(Count::Held, 0);
    }
}
