//! Which Ethernet address an IP address has: requests of ARP (RFC 826) and neighbour solicitations
//! (RFC 4861 section 4.3), the answers to both, and the announcement of an Ethernet address alone.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::emit::{Arp, EmitError, Icmp, Ipv6, Network, Recipe, Tag, Transport};
use crate::view::{ArpView, IcmpView, Ipv6View};
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
/// Solicited, and the address is to replace one that is known.
const SOLICITED_OVERRIDE: u32 = 0x6000_0000;
/// The option with the Ethernet address of the target, 8 bytes long.
const TARGET_MAC: [u8; 2] = [2, 1];

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
    /// Reads a frame; `None` where it is no request, or not one that must be answered: hop limit,
    /// code, lengths or checksum are not as they should be, or who asks has no address of its own.
    #[must_use]
    pub fn read(frame: &[u8]) -> Option<Self> {
        let link = Link::read(frame)?;
        if link.sender_mac.is_multicast() {
            return None;
        }
        let (target, sender) = match link.ether_type {
            ether_type::ARP => of_arp(link.payload)?,
            ether_type::IPV6 => of_solicitation(link.payload)?,
            _ => return None,
        };
        Some(Self {
            target,
            sender,
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
        let tags = self.tags.get(..self.tags_len).unwrap_or_default();
        let frame = Recipe {
            dst_mac: self.sender_mac,
            src_mac: mac,
            tags,
            len_min: FRAME_BYTES_MIN,
            ..Recipe::default()
        };
        match (self.target, self.sender) {
            (IpAddr::V4(target), IpAddr::V4(sender)) => {
                let network = Network::Arp(Arp {
                    operation: ARP_REPLY,
                    sender_mac: mac,
                    sender: target.to_bits(),
                    target_mac: self.sender_mac,
                    target: sender.to_bits(),
                });
                Recipe { network, ..frame }.emit(out)
            }
            (IpAddr::V6(target), IpAddr::V6(sender)) => advertise(frame, mac, target, sender, out),
            // One message has addresses of one family.
            _ => Ok(0),
        }
    }
}

fn advertise(
    frame: Recipe<'_>,
    mac: MacAddress,
    target: Ipv6Addr,
    sender: Ipv6Addr,
    out: &mut [u8],
) -> Result<usize, EmitError> {
    let mut payload = [0; 24];
    let parts: [&[u8]; 3] = [&target.octets(), &TARGET_MAC, &mac.0];
    let bytes = parts.into_iter().flatten();
    payload
        .iter_mut()
        .zip(bytes)
        .for_each(|(to, from)| *to = *from);
    let header = Ipv6 {
        src: target.to_bits(),
        dst: sender.to_bits(),
        hop_limit: HOP_LIMIT,
        ..Ipv6::default()
    };
    let message = Icmp {
        kind: ADVERTISEMENT,
        code: 0,
        rest: SOLICITED_OVERRIDE,
    };
    Recipe {
        network: Network::Ipv6(header, Transport::Icmpv6(message)),
        payload: &payload,
        ..frame
    }
    .emit(out)
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

/// Target and sender.
fn of_arp(message: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let message = ArpView::new_checked(message).ok()??;
    let address = |bits| IpAddr::V4(Ipv4Addr::from_bits(bits));
    (message.operation() == ARP_REQUEST)
        .then(|| (address(message.target()), address(message.sender())))
}

/// Target and sender.
fn of_solicitation(packet: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let packet = Ipv6View::new_checked(packet).ok()?;
    let is_direct = packet.next_header() == protocol::ICMPV6 && packet.hop_limit() == HOP_LIMIT;
    let body = packet.payload().get(..usize::from(packet.payload_len()))?;
    let message = IcmpView::new_checked(body).ok()?;
    let is_asked = message.kind() == SOLICITATION && message.code() == 0;
    if !is_direct || !is_asked || !has_right_sum(&packet, body) {
        return None;
    }
    let target = message.payload().first_chunk::<16>()?;
    let address = |bits| IpAddr::V6(Ipv6Addr::from_bits(bits));
    Some((IpAddr::from(*target), address(packet.src())))
}

fn has_right_sum(packet: &Ipv6View<&[u8]>, body: &[u8]) -> bool {
    let len = body.len() as u32;
    let pseudo = checksum::pseudo_v6(packet.src(), packet.dst(), protocol::ICMPV6, len);
    checksum::transport(pseudo, body) == 0
}

#[cfg(test)]
mod tests;
