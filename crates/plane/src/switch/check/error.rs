//! Each thing that can be wrong, and its sentence: what, and what to do.

use std::fmt;
use std::time::Duration;

use frame::PortId;
use wire::MacAddress;

use super::super::config::{Mac, VLAN_MAX};
use super::{AGE_MAX, AGE_MIN, PRIORITY_MAX, STATIONS_MAX};
use crate::Ports;

/// One thing that is wrong with the settings of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchConfigError {
    /// It has no port.
    NoPorts,
    /// It has more ports than can be told apart.
    TooManyPorts {
        /// How many.
        count: usize,
    },
    /// A VLAN has a number that none can have.
    VlanNumber {
        /// The number.
        vlan: u16,
    },
    /// A VLAN is there twice.
    VlanTwice {
        /// Its number.
        vlan: u16,
    },
    /// A member of a VLAN is no port of the switch.
    VlanMember {
        /// The VLAN.
        vlan: u16,
        /// The member.
        port: PortId,
    },
    /// A port is a member of a VLAN tagged and untagged.
    TaggedAndUntagged {
        /// The VLAN.
        vlan: u16,
        /// The port.
        port: PortId,
    },
    /// The PVID of a port is not in the VLAN table.
    Pvid {
        /// The port.
        port: PortId,
        /// Its PVID.
        vlan: u16,
    },
    /// A priority is above 7.
    Priority {
        /// The port.
        port: PortId,
        /// Its priority.
        priority: u8,
    },
    /// The type of tags is that of something else.
    Tpid {
        /// The port.
        port: PortId,
        /// Its type of tags.
        tpid: u16,
    },
    /// A limit of flooded frames is 0.
    Storm {
        /// The port.
        port: PortId,
    },
    /// Something is set that only the mode `dot1q` has.
    NeedsDot1q {
        /// What.
        what: &'static str,
    },
    /// Groups of ports are set in another mode than `port`.
    NeedsPortMode,
    /// A group has fewer than two ports.
    GroupOfOne {
        /// Its place, from 0.
        group: usize,
    },
    /// A member of a group is no port of the switch.
    GroupMember {
        /// The place of the group, from 0.
        group: usize,
        /// The member.
        port: PortId,
    },
    /// The address of a static station is that of a group, or all zero.
    StaticAddress {
        /// The address.
        mac: Mac,
    },
    /// Two static entries for one station.
    StaticTwice {
        /// Its address.
        mac: Mac,
        /// Its VLAN.
        vlan: u16,
    },
    /// The VLAN of a static station is not in the VLAN table.
    StaticVlan {
        /// Its address.
        mac: Mac,
        /// Its VLAN.
        vlan: u16,
    },
    /// The port of a static station is no port of the switch, or no member of its VLAN.
    StaticPort {
        /// Its address.
        mac: Mac,
        /// Its VLAN.
        vlan: u16,
        /// Its port.
        port: PortId,
    },
    /// There are more static entries than stations.
    TooManyStatics {
        /// How many.
        count: usize,
        /// Stations at most.
        stations: u32,
    },
    /// No station may be learned at all, or more than can be numbered.
    Stations {
        /// How many.
        stations: u32,
    },
    /// The age is too short or too long.
    Age {
        /// The age.
        age: Duration,
    },
    /// A time for which no port can be left out.
    LoopQuiet {
        /// The time.
        lasts: Duration,
    },
}

impl SwitchConfigError {
    /// One sentence with what to do, in which `name` gives ports their names.
    #[must_use]
    pub fn sentence(&self, name: &dyn Fn(PortId) -> String) -> String {
        match *self {
            Self::NoPorts
            | Self::TooManyPorts { .. }
            | Self::Stations { .. }
            | Self::Age { .. }
            | Self::LoopQuiet { .. } => self.of_the_switch(),
            Self::VlanNumber { .. }
            | Self::VlanTwice { .. }
            | Self::VlanMember { .. }
            | Self::TaggedAndUntagged { .. } => self.of_a_vlan(name),
            Self::StaticAddress { .. }
            | Self::StaticTwice { .. }
            | Self::StaticVlan { .. }
            | Self::StaticPort { .. }
            | Self::TooManyStatics { .. } => self.of_a_static(name),
            _ => self.of_a_port(name),
        }
    }

