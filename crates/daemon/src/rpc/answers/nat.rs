//! What `show.nat` tells: which flows are translated, and into what.

use serde::{Deserialize, Serialize};

/// What `show.nat` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatParams {
    /// Where to go on: `next` of the answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

/// What `show.nat` answers: totals, and a part of the flows, in no order. One that comes or goes
/// meanwhile may come twice or not at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Nat {
    /// Since the start.
    pub seconds: f64,
    /// Flows and mappings now.
    pub flows: u64,
    /// As many as there can be.
    pub flows_max: u64,
    /// Flows begun since the start.
    pub begun: u64,
    /// Flows ended since the start.
    pub ended: u64,
    /// Of those, by other rules or other addresses of the router.
    #[serde(default)]
    pub revoked: u64,
    /// Packets translated since the start.
    pub translated: u64,
    /// Flows and mappings.
    pub entries: Vec<NatFlow>,
    /// Where the next part begins; none behind the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One flow, or one mapping. Of an echo, ports are its identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NatFlow {
    /// `tcp`, `udp` or `icmp`.
    pub protocol: String,
    /// Who began it, address and port.
    pub from: String,
    /// Where it was sent to; none of a mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// The source that it has behind the router.
    pub new_from: String,
    /// The destination that it has behind the router; none of a mapping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_to: Option<String>,
    /// `new`, `established`, `closing`, `echo` or `mapping`.
    pub state: String,
    /// Since its last packet.
    pub idle_seconds: u64,
    /// Until it is over if nothing comes.
    pub left_seconds: u64,
}
