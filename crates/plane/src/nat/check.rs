//! What can be wrong with the settings of NAT, for a router with certain addresses.

use std::fmt;
use std::net::Ipv4Addr;

use super::config::{NatConfig, NatRange, SourceAction, SourcePool};
use super::rules::NatTable;

/// One thing that is wrong with the settings of NAT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NatConfigError {
    /// There can be no flow, or more than there is memory for.
    Flows(u32),
    /// An interface has no IPv4 address to masquerade with.
    NoAddress {
        /// The number of the interface.
        interface: u16,
    },
    /// An address that no station can have.
    Address(Ipv4Addr),
    /// A destination is an address of the router itself.
    OwnTarget(Ipv4Addr),
}

impl fmt::Display for NatConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flows(flows) => write!(
                f,
                "NAT cannot have {flows} flows: give a number from 1 to {}",
                NatConfig::FLOWS_LIMIT
            ),
            Self::NoAddress { interface } => write!(
                f,
                "interface {} has no IPv4 address to masquerade with: give it one, or write \
                 'snat to ADDRESS'",
                interface + 1
            ),
            Self::Address(address) => write!(
                f,
                "{address} is no address that a host can have: NAT needs others"
            ),
            Self::OwnTarget(address) => write!(
                f,
                "a destination cannot become {address}, which is the router's own: name the \
                 host that is to be reached"
            ),
        }
    }
}

impl std::error::Error for NatConfigError {}

impl NatTable {
    /// Looks for mistakes.
    ///
    /// # Errors
    /// Those that there are.
    pub fn check(&self) -> Result<(), Vec<NatConfigError>> {
        let config = self.config();
        let mut errors = Vec::new();
        if !(1..=NatConfig::FLOWS_LIMIT).contains(&config.flows_max) {
            errors.push(NatConfigError::Flows(config.flows_max));
        }
        for rule in &config.sources {
            let SourceAction::To(SourcePool { addresses, .. }) = rule.action else {
                continue;
            };
            match addresses {
                Some(NatRange { first, last }) => {
                    errors.extend([first, last].into_iter().filter_map(bad_address));
                }
                None if !self.has_address(rule.out) => errors.push(NatConfigError::NoAddress {
                    interface: rule.out,
                }),
                None => {}
            }
        }
        for target in config.destinations.iter().filter_map(|rule| rule.to) {
            errors.extend(bad_address(target.address));
            if self.is_own(target.address) {
                let address = Ipv4Addr::from_bits(target.address);
                errors.push(NatConfigError::OwnTarget(address));
            }
        }
        match errors.is_empty() {
            true => Ok(()),
            false => Err(errors),
        }
    }
}

/// This network, this host, groups, what is reserved, and addresses of one link.
fn bad_address(address: u32) -> Option<NatConfigError> {
    let is_bad = matches!(address >> 24, 0 | 127 | 224..=255) || address >> 16 == 0xA9FE;
    is_bad.then(|| NatConfigError::Address(Ipv4Addr::from_bits(address)))
}
