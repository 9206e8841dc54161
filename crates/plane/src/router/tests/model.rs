//! What a router should do with one packet, written from the rules: it takes a frame apart, looks
//! at every route there is, and puts a frame together. Neighbours are those that are set.
//!
//! Where a route has several next hops it gives the outcomes of all of them.

mod bytes;
mod errors;

use std::net::IpAddr;

use frame::PortId;
use wire::Malformed;

use super::super::{
    InterfaceId, InterfaceTags, NextHop, ReversePath, RouteAction, RouterConfig, RouterInterface,
};
use crate::DropReason;
use bytes::{Ip, be16, cut, own_header, sum};

/// What leaves by which port.
pub(super) type Leaves = (PortId, Vec<u8>);

/// What becomes of a packet itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It leaves, in one piece or in several.
    Sent(Vec<Leaves>),
    /// It waits for its next hop.
    Waits,
    Consumed,
    Dropped(DropReason),
}

/// All that comes of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) fate: Fate,
    /// The ICMP error.
    pub(super) told: Option<Leaves>,
}

/// Why a packet is not forwarded, as its sender is told.
#[derive(Clone, Copy, Debug)]
enum Told {
    NoRoute,
    Unreachable,
    Prohibited,
    Protocol,
    Port,
    TooBig(u16),
    Time,
    Parameter(u8),
}

/// The end of a decision: a drop, perhaps with an error.
type End = (DropReason, Option<Told>);

/// The way to a next hop.
#[derive(Clone, Copy, Debug)]
struct Way {
    interface: usize,
    neighbour: IpAddr,
}

/// What a destination is.
enum Place<'a> {
    Own,
    Broadcast,
    Hops(Vec<NextHop>),
    Action(&'a RouteAction),
    None,
}

pub(super) struct Model {
    config: RouterConfig,
}

impl Model {
    pub(super) fn new(config: &RouterConfig) -> Self {
        Self {
            config: config.clone(),
        }
    }

    /// What may come of a frame; one outcome but for next hops to choose from.
    pub(super) fn route(&self, from: PortId, frame: &[u8]) -> Vec<Outcome> {
        self.of_frame(from, frame).unwrap_or_else(|reason| {
            vec![Outcome {
                fate: Fate::Dropped(reason),
                told: None,
            }]
        })
    }

    fn of_frame(&self, from: PortId, frame: &[u8]) -> Result<Vec<Outcome>, DropReason> {
        let (interface, kind, rest) = self.interface(from, frame)?;
        let is_to_group = frame[0] % 2 == 1;
        if !is_to_group && frame[..6] != self.config.interfaces[interface].mac.0 {
            return Err(DropReason::OtherStation);
        }
        if kind == 0x0806 {
            return Ok(vec![alone(Fate::Consumed)]);
        }
        let ip = Ip {
            from: interface,
            ..Ip::read(kind, rest)?
        };
        if is_martian(ip.src, true) {
            return Err(DropReason::MartianSource);
        }
        if is_martian(ip.dst, false) {
            return Err(DropReason::MartianDestination);
        }
        let is_of_link = |address: IpAddr| match address {
            IpAddr::V4(own) => own.is_multicast() || own.is_broadcast() || own.is_link_local(),
            IpAddr::V6(own) => own.is_multicast() || own.is_unicast_link_local(),
        };
        let stays = is_of_link(ip.src) || is_of_link(ip.dst) || ip.src.is_unspecified();
        let is_own = match is_link_local(ip.dst) {
            true => self.has(interface, ip.dst),
            false => matches!(self.place(ip.dst), Place::Own),
        };
        if stays && (!is_own || is_to_group || ip.src.is_unspecified()) {
            return Err(DropReason::LinkScope);
        }
        if stays {
            return Ok(self.deliver(&ip));
        }
        let place = self.place(ip.dst);
        if is_to_group {
            return Err(DropReason::OtherStation);
        }
        if matches!(place, Place::Own) {
            return Ok(self.deliver(&ip));
        }
        Ok(match self.refuse(interface, &ip, place) {
            Err((reason, told)) => self.dropped(&ip, reason, told),
            Ok(hops) => hops
                .iter()
                .flat_map(|hop| self.forward(&ip, self.way(hop, ip.dst)))
                .collect(),
        })
    }

