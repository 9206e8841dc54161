//! What a message of ARP or neighbour discovery tells a router or host, read from the bytes
//! behind the link header.

use core::net::IpAddr;

use super::{
    ADVERTISEMENT, ARP_REPLY, ARP_REQUEST, HOP_LIMIT, OVERRIDE, ROUTER, SOLICITATION, SOLICITED,
    SOLICITED_NODE, SOURCE_MAC, TARGET_MAC, has_right_sum, v4, v6,
};
use crate::view::{ArpView, IcmpView, Ipv6View};
use crate::{MacAddress, ether_type, protocol};

/// A message of ARP (RFC 826) or neighbour discovery (RFC 4861 sections 4.3 and 4.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NeighbourMessage {
    /// The address of who sends it, unspecified where that has none yet (a probe).
    pub sender: IpAddr,
    /// The address that it is about.
    pub target: IpAddr,
    /// The Ethernet address that it tells: the sender's of a request, the target's of an answer.
    pub mac: Option<MacAddress>,
    /// What kind it is.
    pub kind: NeighbourKind,
}

/// The kinds of [`NeighbourMessage`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NeighbourKind {
    /// It asks for the Ethernet address of the target.
    Request,
    /// It tells the Ethernet address of the target.
    Answer {
        /// It answers a request that this station sent to it.
        solicited: bool,
        /// It is to replace an Ethernet address that is known.
        overrides: bool,
        /// The sender is a router.
        is_router: bool,
    },
}

impl NeighbourMessage {
    /// Reads what is behind the link header of a frame with this ether type. `None` where it is no
    /// such message, or one that must be ignored: hop limit, code, lengths, options or checksum
    /// are not as they should be (RFC 4861 sections 7.1.1 and 7.1.2).
    #[must_use]
    pub fn read(ether_type: u16, payload: &[u8]) -> Option<Self> {
        match ether_type {
            ether_type::ARP => Self::of_arp(payload),
            ether_type::IPV6 => Self::of_discovery(payload),
            _ => None,
        }
    }

    fn of_arp(payload: &[u8]) -> Option<Self> {
        let message = ArpView::new_checked(payload).ok()??;
        let (sender, target) = (v4(message.sender()), v4(message.target()));
        let mac = Some(message.sender_mac());
        // One that announces itself by an answer names itself, or all, as who asked.
        let is_announced = sender == target || message.target_mac().is_multicast();
        let answer = NeighbourKind::Answer {
            solicited: !is_announced,
            overrides: true,
            is_router: false,
        };
        match message.operation() {
            ARP_REQUEST => Some(Self {
                sender,
                target,
                mac,
                kind: NeighbourKind::Request,
            }),
            // An answer of ARP is about who sends it.
            ARP_REPLY => Some(Self {
                sender,
                target: sender,
                mac,
                kind: answer,
            }),
            _ => None,
        }
    }

    fn of_discovery(payload: &[u8]) -> Option<Self> {
        let packet = Ipv6View::new_checked(payload).ok()?;
        let is_direct = packet.next_header() == protocol::ICMPV6 && packet.hop_limit() == HOP_LIMIT;
        let body = packet.payload().get(..usize::from(packet.payload_len()))?;
        let message = IcmpView::new_checked(body).ok()?;
        if !is_direct || message.code() != 0 || !has_right_sum(&packet, body) {
            return None;
        }
        let (target, options) = message.payload().split_first_chunk::<16>()?;
        let target = u128::from_be_bytes(*target);
        let is_multicast = |address: u128| address >> 120 == 0xFF;
        if is_multicast(target) {
            return None;
        }
        let kind = match message.kind() {
            SOLICITATION => NeighbourKind::Request,
            ADVERTISEMENT => answer(message.rest(), is_multicast(packet.dst()))?,
            _ => return None,
        };
        let option = match kind {
            NeighbourKind::Request => SOURCE_MAC,
            NeighbourKind::Answer { .. } => TARGET_MAC,
        };
        let mac = mac_option(options, option)?;
        if kind == NeighbourKind::Request && packet.src() == 0 && !is_probe(packet.dst(), mac) {
            return None;
        }
        Some(Self {
            sender: v6(packet.src()),
            target: v6(target),
            mac,
            kind,
        })
    }

    /// Whether it only looks if the target is in use: who asks has no address yet (RFC 5227,
    /// RFC 4862), or announces that it has this one.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.sender.is_unspecified() || self.sender == self.target
    }
}

/// Whether a request from nobody goes where a probe does, and names no Ethernet address, as it must
/// (RFC 4861 section 7.1.1).
fn is_probe(dst: u128, mac: Option<MacAddress>) -> bool {
    dst >> 24 == SOLICITED_NODE >> 24 && mac.is_none()
}

/// `None` for an answer to all that says it was asked for.
fn answer(flags: u32, is_to_group: bool) -> Option<NeighbourKind> {
    let solicited = flags & SOLICITED != 0;
    (!solicited || !is_to_group).then_some(NeighbourKind::Answer {
        solicited,
        overrides: flags & OVERRIDE != 0,
        is_router: flags & ROUTER != 0,
    })
}

/// The Ethernet address in the first option of this kind, if there is one; `None` where the
/// options are malformed.
fn mac_option(mut options: &[u8], kind: u8) -> Option<Option<MacAddress>> {
    let mut found = None;
    while !options.is_empty() {
        let words = usize::from(*options.get(1)?);
        let (option, rest) = options.split_at_checked(words * 8)?;
        if words == 0 {
            return None;
        }
        if option.first() == Some(&kind) && words == 1 && found.is_none() {
            found = option.get(2..).and_then(<[u8]>::first_chunk).copied();
        }
        options = rest;
    }
    Some(found.map(MacAddress))
}
