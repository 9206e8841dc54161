//! Which rule a packet is for.

use super::config::{
    DestinationRule, NatConfig, NatMatch, NatMatchProtocol, NatRange, NatTarget, SourceAction,
    SourcePool,
};
use super::flow::Class;
use super::tuple::{NatProtocol, Tuple};

/// What NAT goes by: its settings and the router's own addresses. Never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatTable {
    config: NatConfig,
    /// By interface.
    pub(super) own: Vec<Vec<u32>>,
    /// By interface: rules give new sources to what leaves by it.
    is_outside: Vec<bool>,
    pub(super) has_mappings: bool,
    /// By [`Class`]: ticks without packets after which flows are over.
    timeouts: [u32; Class::COUNT],
}

/// What becomes of the destination of a packet that begins a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destined {
    /// It stays.
    Same,
    /// By a rule for the interface that it came by.
    To(NatTarget),
    /// By a rule for another interface, whose address it was sent to.
    Hairpin(NatTarget),
}

impl NatTable {
    /// Settings, for a router with these addresses, by interface.
    #[must_use]
    pub fn new(config: NatConfig, own: Vec<Vec<u32>>) -> Self {
        let pool = |action: &SourceAction| match *action {
            SourceAction::To(pool) => Some(pool),
            SourceAction::Accept => None,
        };
        let pools = config.sources.iter().map(|rule| pool(&rule.action));
        let has_mappings = pools.flatten().any(|pool| pool.endpoint_independent);
        let translates = |interface| {
            let mut rules = config.sources.iter();
            rules.any(|rule| usize::from(rule.out) == interface && pool(&rule.action).is_some())
        };
        Self {
            is_outside: (0..own.len()).map(translates).collect(),
            has_mappings,
            timeouts: Class::ALL.map(|class| class.timeout_of(&config.timeouts)),
            own,
            config,
        }
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &NatConfig {
        &self.config
    }

    /// Ticks without packets after which a flow of a class is over.
    #[inline]
    pub(super) fn timeout(&self, class: Class) -> u32 {
        self.timeouts[class as usize]
    }

    /// The ports, or identifiers, that flows of a protocol may get; `None`: the usual ones.
    pub(super) fn ports_of(
        &self,
        pool: &SourcePool,
        protocol: NatProtocol,
    ) -> Option<NatRange<u16>> {
        let ports = pool.ports.or(self.config.ports);
        match protocol {
            NatProtocol::EchoRequest | NatProtocol::EchoReply => self.config.identifiers.or(ports),
            _ => ports,
        }
    }

    /// Whether the router has any address on an interface.
    pub(super) fn has_address(&self, interface: u16) -> bool {
        let own = self.own.get(usize::from(interface));
        own.is_some_and(|own| !own.is_empty())
    }

    /// Whether the router has an address.
    pub(super) fn is_own(&self, address: u32) -> bool {
        self.own.iter().any(|own| own.contains(&address))
    }

    /// Whether the router has an address on an interface.
    pub(super) fn is_own_of(&self, interface: u16, address: u32) -> bool {
        let own = self.own.get(usize::from(interface));
        own.is_some_and(|own| own.contains(&address))
    }

    /// Whether an address is of a pool that sources are taken from.
    pub(super) fn is_of_pool(&self, address: u32) -> bool {
        let mut actions = self.config.sources.iter().map(|rule| rule.action);
        actions.any(|action| {
            matches!(action, SourceAction::To(SourcePool { addresses: Some(range), .. })
                if range.has(address))
        })
    }

    /// What a packet's source becomes that leaves by an interface; `None`: it stays.
    pub(super) fn source_of(&self, out: u16, tuple: &Tuple) -> Option<SourcePool> {
        if !self.is_outside(out) {
            return None;
        }
        let mut rules = self.config.sources.iter();
        let rule = rules.find(|rule| rule.out == out && rule.matches.has(tuple))?;
        match rule.action {
            SourceAction::Accept => None,
            SourceAction::To(pool) => Some(pool),
        }
    }

    /// Whether a packet whose ports are not known might get another source, leaving by an
    /// interface.
    pub(super) fn may_translate(&self, out: u16, tuple: &Tuple) -> bool {
        let of_it = |rule: &&super::SourceRule| rule.out == out && rule.matches.may_have(tuple);
        for rule in self.config.sources.iter().filter(of_it) {
            match rule.action {
                SourceAction::To(_) => return true,
                SourceAction::Accept if rule.matches.is_of_addresses() => return false,
                SourceAction::Accept => {}
            }
        }
        false
    }

    fn is_outside(&self, interface: u16) -> bool {
        let found = self.is_outside.get(usize::from(interface));
        found.copied().unwrap_or(false)
    }

    /// Whether a rule is for packets to an address.
    pub(super) fn is_meant(&self, rule: &DestinationRule, address: u32) -> bool {
        match rule.matches.destinations.is_empty() {
            true => self.is_own_of(rule.from, address),
            false => has(&rule.matches.destinations, address),
        }
    }

    /// Where a packet goes that came by an interface and begins a flow.
    pub(super) fn destination_of(&self, from: u16, tuple: &Tuple) -> Destined {
        let is_for =
            |rule: &DestinationRule| self.is_meant(rule, tuple.dst) && rule.matches.has(tuple);
        let rules = || self.config.destinations.iter().filter(|rule| is_for(rule));
        if let Some(rule) = rules().find(|rule| rule.from == from) {
            return rule.to.map_or(Destined::Same, Destined::To);
        }
        if !self.config.hairpin || self.is_outside(from) {
            return Destined::Same;
        }
        let found = rules().next().and_then(|rule| rule.to);
        found.map_or(Destined::Same, Destined::Hairpin)
    }
}

impl NatMatch {
    fn has(&self, tuple: &Tuple) -> bool {
        self.may_have(tuple)
            && has(&self.source_ports, tuple.src_port)
            && has(&self.destination_ports, tuple.dst_port)
    }

    /// Whether the packet is one of these, as far as its ports are not looked at.
    fn may_have(&self, tuple: &Tuple) -> bool {
        has(&self.sources, tuple.src)
            && has(&self.destinations, tuple.dst)
            && self.protocol.is_none_or(|own| own.is_of(tuple.protocol))
    }

    fn is_of_addresses(&self) -> bool {
        self.source_ports.is_empty() && self.destination_ports.is_empty()
    }
}

impl NatMatchProtocol {
    fn is_of(self, protocol: NatProtocol) -> bool {
        match self {
            Self::Tcp => protocol == NatProtocol::Tcp,
            Self::Udp => protocol == NatProtocol::Udp,
            Self::Icmp => matches!(protocol, NatProtocol::EchoRequest | NatProtocol::EchoReply),
        }
    }
}

fn has<T: PartialOrd + Copy>(ranges: &[NatRange<T>], value: T) -> bool {
    ranges.is_empty() || ranges.iter().any(|range| range.has(value))
}
