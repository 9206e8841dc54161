//! What `show.vlans` tells: what a switch did, and frames by VLAN.

use serde::{Deserialize, Serialize};

/// What `show.vlans` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vlans {
    /// Since the start.
    pub seconds: f64,
    /// What the switch counted, as its report has it.
    pub events: Vec<SwitchEvent>,
    /// In the order of the configuration; one without a number where there are no VLANs.
    pub vlans: Vec<VlanFacts>,
}

/// One count of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchEvent {
    /// As `learned` or `flooded`.
    pub event: String,
    /// How often.
    pub count: u64,
}

/// One VLAN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VlanFacts {
    /// Its number; none where the switch has no VLANs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vlan: Option<u16>,
    /// Members whose frames leave without a tag.
    pub untagged: Vec<String>,
    /// Members whose frames leave with one.
    pub tagged: Vec<String>,
    /// Frames that were taken in.
    pub in_frames: u64,
    /// Frames that were given to ports to send, copies included.
    pub out_frames: u64,
}