    fn of_the_switch(&self) -> String {
        match *self {
            Self::NoPorts => "a switch needs a port: name some".to_owned(),
            Self::TooManyPorts { count } => format!(
                "{count} ports are more than the {} that a switch can have: use several",
                Ports::MAX
            ),
            Self::Stations { stations } => format!(
                "{stations} stations cannot be learned: give a number from 1 to {STATIONS_MAX}"
            ),
            Self::LoopQuiet { lasts } => format!(
                "a port of a loop cannot be left out for {lasts:?}: give {AGE_MIN:?} to {AGE_MAX:?}"
            ),
            Self::Age { age } => {
                format!("{age:?} is no age for stations: give one from {AGE_MIN:?} to {AGE_MAX:?}")
            }
            _ => String::new(),
        }
    }

    fn of_a_vlan(&self, name: &dyn Fn(PortId) -> String) -> String {
        match *self {
            Self::VlanNumber { vlan } => {
                format!("{vlan} is no VLAN: give a number from 1 to {VLAN_MAX}")
            }
            Self::VlanTwice { vlan } => {
                format!("VLAN {vlan} is given twice: name all its members at once")
            }
            Self::VlanMember { vlan, port } => format!(
                "VLAN {vlan} has the member {}, which is no port of the switch: name the port, or \
                 take the member out",
                name(port)
            ),
            Self::TaggedAndUntagged { vlan, port } => format!(
                "{} is a member of VLAN {vlan} both tagged and untagged: choose one",
                name(port)
            ),
            _ => String::new(),
        }
    }

    fn of_a_port(&self, name: &dyn Fn(PortId) -> String) -> String {
        match *self {
            Self::Pvid { port, vlan } => format!(
                "the PVID of {}, {vlan}, is not in the VLAN table: add that VLAN, or give another \
                 PVID",
                name(port)
            ),
            Self::Priority { port, priority } => format!(
                "{priority} is no priority for {}: give one from 0 to {PRIORITY_MAX}",
                name(port)
            ),
            Self::Tpid { port, tpid } => format!(
                "{tpid:#06x} cannot be the type of tags of {}, since other frames have it: 0x8100, \
                 0x88a8 and 0x9100 are usual",
                name(port)
            ),
            Self::Storm { port } => format!(
                "a storm limit of 0 lets nothing be flooded from {}, ARP neither: give frames a \
                 second, or no limit",
                name(port)
            ),
            Self::NeedsDot1q { what } => {
                format!("{what} needs VLANs: choose the VLAN mode dot1q, or leave it out")
            }
            Self::NeedsPortMode => {
                "groups of ports need the VLAN mode port: choose it, or leave them out".to_owned()
            }
            Self::GroupOfOne { group } => format!(
                "group {} has fewer than two ports, so that nobody can talk in it: add a port, or \
                 leave it out",
                group + 1
            ),
            Self::GroupMember { group, port } => format!(
                "group {} has the member {}, which is no port of the switch: name the port, or \
                 take the member out",
                group + 1,
                name(port)
            ),
            _ => String::new(),
        }
    }

    fn of_a_static(&self, name: &dyn Fn(PortId) -> String) -> String {
        match *self {
            Self::StaticAddress { mac } => format!(
                "{} is no address of a station: give one that is neither a group's nor zero",
                MacAddress(mac)
            ),
            Self::StaticTwice { mac, vlan } => format!(
                "{} has two static entries in VLAN {vlan}: leave one",
                MacAddress(mac)
            ),
            Self::StaticVlan { mac, vlan: 0 } => format!(
                "the static entry of {} names no VLAN, and there are some: write MAC@VLAN=PORT",
                MacAddress(mac)
            ),
            Self::StaticVlan { mac, vlan } => format!(
                "the static entry of {} is in VLAN {vlan}, which is not in the VLAN table: add the \
                 VLAN, or give another",
                MacAddress(mac)
            ),
            Self::StaticPort { mac, vlan, port } => format!(
                "the static entry of {} is at {}, which is no member of VLAN {vlan}: make it one, \
                 or give another port",
                MacAddress(mac),
                name(port)
            ),
            Self::TooManyStatics { count, stations } => format!(
                "{count} static entries are more than the {stations} stations that there is room \
                 for: raise the number of stations"
            ),
            _ => String::new(),
        }
    }
}

/// The sentence, with ports by their numbers from 1.
impl fmt::Display for SwitchConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence(&|port| format!("port {}", u16::from(port.0) + 1)))
    }
}

impl std::error::Error for SwitchConfigError {}
