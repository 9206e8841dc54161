//! The bridge: what came in by one of two ports leaves by the other, unless the policy stops it.
//! Where a [`crate::Node`] chooses the port, the bridge says which frames get there.

mod judge;
mod matched;

use std::sync::Arc;

use frame::{Burst, Frame, Nanos, PortId};
use wire::HashHeader;

use crate::counted::{Counted, Counting, Uncounted};
use crate::pass::{self, PassCounts};
use crate::rule_stage::{RuleStage, Seen};
use crate::ruleset::Matched;
use crate::{
    Classifier, Fragments, Gatherer, HitAddresses, Hits, Policy, Route, RuleTable, Ruleset,
    Stateful, Verdict, Verdicts,
};

use judge::{judge, judge_all, plain};

pub(crate) use judge::{blocked, is_allowed};
pub use matched::MatchedLists;

/// Where frames go that the policy lets pass.
#[derive(Clone, Copy, Debug)]
enum Exit {
    /// From each of two ports to the other.
    Other([PortId; 2]),
    /// Where a node says, which decides behind this.
    Node,
}

impl Exit {
    /// The index among the ports of the one that a frame came in by, and the port that it leaves
    /// by: where a node says which, any.
    #[inline]
    fn of(self, from: PortId) -> (usize, PortId) {
        match self {
            Self::Other(ports) => {
                let arrival = usize::from(from != ports[0]);
                (arrival, ports[1 - arrival])
            }
            Self::Node => (usize::from(from.0), from),
        }
    }
}

/// What decides on frames between ports, and what was counted there; owned by one worker.
#[derive(Debug)]
pub struct Bridge {
    exit: Exit,
    classifier: Classifier,
    counted: Counted,
    passed: PassCounts,
    rules: Option<Box<RuleStage>>,
    stateful: Option<Box<Stateful>>,
    fragments: Option<Box<Fragments>>,
    gatherer: Option<Box<Gatherer>>,
    /// The flows are those of the innermost packets.
    follows_inner: bool,
}

impl Bridge {
    /// A bridge between two ports, which counts the addresses that are hit in a table.
    #[must_use]
    pub fn new(ports: [PortId; 2], addresses: Box<HitAddresses>) -> Self {
        Self::with_exit(Exit::Other(ports), 2, addresses)
    }

    /// What stands in front of a node: decides which frames of `ports` ports, numbered from 0, get
    /// there. The port of [`Verdict::Forward`] means nothing then.
    #[must_use]
    pub fn before_node(ports: usize, addresses: Box<HitAddresses>) -> Self {
        Self::with_exit(Exit::Node, ports, addresses)
    }

    fn with_exit(exit: Exit, ports: usize, addresses: Box<HitAddresses>) -> Self {
        Self {
            exit,
            classifier: Classifier::new(),
            counted: Counted {
                hits: Hits::of_ports(ports),
                addresses,
            },
            passed: PassCounts::default(),
            rules: None,
            stateful: None,
            fragments: None,
            gatherer: None,
            follows_inner: false,
        }
    }

    /// The same with what the policy says of tunnels.
    #[must_use]
    pub fn with_tunnels(self, policy: &Policy) -> Self {
        Self {
            follows_inner: policy.placing().header == HashHeader::Inner,
            classifier: self.classifier.with_tunnel_ports(policy.tunnels.ports),
            ..self
        }
    }

    /// The same with a memory of flows, which what the policy forwards must be part of.
    #[must_use]
    pub fn with_stateful(self, stateful: Option<Box<Stateful>>) -> Self {
        Self { stateful, ..self }
    }

    /// The same with a memory of packets in fragments: those that come before the first one of
    /// their packet wait for it. It needs a bridge that remembers flows, since no other
    /// has a use for ports.
    #[must_use]
    pub fn with_fragments(mut self, fragments: Option<Box<Fragments>>) -> Self {
        if self.stateful.is_some() {
            self.fragments = fragments;
        }
        self
    }

    /// The same as one of several workers that gather fragments for each other.
    #[must_use]
    pub fn with_gatherer(mut self, gatherer: Option<Box<Gatherer>>) -> Self {
        if self.stateful.is_some() {
            self.gatherer = gatherer;
        }
        self
    }

    /// What gathers fragments, if this bridge is one of several.
    #[inline]
    pub fn gatherer(&mut self) -> Option<&mut Gatherer> {
        self.gatherer.as_deref_mut()
    }

    /// Whether gathered fragments wait to go on.
    #[must_use]
    #[inline]
    pub fn has_gathered(&self) -> bool {
        let gatherer = self.gatherer.as_ref();
        gatherer.is_some_and(|gatherer| gatherer.first_gathered().is_some())
    }

    /// Packets in fragments, if the bridge remembers them.
    #[inline]
    pub fn fragments(&mut self) -> Option<&mut Fragments> {
        self.fragments.as_deref_mut()
    }

