//! What rules look at, of one frame.

use frame::PortId;
use table::classify::Key;
use wire::{Family, Fragment, Parsed, protocol};

use crate::ruleset::Matched;

/// Where the flags stand in a TCP header.
const TCP_FLAGS_AT: usize = 13;

/// The key of an IP packet.
#[inline]
pub(crate) fn key(bytes: &[u8], parsed: &Parsed, from: PortId, matched: Matched) -> Key {
    let (l3, l4) = (usize::from(parsed.l3_offset), usize::from(parsed.l4_offset));
    let has_l4 = parsed.fragment != Fragment::Later && l4 != 0;
    let at_l4 = |of: u8, offset: usize| {
        let there = has_l4 && parsed.protocol == of;
        bytes.get(l4 + offset).copied().filter(|_| there)
    };
    let (family, icmp) = match parsed.family {
        Family::V6 => (6, protocol::ICMPV6),
        _ => (4, protocol::ICMP),
    };
    let class = match (parsed.family, bytes.get(l3), bytes.get(l3 + 1)) {
        (Family::V4, _, Some(class)) => Some(*class),
        (Family::V6, Some(first), Some(second)) => Some(first << 4 | second >> 4),
        _ => None,
    };
    let has_ports = has_l4 && parsed.readable.ports();
    Key {
        family,
        src: parsed.readable.src().then_some(parsed.src),
        dst: parsed.readable.dst().then_some(parsed.dst),
        protocol: Some(parsed.protocol),
        src_port: has_ports.then_some(parsed.src_port),
        dst_port: has_ports.then_some(parsed.dst_port),
        tcp_flags: at_l4(protocol::TCP, TCP_FLAGS_AT),
        icmp_type: at_l4(icmp, 0),
        icmp_code: at_l4(icmp, 1),
        in_port: Some(from.0),
        vlan: (parsed.vlan_tags != 0).then_some(parsed.vlan_tci & 0xFFF),
        fragment: Some(parsed.fragment as u8),
        flow_state: None,
        dscp: class.map(|class| class >> 2),
        src_sets: matched.src.0,
        dst_sets: matched.dst.0,
    }
}
