//! Rules and settings as they are written canonically.

use std::fmt::{self, Display};

use super::{
    AddressRange, NatAction, NatProtocolWord, NatRule, NatSetting, NatSide, NatText, NatTimeout,
    PortRange,
};

impl Display for NatText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in &self.rules {
            writeln!(f, "{rule}")?;
        }
        for setting in &self.settings {
            writeln!(f, "{setting}")?;
        }
        Ok(())
    }
}

impl Display for NatRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            NatSide::In => "iif",
            NatSide::Out => "oif",
        };
        write!(f, "{side} \"{}\"", self.interface)?;
        if !self.sources.is_empty() {
            write!(f, " ip saddr {}", several(&self.sources, addresses))?;
        }
        if !self.destinations.is_empty() {
            write!(f, " ip daddr {}", several(&self.destinations, addresses))?;
        }
        if let Some(protocol) = self.protocol {
            self.show_protocol(f, protocol)?;
        }
        write!(f, " {}", self.action)
    }
}

impl NatRule {
    fn show_protocol(&self, f: &mut fmt::Formatter<'_>, own: NatProtocolWord) -> fmt::Result {
        let word = match own {
            NatProtocolWord::Tcp => "tcp",
            NatProtocolWord::Udp => "udp",
            NatProtocolWord::Icmp => "icmp",
        };
        let both = [
            ("sport", &self.source_ports),
            ("dport", &self.destination_ports),
        ];
        if both.iter().all(|(_, ranges)| ranges.is_empty()) {
            return write!(f, " ip protocol {word}");
        }
        for (side, ranges) in both.iter().filter(|(_, ranges)| !ranges.is_empty()) {
            write!(f, " {word} {side} {}", several(ranges, ports))?;
        }
        Ok(())
    }
}

impl Display for NatAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accept => f.write_str("accept"),
            Self::Source {
                addresses: own,
                ports: limit,
                endpoint_independent,
            } => {
                match own {
                    None => f.write_str("masquerade")?,
                    Some((first, last)) if first == last => write!(f, "snat to {first}")?,
                    Some((first, last)) => write!(f, "snat to {first}-{last}")?,
                }
                if let Some(limit) = limit {
                    let to = if own.is_none() { " to " } else { "" };
                    write!(f, "{to}:{}", ports(limit))?;
                }
                match endpoint_independent {
                    true => f.write_str(" endpoint-independent"),
                    false => Ok(()),
                }
            }
            Self::Destination { address, port } => {
                write!(f, "dnat to {address}")?;
                port.map_or(Ok(()), |port| write!(f, ":{port}"))
            }
        }
    }
}

impl Display for NatSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(state, seconds) => write!(f, "timeout {state} {seconds}s"),
            Self::Flows(flows) => write!(f, "flows {flows}"),
            Self::FlowsPerAddress(flows) => write!(f, "flows-per-address {flows}"),
            Self::Hairpin(true) => f.write_str("hairpin on"),
            Self::Hairpin(false) => f.write_str("hairpin off"),
        }
    }
}

impl Display for NatTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Self::WORDS.iter();
        let own = words.find(|(_, state)| state == self);
        f.write_str(own.map_or("", |(word, _)| word))
    }
}

fn several<T>(all: &[T], one: impl Fn(&T) -> String) -> String {
    match all {
        [only] => one(only),
        all => {
            let all: Vec<String> = all.iter().map(one).collect();
            format!("{{ {} }}", all.join(", "))
        }
    }
}

fn ports((first, last): &PortRange) -> String {
    match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    }
}

fn addresses((first, last): &AddressRange) -> String {
    let (begin, end) = (first.to_bits(), last.to_bits());
    let differ = begin ^ end;
    let is_network = differ & differ.wrapping_add(1) == 0 && begin & differ == 0;
    match (begin == end, is_network) {
        (true, _) => first.to_string(),
        (false, true) => format!("{first}/{}", differ.leading_zeros()),
        (false, false) => format!("{first}-{last}"),
    }
}
