//! A hop of a route while its words are read.

use super::super::fault::{FaultKind, RouteFault};
use super::{Gateway, Words, set, value};
use crate::{diagnosis, entry};
use std::net::IpAddr;
use std::sync::Arc;

/// A hop as far as it was read.
#[derive(Default)]
pub(super) struct HopDraft {
    pub(super) gateway: Option<Gateway>,
    pub(super) device: Option<Arc<str>>,
    pub(super) weight: Option<u16>,
    pub(super) is_dead: bool,
}

impl HopDraft {
    /// Whether it leads nowhere.
    pub(super) fn is_empty(&self) -> bool {
        self.gateway.is_none() && self.device.is_none()
    }

    /// What is written of it.
    pub(super) fn first_word(&self) -> &'static str {
        if self.gateway.is_some() { "via" } else { "dev" }
    }

    /// Reads what stands behind `via`.
    pub(super) fn read_gateway(
        &mut self,
        word: &str,
        words: &mut Words<'_>,
    ) -> Result<(), RouteFault> {
        let family = words.next_if(|word| matches!(*word, "inet" | "inet6"));
        let written = value(words, word, "address")?;
        let address = gateway(written)?;
        if family.is_some_and(|family| (family == "inet") != address.is_ipv4()) {
            return Err(FaultKind::GatewayOfFamily.at(written));
        }
        let has_family = family.is_some();
        let gateway = Gateway {
            address,
            has_family,
        };
        set(&mut self.gateway, gateway, word)
    }

    /// Checks the gateway against the prefix of the route.
    pub(super) fn check(&self, prefix: IpAddr) -> Result<(), RouteFault> {
        let Some(Gateway {
            address,
            has_family,
        }) = self.gateway
        else {
            return Ok(());
        };
        let fault = match (prefix, address) {
            (IpAddr::V4(_), IpAddr::V6(_)) if !has_family => FaultKind::GatewayFamily(address),
            (IpAddr::V6(_), IpAddr::V4(_)) => FaultKind::Ipv6ByIpv4,
            (_, IpAddr::V6(v6)) if v6.is_unicast_link_local() && self.device.is_none() => {
                FaultKind::LinkLocalAlone
            }
            _ => return Ok(()),
        };
        Err(fault.at(&address.to_string()))
    }
}

/// The address of a router.
fn gateway(word: &str) -> Result<IpAddr, RouteFault> {
    let Some(address) = entry::parse_address(word.as_bytes()) else {
        return Err(no_gateway(word));
    };
    let is_broadcast = matches!(address, IpAddr::V4(v4) if v4.is_broadcast());
    let is_none = address.is_unspecified() || address.is_loopback() || address.is_multicast();
    if is_none || is_broadcast {
        return Err(FaultKind::GatewayIsNone.at(word));
    }
    Ok(address)
}

/// What is wrong with a word that is no address.
fn no_gateway(word: &str) -> RouteFault {
    let has = |mark| word.contains(mark);
    let kind = if has('/') {
        FaultKind::GatewayWithLength
    } else if has('%') {
        FaultKind::GatewayZone
    } else {
        FaultKind::Gateway(diagnosis::of(word.as_bytes()))
    };
    kind.at(word)
}
