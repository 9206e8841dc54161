//! What decides where frames leave, behind the policy: the contract of nodes, and the one of two
//! ports.

use frame::{Burst, FramePool, Nanos, PortId};

use crate::{Outbox, Verdicts};

/// What a node has at hand while it works on a burst.
#[derive(Debug)]
pub struct Forwarding<'a> {
    /// The port that the burst came in by.
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

/// A stage that decides where frames leave; owned by one worker, which calls it.
///
/// The policy decides first, without writing to a frame, since it overlaps its lookups with
/// receiving and sending. A node is called then: it may rewrite frames and make others.
pub trait Node: Send + 'static {
    /// Whether it does anything; the calls are left out where it does not.
    const DECIDES: bool = true;

    /// What it counts, in the order of [`Node::counts`].
    const COUNTS: &'static [&'static str] = &[];

    /// Decides on a burst. `verdicts` has one verdict a frame, the policy's: a frame with
    /// [`crate::Verdict::Forward`] may pass, and gets another verdict here.
    fn process(&mut self, cx: &mut Forwarding<'_>, burst: &mut Burst, verdicts: &mut Verdicts);

    /// Does what is due beside frames, a bounded piece of it. Called in every step.
    fn poll(&mut self, now: Nanos);

    /// Its counts since the start, one each of [`Node::COUNTS`].
    fn counts(&self, out: &mut [u64]);
}

/// Two ports: what came in by one leaves by the other, as the policy has said already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair;

impl Node for Pair {
    const DECIDES: bool = false;

    #[inline(always)]
    fn process(&mut self, _: &mut Forwarding<'_>, _: &mut Burst, _: &mut Verdicts) {}

    #[inline(always)]
    fn poll(&mut self, _: Nanos) {}

    #[inline(always)]
    fn counts(&self, _: &mut [u64]) {}
}
