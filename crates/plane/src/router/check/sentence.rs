//! The sentence of each thing that can be wrong: what, and what to do.

use std::fmt;

use super::routes::{HOPS_MAX, WEIGHT_MAX};
use super::{INTERFACES_MAX, NEIGHBOURS_MAX, RouterConfigError, VLAN_MAX, VRFS_MAX};

impl fmt::Display for RouterConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each group says nothing of what is none of its own.
        self.of_the_router(f)?;
        self.of_an_interface(f)?;
        self.of_an_address(f)?;
        self.of_a_route(f)?;
        self.of_a_hop(f)?;
        self.of_a_gateway(f)?;
        self.of_a_neighbour(f)
    }
}

impl std::error::Error for RouterConfigError {}

impl RouterConfigError {
    fn of_the_router(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInterfaces => write!(
                f,
                "a router needs an interface: name one, with its port and address"
            ),
            Self::TooManyInterfaces { count } => write!(
                f,
                "{count} interfaces are more than the {INTERFACES_MAX} that a router can \
                 have: use several"
            ),
            Self::Neighbours { neighbours } => write!(
                f,
                "{neighbours} neighbours cannot be known: give a number from 1 to \
                 {NEIGHBOURS_MAX}"
            ),
            Self::Nat(error) => write!(f, "{error}"),
            Self::TooManyVrfs { count } => write!(
                f,
                "{count} VRFs are more than the {VRFS_MAX} that a router can have: use several \
                 routers"
            ),
            Self::NoVrf { vrf } => write!(f, "VRF number {} is not there: name one that is", vrf.0),
            Self::NoPunt { id } => write!(
                f,
                "what is for the router goes to interface number {}, which is not there: name one \
                 that is",
                id.0
            ),
            Self::PuntAddress { interface } => write!(
                f,
                "what is for the router goes to a host behind the interface {interface}, which has \
                 no address to ask for neighbours with: give it one"
            ),
            Self::NatVrfs => f.write_str(
                "NAT tells flows apart by their addresses, which several VRFs may have in \
                 common: leave out nat, or the VRFs",
            ),
            _ => Ok(()),
        }
    }

    fn of_an_interface(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTwice { interface } => write!(
                f,
                "two interfaces are called {interface}: give each a name of its own"
            ),
            Self::NoPort { interface, port } => write!(
                f,
                "the interface {interface} is on port {}, which is not there: name the \
                 port, or leave the interface out",
                u16::from(port.0) + 1
            ),
            Self::SamePlace { interface, other } => write!(
                f,
                "the interfaces {other} and {interface} have the same port and VLANs, so \
                 that nobody can tell whose a frame is: give one another VLAN, or its \
                 addresses to the other"
            ),
            Self::Vlan { interface, vlan } => write!(
                f,
                "{vlan} is no VLAN for the interface {interface}: give a number from 1 to \
                 {VLAN_MAX}"
            ),
            Self::Mac { interface, mac } => write!(
                f,
                "{mac} is no address of a station: give the interface {interface} one \
                 that is neither a group's nor zero"
            ),
            Self::Mtu {
                interface,
                mtu,
                least,
            } => write!(
                f,
                "an MTU of {mtu} is too small for the interface {interface}: give {least} \
                 bytes at least"
            ),
            _ => Ok(()),
        }
    }

    fn of_an_address(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddressLen {
                interface,
                address,
                len,
                most,
            } => write!(
                f,
                "{address}/{len} of the interface {interface} is longer than an address: \
                 give a length up to {most}"
            ),
            Self::Address {
                interface,
                address,
                len,
            } => write!(
                f,
                "{address}/{len} is no address for the interface {interface}: give one \
                 that is neither a group's nor reserved, and not the first or last of its \
                 prefix"
            ),
            Self::AddressTwice {
                address,
                interface,
                other,
            } => write!(
                f,
                "{address} is an address of the interfaces {other} and {interface}: leave \
                 it to one, once"
            ),
            Self::PrefixTwice {
                prefix,
                interface,
                other,
            } => write!(
                f,
                "{prefix} lies behind the interfaces {other} and {interface}, so that \
                 nobody can tell where its stations are: give one of them another prefix"
            ),
            _ => Ok(()),
        }
    }

    fn of_a_route(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RouteLen { address, len, most } => write!(
                f,
                "the route to {address}/{len} is longer than an address: give a length up \
                 to {most}"
            ),
            Self::HostBits { address, right } => write!(
                f,
                "the route to {address}/{} has bits past its prefix: write {right}",
                right.len
            ),
            Self::RouteTwice { prefix } => write!(
                f,
                "there are two routes to {prefix}: leave one, with all its next hops"
            ),
            Self::RouteConnected { prefix, interface } => write!(
                f,
                "the route to {prefix} contradicts the interface {interface}, behind \
                 which that prefix lies: leave the route out, or make it longer"
            ),
            _ => Ok(()),
        }
    }

    fn of_a_hop(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HopCount { prefix, count } => write!(
                f,
                "the route to {prefix} has {count} next hops: give it 1 to {HOPS_MAX}"
            ),
            Self::Weight { prefix, weight } => write!(
                f,
                "{weight} is no weight for a next hop of {prefix}: give one from 1 to \
                 {WEIGHT_MAX}"
            ),
            Self::RouteInterface { prefix, id } => write!(
                f,
                "the route to {prefix} leads to interface number {}, which is not there: \
                 name one that is",
                id.0
            ),
            Self::RouteVrf {
                prefix,
                vrf,
                interface,
                other,
            } => {
                let table = |vrf: &Option<String>| match vrf {
                    Some(name) => format!("the VRF {name}"),
                    None => "no VRF".to_owned(),
                };
                write!(
                    f,
                    "the route to {prefix} is of {}, and its interface {interface} of {}: write \
                     `table NAME` of the same VRF, or none, or name another interface",
                    table(vrf),
                    table(other)
                )
            }
            Self::NoWay { prefix } => write!(
                f,
                "the route to {prefix} does not say where it leads: name a gateway or an \
                 interface"
            ),
            Self::NoSource { prefix, interface } => write!(
                f,
                "the route to {prefix} leads to the interface {interface}, which has no \
                 address of that family to ask for neighbours with: give it one"
            ),
            _ => Ok(()),
        }
    }

    fn of_a_gateway(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GatewayFamily { prefix, gateway } => write!(
                f,
                "the gateway {gateway} is of another family than its route to {prefix}: \
                 give one of the same"
            ),
            Self::GatewayOwn { prefix, gateway } => write!(
                f,
                "the gateway {gateway} of the route to {prefix} is this router's own \
                 address: give that of the next router"
            ),
            Self::GatewayAddress { prefix, gateway } => write!(
                f,
                "the gateway {gateway} of the route to {prefix} is no address of a \
                 station: give one that is neither a group's nor reserved"
            ),
            Self::GatewayLink { prefix, gateway } => write!(
                f,
                "the gateway {gateway} of the route to {prefix} is link-local, and may be \
                 there on every link: name its interface with `dev`"
            ),
            Self::GatewayElsewhere {
                prefix,
                gateway,
                interface: None,
                prefixes,
            } => write!(
                f,
                "the gateway {gateway} of the route to {prefix} is behind no interface, whose \
                 prefixes are {prefixes}: give an interface an address beside it"
            ),
            Self::GatewayElsewhere {
                prefix,
                gateway,
                interface: Some(interface),
                prefixes,
            } => write!(
                f,
                "the gateway {gateway} of the route to {prefix} is not behind the interface \
                 {interface}, whose prefixes are {prefixes}: name another, or give it an address \
                 beside the gateway"
            ),
            _ => Ok(()),
        }
    }

    fn of_a_neighbour(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeighbourInterface { first, id } => write!(
                f,
                "the neighbour {first} is behind interface number {}, which is not there: \
                 name one that is",
                id.0
            ),
            Self::NeighbourFamily { first, last } => write!(
                f,
                "the neighbours {first}-{last} are of two families: give a range for each"
            ),
            Self::NeighbourOrder { first, last } => write!(
                f,
                "the neighbours {first}-{last} end before they begin: write \
                 {last}-{first}"
            ),
            Self::NeighbourMac { first, mac } => write!(
                f,
                "{mac} is no address of a station: give the neighbour {first} one that is \
                 neither a group's nor zero"
            ),
            Self::NeighbourElsewhere {
                first,
                last,
                interface,
                prefixes,
            } => write!(
                f,
                "the neighbours {first}-{last} are in no prefix of the interface \
                 {interface}, which has {prefixes}: name another, or give it an address \
                 there"
            ),
            Self::NeighbourAddress { address } => write!(
                f,
                "{address} is no address of a neighbour: give one that is neither the \
                 router's own nor reserved"
            ),
            Self::NeighbourTwice { address, interface } => write!(
                f,
                "{address} behind the interface {interface} is in two ranges of \
                 neighbours: leave one"
            ),
            _ => Ok(()),
        }
    }
}