    /// Whether frames wait to be carried out behind fragments that were held.
    #[must_use]
    #[inline]
    pub fn has_released(&self) -> bool {
        self.fragments
            .as_ref()
            .is_some_and(|fragments| fragments.has_released())
    }

    /// Whether frames may wait for others.
    #[must_use]
    #[inline]
    pub fn may_hold(&self) -> bool {
        self.fragments.is_some() || self.gatherer.is_some()
    }

    /// Frames that wait for others.
    #[must_use]
    #[inline]
    pub fn held(&self) -> usize {
        let waiting = self.fragments.as_ref();
        let gathered = self.gatherer.as_ref();
        waiting.map_or(0, |fragments| fragments.held())
            + gathered.map_or(0, |gatherer| gatherer.held())
    }

    /// The flows, if the bridge remembers them.
    #[must_use]
    pub fn stateful(&self) -> Option<&Stateful> {
        self.stateful.as_deref()
    }

    /// The same, to give buckets to another worker's or to take them over.
    pub fn stateful_mut(&mut self) -> Option<&mut Stateful> {
        self.stateful.as_deref_mut()
    }

    /// What time it is, for flows: by a clock that never goes back.
    #[inline]
    pub fn set_now(&mut self, now: Nanos) {
        if let Some(stateful) = &mut self.stateful {
            stateful.set_now(now);
        }
        if let Some(fragments) = &mut self.fragments {
            fragments.set_now(now);
        }
        if let Some(gatherer) = &mut self.gatherer {
            gatherer.set_now(now);
        }
    }

    /// Begins with another table of addresses and returns the one so far.
    pub fn swap_addresses(&mut self, next: Box<HitAddresses>) -> Box<HitAddresses> {
        self.counted.addresses.settle();
        std::mem::replace(&mut self.counted.addresses, next)
    }

    /// The hits of the sets, by their places in the policy, since [`Bridge::restart_hits`].
    #[must_use]
    pub fn hits(&self) -> &Hits {
        &self.counted.hits
    }

    /// Frames that passed by a rule of [`Policy::pass`] alone, since the beginning.
    #[must_use]
    pub fn passed(&self) -> &PassCounts {
        &self.passed
    }

    /// Counts hits from nothing: for a policy whose sets are others, or do something else.
    pub fn restart_hits(&mut self) {
        self.counted.hits.clear();
    }

    /// Decides on a burst that came in by `from`.
    #[inline]
    pub fn decide(
        &mut self,
        burst: &Burst,
        from: PortId,
        ruleset: &Ruleset,
        verdicts: &mut Verdicts,
    ) {
        self.decide_overlapped((burst, from), ruleset, verdicts, &mut || {});
    }

    /// [`Bridge::decide`] that calls `meanwhile` once: while lines of the lists' single IPv4
    /// addresses are on their way, where there are any.
    #[inline]
    pub fn decide_overlapped(
        &mut self,
        (burst, from): (&Burst, PortId),
        ruleset: &Ruleset,
        verdicts: &mut Verdicts,
        overlap: &mut dyn FnMut(),
    ) {
        Classifier::prefetch_headers(burst);
        self.classifier.read(burst, ruleset.lists(), overlap);
        self.judge(from, ruleset, verdicts);
        if let Some(table) = &ruleset.policy().packet_rules {
            self.try_rules(table, burst, from, verdicts);
        }
        if self.stateful.is_some() {
            self.follow(burst, from, ruleset, verdicts);
        } else if ruleset.masks(from).default_drop {
            self.guard(burst, from, ruleset, verdicts);
            self.pass(burst, from, ruleset, verdicts);
        }
    }

    /// Whether senders are to be told that rules rejected their frames of the last burst.
    #[must_use]
    #[inline]
    pub fn has_rejected(&self) -> bool {
        let rules = self.rules.as_ref();
        rules.is_some_and(|rules| rules.has_rejected())
    }

    /// Makes answers of frames of the last burst that rules rejected: each leaves by the port that
    /// it came in by, and one that gets no answer stays dropped. To be called behind the node.
    #[inline(never)]
    pub fn answer_rejected(
        &mut self,
        burst: (&mut Burst, PortId),
        verdicts: &mut Verdicts,
        now: Nanos,
    ) {
        if let Some(rules) = &mut self.rules {
            rules.answer(burst, verdicts, now);
        }
    }

    /// Tries the rules on what the policy lets pass. A call of its own: what is for rules alone, as
    /// the room for a new version, takes no part of the stack of bursts without them.
    #[inline(never)]
    fn try_rules(
        &mut self,
        table: &Arc<RuleTable>,
        burst: &Burst,
        from: PortId,
        verdicts: &mut Verdicts,
    ) {
        RuleStage::follow(&mut self.rules, table);
        let seen = Seen {
            burst,
            from,
            classifier: &self.classifier,
            flows: self.stateful.as_deref(),
            follows_fragments: self.fragments.is_some(),
        };
        if let Some(rules) = &mut self.rules {
            rules.judge(&seen, verdicts);
        }
    }

