//! What a switch is asked to do: its ports, VLANs, static entries and limits.

use std::time::Duration;

use frame::PortId;
use wire::ether_type;

use crate::Ports;

pub use table::fdb::Mac;

/// VLAN numbers run from 1 to 4094 (IEEE 802.1Q-2022, table 9-2).
pub const VLAN_MAX: u16 = 4094;

/// Which frames may pass between which ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VlanMode {
    /// All ports are one network; tags are data.
    #[default]
    Default,
    /// A port talks to the ports of its groups; tags are data.
    Port,
    /// VLANs by the tag or by the port (IEEE 802.1Q).
    Dot1q,
}

/// The frames that a port takes in (IEEE 802.1Q-2022, 6.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// All.
    #[default]
    All,
    /// Those whose tag names a VLAN.
    Tagged,
    /// Those without a tag, or whose tag has a priority alone.
    Untagged,
}

/// What is set for one port of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPort {
    /// The VLAN of frames that name none; `None`: such frames are dropped.
    pub pvid: Option<u16>,
    /// The priority (PCP) of frames that bring none, 0 to 7.
    pub priority: u8,
    /// The frames that it takes in.
    pub accept: Accept,
    /// Frames of a VLAN that the port is no member of are dropped.
    pub ingress_filter: bool,
    /// The type of tags that it knows: 0x8100 unless set. Other tags are data.
    pub tpid: u16,
    /// Every tag is a customer's data, and the port's frames are of the PVID (Q-in-Q).
    pub tunnel: bool,
    /// Does not talk to other isolated ports.
    pub isolated: bool,
    /// Frames may leave by the port that they came in by.
    pub hairpin: bool,
    /// Frames a second that it may have flooded; `None`: no limit.
    pub storm: Option<u32>,
    /// Stations that may be learned behind it at most.
    pub stations: u32,
}

impl SwitchPort {
    /// A port of which nothing is set: it takes in all frames of VLANs that it is a member of, and
    /// has so many stations at most.
    #[must_use]
    pub const fn plain(stations: u32) -> Self {
        Self {
            pvid: None,
            priority: 0,
            accept: Accept::All,
            ingress_filter: true,
            tpid: ether_type::VLAN,
            tunnel: false,
            isolated: false,
            hairpin: false,
            storm: None,
            stations,
        }
    }
}

/// One VLAN of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// Its number, 1 to [`VLAN_MAX`].
    pub id: u16,
    /// Members whose frames leave without a tag.
    pub untagged: Ports,
    /// Members whose frames leave with one.
    pub tagged: Ports,
}

/// A station that does not move and is not forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticStation {
    /// Its address, no group address.
    pub mac: Mac,
    /// Its VLAN; 0 in modes without VLANs.
    pub vlan: u16,
    /// The port that it is behind.
    pub port: PortId,
}

/// All that is set for a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// By port number.
    pub ports: Vec<SwitchPort>,
    /// Which frames may pass between which ports.
    pub mode: VlanMode,
    /// The VLAN table, of mode [`VlanMode::Dot1q`].
    pub vlans: Vec<Vlan>,
    /// Ports that talk to each other, of mode [`VlanMode::Port`].
    pub groups: Vec<Ports>,
    /// Stations that do not move.
    pub statics: Vec<StaticStation>,
    /// A station that sends nothing for so long is forgotten.
    pub age: Duration,
    /// Stations that all ports together may have learned.
    pub stations: u32,
    /// Of two ports that a loop is noticed between, the one with the higher number is left out for
    /// so long; `None`: loops are told of alone.
    pub loop_quiet: Option<Duration>,
    /// Frames to 01-80-C2-00-00-00 to 0F are forwarded, which bridges must not do
    /// (IEEE 802.1Q-2022, 8.6.3).
    pub forward_reserved: bool,
}
