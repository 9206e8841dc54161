//! What decides where frames leave, behind the policy: the contract of nodes, and the one of two
//! ports.

use std::any::Any;

use frame::{Burst, Frame, FramePool, Nanos, PortId};

use crate::{Outbox, Verdicts};

/// What a node has at hand while it works.
#[derive(Debug)]
pub struct Forwarding<'a> {
    /// The port that the burst came in by; port 0 in [`Node::poll`], which has no burst.
    pub from: PortId,
    /// What time it is, by a clock that never goes back.
    pub now: Nanos,
    /// Where the frames that it makes come from.
    pub pool: &'a mut FramePool,
    /// Where they go.
    pub out: &'a mut Outbox,
}

/// A count of a node, as reports show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCount {
    /// What is counted, `snake_case`.
    pub name: &'static str,
    /// Since the start.
    pub count: u64,
}

/// What every node is told by [`Node::control`]: the link of a port went down, or its interface is
/// gone, so that what was known behind it is no longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkDown(pub PortId);

/// A stage that decides where frames leave; owned by one worker, which calls it.
///
/// The policy decides first, without writing to a frame, since it overlaps its lookups with
/// receiving and sending. A node is called then: it may rewrite frames and make others.
pub trait Node: Send + 'static {
    /// Whether it does anything; the calls are left out where it does not.
    const DECIDES: bool = true;

    /// What it is called in reports: `switch`, `router`.
    const NAME: &'static str = "node";

    /// Frames that it holds at most; the worker's pool has so many more.
    const HELD_MAX: usize = 0;

    /// What it counts, in the order of [`Node::counts`].
    const COUNTS: &'static [&'static str] = &[];

    /// Decides on a burst. `verdicts` has one verdict a frame, the policy's: a frame with
    /// [`crate::Verdict::Forward`] may pass, and gets another verdict here.
    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts);

    /// Does what is due beside frames, a bounded piece of it: time-outs, requests, frames that it
    /// held. Called in every step; frames leave by `cx.out`, with `after` 0. Where they cannot
    /// leave now, `cx.out` has no room, and a node that it refused a frame is called once more as
    /// soon as they can.
    fn poll(&mut self, cx: &mut Forwarding<'_>);

    /// Takes a frame of the burst that got [`crate::Verdict::Hold`]; called in the burst's order.
    /// The node gives it back by the outbox, as [`crate::Origin::Held`], or at once if it has no
    /// room.
    ///
    /// # Errors
    /// The node holds no more: the frame comes back and is dropped.
    fn keep(&mut self, frame: Frame) -> Result<(), Frame> {
        Err(frame)
    }

    /// Frames that it holds now, [`Node::HELD_MAX`] at most.
    fn held(&self) -> usize {
        0
    }

    /// Gives up all frames that it holds: the run ends.
    fn give_up(&mut self, _pool: &mut FramePool) {}

    /// Its counts since the start, one each of [`Node::COUNTS`].
    fn counts(&self, out: &mut [u64]);

    /// Carries out what the control side asks for, and writes the answer into it: a bounded piece
    /// of work, since frames wait. Memory for the answer is there already, and what is freed of a
    /// request is freed by who asked. A request that the node does not know stays as it is.
    fn control(&mut self, _request: &mut dyn Any) {}
}

/// Two ports: what came in by one leaves by the other, as the policy has said already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair;

impl Node for Pair {
    const DECIDES: bool = false;

    #[inline(always)]
    fn process(&mut self, _: &mut Forwarding<'_>, _: &mut Burst, _: &mut Verdicts) {}

    #[inline(always)]
    fn poll(&mut self, _: &mut Forwarding<'_>) {}

    #[inline(always)]
    fn counts(&self, _: &mut [u64]) {}
}
