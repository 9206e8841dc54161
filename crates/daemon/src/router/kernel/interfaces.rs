//! Links of the kernel as interfaces of the router.

use std::collections::HashMap;

use frame::PortId;
use netdev::routing::{Link, LinkKind, Mirror};
use plane::router::{InterfaceAddress, InterfaceId, InterfaceTags, RouterInterface};
use port::PortSpec;
use wire::ether_type;

/// The least MTU of a link with IPv4 (RFC 791).
const MTU_MIN: u16 = 68;

/// The router's interfaces: each port, and each VLAN that the kernel has of it. One that goes away
/// keeps its number, and has it again when it comes back.
#[derive(Debug)]
pub(super) struct Interfaces {
    ports: Vec<PortLink>,
    list: Vec<RouterInterface>,
    places: HashMap<(PortId, InterfaceTags), InterfaceId>,
    /// By the number of the link: those that are up.
    by_link: HashMap<u32, InterfaceId>,
    /// By interface: the number of its link, where it is up.
    links: Vec<Option<u32>>,
}

/// The link of a port. It may be renamed, and made anew.
#[derive(Debug)]
struct PortLink {
    name: String,
    index: Option<u32>,
}

impl Interfaces {
    /// Those of ports, before the kernel was asked.
    ///
    /// # Errors
    /// A port of another kind.
    pub(super) fn new(ports: &[PortSpec]) -> Result<Self, String> {
        let link = |port: &PortSpec| match port {
            PortSpec::Xdp(xdp) => Ok(xdp.interface.clone()),
            PortSpec::Packet(packet) => Ok(packet.interface.clone()),
            other => Err(format!(
                "{other} has no interface of the kernel behind it: a router by the kernel's routes \
                 has xdp: and packet: ports"
            )),
        };
        let link = |port| link(port).map(|name| PortLink { name, index: None });
        Ok(Self {
            ports: ports.iter().map(link).collect::<Result<_, _>>()?,
            list: Vec::new(),
            places: HashMap::new(),
            by_link: HashMap::new(),
            links: Vec::new(),
        })
    }

    /// Whether the links of all ports are there.
    ///
    /// # Errors
    /// One that is not.
    pub(super) fn check(&self) -> Result<(), String> {
        let gone = self.ports.iter().find(|port| port.index.is_none());
        match gone {
            None => Ok(()),
            Some(port) => Err(format!(
                "the kernel has no interface {} in this network namespace: `ip link` lists those \
                 that there are",
                port.name
            )),
        }
    }

    /// By number.
    pub(super) fn list(&self) -> &[RouterInterface] {
        &self.list
    }

    /// The interface of a link that is up.
    pub(super) fn of_link(&self, link: u32) -> Option<InterfaceId> {
        self.by_link.get(&link).copied()
    }

    /// The link of an interface that is up.
    pub(super) fn link_of(&self, interface: InterfaceId) -> Option<u32> {
        self.links.get(interface.index()).copied().flatten()
    }

    /// Whether a change of this link, or of an address of it, concerns the router.
    pub(super) fn concerns(&self, mirror: &Mirror, link: u32) -> bool {
        // What is gone may have been one, and what is new may become one.
        mirror
            .link(link)
            .is_none_or(|link| self.place(mirror, link).is_some())
            || self.by_link.contains_key(&link)
            || self.ports.iter().any(|port| port.index == Some(link))
    }

    /// Whether a link is a port, or a VLAN of one.
    pub(super) fn is_of_a_port(&self, mirror: &Mirror, link: &Link) -> bool {
        self.place(mirror, link).is_some()
    }

    /// Takes over what the kernel has now. What of it is other than before?
    pub(super) fn read(&mut self, mirror: &Mirror) -> Differs {
        for port in &mut self.ports {
            port.find(mirror);
        }
        let (list, links) = (self.list.clone(), self.links.clone());
        let mut found: Vec<(InterfaceId, &Link)> = Vec::new();
        for link in mirror.links() {
            let place = self.place(mirror, link);
            let id = place.and_then(|place| self.numbered(place));
            found.extend(id.map(|id| (id, link)));
        }
        self.by_link.clear();
        self.links.fill(None);
        self.list.iter_mut().for_each(|one| one.is_up = false);
        for (id, link) in found {
            if self.take(mirror, id, link) {
                self.by_link.insert(link.index, id);
                self.links[id.index()] = Some(link.index);
            }
        }
        for one in self.list.iter_mut().filter(|one| !one.is_up) {
            one.addresses.clear();
        }
        Differs {
            links: self.links != links,
            settings: self.list != list,
        }
    }

