//! What the operator wants done: one rule a set, and defaults for what no set speaks of.

use std::collections::HashSet;
use std::fmt;

use table::{LISTS_MAX, ListMask};

/// What a set does with a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Drops the frame, unless the address is also in an allow set.
    Block,
    /// Counts the hit as [`Action::Block`] would and drops nothing: a trial run.
    Count,
    /// Exempts the address from block sets and satisfies a default of drop.
    Allow,
}

impl Action {
    /// The word a user writes: `block`, `count` or `allow`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Count => "count",
            Self::Allow => "allow",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which addresses of a frame a set looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sides {
    /// The source address.
    pub src: bool,
    /// The destination address.
    pub dst: bool,
}

impl Sides {
    /// Source and destination.
    pub const BOTH: Self = Self {
        src: true,
        dst: true,
    };
    /// The source alone.
    pub const SRC: Self = Self {
        src: true,
        dst: false,
    };
    /// The destination alone.
    pub const DST: Self = Self {
        src: false,
        dst: true,
    };
}

/// One set of a policy: the rule at place `i` speaks for list `i` of the compiled lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRule {
    /// The set's name in reports; unique in its policy.
    pub name: String,
    /// What a hit does.
    pub action: Action,
    /// Which addresses count as a hit.
    pub sides: Sides,
}

/// What happens to a frame that nothing else decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// It is forwarded.
    Forward,
    /// It is dropped, with the reason that fits.
    Drop,
}

/// All rules of a bridge.
///
/// A frame is dropped if either of its addresses is blocked and not itself allowed: allow exempts
/// its own side only, so an allowed server does not let blocked attackers in. Under a default of
/// drop at least one address must also be allowed.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: Vec<SetRule>,
    /// For IP frames that no set decides on.
    pub default: Otherwise,
    /// For frames that carry no IP: ARP, LLDP, spanning tree and the like.
    pub non_ip: Otherwise,
    /// For frames that break a protocol's rules and are not blocked by an address.
    pub malformed: Otherwise,
}

/// Why a policy was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyError {
    /// More sets than one lookup can tell apart; the field is how many were given.
    TooManySets(usize),
    /// Two sets of this name.
    NameTwice(String),
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManySets(given) => write!(
                f,
                "{given} sets are given and a policy holds at most {LISTS_MAX}: join some files"
            ),
            Self::NameTwice(name) => write!(
                f,
                "two sets are named '{name}': name one of them with NAME=FILE"
            ),
        }
    }
}

impl std::error::Error for PolicyError {}

impl Policy {
    /// A policy of these rules that forwards what no rule decides on, non-IP frames too, and
    /// drops malformed IP.
    ///
    /// # Errors
    ///
    /// More than [`LISTS_MAX`] rules, or two of one name.
    pub fn new(rules: Vec<SetRule>) -> Result<Self, PolicyError> {
        if rules.len() > LISTS_MAX {
            return Err(PolicyError::TooManySets(rules.len()));
        }
        let mut names = HashSet::new();
        if let Some(rule) = rules.iter().find(|rule| !names.insert(&rule.name)) {
            return Err(PolicyError::NameTwice(rule.name.clone()));
        }
        Ok(Self {
            rules,
            default: Otherwise::Forward,
            non_ip: Otherwise::Forward,
            malformed: Otherwise::Drop,
        })
    }

    /// The rules, in the order of their lists.
    #[must_use]
    pub fn rules(&self) -> &[SetRule] {
        &self.rules
    }
}

/// The lists of one action, by the side of the frame they look at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SideMasks {
    pub(crate) src: u32,
    pub(crate) dst: u32,
}

impl SideMasks {
    fn of(rules: &[SetRule], wanted: impl Fn(Action) -> bool) -> Self {
        let mut masks = Self::default();
        for (place, rule) in rules.iter().enumerate().filter(|(_, r)| wanted(r.action)) {
            masks.src |= u32::from(rule.sides.src) << place;
            masks.dst |= u32::from(rule.sides.dst) << place;
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
    pub(crate) default_drop: bool,
    pub(crate) non_ip_drop: bool,
    pub(crate) malformed_drop: bool,
}

impl From<&Policy> for PolicyMasks {
    fn from(policy: &Policy) -> Self {
        let rules = policy.rules();
        Self {
            block: SideMasks::of(rules, |action| action == Action::Block),
            count: SideMasks::of(rules, |action| action == Action::Count),
            allow: SideMasks::of(rules, |action| action == Action::Allow),
            any: SideMasks::of(rules, |_| true).into(),
            default_drop: policy.default == Otherwise::Drop,
            non_ip_drop: policy.non_ip == Otherwise::Drop,
            malformed_drop: policy.malformed == Otherwise::Drop,
        }
    }
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
