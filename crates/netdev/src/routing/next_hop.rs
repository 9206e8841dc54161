//! Next-hop objects (`struct nhmsg`, `linux/nexthop.h`): hops that many routes share.

use std::collections::BTreeMap;

use super::attributes::{INET, INET6, address, attributes, byte, number, word};
use super::fault::Reason;
use super::route::{Hop, Route, RouteKind, in_order};

/// Bytes of `struct nhmsg`.
const INFO_BYTES: usize = 8;
/// Bytes of `struct nexthop_grp`.
const MEMBER_BYTES: usize = 8;
const NHA_ID: u16 = 1;
const NHA_GROUP: u16 = 2;
const NHA_BLACKHOLE: u16 = 4;
const NHA_OIF: u16 = 5;
const NHA_GATEWAY: u16 = 6;
const NHA_ENCAP: u16 = 8;
const NHA_FDB: u16 = 11;
const RTNH_F_ONLINK: u32 = 4;

/// A next-hop object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NextHop {
    One(Hop),
    Blackhole,
    /// Others by their numbers, each with its weight.
    Group(Vec<(u32, u16)>),
}

/// The number and the object of a message; `None` for one that no route can use.
pub(super) fn read(body: &[u8]) -> Result<Option<(u32, NextHop)>, Reason> {
    let family = byte(body, 0)?;
    let mut hop = Hop::new(word(body, 4)? & RTNH_F_ONLINK != 0);
    let (mut id, mut group, mut is_blackhole) = (None, None, false);
    for attribute in attributes(body, INFO_BYTES)? {
        match attribute? {
            (NHA_ID, value) => id = Some(number(value)?),
            (NHA_GROUP, value) => group = Some(members(value)?),
            (NHA_BLACKHOLE, _) => is_blackhole = true,
            (NHA_OIF, value) => hop.link = Some(number(value)?),
            (NHA_GATEWAY, value) => hop.gateway = Some(address(value)?),
            (NHA_ENCAP, _) => hop.is_encapsulated = true,
            (NHA_FDB, _) => return Ok(None),
            _ => {}
        }
    }
    let id = id.ok_or(Reason::Anonymous)?;
    Ok(match group {
        Some(members) => Some((id, NextHop::Group(members))),
        None if family != INET && family != INET6 => None,
        None if is_blackhole => Some((id, NextHop::Blackhole)),
        None => Some((id, NextHop::One(hop))),
    })
}

/// The number of the object that a message is about.
pub(super) fn id(body: &[u8]) -> Result<u32, Reason> {
    for attribute in attributes(body, INFO_BYTES)? {
        if let (NHA_ID, value) = attribute? {
            return number(value);
        }
    }
    Err(Reason::Anonymous)
}

fn members(value: &[u8]) -> Result<Vec<(u32, u16)>, Reason> {
    let (members, []) = value.as_chunks::<MEMBER_BYTES>() else {
        return Err(Reason::Value);
    };
    let member = |bytes: &[u8; MEMBER_BYTES]| {
        // The lesser byte of a weight, and since Linux 6.12 the greater one; both less one.
        let weight = u16::from_le_bytes([bytes[4], bytes[5]]);
        Ok((word(bytes, 0)?, weight.saturating_add(1)))
    };
    members.iter().map(member).collect()
}

/// The objects there are, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NextHops(pub(super) BTreeMap<u32, NextHop>);

impl NextHops {
    /// Gives a route what its object says. One whose object is not known stays as it is.
    pub(super) fn resolve(&self, route: &mut Route) {
        let Some(object) = route.next_hop.and_then(|id| self.0.get(&id)) else {
            return;
        };
        let mut hops = Vec::new();
        let is_blackhole = match object {
            NextHop::One(hop) => {
                hops.push(*hop);
                false
            }
            NextHop::Blackhole => true,
            NextHop::Group(members) => self.gather(members, &mut hops),
        };
        if matches!(route.kind, RouteKind::Unicast | RouteKind::Blackhole) {
            route.kind = match is_blackhole {
                true => RouteKind::Blackhole,
                false => RouteKind::Unicast,
            };
        }
        let hops = in_order(hops);
        if route.hops != hops {
            route.hops = hops;
        }
    }

    /// True: one of the members is a blackhole, which is then the only one.
    fn gather(&self, members: &[(u32, u16)], hops: &mut Vec<Hop>) -> bool {
        for (id, weight) in members {
            match self.0.get(id) {
                Some(NextHop::One(hop)) => hops.push(Hop {
                    weight: *weight,
                    ..*hop
                }),
                Some(NextHop::Blackhole) => return true,
                // The kernel has no groups of groups.
                Some(NextHop::Group(_)) | None => {}
            }
        }
        false
    }

    /// The groups that an object is in.
    pub(super) fn groups_of(&self, id: u32) -> impl Iterator<Item = u32> {
        self.0
            .iter()
            .filter_map(move |(group, object)| match object {
                NextHop::Group(members) if members.iter().any(|(member, _)| *member == id) => {
                    Some(*group)
                }
                _ => None,
            })
    }
}
