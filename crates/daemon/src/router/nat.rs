//! NAT in words, made settings of the router's interfaces.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use list::nat::{
    AddressRange, NatAction, NatProtocolWord, NatRule, NatSetting, NatSide, NatText, NatTimeout,
    PortRange,
};
use plane::nat::{
    DestinationRule, NatConfig, NatMatch, NatMatchProtocol, NatRange, NatTarget, SourceAction,
    SourcePool, SourceRule,
};
use plane::router::RouterInterface;

/// A file of rules, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatFile {
    path: PathBuf,
    /// What stands in it.
    pub text: NatText,
}

impl NatFile {
    /// Reads it.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let file = File::open(path)
            .map_err(|error| format!("{name} cannot be opened ({error}): check the name"))?;
        let text = list::nat::read(&name, file).map_err(|error| error.to_string())?;
        let path = path.to_owned();
        Ok(Self { path, text })
    }

    /// The settings that it means between these interfaces.
    pub(super) fn meant(&self, interfaces: &[RouterInterface]) -> Result<NatConfig, String> {
        meant(&self.path, &self.text, interfaces)
    }
}

fn meant(path: &Path, text: &NatText, interfaces: &[RouterInterface]) -> Result<NatConfig, String> {
    let mut config = NatConfig::default();
    for rule in &text.rules {
        add_rule(rule, interfaces, &mut config).map_err(|sentence| {
            format!(
                "{}:{}:{}: {sentence}",
                path.display(),
                rule.line,
                rule.column
            )
        })?;
    }
    let mut per_address = None;
    for setting in &text.settings {
        match *setting {
            NatSetting::Flows(flows) => config.flows_max = flows,
            NatSetting::FlowsPerAddress(flows) => per_address = Some(flows),
            NatSetting::Hairpin(hairpin) => config.hairpin = hairpin,
            NatSetting::Timeout(state, seconds) => set_timeout(&mut config, state, seconds),
        }
    }
    config.flows_per_address = per_address.unwrap_or(config.flows_max);
    Ok(config)
}

fn set_timeout(config: &mut NatConfig, state: NatTimeout, seconds: u32) {
    let timeouts = &mut config.timeouts;
    let place = match state {
        NatTimeout::TcpNew => &mut timeouts.tcp_new,
        NatTimeout::Tcp => &mut timeouts.tcp,
        NatTimeout::TcpClosing => &mut timeouts.tcp_closing,
        NatTimeout::UdpNew => &mut timeouts.udp_new,
        NatTimeout::Udp => &mut timeouts.udp,
        NatTimeout::Icmp => &mut timeouts.icmp,
    };
    *place = Duration::from_secs(seconds.into());
}

fn add_rule(
    rule: &NatRule,
    interfaces: &[RouterInterface],
    config: &mut NatConfig,
) -> Result<(), String> {
    let interface = super::words::interface_named(&rule.interface, interfaces)?.0;
    let matches = matches_of(rule);
    match (rule.side, rule.action) {
        (NatSide::In, action) => config.destinations.push(DestinationRule {
            from: interface,
            matches,
            to: match action {
                NatAction::Destination { address, port } => Some(NatTarget {
                    address: address.to_bits(),
                    port,
                }),
                NatAction::Accept | NatAction::Source { .. } => None,
            },
        }),
        (NatSide::Out, action) => config.sources.push(SourceRule {
            out: interface,
            matches,
            action: match action {
                NatAction::Source {
                    addresses: own,
                    ports,
                    endpoint_independent,
                } => SourceAction::To(SourcePool {
                    addresses: own.as_ref().map(addresses),
                    ports: ports.as_ref().map(port_range),
                    endpoint_independent,
                }),
                NatAction::Accept | NatAction::Destination { .. } => SourceAction::Accept,
            },
        }),
    }
    Ok(())
}

fn matches_of(rule: &NatRule) -> NatMatch {
    NatMatch {
        sources: rule.sources.iter().map(addresses).collect(),
        destinations: rule.destinations.iter().map(addresses).collect(),
        protocol: rule.protocol.map(|word| match word {
            NatProtocolWord::Tcp => NatMatchProtocol::Tcp,
            NatProtocolWord::Udp => NatMatchProtocol::Udp,
            NatProtocolWord::Icmp => NatMatchProtocol::Icmp,
        }),
        source_ports: rule.source_ports.iter().map(port_range).collect(),
        destination_ports: rule.destination_ports.iter().map(port_range).collect(),
    }
}

fn addresses((first, last): &AddressRange) -> NatRange<u32> {
    NatRange {
        first: first.to_bits(),
        last: last.to_bits(),
    }
}

fn port_range(&(first, last): &PortRange) -> NatRange<u16> {
    NatRange { first, last }
}