    /// By which interface a frame comes, the type of what it carries, and that.
    fn interface<'f>(
        &self,
        from: PortId,
        frame: &'f [u8],
    ) -> Result<(usize, u16, &'f [u8]), DropReason> {
        if frame.len() < 14 {
            return Err(DropReason::Malformed(Malformed::EthernetTruncated));
        }
        let mut tags = Vec::new();
        let mut at = 12;
        while let Some(tpid @ (0x8100 | 0x88A8 | 0x9100 | 0x9200)) = be16(frame, at) {
            match (&tags[..], tpid) {
                ([], 0x9100 | 0x9200) => break,
                ([], _) | ([(0x88A8, _)], 0x8100) => {}
                _ => return Err(DropReason::NoInterface),
            }
            let truncated = DropReason::Malformed(Malformed::VlanTagTruncated);
            tags.push((tpid, be16(frame, at + 2).ok_or(truncated)?));
            at += 4;
        }
        let kind = be16(frame, at).ok_or(DropReason::Malformed(Malformed::VlanTagTruncated))?;
        let vlan = |tci: u16| tci % 4096;
        let tags = match tags[..] {
            [] => InterfaceTags::None,
            [(0x8100, tci)] if vlan(tci) == 0 => InterfaceTags::None,
            [(0x8100, tci)] => InterfaceTags::Vlan(vlan(tci)),
            [(0x88A8, outer), (0x8100, inner)] => InterfaceTags::Double {
                outer: vlan(outer),
                inner: vlan(inner),
            },
            _ => return Err(DropReason::NoInterface),
        };
        let mut all = self.config.interfaces.iter();
        let own = |one: &RouterInterface| one.port == from && one.tags == tags;
        let interface = all.position(own).ok_or(DropReason::NoInterface)?;
        Ok((interface, kind, &frame[at + 2..]))
    }

    /// What an address is: the longest prefix counts, the router's own address above all.
    fn place(&self, address: IpAddr) -> Place<'_> {
        let mut best = (0, Place::None);
        for (at, interface) in self.config.interfaces.iter().enumerate() {
            for own in &interface.addresses {
                if own.address == address {
                    return Place::Own;
                }
                if own.prefix().broadcast() == Some(address) {
                    best = (33, Place::Broadcast);
                }
                if own.prefix().holds(address) && own.prefix_len >= best.0 {
                    let hop = NextHop {
                        gateway: None,
                        interface: Some(InterfaceId(at as u16)),
                        weight: 1,
                    };
                    best = (own.prefix_len, Place::Hops(vec![hop]));
                }
            }
        }
        for route in &self.config.routes {
            if route.network().holds(address) && route.prefix_len >= best.0 {
                let place = match &route.action {
                    RouteAction::Via(hops) => Place::Hops(hops.clone()),
                    action => Place::Action(action),
                };
                best = (route.prefix_len, place);
            }
        }
        best.1
    }

    /// Whether a packet may be forwarded: then by which hops.
    fn refuse(&self, from: usize, ip: &Ip, place: Place<'_>) -> Result<Vec<NextHop>, End> {
        match ip.options() {
            Ok(false) => {}
            Ok(true) => return Err((DropReason::SourceRoute, None)),
            Err(at) => return Err((DropReason::HeaderOption, Some(Told::Parameter(at)))),
        }
        let source = self.place(ip.src);
        let is_right = match (self.config.reverse_path, source) {
            (_, Place::Own | Place::Broadcast) => return Err((DropReason::MartianSource, None)),
            (ReversePath::Off, _) | (ReversePath::Loose, Place::Hops(_)) => true,
            (ReversePath::Strict, Place::Hops(hops)) => {
                let mut ways = hops.iter().map(|hop| self.way(hop, ip.src));
                ways.any(|way| way.interface == from)
            }
            _ => false,
        };
        if !is_right {
            return Err((DropReason::ReversePath, None));
        }
        match place {
            Place::None => Err((DropReason::NoRoute, Some(Told::NoRoute))),
            Place::Own | Place::Broadcast => Err((DropReason::LinkScope, None)),
            Place::Action(RouteAction::Unreachable) => {
                Err((DropReason::RouteUnreachable, Some(Told::Unreachable)))
            }
            Place::Action(RouteAction::Prohibit) => {
                Err((DropReason::RouteProhibited, Some(Told::Prohibited)))
            }
            Place::Action(_) => Err((DropReason::Blackhole, None)),
            Place::Hops(_) if ip.hops < 2 => Err((DropReason::TtlExpired, Some(Told::Time))),
            Place::Hops(hops) => Ok(hops),
        }
    }

    fn has(&self, interface: usize, address: IpAddr) -> bool {
        let mut addresses = self.config.interfaces[interface].addresses.iter();
        addresses.any(|own| own.address == address)
    }

    /// The ways back to the source of a packet.
    fn ways_back(&self, ip: &Ip) -> Vec<Way> {
        if is_link_local(ip.src) {
            return vec![Way {
                interface: ip.from,
                neighbour: ip.src,
            }];
        }
        match self.place(ip.src) {
            Place::Hops(hops) => hops.iter().map(|hop| self.way(hop, ip.src)).collect(),
            _ => Vec::new(),
        }
    }

    fn way(&self, hop: &NextHop, destination: IpAddr) -> Way {
        let neighbour = hop.gateway.unwrap_or(destination);
        let holding = |interface: &RouterInterface| {
            let holding = interface.addresses.iter().map(|own| own.prefix());
            let holding = holding.filter(|prefix| prefix.holds(neighbour));
            holding.map(|prefix| prefix.len).max()
        };
        let all = self.config.interfaces.iter().enumerate();
        let nearest = all.max_by_key(|(_, one)| holding(one)).map(|found| found.0);
        let interface = hop.interface.map(InterfaceId::index).or(nearest);
        Way {
            interface: interface.expect("an interface"),
            neighbour,
        }
    }

    fn forward(&self, ip: &Ip, way: Way) -> Vec<Outcome> {
        let mtu = self.config.interfaces[way.interface].mtu;
        let is_long = ip.packet.len() > mtu.into();
        if is_long && (!ip.is_v4 || ip.packet[6] & 0x40 != 0) {
            return self.dropped(ip, DropReason::TooBig, Some(Told::TooBig(mtu)));
        }
        let packet = ip.one_hop_on();
        if is_long && ip.end_in_datagram() > 65_535 {
            let reason = DropReason::Malformed(Malformed::FragmentBeyondPacket);
            return self.dropped(ip, reason, None);
        }
        vec![alone(self.sent(way, packet))]
    }

    /// A packet in the frame of its link; `None` where the neighbour is not known.
    fn framed(&self, way: Way, packet: &[u8]) -> Option<Leaves> {
        let interface = &self.config.interfaces[way.interface];
        let mut neighbours = self.config.neighbours.iter();
        let known = neighbours.find(|known| {
            known.interface.index() == way.interface
                && known.first.is_ipv4() == way.neighbour.is_ipv4()
                && (known.first..=known.last).contains(&way.neighbour)
        })?;
        let mut frame = [known.mac.0, interface.mac.0].concat();
        let tags = match interface.tags {
            InterfaceTags::None => Vec::new(),
            InterfaceTags::Vlan(vlan) => vec![0x8100, vlan],
            InterfaceTags::Double { outer, inner } => vec![0x88A8, outer, 0x8100, inner],
        };
        let kind = if packet[0] >> 4 == 4 { 0x0800 } else { 0x86DD };
        for word in tags.into_iter().chain([kind]) {
            frame.extend(u16::to_be_bytes(word));
        }
        frame.extend(packet);
        frame.resize(frame.len().max(60), 0);
        Some((interface.port, frame))
    }

    /// What comes of a packet for the router itself.
    fn deliver(&self, ip: &Ip) -> Vec<Outcome> {
        let is_posed = match is_link_local(ip.src) {
            true => self.has(ip.from, ip.src),
            false => matches!(self.place(ip.src), Place::Own | Place::Broadcast),
        };
        if is_posed {
            return self.dropped(ip, DropReason::MartianSource, None);
        }
        match ip.options() {
            Ok(false) => {}
            Ok(true) => return self.dropped(ip, DropReason::SourceRoute, None),
            Err(at) => {
                let told = Some(Told::Parameter(at));
                return self.dropped(ip, DropReason::HeaderOption, told);
            }
        }
        let body = &ip.packet[ip.header..];
        let is_icmp = ip.protocol == if ip.is_v4 { 1 } else { 58 };
        let request = if ip.is_v4 { 8 } else { 128 };
        if is_icmp && body.first() != Some(&request) {
            return vec![alone(Fate::Consumed)];
        }
        if is_icmp {
            return match ip.is_fragment() || body.len() < 8 || ip.pseudo_sum(body) != 0xFFFF {
                true => self.dropped(ip, DropReason::Local, None),
                false => self.reply(ip, body),
            };
        }
        let told = match ip.protocol {
            _ if ip.is_fragment() => None,
            17 => ip.is_right_udp().then_some(Told::Port),
            6 => None,
            0 | 43 | 44 | 51 | 59 | 60 | 135 | 139 | 140 if !ip.is_v4 => None,
            _ => Some(Told::Protocol),
        };
        self.dropped(ip, DropReason::Local, told)
    }

    fn reply(&self, ip: &Ip, body: &[u8]) -> Vec<Outcome> {
        let mut message = body.to_vec();
        message[0] = if ip.is_v4 { 0 } else { 129 };
        message[2..4].fill(0);
        let (from, to) = (ip.dst, ip.src);
        let packet = own_header(from, to, &message, |header| match ip.is_v4 {
            true => {
                header[1] = ip.packet[1];
                header[4..6].copy_from_slice(&ip.packet[4..6]);
            }
            false => header[..4].copy_from_slice(&ip.packet[..4]),
        });
        let ways = self.ways_back(ip);
        if ways.is_empty() {
            return self.dropped(ip, DropReason::NoRoute, None);
        }
        ways.into_iter()
            .map(|way| alone(self.sent(way, packet.clone())))
            .collect()
    }

    /// A packet that leaves, in pieces where it is too long for its link.
    fn sent(&self, way: Way, packet: Vec<u8>) -> Fate {
        let mtu = self.config.interfaces[way.interface].mtu.into();
        let pieces = match packet.len() > mtu {
            true if packet[0] / 16 == 6 => return Fate::Dropped(DropReason::TooBig),
            true => cut(&packet, mtu),
            false => vec![packet],
        };
        let sent = pieces.iter().map(|piece| self.framed(way, piece));
        sent.collect::<Option<_>>().map_or(Fate::Waits, Fate::Sent)
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(own) => own.is_link_local(),
        IpAddr::V6(own) => own.is_unicast_link_local(),
    }
}

fn alone(fate: Fate) -> Outcome {
    Outcome { fate, told: None }
}

/// Addresses that no packet on a link may have (RFC 1812 section 5.3.7, RFC 4291 section 2.5).
fn is_martian(address: IpAddr, is_source: bool) -> bool {
    match address {
        IpAddr::V4(own) => match own.octets()[0] {
            0 | 127 => true,
            224..=239 => is_source,
            240..=255 => is_source || !own.is_broadcast(),
            _ => false,
        },
        IpAddr::V6(own) => {
            let is_bad = own.is_loopback() || own.to_ipv4_mapped().is_some();
            is_bad
                || if is_source {
                    own.is_multicast()
                } else {
                    own.is_unspecified()
                }
        }
    }
}

/// Whether the sum over a packet's header is right.
fn header_is_right(packet: &[u8]) -> bool {
    let header = usize::from(packet[0] & 15) * 4;
    sum(&packet[..header]) == 0xFFFF
}
