//! Which packets to addresses of this host are not the host's, where the kernel speaks for it.

use std::net::Ipv4Addr;

use super::config::{NatMatch, NatMatchProtocol, NatRange, SourceAction, SourcePool};
use super::{DestinationRule, NatProtocol, NatTable};

/// Packets to one of the router's own addresses that NAT must see: answers to what it translated,
/// and what it forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diverted {
    /// Their destination.
    pub address: Ipv4Addr,
    /// What they are.
    pub protocol: NatProtocol,
    /// Their destination ports; of echo replies their identifiers.
    pub ports: NatRange<u16>,
}

const ALL: NatRange<u16> = NatRange {
    first: 0,
    last: u16::MAX,
};

impl NatTable {
    /// All of them, answers first. Rules that accept take out what they are for, unless they look
    /// at sources too.
    #[must_use]
    pub fn diverted(&self) -> Vec<Diverted> {
        let mut all = Vec::new();
        for rule in &self.config().sources {
            if let SourceAction::To(pool) = &rule.action {
                let addresses = self.addresses_of(rule.out, pool);
                self.add_answers(&addresses, pool, rule.matches.protocol, &mut all);
            }
        }
        for from in 0..self.own.len() {
            self.add_forwarded(from as u16, &mut all);
        }
        let mut seen = Vec::new();
        all.retain(|one| {
            let is_new = !seen.contains(one);
            seen.push(*one);
            is_new
        });
        all
    }

    /// Own addresses that a pool has.
    fn addresses_of(&self, out: u16, pool: &SourcePool) -> Vec<u32> {
        match pool.addresses {
            None => self.own.get(usize::from(out)).cloned().unwrap_or_default(),
            Some(range) => self.all_own().filter(|own| range.has(*own)).collect(),
        }
    }

    fn all_own(&self) -> impl Iterator<Item = u32> {
        self.own.iter().flatten().copied()
    }

    fn add_answers(
        &self,
        addresses: &[u32],
        pool: &SourcePool,
        protocol: Option<NatMatchProtocol>,
        all: &mut Vec<Diverted>,
    ) {
        for &address in addresses {
            for protocol in kinds(protocol, NatProtocol::EchoReply) {
                all.push(Diverted {
                    address: Ipv4Addr::from_bits(address),
                    protocol,
                    ports: self.ports_of(pool, protocol).unwrap_or(ALL),
                });
            }
        }
    }

    /// What rules for an interface forward, and the answers to hairpins by it.
    fn add_forwarded(&self, from: u16, all: &mut Vec<Diverted>) {
        let rules = self.config().destinations.iter();
        let rules: Vec<_> = rules.filter(|rule| rule.from == from).collect();
        for address in self.all_own() {
            let mut of_it = rules.iter().filter(|rule| self.is_meant(rule, address));
            for protocol in kinds(None, NatProtocol::EchoRequest) {
                let ranges = forwarded(of_it.clone().copied(), protocol);
                all.extend(ranges.into_iter().map(|ports| Diverted {
                    address: Ipv4Addr::from_bits(address),
                    protocol,
                    ports,
                }));
            }
            if self.config().hairpin && of_it.any(|rule| rule.to.is_some()) {
                let pool = SourcePool {
                    addresses: None,
                    ports: None,
                    endpoint_independent: false,
                };
                self.add_answers(&[address], &pool, None, all);
            }
        }
    }
}

/// The protocols of a rule; `echo` stands for ICMP.
fn kinds(protocol: Option<NatMatchProtocol>, echo: NatProtocol) -> Vec<NatProtocol> {
    match protocol {
        None => vec![NatProtocol::Tcp, NatProtocol::Udp, echo],
        Some(NatMatchProtocol::Tcp) => vec![NatProtocol::Tcp],
        Some(NatMatchProtocol::Udp) => vec![NatProtocol::Udp],
        Some(NatMatchProtocol::Icmp) => vec![echo],
    }
}

/// The ports that rules forward, of which the first counts that a packet matches.
fn forwarded<'r>(
    rules: impl Iterator<Item = &'r DestinationRule>,
    protocol: NatProtocol,
) -> Vec<NatRange<u16>> {
    let (mut forwarded, mut accepted) = (Vec::new(), Vec::<NatRange<u16>>::new());
    for rule in rules {
        let matches = &rule.matches;
        if !kinds(matches.protocol, NatProtocol::EchoRequest).contains(&protocol) {
            continue;
        }
        let ports = match &matches.destination_ports[..] {
            [] => vec![ALL],
            ports => ports.to_vec(),
        };
        match rule.to {
            None if is_of_all_sources(matches) => accepted.extend(ports),
            None => {}
            Some(_) => {
                let minus = |left: Vec<_>, taken: &NatRange<u16>| {
                    left.iter().flat_map(|one| without(one, taken)).collect()
                };
                forwarded.extend(accepted.iter().fold(ports, minus));
            }
        }
    }
    forwarded
}

fn is_of_all_sources(matches: &NatMatch) -> bool {
    matches.sources.is_empty() && matches.source_ports.is_empty()
}

/// What is left of a range without another.
fn without(range: &NatRange<u16>, taken: &NatRange<u16>) -> Vec<NatRange<u16>> {
    let below = (range.first < taken.first).then(|| NatRange {
        first: range.first,
        last: range.last.min(taken.first - 1),
    });
    let above = (range.last > taken.last).then(|| NatRange {
        first: range.first.max(taken.last + 1),
        last: range.last,
    });
    below.into_iter().chain(above).collect()
}
