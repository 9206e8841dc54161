//! Which Ethernet address an IP address has: requests of ARP (RFC 826) and neighbour solicitations
//! (RFC 4861 section 4.3), the answers to both, and the announcement of an Ethernet address alone.

mod heard;
mod speak;

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub use heard::{NeighbourKind, NeighbourMessage};
pub use speak::Speaker;

use crate::emit::{Arp, EmitError, Network, Recipe, Tag};
use crate::view::Ipv6View;
use crate::{MacAddress, checksum, ether_type, protocol};

/// The shortest Ethernet frame, without FCS.
const FRAME_BYTES_MIN: usize = 60;
/// VLAN tags that a request may have: its answer bears the same.
const TAGS_MAX: usize = 2;

const ARP_REQUEST: u16 = 1;
const ARP_REPLY: u16 = 2;
const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// What a neighbour message must have come with: no router passed it on.
const HOP_LIMIT: u8 = 255;
/// Options: the Ethernet address of who asks, and of whom an answer is about.
const SOURCE_MAC: u8 = 1;
const TARGET_MAC: u8 = 2;
/// Flags of an answer: a router has the address; it was asked for; it replaces one that is known.
const ROUTER: u32 = 0x8000_0000;
const SOLICITED: u32 = 0x4000_0000;
const OVERRIDE: u32 = 0x2000_0000;
/// `ff02::1:ff00:0`, below which are the lower 24 bits of the address that is asked for.
const SOLICITED_NODE: u128 = 0xFF02_0000_0000_0000_0000_0001_FF00_0000;

/// A request for the Ethernet address of an IP address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NeighbourRequest {
    /// The address that is asked for.
    pub target: IpAddr,
    /// The address of who asks; unspecified where that has none yet.
    pub sender: IpAddr,
    /// The Ethernet address of who asks, as the frame has it.
    pub sender_mac: MacAddress,
    tags: [Tag; TAGS_MAX],
    tags_len: usize,
}

impl NeighbourRequest {
    /// Reads a frame; `None` where it is no request, or not one that must be answered: see
    /// [`NeighbourMessage::read`], or who asks has no Ethernet address of its own.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let link = Link::read(frame)?;
        if link.sender_mac.is_multicast() {
            return None;
        }
        let message = NeighbourMessage::read(link.ether_type, link.payload)?;
        if message.kind != NeighbourKind::Request {
            return None;
        }
        Some(Self {
            target: message.target,
            sender: message.sender,
            sender_mac: link.sender_mac,
            tags: link.tags,
            tags_len: link.tags_len,
        })
    }

    /// Whether it only looks if the address is in use: who asks has none yet (RFC 5227, RFC 4862),
    /// or announces that it has this one.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.sender.is_unspecified() || self.sender == self.target
    }

    /// Writes the answer that `mac` has the address; its length in bytes.
    ///
    /// # Errors
    /// See [`EmitError`]: 94 bytes are room enough.
    pub fn answer(&self, mac: MacAddress, out: &mut [u8]) -> Result<usize, EmitError> {
        Speaker {
            mac,
            tags: self.tags.get(..self.tags_len).unwrap_or_default(),
            is_router: false,
        }
        .answer(self.target, self.sender, self.sender_mac, out)
    }
}

/// Writes a frame that tells switches where `mac` is, and asks nobody for anything: a reverse ARP
/// request to all stations (RFC 903), as hypervisors send it when a guest has moved. Returns its
/// length.
///
/// # Errors
/// See [`EmitError`]: 60 bytes are room enough.
pub fn announce(mac: MacAddress, out: &mut [u8]) -> Result<usize, EmitError> {
    const REVERSE_REQUEST: [u8; 8] = [0, 1, 8, 0, 6, 4, 0, 3];
    let mut message = [0; Arp::BYTES];
    // Both Ethernet addresses are its own, both IP addresses 0: they are what would be asked for.
    for (at, bytes) in [(0, &REVERSE_REQUEST[..]), (8, &mac.0), (18, &mac.0)] {
        if let Some(place) = message.get_mut(at..at + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
    Recipe {
        dst_mac: MacAddress::BROADCAST,
        src_mac: mac,
        network: Network::Other(ether_type::REVERSE_ARP),
        payload: &message,
        len_min: FRAME_BYTES_MIN,
        ..Recipe::default()
    }
    .emit(out)
}

/// The link header of a frame.
struct Link<'a> {
    sender_mac: MacAddress,
    tags: [Tag; TAGS_MAX],
    tags_len: usize,
    ether_type: u16,
    payload: &'a [u8],
}

impl<'a> Link<'a> {
    /// `None` where it is cut, or has more tags than an answer could bear.
    fn read(frame: &'a [u8]) -> Option<Self> {
        let sender = frame.get(6..)?.first_chunk::<6>()?;
        let word = |at: usize| {
            let bytes = frame.get(at..)?.first_chunk::<2>()?;
            Some(u16::from_be_bytes(*bytes))
        };
        let mut tags = [Tag::vlan(0); TAGS_MAX];
        let (mut tags_len, mut at) = (0, 12);
        while ether_type::is_vlan(word(at)?) {
            *tags.get_mut(tags_len)? = Tag {
                tpid: word(at)?,
                tci: word(at + 2)?,
            };
            tags_len += 1;
            at += 4;
        }
        Some(Self {
            sender_mac: MacAddress(*sender),
            tags,
            tags_len,
            ether_type: word(at)?,
            payload: frame.get(at + 2..)?,
        })
    }
}

fn v4(bits: u32) -> IpAddr {
    IpAddr::V4(Ipv4Addr::from_bits(bits))
}

fn v6(bits: u128) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from_bits(bits))
}

fn has_right_sum(packet: &Ipv6View<&[u8]>, body: &[u8]) -> bool {
    let len = body.len() as u32;
    let pseudo = checksum::pseudo_v6(packet.src(), packet.dst(), protocol::ICMPV6, len);
    checksum::transport(pseudo, body) == 0
}

#[cfg(test)]
mod tests;