    /// Which port a link is, and which VLAN of it.
    fn place(&self, mirror: &Mirror, link: &Link) -> Option<(PortId, InterfaceTags)> {
        if let Some(port) = self.port_of(link.index) {
            return Some((port, InterfaceTags::None));
        }
        let (below, id) = vlan(link, ether_type::VLAN)?;
        if let Some(port) = self.port_of(below) {
            return Some((port, InterfaceTags::Vlan(id)));
        }
        let (port, outer) = vlan(mirror.link(below)?, ether_type::VLAN_SERVICE)?;
        let tags = InterfaceTags::Double { outer, inner: id };
        Some((self.port_of(port)?, tags))
    }

    fn port_of(&self, link: u32) -> Option<PortId> {
        let mut numbered = (0..=u8::MAX).map(PortId).zip(&self.ports);
        let found = numbered.find(|(_, port)| port.index == Some(link));
        found.map(|(id, _)| id)
    }

    /// The number of a place, which it keeps; none where there are too many.
    fn numbered(&mut self, place: (PortId, InterfaceTags)) -> Option<InterfaceId> {
        if let Some(&id) = self.places.get(&place) {
            return Some(id);
        }
        let id = InterfaceId(u16::try_from(self.list.len()).ok()?);
        let (port, tags) = place;
        self.list.push(RouterInterface {
            name: String::new(),
            port,
            tags,
            vrf: plane::router::VrfId::default(),
            mac: wire::MacAddress::default(),
            addresses: Vec::new(),
            mtu: MTU_MIN,
            is_up: false,
        });
        self.links.push(None);
        self.places.insert(place, id);
        Some(id)
    }

    /// Whether packets can go by a link; then it is the interface from now on.
    fn take(&mut self, mirror: &Mirror, id: InterfaceId, link: &Link) -> bool {
        let one = &mut self.list[id.index()];
        let port = self.ports[one.port.index()].index;
        let port_is_up = port
            .and_then(|port| mirror.link(port))
            .is_some_and(|port| port.is_up);
        // The addresses of a part are those of the whole; a VRF has routes of its own.
        let is_part = link.master.is_some();
        let Some(mac) = link.mac.filter(|_| link.is_up && port_is_up && !is_part) else {
            return false;
        };
        one.is_up = true;
        one.name = link.name.to_string_lossy().into_owned();
        one.mac = mac;
        one.mtu = u16::try_from(link.mtu).unwrap_or(u16::MAX).max(MTU_MIN);
        one.addresses = addresses(mirror, link.index);
        true
    }
}

/// What is other than before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Differs {
    /// Which link an interface is, or whether it is up.
    pub(super) links: bool,
    /// Anything that workers go by.
    pub(super) settings: bool,
}

impl PortLink {
    fn find(&mut self, mirror: &Mirror) {
        if self.index.is_some_and(|index| mirror.link(index).is_some()) {
            return;
        }
        let name = self.name.as_str();
        let mut links = mirror.links();
        let is_named =
            |link: &&Link| link.name == name || link.other_names.iter().any(|other| other == name);
        self.index = links.find(is_named).map(|link| link.index);
    }
}

/// The link below a VLAN of this type, and its number.
fn vlan(link: &Link, wanted: u16) -> Option<(u32, u16)> {
    match link.kind {
        LinkKind::Vlan {
            parent,
            id,
            protocol,
        } if protocol == wanted => Some((parent?, id)),
        _ => None,
    }
}

/// The addresses of a link, those that are good on every link first.
fn addresses(mirror: &Mirror, link: u32) -> Vec<InterfaceAddress> {
    let here = mirror
        .addresses()
        .filter(|own| own.key.link == link && own.is_usable);
    let mut all: Vec<InterfaceAddress> = here
        .map(|own| InterfaceAddress {
            address: own.key.address,
            prefix_len: own.key.prefix_len,
        })
        .collect();
    all.sort_by_key(|own| match own.address {
        std::net::IpAddr::V4(own) => own.is_link_local(),
        std::net::IpAddr::V6(own) => own.is_unicast_link_local(),
    });
    all
}
