//! What the operator wants done: one rule a set, and defaults for what no set speaks of.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use frame::PortId;
use table::LISTS_MAX;
use table::fragments::FragmentLimits;
use wire::{HashHeader, Placing, TunnelPorts};

use crate::{PassRules, Ports, RuleTable, StatefulConfig};

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
    /// Every action, in the order of their numbers.
    pub const EVERY: [Self; 3] = [Self::Block, Self::Count, Self::Allow];

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

/// One of a frame's two addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The source address.
    Src,
    /// The destination address.
    Dst,
}

impl Side {
    /// Both, source first.
    pub const EVERY: [Self; 2] = [Self::Src, Self::Dst];

    /// As counters and JSON have it: `src` or `dst`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Src => "src",
            Self::Dst => "dst",
        }
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
    /// Neither: rules alone ask for the set.
    pub const NONE: Self = Self {
        src: false,
        dst: false,
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

    /// Whether this side is among them.
    #[must_use]
    pub fn contains(self, side: Side) -> bool {
        match side {
            Side::Src => self.src,
            Side::Dst => self.dst,
        }
    }
}

/// Which headers of a packet that carries another a set looks at. One that carries none, or
/// nothing that can be read, has one header, which every set looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The outermost IP header.
    pub outer: bool,
    /// Every IP header inside.
    pub inner: bool,
}

impl Headers {
    /// All of them.
    pub const BOTH: Self = Self {
        outer: true,
        inner: true,
    };
    /// The outermost alone.
    pub const OUTER: Self = Self {
        outer: true,
        inner: false,
    };
    /// Those inside alone.
    pub const INNER: Self = Self {
        outer: false,
        inner: true,
    };
    /// Every choice, with the word that a user writes.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("both", Self::BOTH),
        ("outer", Self::OUTER),
        ("inner", Self::INNER),
    ];

    /// The word that a user writes: `both`, `outer` or `inner`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self.outer, self.inner) {
            (true, false) => "outer",
            (false, true) => "inner",
            _ => "both",
        }
    }
}

/// How packets that carry others are taken. Read when a run begins, as flows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TunnelPolicy {
    /// Whose addresses and ports frames are placed by, and whose flows are remembered;
    /// `None` for the inner header's, but the outer one's where flows are remembered.
    pub hash: Option<HashHeader>,
    /// The ports that UDP tunnels are known by.
    pub ports: TunnelPorts,
}

/// One set of a policy: the rule at place `i` speaks for list `i` of the compiled lists.
///
/// What a hit does may differ by the side of the frame and the port it came in by:
/// [`SetRule::action_at`] says what holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRule {
    /// The set's name in reports; unique in its policy.
    pub name: String,
    /// What a hit does.
    pub action: Action,
    /// Which addresses count as a hit.
    pub sides: Sides,
    /// The ports that frames must have come in by to count as a hit.
    pub ports: Ports,
    /// Which headers of packets inside packets it looks at.
    pub headers: Headers,
    /// Where another action holds; of several the last.
    pub exceptions: Vec<Exception>,
}

/// Another action of a set for some sides and ports, which may lie outside those of its rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// For these sides.
    pub sides: Sides,
    /// For frames that came in by these ports.
    pub ports: Ports,
    /// What a hit does there.
    pub action: Action,
}

impl SetRule {
    /// A rule that holds for frames of all ports, without exceptions.
    #[must_use]
    pub fn new(name: impl Into<String>, action: Action, sides: Sides) -> Self {
        Self {
            name: name.into(),
            action,
            sides,
            ports: Ports::ALL,
            headers: Headers::BOTH,
            exceptions: Vec::new(),
        }
    }

    /// What a hit of this side does to a frame that came in by `port`; `None` where the set does
    /// not look at it.
    #[must_use]
    pub fn action_at(&self, side: Side, port: PortId) -> Option<Action> {
        let holds = |exception: &&Exception| {
            exception.sides.contains(side) && exception.ports.contains(port)
        };
        match self.exceptions.iter().rev().find(holds) {
            Some(exception) => Some(exception.action),
            None if self.sides.contains(side) && self.ports.contains(port) => Some(self.action),
            None => None,
        }
    }
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
/// drop at least one address must also be allowed, unless [`Policy::pass`] lets the frame pass. Of
/// a packet that carries others each header is judged so, by the sets that look at it, and what
/// stops one stops the frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    rules: Vec<SetRule>,
    /// For IP frames that no set decides on.
    pub default: Otherwise,
    /// For frames that carry no IP: ARP, LLDP, spanning tree and the like.
    pub non_ip: Otherwise,
    /// For frames that break a protocol's rules and are not blocked by an address.
    pub malformed: Otherwise,
    /// What passes although the default is to drop, or although it is of no flow: messages
    /// that the network needs to work.
    pub pass: PassRules,
    /// The ports that routers and DHCP servers are behind: where the default is to drop or
    /// flows are remembered, theirs of those messages pass from there alone.
    pub router: Ports,
    /// What a bridge remembers of flows, if it does. Read when a run begins: a policy that
    /// takes the place of another one does not change it.
    pub stateful: Option<StatefulConfig>,
    /// How many fragments such a bridge lets wait for the first ones of their packets, if any may.
    /// Read when a run begins.
    pub fragments: Option<FragmentLimits>,
    /// Packets in fragments are put together by those bounds, and leave whole: for ends, whose
    /// frames have room for them. Read when a run begins; no command asks for it yet.
    pub reassembles: bool,
    /// How packets that carry others are taken.
    pub tunnels: TunnelPolicy,
    /// What is tried on what the sets let pass.
    pub packet_rules: Option<Arc<RuleTable>>,
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
    /// drops malformed IP. What the network needs passes, from both sides.
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
            pass: PassRules::ALL,
            router: Ports::ALL,
            stateful: None,
            fragments: Some(FragmentLimits::default()),
            reassembles: false,
            tunnels: TunnelPolicy::default(),
            packet_rules: None,
        })
    }

    /// What frames are placed by.
    ///
    /// Both directions of a flow must meet where flows are remembered: there a
    /// security association, which has one direction, does not count.
    #[must_use]
    pub fn placing(&self) -> Placing {
        let usual = match self.stateful {
            Some(_) => HashHeader::Outer,
            None => HashHeader::Inner,
        };
        Placing {
            header: self.tunnels.hash.unwrap_or(usual),
            spi: self.stateful.is_none(),
            ports: self.tunnels.ports,
        }
    }

    /// The rules, in the order of their lists.
    #[must_use]
    pub fn rules(&self) -> &[SetRule] {
        &self.rules
    }
}
