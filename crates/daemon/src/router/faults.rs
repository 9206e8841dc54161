//! Which option or key a mistake in the settings as a whole is of.

use plane::router::RouterConfigError;

/// The option or key that is to be corrected.
pub(super) fn key_of(error: &RouterConfigError) -> &'static str {
    use RouterConfigError as E;
    match error {
        E::NoInterfaces
        | E::TooManyInterfaces { .. }
        | E::NameTwice { .. }
        | E::NoPort { .. }
        | E::SamePlace { .. }
        | E::Vlan { .. }
        | E::Mac { .. }
        | E::Mtu { .. }
        | E::AddressLen { .. }
        | E::Address { .. }
        | E::AddressTwice { .. }
        | E::PrefixTwice { .. } => "interface",
        E::TooManyVrfs { .. } | E::NoVrf { .. } | E::NatVrfs => "vrf",
        E::RouteVrf { .. }
        | E::RouteLen { .. }
        | E::HostBits { .. }
        | E::RouteTwice { .. }
        | E::RouteConnected { .. }
        | E::HopCount { .. }
        | E::Weight { .. }
        | E::RouteInterface { .. }
        | E::NoWay { .. }
        | E::NoSource { .. }
        | E::GatewayFamily { .. }
        | E::GatewayOwn { .. }
        | E::GatewayAddress { .. }
        | E::GatewayLink { .. }
        | E::GatewayElsewhere { .. } => "route",
        E::NeighbourInterface { .. }
        | E::NeighbourFamily { .. }
        | E::NeighbourOrder { .. }
        | E::NeighbourMac { .. }
        | E::NeighbourElsewhere { .. }
        | E::NeighbourAddress { .. }
        | E::NeighbourTwice { .. } => "neighbour",
        E::NoPunt { .. } | E::PuntAddress { .. } => "punt",
        E::Neighbours { .. } => "neighbours",
        E::Nat(_) => "nat",
    }
}
