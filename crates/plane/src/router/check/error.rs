//! Each thing that can be wrong.

use std::net::IpAddr;

use frame::PortId;
use wire::MacAddress;

use super::super::config::{InterfaceId, VrfId};
use super::super::prefix::Prefix;
use crate::nat::NatConfigError;

/// One thing that is wrong with the settings of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouterConfigError {
    /// It has no interface.
    NoInterfaces,
    /// It has more interfaces than can be numbered.
    TooManyInterfaces {
        /// How many.
        count: usize,
    },
    /// It has more VRFs than there is memory for.
    TooManyVrfs {
        /// How many.
        count: usize,
    },
    /// An interface or a route is of a VRF that is not there.
    NoVrf {
        /// The VRF.
        vrf: VrfId,
    },
    /// The interface of the host that takes what is for the router is not there.
    NoPunt {
        /// The interface.
        id: InterfaceId,
    },
    /// That interface has no address.
    PuntAddress {
        /// The interface.
        interface: String,
    },
    /// NAT is asked for beside VRFs.
    NatVrfs,
    /// A route leads to an interface of another VRF.
    RouteVrf {
        /// Its prefix.
        prefix: Prefix,
        /// The name of its VRF, where it has one.
        vrf: Option<String>,
        /// The interface.
        interface: String,
        /// The name of the interface's VRF, where it has one.
        other: Option<String>,
    },
    /// No neighbour may be known, or more than there is memory for.
    Neighbours {
        /// How many.
        neighbours: u32,
    },
    /// Two interfaces have one name.
    NameTwice {
        /// The name.
        interface: String,
    },
    /// An interface is on a port that is not there.
    NoPort {
        /// The interface.
        interface: String,
        /// Its port.
        port: PortId,
    },
    /// Two interfaces have the same port and tags.
    SamePlace {
        /// The one.
        interface: String,
        /// The other.
        other: String,
    },
    /// An interface is a VLAN that cannot be.
    Vlan {
        /// The interface.
        interface: String,
        /// The VLAN.
        vlan: u16,
    },
    /// The Ethernet address of an interface is that of a group, or all zero.
    Mac {
        /// The interface.
        interface: String,
        /// The address.
        mac: MacAddress,
    },
    /// An MTU is too small.
    Mtu {
        /// The interface.
        interface: String,
        /// Its MTU.
        mtu: u16,
        /// The least that it needs.
        least: u16,
    },
    /// A prefix is longer than an address.
    AddressLen {
        /// The interface.
        interface: String,
        /// Its address.
        address: IpAddr,
        /// The length.
        len: u8,
        /// Bits of an address.
        most: u8,
    },
    /// An address is none that a station can have.
    Address {
        /// The interface.
        interface: String,
        /// Its address.
        address: IpAddr,
        /// The length of its prefix.
        len: u8,
    },
    /// An address is there twice.
    AddressTwice {
        /// The address.
        address: IpAddr,
        /// The one interface.
        interface: String,
        /// The other, which may be the same.
        other: String,
    },
    /// The same prefix lies behind two interfaces.
    PrefixTwice {
        /// The prefix.
        prefix: Prefix,
        /// The one.
        interface: String,
        /// The other.
        other: String,
    },
    /// The prefix of a route is longer than an address.
    RouteLen {
        /// The address.
        address: IpAddr,
        /// The length.
        len: u8,
        /// Bits of an address.
        most: u8,
    },
    /// A route names an address within its prefix.
    HostBits {
        /// The address.
        address: IpAddr,
        /// The prefix that holds it.
        right: Prefix,
    },
    /// A prefix has two routes.
    RouteTwice {
        /// The prefix.
        prefix: Prefix,
    },
    /// A route is for the prefix of an interface, and says something else.
    RouteConnected {
        /// The prefix.
        prefix: Prefix,
        /// The interface.
        interface: String,
    },
    /// A route has no next hop, or too many.
    HopCount {
        /// The route.
        prefix: Prefix,
        /// How many.
        count: usize,
    },
    /// A weight is 0 or too large.
    Weight {
        /// The route.
        prefix: Prefix,
        /// The weight.
        weight: u16,
    },
    /// A route leads to an interface that is not there.
    RouteInterface {
        /// The route.
        prefix: Prefix,
        /// The interface.
        id: InterfaceId,
    },
    /// A next hop has neither gateway nor interface.
    NoWay {
        /// The route.
        prefix: Prefix,
    },
    /// A route leads to an interface without an address of the family.
    NoSource {
        /// The route.
        prefix: Prefix,
        /// The interface.
        interface: String,
    },
    /// A gateway is of the other family than its route.
    GatewayFamily {
        /// The route.
        prefix: Prefix,
        /// The gateway.
        gateway: IpAddr,
    },
    /// A gateway is the router itself.
    GatewayOwn {
        /// The route.
        prefix: Prefix,
        /// The gateway.
        gateway: IpAddr,
    },
    /// A gateway has an address that no station can have.
    GatewayAddress {
        /// The route.
        prefix: Prefix,
        /// The gateway.
        gateway: IpAddr,
    },
    /// A link-local gateway without an interface.
    GatewayLink {
        /// The route.
        prefix: Prefix,
        /// The gateway.
        gateway: IpAddr,
    },
    /// A gateway is behind no interface, or not behind the one that is named.
    GatewayElsewhere {
        /// The route.
        prefix: Prefix,
        /// The gateway.
        gateway: IpAddr,
        /// The interface that is named.
        interface: Option<String>,
        /// The prefixes that there are.
        prefixes: String,
    },
    /// A neighbour is behind an interface that is not there.
    NeighbourInterface {
        /// Its first address.
        first: IpAddr,
        /// The interface.
        id: InterfaceId,
    },
    /// A range of neighbours is of both families.
    NeighbourFamily {
        /// The first address.
        first: IpAddr,
        /// The last.
        last: IpAddr,
    },
    /// A range of neighbours ends before it begins.
    NeighbourOrder {
        /// The first address.
        first: IpAddr,
        /// The last.
        last: IpAddr,
    },
    /// The Ethernet address of a neighbour is that of a group, or all zero.
    NeighbourMac {
        /// Its first address.
        first: IpAddr,
        /// The Ethernet address.
        mac: MacAddress,
    },
    /// Neighbours are not behind the interface that is named.
    NeighbourElsewhere {
        /// The first address.
        first: IpAddr,
        /// The last.
        last: IpAddr,
        /// The interface.
        interface: String,
        /// Its prefixes.
        prefixes: String,
    },
    /// A neighbour has an address that no other station can have.
    NeighbourAddress {
        /// The address.
        address: IpAddr,
    },
    /// The settings of NAT are wrong.
    Nat(NatConfigError),
    /// Two ranges of neighbours have an address in common.
    NeighbourTwice {
        /// The address.
        address: IpAddr,
        /// The interface.
        interface: String,
    },
}
