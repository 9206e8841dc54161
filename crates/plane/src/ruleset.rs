//! Lists and the policy that was made for them, as one: what a burst is judged by.

use std::fmt;
use std::sync::Arc;

use frame::PortId;
use table::{CompiledLists, ListMask};

use crate::{Action, Headers, Otherwise, PassRules, Policy, Ports, SetRule, Side};

/// Compiled lists and a policy that has one rule for each of them, in their order.
///
/// A bridge takes both in one piece, so that no frame is judged by the lists of one version and
/// the policy of another. Never written after it was made; clones share the lists.
#[derive(Clone, Debug)]
pub struct Ruleset {
    lists: Arc<CompiledLists>,
    policy: Arc<Policy>,
    /// By the number of the port that a frame came in by.
    masks: [PolicyMasks; Ports::MAX],
}

/// Lists that do not fit the policy they came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListsMismatch {
    /// How many were given.
    pub lists: usize,
    /// How many rules there are.
    pub rules: usize,
}

impl fmt::Display for ListsMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lists, rules } = self;
        write!(f, "{lists} lists for {rules} rules: a rule has one list")
    }
}

impl std::error::Error for ListsMismatch {}

impl Ruleset {
    /// Lists and a policy for them.
    ///
    /// # Errors
    ///
    /// Another number of lists than the policy has rules.
    pub fn new(lists: Arc<CompiledLists>, policy: Arc<Policy>) -> Result<Self, ListsMismatch> {
        let (count, rules) = (lists.list_count(), policy.rules().len());
        if count != rules {
            return Err(ListsMismatch {
                lists: count,
                rules,
            });
        }
        Ok(Self {
            masks: std::array::from_fn(|port| PolicyMasks::of(&policy, PortId(port as u8))),
            lists,
            policy,
        })
    }

    /// The lists.
    #[must_use]
    #[inline]
    pub fn lists(&self) -> &Arc<CompiledLists> {
        &self.lists
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// What holds for frames that came in by this port.
    #[inline]
    pub(crate) fn masks(&self, from: PortId) -> &PolicyMasks {
        &self.masks[usize::from(from.0) % Ports::MAX]
    }
}

/// The lists of one action, by the side of the frame they look at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SideMasks {
    pub(crate) src: u32,
    pub(crate) dst: u32,
}

impl SideMasks {
    /// Those of one side.
    pub(crate) fn of(self, side: Side) -> u32 {
        match side {
            Side::Src => self.src,
            Side::Dst => self.dst,
        }
    }

    fn new(rules: &[SetRule], from: PortId, wanted: impl Fn(Action) -> bool) -> Self {
        let mut masks = Self::default();
        for (place, rule) in rules.iter().enumerate() {
            let bit = |side| u32::from(rule.action_at(side, from).is_some_and(&wanted)) << place;
            masks.src |= bit(Side::Src);
            masks.dst |= bit(Side::Dst);
        }
        masks
    }
}

/// A policy in the form that the decision on a frame needs: lists as bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolicyMasks {
    pub(crate) block: SideMasks,
    pub(crate) count: SideMasks,
    pub(crate) allow: SideMasks,
    pub(crate) any: Matched,
    /// The lists that look at the outermost header of a packet that carries another, and those
    /// that look at what it carries.
    pub(crate) outer: u32,
    pub(crate) inner: u32,
    pub(crate) default_drop: bool,
    pub(crate) non_ip_drop: bool,
    pub(crate) malformed_drop: bool,
    pub(crate) pass: PassRules,
    /// Routers and DHCP servers may be behind the port.
    pub(crate) router: bool,
}

impl PolicyMasks {
    pub(crate) fn of(policy: &Policy, from: PortId) -> Self {
        let rules = policy.rules();
        let masks = |wanted: &dyn Fn(Action) -> bool| SideMasks::new(rules, from, wanted);
        Self {
            block: masks(&|action| action == Action::Block),
            count: masks(&|action| action == Action::Count),
            allow: masks(&|action| action == Action::Allow),
            any: masks(&|_| true).into(),
            outer: looking(rules, |headers| headers.outer),
            inner: looking(rules, |headers| headers.inner),
            default_drop: policy.default == Otherwise::Drop,
            non_ip_drop: policy.non_ip == Otherwise::Drop,
            malformed_drop: policy.malformed == Otherwise::Drop,
            pass: policy.pass,
            router: policy.router.contains(from),
        }
    }
}

/// The lists whose rule looks at these headers.
fn looking(rules: &[SetRule], wanted: impl Fn(Headers) -> bool) -> u32 {
    let places = rules.iter().enumerate();
    places.fold(0, |lists, (place, rule)| {
        lists | u32::from(wanted(rule.headers)) << place
    })
}

impl From<SideMasks> for Matched {
    fn from(masks: SideMasks) -> Self {
        Self {
            src: ListMask(masks.src),
            dst: ListMask(masks.dst),
        }
    }
}

/// The lists that matched a frame's source and destination.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Matched {
    pub(crate) src: ListMask,
    pub(crate) dst: ListMask,
}

impl Matched {
    /// Those that are in `lists`, too.
    pub(crate) fn within(self, lists: Self, headers: u32) -> Self {
        let headers = ListMask(headers);
        Self {
            src: self.src & lists.src & headers,
            dst: self.dst & lists.dst & headers,
        }
    }

    /// Those of either.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            src: self.src | other.src,
            dst: self.dst | other.dst,
        }
    }

    pub(crate) fn is_empty(self) -> bool {
        (self.src | self.dst).is_empty()
    }
}
