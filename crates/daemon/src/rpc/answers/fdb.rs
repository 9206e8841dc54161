//! What `show.fdb` tells: where a switch knows stations to be.

use serde::{Deserialize, Serialize};

/// What `show.fdb` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FdbParams {
    /// Stations of this VLAN alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// Stations behind this port alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Where to go on: `next` of the answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

/// What `show.fdb` answers: a part of the stations, in no order. One that moves meanwhile may come
/// twice or not at all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fdb {
    /// Since the start.
    pub seconds: f64,
    /// Stations.
    pub stations: Vec<Station>,
    /// Where the next part begins; none behind the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One station.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Station {
    /// Its VLAN; none where the switch has no VLANs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// Its address.
    pub mac: String,
    /// The port that it is behind.
    pub port: String,
    /// Whether it was given by the configuration, and does not move.
    pub r#static: bool,
    /// Seconds since it was seen; none of static ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<u32>,
}
