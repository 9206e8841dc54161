//! Addresses that no packet to be forwarded may have (RFC 1812 sections 4.2.2.11 and 5.3.7,
//! RFC 4291 section 2.5, RFC 6890).

use std::net::IpAddr;

use super::packet::{Kind, Packet};
use crate::DropReason;

const BROADCAST: u32 = u32::MAX;
/// `::ffff:0:0/96`, IPv4 addresses in IPv6, which are not sent (RFC 4291 section 2.5.5.2).
const MAPPED: u128 = 0xFFFF;

/// How far a packet may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Anywhere.
    Global,
    /// To the stations of the link that it came by, this one among them.
    Link,
}

/// Whether an address is there on one link alone, and perhaps on others too (RFC 3927, RFC 4291
/// section 2.5.6).
#[inline]
pub(super) fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(own) => own.is_link_local(),
        IpAddr::V6(own) => own.is_unicast_link_local(),
    }
}

/// Where a packet may go, by its addresses alone.
///
/// # Errors
/// It may not be on a link at all.
#[inline]
pub(super) fn of(packet: &Packet) -> Result<Scope, DropReason> {
    match packet.kind {
        Kind::V4 { .. } => of_v4(packet.src as u32, packet.dst as u32),
        Kind::V6 => of_v6(packet.src, packet.dst),
    }
}

#[inline]
fn of_v4(src: u32, dst: u32) -> Result<Scope, DropReason> {
    // Multicast, class E and broadcast; this network; this host.
    if matches!(src >> 24, 0 | 127 | 224..=255) {
        return Err(DropReason::MartianSource);
    }
    let link_local = |address: u32| address >> 16 == 0xA9FE;
    match dst >> 24 {
        224..=239 => Ok(Scope::Link),
        _ if dst == BROADCAST => Ok(Scope::Link),
        0 | 127 | 240..=255 => Err(DropReason::MartianDestination),
        _ if link_local(src) || link_local(dst) => Ok(Scope::Link),
        _ => Ok(Scope::Global),
    }
}

#[inline]
fn of_v6(src: u128, dst: u128) -> Result<Scope, DropReason> {
    let is_multicast = |address: u128| address >> 120 == 0xFF;
    let link_local = |address: u128| address >> 118 == 0xFE80 >> 6;
    if is_multicast(src) || src == 1 || src >> 32 == MAPPED {
        return Err(DropReason::MartianSource);
    }
    if dst <= 1 || dst >> 32 == MAPPED {
        return Err(DropReason::MartianDestination);
    }
    // A host without an address speaks to its own link.
    let is_link = is_multicast(dst) || link_local(src) || link_local(dst) || src == 0;
    Ok(if is_link { Scope::Link } else { Scope::Global })
}
