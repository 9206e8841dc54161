//! Messages of ARP and neighbour discovery as a router or host sends them.

use core::net::IpAddr;

use super::{
    ADVERTISEMENT, ARP_REPLY, ARP_REQUEST, FRAME_BYTES_MIN, HOP_LIMIT, OVERRIDE, ROUTER,
    SOLICITATION, SOLICITED, SOLICITED_NODE, SOURCE_MAC, TARGET_MAC,
};
use crate::emit::{Arp, EmitError, Icmp, Ipv6, Network, Recipe, Tag, Transport};
use crate::{MacAddress, ether_type};

/// `ff02::1`.
const ALL_NODES: u128 = 0xFF02_0000_0000_0000_0000_0000_0000_0001;

/// Who speaks on a link: a station with its Ethernet address and the tags of its frames.
#[derive(Clone, Copy, Debug)]
pub struct Speaker<'a> {
    /// Its Ethernet address.
    pub mac: MacAddress,
    /// The tags of its frames, outermost first.
    pub tags: &'a [Tag],
    /// Whether it is a router, which its answers say.
    pub is_router: bool,
}

impl Speaker<'_> {
    /// Writes a request for the Ethernet address of `target`, from the address `own` of the same
    /// family: to all, or to one station that is asked whether it is still there. Its length.
    ///
    /// # Errors
    /// See [`EmitError`]: 94 bytes are room enough.
    pub fn request(
        &self,
        own: IpAddr,
        target: IpAddr,
        to: Option<MacAddress>,
        out: &mut [u8],
    ) -> Result<usize, EmitError> {
        match (own, target) {
            (IpAddr::V4(own), IpAddr::V4(target)) => {
                let message = Arp {
                    operation: ARP_REQUEST,
                    sender_mac: self.mac,
                    sender: own.to_bits(),
                    target_mac: MacAddress::default(),
                    target: target.to_bits(),
                };
                self.arp(to.unwrap_or(MacAddress::BROADCAST), message, out)
            }
            (IpAddr::V6(own), IpAddr::V6(target)) => {
                let target = target.to_bits();
                let group = SOLICITED_NODE | target & 0xFF_FFFF;
                let (dst, to) = to.map_or((group, group_mac(group)), |to| (target, to));
                let solicitation = Discovery {
                    kind: SOLICITATION,
                    flags: 0,
                    target,
                    option: SOURCE_MAC,
                    src: own.to_bits(),
                    dst,
                };
                self.discovery(to, &solicitation, out)
            }
            // One message has addresses of one family.
            _ => Ok(0),
        }
    }

    /// Writes the answer to `asker`, whose Ethernet address is `to`, that `own` is here. Its
    /// length. An asker that has no address yet is answered to all.
    ///
    /// # Errors
    /// See [`EmitError`]: 94 bytes are room enough.
    pub fn answer(
        &self,
        own: IpAddr,
        asker: IpAddr,
        to: MacAddress,
        out: &mut [u8],
    ) -> Result<usize, EmitError> {
        match (own, asker) {
            (IpAddr::V4(own), IpAddr::V4(asker)) => {
                let message = Arp {
                    operation: ARP_REPLY,
                    sender_mac: self.mac,
                    sender: own.to_bits(),
                    target_mac: to,
                    target: asker.to_bits(),
                };
                self.arp(to, message, out)
            }
            (IpAddr::V6(own), IpAddr::V6(asker)) => {
                let (dst, flags, to) = match asker.is_unspecified() {
                    true => (ALL_NODES, OVERRIDE, group_mac(ALL_NODES)),
                    false => (asker.to_bits(), OVERRIDE | SOLICITED, to),
                };
                self.advertise(own.to_bits(), flags, (dst, to), out)
            }
            _ => Ok(0),
        }
    }

    /// Writes to all that `own` is here: a gratuitous request (RFC 5227 section 2.3) or an
    /// unsolicited advertisement (RFC 4861 section 7.2.6). Its length.
    ///
    /// # Errors
    /// See [`EmitError`]: 94 bytes are room enough.
    pub fn announce(&self, own: IpAddr, out: &mut [u8]) -> Result<usize, EmitError> {
        match own {
            IpAddr::V4(_) => self.request(own, own, None, out),
            IpAddr::V6(own) => {
                let to = (ALL_NODES, group_mac(ALL_NODES));
                self.advertise(own.to_bits(), OVERRIDE, to, out)
            }
        }
    }

    fn advertise(
        &self,
        own: u128,
        flags: u32,
        (dst, to): (u128, MacAddress),
        out: &mut [u8],
    ) -> Result<usize, EmitError> {
        let router = if self.is_router { ROUTER } else { 0 };
        let advertisement = Discovery {
            kind: ADVERTISEMENT,
            flags: flags | router,
            target: own,
            option: TARGET_MAC,
            src: own,
            dst,
        };
        self.discovery(to, &advertisement, out)
    }

    fn arp(&self, to: MacAddress, message: Arp, out: &mut [u8]) -> Result<usize, EmitError> {
        Recipe {
            network: Network::Arp(message),
            ..self.frame(to)
        }
        .emit(out)
    }

    fn discovery(
        &self,
        to: MacAddress,
        message: &Discovery,
        out: &mut [u8],
    ) -> Result<usize, EmitError> {
        let mut payload = [0; 24];
        let parts: [&[u8]; 3] = [
            &message.target.to_be_bytes(),
            &[message.option, 1],
            &self.mac.0,
        ];
        let bytes = parts.into_iter().flatten();
        payload
            .iter_mut()
            .zip(bytes)
            .for_each(|(to, from)| *to = *from);
        let header = Ipv6 {
            src: message.src,
            dst: message.dst,
            hop_limit: HOP_LIMIT,
            ..Ipv6::default()
        };
        let icmp = Icmp {
            kind: message.kind,
            code: 0,
            rest: message.flags,
        };
        Recipe {
            network: Network::Ipv6(header, Transport::Icmpv6(icmp)),
            payload: &payload,
            ..self.frame(to)
        }
        .emit(out)
    }

    fn frame(&self, to: MacAddress) -> Recipe<'_> {
        Recipe {
            dst_mac: to,
            src_mac: self.mac,
            tags: self.tags,
            network: Network::Other(ether_type::ARP),
            len_min: FRAME_BYTES_MIN,
            ..Recipe::default()
        }
    }
}

/// A solicitation or an advertisement.
struct Discovery {
    kind: u8,
    flags: u32,
    target: u128,
    /// The option that holds the Ethernet address of who speaks.
    option: u8,
    src: u128,
    dst: u128,
}

/// The Ethernet address of a group of IPv6 (RFC 2464 section 7).
fn group_mac(group: u128) -> MacAddress {
    let [a, b, c, d] = (group as u32).to_be_bytes();
    MacAddress([0x33, 0x33, a, b, c, d])
}
