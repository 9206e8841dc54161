//! What `show.neighbours` and `show.routes` tell: whom a router knows, and where packets go.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// What `show.neighbours` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighboursParams {
    /// Where to go on: `next` of the answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

/// What `show.neighbours` answers: a part of those that the first worker knows, in no order. One
/// that comes or goes meanwhile may come twice or not at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Neighbours {
    /// Since the start.
    pub seconds: f64,
    /// Neighbours; static ones are in the first part.
    pub neighbours: Vec<Neighbour>,
    /// Where the next part begins; none behind the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One neighbour, or a range of static ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The interface that it is behind, by its name.
    pub interface: String,
    /// Its address; the first and the last of a range, with `-` between.
    pub address: String,
    /// Its Ethernet address, where it has told one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
    /// `static`, or a state of RFC 4861: `reachable`, `stale`, `delay`, `probe`, `incomplete`;
    /// `failed`; or `followed`, the kernel's.
    pub state: String,
    /// Seconds since the state began; none of static ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<u64>,
}

/// What `show.routes` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutesParams {
    /// Those of this VRF; without it those of interfaces that are of none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vrf: Option<String>,
    /// The route to this address alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<IpAddr>,
    /// Where to go on: `next` of the answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

/// What `show.routes` answers: the route to an address, or a part of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Routes {
    /// Routes of IPv4, those to own addresses and prefixes included.
    pub count_v4: u64,
    /// The same of IPv6.
    pub count_v6: u64,
    /// The names of all VRFs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vrfs: Vec<String>,
    /// By their first addresses, IPv4 first; none where no route leads to the address.
    pub routes: Vec<RouteFacts>,
    /// Where the next part begins; none behind the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One route.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteFacts {
    /// As in `10.0.0.0/8`.
    pub prefix: String,
    /// `unicast`, `local`, `broadcast`, `blackhole`, `unreachable` or `prohibit`.
    pub kind: String,
    /// Where packets go next; of several the flow chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<HopFacts>,
}

/// One next hop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopFacts {
    /// The next router; none where the destination is on the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    /// The interface, by its name.
    pub interface: String,
}