    /// Holds a burst that the policy has decided on against the flows.
    #[inline]
    fn follow(&mut self, burst: &Burst, from: PortId, ruleset: &Ruleset, verdicts: &mut Verdicts) {
        let arrival = (from, self.exit.of(from).0);
        let parsed = match self.follows_inner {
            true => self.classifier.parsed_inside(),
            false => self.classifier.parsed(),
        };
        if let Some(fragments) = &mut self.fragments {
            fragments.meet(burst, parsed, arrival, verdicts);
        }
        // Behind that: the others of a packet have the verdict of its first fragment.
        self.guard(burst, from, ruleset, verdicts);
        let parsed = self.classifier.parsed();
        let followed = self.fragments.as_deref().map(Fragments::followed);
        if let Some(stateful) = &mut self.stateful {
            stateful.judge(burst, (parsed, followed), arrival, verdicts);
        }
        self.pass(burst, from, ruleset, verdicts);
        if let Some(fragments) = &mut self.fragments {
            fragments.decide(verdicts);
        }
    }

    /// Keeps hosts from posing as routers.
    #[inline]
    fn guard(&self, burst: &Burst, from: PortId, ruleset: &Ruleset, verdicts: &mut Verdicts) {
        if !ruleset.masks(from).router {
            pass::guard(burst, &self.classifier, verdicts);
        }
    }

    /// Lets pass what a network needs to work, of what would be dropped.
    #[inline]
    fn pass(&mut self, burst: &Burst, from: PortId, ruleset: &Ruleset, verdicts: &mut Verdicts) {
        let (_, to) = self.exit.of(from);
        let (masks, passed) = (ruleset.masks(from), &mut self.passed);
        if !matches!(verdicts.unanimous(), Some(Verdict::Forward(_))) {
            pass::pass(burst, &self.classifier, (masks, to), verdicts, passed);
        }
    }

    /// Gathers the fragments of a burst that came in by `from`, as [`Gatherer::gather`] does: what
    /// the policy does not forward, and what cannot be followed, goes to `rest`, to be decided on
    /// with all else. Nothing is counted of it before.
    pub fn gather(
        &mut self,
        burst: &mut Burst,
        (from, ruleset): (PortId, &Ruleset),
        verdicts: &mut Verdicts,
        (route, rest): (&mut dyn FnMut(&Frame) -> Route, &mut Burst),
    ) {
        self.classifier.classify(burst, ruleset.lists());
        let found = (&self.classifier, self.exit);
        weigh(found, (from, ruleset), verdicts, &mut Uncounted);
        let Some(gatherer) = &mut self.gatherer else {
            rest.append(burst);
            return;
        };
        let parsed = match self.follows_inner {
            true => self.classifier.parsed_inside(),
            false => self.classifier.parsed(),
        };
        let arrival = (from, self.exit.of(from).0);
        gatherer.gather((burst, parsed), arrival, verdicts, (route, rest));
    }

    /// The first half of [`Bridge::decide`], pass by pass.
    pub fn classifier(&mut self) -> &mut Classifier {
        &mut self.classifier
    }

    /// The second half of [`Bridge::decide`]: weighs what the classifier found in the last burst,
    /// which came in by `from`.
    ///
    /// What is in no list and has nothing odd about it has one verdict, whatever it is: the whole
    /// column is filled with that, and only the other frames are judged one by one.
    #[inline]
    pub fn judge(&mut self, from: PortId, ruleset: &Ruleset, verdicts: &mut Verdicts) {
        let Self {
            classifier,
            counted,
            exit,
            ..
        } = self;
        weigh((classifier, *exit), (from, ruleset), verdicts, counted);
    }
}

/// The verdicts on the last burst of a classifier, by a policy alone.
#[inline(always)]
fn weigh(
    (classifier, exit): (&Classifier, Exit),
    (from, ruleset): (PortId, &Ruleset),
    verdicts: &mut Verdicts,
    counted: &mut impl Counting,
) {
    let ((arrival, to), masks) = (exit.of(from), ruleset.masks(from));
    verdicts.fill(classifier.parsed().len(), plain(masks, to));
    for (place, parsed) in classifier.odd() {
        let matched = Matched::default();
        verdicts.set(place, judge(parsed, matched, masks, counted, (arrival, to)));
    }
    classifier.each_match(masks.any, |place, parsed, matched| {
        verdicts.set(place, judge(parsed, matched, masks, counted, (arrival, to)));
    });
    classifier.each_tunnelled(|place, headers| {
        verdicts.set(place, judge_all(headers, masks, counted, (arrival, to)));
    });
}
