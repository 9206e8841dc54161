//! Messages about routes (`struct rtmsg`, `struct rtnexthop`, `linux/rtnetlink.h`).

use std::net::IpAddr;

use super::address::bits;
use super::attributes::{
    INET, INET6, address_of, attributes, byte, nested, number, short, unspecified, word,
};
use super::fault::Reason;
use super::route::{Hop, Prefix, Route, RouteKey, RouteKind, in_order};

/// Bytes of `struct rtmsg`.
const INFO_BYTES: usize = 12;
/// Bytes of `struct rtnexthop`.
const HOP_BYTES: usize = 8;
const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_MULTIPATH: u16 = 9;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
const RTA_ENCAP: u16 = 22;
const RTA_NH_ID: u16 = 30;
/// A copy that the kernel made for one destination (a path MTU, a redirect).
const RTM_F_CLONED: u32 = 0x200;
const RTNH_F_ONLINK: u32 = 4;

/// A route, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) key: RouteKey,
    pub(super) route: Route,
}

/// From a message; `None` for one of another family, and for what is no route of a table.
pub(super) fn read(body: &[u8]) -> Result<Option<Placed>, Reason> {
    let family = byte(body, 0)?;
    let flags = word(body, 8)?;
    if (family != INET && family != INET6) || flags & RTM_F_CLONED != 0 {
        return Ok(None);
    }
    let mut fields = Fields::new(family, flags);
    fields.table = u32::from(byte(body, 4)?);
    for attribute in attributes(body, INFO_BYTES)? {
        let (kind, value) = attribute?;
        fields.take(kind, value)?;
    }
    let key = RouteKey {
        table: fields.table,
        prefix: prefix(family, fields.destination, byte(body, 1)?)?,
        source: Some(prefix(family, fields.source, byte(body, 2)?)?).filter(|from| from.length > 0),
        tos: byte(body, 3)?,
        metric: fields.metric,
    };
    let kind = RouteKind::of(byte(body, 7)?);
    let protocol = byte(body, 5)?;
    Ok(Some(Placed {
        key,
        route: fields.route(kind, protocol),
    }))
}

/// What the attributes of a message say.
struct Fields {
    family: u8,
    destination: Option<IpAddr>,
    source: Option<IpAddr>,
    table: u32,
    metric: u32,
    preferred_source: Option<IpAddr>,
    next_hop: Option<u32>,
    hop: Hop,
    hops: Vec<Hop>,
}

impl Fields {
    fn new(family: u8, flags: u32) -> Self {
        Self {
            family,
            destination: None,
            source: None,
            table: 0,
            metric: 0,
            preferred_source: None,
            next_hop: None,
            hop: Hop::new(flags & RTNH_F_ONLINK != 0),
            hops: Vec::new(),
        }
    }

    fn take(&mut self, kind: u16, value: &[u8]) -> Result<(), Reason> {
        match kind {
            RTA_DST => self.destination = Some(address_of(self.family, value)?),
            RTA_SRC => self.source = Some(address_of(self.family, value)?),
            RTA_PRIORITY => self.metric = number(value)?,
            RTA_PREFSRC => self.preferred_source = Some(address_of(self.family, value)?),
            RTA_TABLE => self.table = number(value)?,
            RTA_NH_ID => self.next_hop = Some(number(value)?),
            RTA_OIF => self.hop.link = Some(number(value)?),
            RTA_MULTIPATH => self.hops = multipath(self.family, value)?,
            _ => self.hop.take(self.family, kind, value)?,
        }
        Ok(())
    }

    fn route(mut self, kind: RouteKind, protocol: u8) -> Route {
        if self.hops.is_empty() && self.hop.leads_somewhere() {
            self.hops.push(self.hop);
        }
        if kind.is_without_hops() {
            self.hops.clear();
        }
        Route {
            kind,
            protocol,
            preferred_source: self.preferred_source,
            next_hop: self.next_hop,
            hops: in_order(self.hops),
        }
    }
}

impl Hop {
    /// One that leads nowhere yet.
    pub(super) fn new(is_onlink: bool) -> Self {
        Self {
            gateway: None,
            link: None,
            weight: 1,
            is_onlink,
            is_encapsulated: false,
        }
    }

    fn leads_somewhere(&self) -> bool {
        self.link.is_some() || self.gateway.is_some() || self.is_encapsulated
    }

    fn take(&mut self, family: u8, kind: u16, value: &[u8]) -> Result<(), Reason> {
        match kind {
            RTA_GATEWAY => self.gateway = Some(address_of(family, value)?),
            RTA_VIA => self.gateway = Some(via(value)?),
            RTA_ENCAP => self.is_encapsulated = true,
            _ => {}
        }
        Ok(())
    }
}

/// A gateway that says of which family it is (`struct rtvia`).
fn via(value: &[u8]) -> Result<IpAddr, Reason> {
    let (family, address) = value.split_at_checked(2).ok_or(Reason::Value)?;
    match short(family)? {
        family if family == u16::from(INET) => address_of(INET, address),
        family if family == u16::from(INET6) => address_of(INET6, address),
        _ => Err(Reason::Value),
    }
}

/// Several hops, each as long as it says.
fn multipath(family: u8, mut value: &[u8]) -> Result<Vec<Hop>, Reason> {
    let mut hops = Vec::new();
    while !value.is_empty() {
        let fixed = value.get(..HOP_BYTES).ok_or(Reason::Attribute)?;
        let length = usize::from(short(&fixed[..2])?);
        let behind = value.get(HOP_BYTES..length).ok_or(Reason::Attribute)?;
        let mut hop = Hop::new(u32::from(fixed[2]) & RTNH_F_ONLINK != 0);
        hop.weight = u16::from(fixed[3]) + 1;
        hop.link = Some(word(fixed, 4)?).filter(|link| *link != 0);
        for attribute in nested(behind) {
            let (kind, value) = attribute?;
            hop.take(family, kind, value)?;
        }
        hops.push(hop);
        value = value.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(hops)
}

fn prefix(family: u8, address: Option<IpAddr>, length: u8) -> Result<Prefix, Reason> {
    let address = address.unwrap_or_else(|| unspecified(family));
    match u32::from(length) <= bits(address) {
        true => Ok(Prefix { address, length }),
        false => Err(Reason::Value),
    }
}
