//! What the keeper is told when it begins.

use super::name::{NameError, SetName};
use super::publish::{NoHits, RecentHits};
use engine::OwnAddress;
use plane::{Otherwise, PassRules, Policy, PolicyError, Ports, RuleTable, SetRule, TunnelPolicy};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// One set.
#[derive(Clone, Debug, PartialEq)]
pub struct SetConfig {
    /// Its name, and what a hit does.
    pub rule: SetRule,
    /// The share of its file part that a load may change, 0 to 1; above 1 any change passes.
    pub max_change: f64,
    /// A list that has fewer entries before and after is not held against `max_change`.
    pub max_change_floor: u64,
    /// A load may have no entries.
    pub allow_empty: bool,
    /// A load may cover private, shared, loopback, link-local and multicast space and this
    /// machine's own addresses. Sets that block nowhere always may.
    pub allow_private: bool,
    /// The address space that the set exempts from all others, where it is for that.
    pub keeps: Option<Keeps>,
}

/// Address space that a set exempts from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Private and shared space.
    Private,
    /// What hosts need to find each other, and this machine's own addresses.
    Local,
}

impl SetConfig {
    /// The share of a file part that a load may change when nothing is said.
    pub const MAX_CHANGE: f64 = 0.5;

    /// The entries below which a list is not held against that, when nothing is said.
    pub const MAX_CHANGE_FLOOR: u64 = 100;

    /// A set with guards as they are by default.
    #[must_use]
    pub fn new(rule: SetRule) -> Self {
        Self {
            rule,
            max_change: Self::MAX_CHANGE,
            max_change_floor: Self::MAX_CHANGE_FLOOR,
            allow_empty: false,
            allow_private: false,
            keeps: None,
        }
    }

    /// Its name.
    ///
    /// # Errors
    /// [`NameError`] where the rule's name is none for a set.
    pub fn name(&self) -> Result<SetName, NameError> {
        SetName::new(&self.rule.name)
    }
}

/// New settings for all sets, and the rules of packets that hold with them.
#[derive(Debug)]
pub(super) struct NewSettings {
    pub(super) sets: Vec<SetConfig>,
    pub(super) packet_rules: Option<Arc<RuleTable>>,
}

/// What happens to frames that no set decides on; see [`Policy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defaults {
    /// IP frames.
    pub ip: Otherwise,
    /// Frames that carry no IP.
    pub non_ip: Otherwise,
    /// Malformed frames.
    pub malformed: Otherwise,
    /// Packets inside packets.
    pub tunnels: TunnelPolicy,
    /// What the network needs, which passes all the same.
    pub pass: PassRules,
    /// The ports that routers and DHCP servers are behind.
    pub router: Ports,
}

impl Default for Defaults {
    /// Forwards all but malformed frames, as [`Policy::new`] does.
    fn default() -> Self {
        Self {
            ip: Otherwise::Forward,
            non_ip: Otherwise::Forward,
            malformed: Otherwise::Drop,
            tunnels: TunnelPolicy::default(),
            pass: PassRules::ALL,
            router: Ports::ALL,
        }
    }
}

impl Defaults {
    /// A policy of these rules.
    ///
    /// # Errors
    /// As [`Policy::new`].
    pub fn policy(self, rules: Vec<SetRule>) -> Result<Policy, PolicyError> {
        let mut policy = Policy::new(rules)?;
        policy.default = self.ip;
        policy.non_ip = self.non_ip;
        policy.malformed = self.malformed;
        policy.tunnels = self.tunnels;
        policy.pass = self.pass;
        policy.router = self.router;
        Ok(policy)
    }
}

/// What the keeper is told when it begins. Its threads run where the one that starts it may run:
/// whoever keeps workers' CPUs free sets its own affinity first.
#[derive(Clone)]
pub struct KeeperConfig {
    /// The sets, in the order of their lists: at most [`table::LISTS_MAX`].
    pub sets: Vec<SetConfig>,
    /// The ports' names, by their numbers: what was changed for one port is kept by its name.
    pub ports: Vec<String>,
    /// For frames that no set decides on.
    pub defaults: Defaults,
    /// The rules of packets, made for these sets in their order.
    pub packet_rules: Option<Arc<RuleTable>>,
    /// How long the keeper waits for workers before it answers that they did not confirm.
    pub confirm_within: Duration,
    /// Requests that may wait; who comes later waits to get in.
    pub queue_max: usize,
    /// Single entries of all sets together, at most: what a journal may hold, so that what was
    /// answered can be read back.
    pub dynamic_max: usize,
    /// Who knows what was hit lately.
    pub recent_hits: Arc<dyn RecentHits>,
    /// Who knows the addresses that a load may not newly cover; asked at each load.
    pub own_addresses: fn() -> Vec<OwnAddress>,
}

impl KeeperConfig {
    /// These sets, and the rest as it is by default.
    #[must_use]
    pub fn new(sets: Vec<SetConfig>) -> Self {
        Self {
            sets,
            ports: Vec::new(),
            defaults: Defaults::default(),
            packet_rules: None,
            confirm_within: Duration::from_secs(2),
            queue_max: 1024,
            dynamic_max: crate::journal::ENTRIES_MAX,
            recent_hits: Arc::new(NoHits),
            own_addresses: engine::own_addresses,
        }
    }
}

impl fmt::Debug for KeeperConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeeperConfig")
            .field("sets", &self.sets)
            .field("defaults", &self.defaults)
            .finish_non_exhaustive()
    }
}
