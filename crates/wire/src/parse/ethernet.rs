//! The link header: Ethernet II, VLAN tags in any order and depth up to eight, 802.3 with LLC and
//! SNAP (IEEE 802.3 clause 3.2.6, IEEE 802.1Q clause 9, RFC 1042).

use super::walk::{Stop, Walk};
use super::{Parsed, ipv4, ipv6};
use crate::ether_type::{self, LENGTH_MAX};
use crate::{Family, Malformed};

/// Most VLAN tags a frame may have. Two are common, four have been seen; a bound keeps the work
/// bounded, and a frame beyond it is malformed so that nothing hides behind a ninth tag.
pub const VLAN_TAGS_MAX: u8 = 8;

const TYPE_OFFSET: usize = 12;
const TAG_BYTES: usize = 4;
const LLC_BYTES: usize = 3;
const SNAP_BYTES: usize = 5;

/// Walks a frame that begins at `at`: inside a tunnel that is not the first byte.
pub(super) fn walk(walk: Walk<'_>, at: usize, parsed: &mut Parsed) -> Result<(), Stop> {
    walk.require(at, TYPE_OFFSET + 2, Malformed::EthernetTruncated)?;
    let at = tags(walk, at + TYPE_OFFSET, parsed)?;
    match parsed.ether_type {
        length if length <= LENGTH_MAX => llc(walk, at, usize::from(length), parsed),
        // Jumbo frames with LLC put this type where the length would not fit.
        ether_type::JUMBO_LLC => llc(walk, at, walk.remaining(at), parsed),
        _ => network(walk, at, parsed),
    }
}

/// Reads the type at `at` and the tags it may announce; returns the offset behind the last type.
fn tags(walk: Walk<'_>, mut at: usize, parsed: &mut Parsed) -> Result<usize, Stop> {
    loop {
        let found = walk.be16(at)?;
        at += 2;
        parsed.ether_type = found;
        parsed.l3_offset = walk.offset(at);
        if !ether_type::is_vlan(found) {
            return Ok(at);
        }
        if parsed.vlan_tags == VLAN_TAGS_MAX {
            return Err(Malformed::TooManyVlanTags.into());
        }
        walk.require(at, TAG_BYTES, Malformed::VlanTagTruncated)?;
        let tci = walk.be16(at)?;
        if parsed.vlan_tags == 0 {
            parsed.vlan_tci = tci;
        }
        parsed.vlan_tags += 1;
        at += 2;
    }
}

/// An LLC header at `at`, in a frame whose 802.3 length is `length`.
///
/// The length is believed only where IP follows: padding and careless senders make it useless as
/// a reason to drop what a bridge has no business with.
fn llc(walk: Walk<'_>, at: usize, length: usize, parsed: &mut Parsed) -> Result<(), Stop> {
    walk.require(at, LLC_BYTES, Malformed::LlcTruncated)?;
    let inner = match walk.array(at)? {
        [0xAA, 0xAA, 0x03] => match snap(walk, at + LLC_BYTES, parsed)? {
            Some(inner) => inner,
            None => return Ok(()),
        },
        // SAP 06 is IP (RFC 948), unnumbered or, with a second control byte, numbered; tshark
        // reads both, and tells the versions apart by their first four bits.
        [0x06, _, control] if control == 0x03 || control & 1 == 0 => {
            let inner = at + LLC_BYTES + usize::from(control & 1 == 0);
            walk.require(at, inner - at, Malformed::LlcTruncated)?;
            let is_v6 = walk.remaining(inner) > 0 && walk.byte(inner)? >> 4 == 6;
            parsed.ether_type = if is_v6 {
                ether_type::IPV6
            } else {
                ether_type::IPV4
            };
            parsed.l3_offset = walk.offset(inner);
            inner
        }
        _ => return Ok(()),
    };
    if !matches!(parsed.ether_type, ether_type::IPV4 | ether_type::IPV6) {
        return network(walk, inner, parsed);
    }
    let believable = length <= walk.remaining(at);
    let end = if believable { at + length } else { walk.end };
    let judged = network(walk.ending_at(end), inner, parsed);
    if believable {
        judged
    } else {
        Err(Malformed::LlcLengthBeyondFrame.into())
    }
}

/// A SNAP header at `at`: the offset of what it carries, or `None` when that is no ether type.
fn snap(walk: Walk<'_>, at: usize, parsed: &mut Parsed) -> Result<Option<usize>, Stop> {
    walk.require(at, SNAP_BYTES, Malformed::SnapTruncated)?;
    // 00-00-00 is RFC 1042; 00-00-F8 is the bridge tunnel encapsulation of IEEE 802.1H.
    if !matches!(walk.array(at)?, [0, 0, 0 | 0xF8]) {
        return Ok(None);
    }
    tags(walk, at + 3, parsed).map(Some)
}

/// What lies behind the link header.
fn network(walk: Walk<'_>, at: usize, parsed: &mut Parsed) -> Result<(), Stop> {
    match parsed.ether_type {
        ether_type::IPV4 => {
            parsed.family = Family::V4;
            ipv4::walk(walk, at, parsed)
        }
        ether_type::IPV6 => {
            parsed.family = Family::V6;
            ipv6::walk(walk, at, parsed)
        }
        ether_type::ARP => arp(walk, at),
        _ => Ok(()),
    }
}

/// An ARP message (RFC 826): eight fixed bytes, then two addresses of each kind.
fn arp(walk: Walk<'_>, at: usize) -> Result<(), Stop> {
    walk.require(at, 8, Malformed::ArpTruncated)?;
    let [hardware_len, protocol_len] = walk.array(at + 4)?;
    let addresses = 2 * (usize::from(hardware_len) + usize::from(protocol_len));
    walk.require(at, 8 + addresses, Malformed::ArpTruncated)
}
