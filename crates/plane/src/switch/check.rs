//! What can be wrong with the settings of a switch: all of it is found at once.

mod error;

use std::collections::HashSet;
use std::time::Duration;

use frame::PortId;
use wire::ether_type;

use super::config::{Accept, SwitchConfig, SwitchPort, VLAN_MAX, VlanMode};
use crate::Ports;

pub use error::SwitchConfigError;

/// Priorities are three bits.
const PRIORITY_MAX: u8 = 7;
/// Least and greatest age; IEEE 802.1Q-2022, table 8-6, has 10 s for the least.
const AGE_MIN: Duration = Duration::from_secs(1);
const AGE_MAX: Duration = Duration::from_secs(1_000_000);
/// Most stations: half a gigabyte a worker.
const STATIONS_MAX: u32 = 1 << 24;

type Errors = Vec<SwitchConfigError>;

impl SwitchConfig {
    /// Looks for mistakes.
    ///
    /// # Errors
    ///
    /// All that there are.
    pub fn check(&self) -> Result<(), Vec<SwitchConfigError>> {
        let mut errors = Vec::new();
        self.check_switch(&mut errors);
        self.check_vlans(&mut errors);
        for (port, settings) in (0..=u8::MAX).map(PortId).zip(&self.ports) {
            self.check_port(port, settings, &mut errors);
        }
        self.check_groups(&mut errors);
        self.check_statics(&mut errors);
        match errors.is_empty() {
            true => Ok(()),
            false => Err(errors),
        }
    }

    fn has_port(&self, port: PortId) -> bool {
        port.index() < self.ports.len()
    }

    fn has_vlan(&self, id: u16) -> bool {
        self.vlans.iter().any(|vlan| vlan.id == id)
    }

    fn check_switch(&self, errors: &mut Errors) {
        let (count, stations, age) = (self.ports.len(), self.stations, self.age);
        if count == 0 {
            errors.push(SwitchConfigError::NoPorts);
        }
        if count > Ports::MAX {
            errors.push(SwitchConfigError::TooManyPorts { count });
        }
        if !(1..=STATIONS_MAX).contains(&stations) {
            errors.push(SwitchConfigError::Stations { stations });
        }
        if !(AGE_MIN..=AGE_MAX).contains(&age) {
            errors.push(SwitchConfigError::Age { age });
        }
        let is_right = |lasts: &Duration| (AGE_MIN..=AGE_MAX).contains(lasts);
        if let Some(lasts) = self.loop_quiet.filter(|lasts| !is_right(lasts)) {
            errors.push(SwitchConfigError::LoopQuiet { lasts });
        }
    }

    fn check_vlans(&self, errors: &mut Errors) {
        if self.mode != VlanMode::Dot1q && !self.vlans.is_empty() {
            let what = "a VLAN table";
            errors.push(SwitchConfigError::NeedsDot1q { what });
        }
        let mut numbers = HashSet::new();
        for vlan in &self.vlans {
            let id = vlan.id;
            if !(1..=VLAN_MAX).contains(&id) {
                errors.push(SwitchConfigError::VlanNumber { vlan: id });
            }
            if !numbers.insert(id) {
                errors.push(SwitchConfigError::VlanTwice { vlan: id });
            }
            let members = vlan.tagged.or(vlan.untagged);
            for port in members.iter().filter(|&port| !self.has_port(port)) {
                errors.push(SwitchConfigError::VlanMember { vlan: id, port });
            }
            for port in vlan.tagged.and(vlan.untagged).iter() {
                errors.push(SwitchConfigError::TaggedAndUntagged { vlan: id, port });
            }
        }
    }

    fn check_port(&self, port: PortId, settings: &SwitchPort, errors: &mut Errors) {
        if self.mode == VlanMode::Dot1q {
            if let Some(vlan) = settings.pvid.filter(|&pvid| !self.has_vlan(pvid)) {
                errors.push(SwitchConfigError::Pvid { port, vlan });
            }
        } else if let Some(what) = needs_vlans(settings) {
            errors.push(SwitchConfigError::NeedsDot1q { what });
        }
        let (priority, tpid) = (settings.priority, settings.tpid);
        if priority > PRIORITY_MAX {
            errors.push(SwitchConfigError::Priority { port, priority });
        }
        if is_taken(tpid) {
            errors.push(SwitchConfigError::Tpid { port, tpid });
        }
        if settings.storm == Some(0) {
            errors.push(SwitchConfigError::Storm { port });
        }
    }

    fn check_groups(&self, errors: &mut Errors) {
        if self.mode != VlanMode::Port && !self.groups.is_empty() {
            errors.push(SwitchConfigError::NeedsPortMode);
        }
        for (group, ports) in self.groups.iter().enumerate() {
            if ports.len() < 2 {
                errors.push(SwitchConfigError::GroupOfOne { group });
            }
            for port in ports.iter().filter(|&port| !self.has_port(port)) {
                errors.push(SwitchConfigError::GroupMember { group, port });
            }
        }
    }

    fn check_statics(&self, errors: &mut Errors) {
        let count = self.statics.len();
        if count > self.stations as usize {
            let stations = self.stations;
            errors.push(SwitchConfigError::TooManyStatics { count, stations });
        }
        let mut known = HashSet::new();
        for entry in &self.statics {
            let (mac, vlan, port) = (entry.mac, entry.vlan, entry.port);
            if mac[0] & 1 != 0 || mac == [0; 6] {
                errors.push(SwitchConfigError::StaticAddress { mac });
            }
            if !known.insert((mac, vlan)) {
                errors.push(SwitchConfigError::StaticTwice { mac, vlan });
            }
            match self.members_of(vlan) {
                None => errors.push(SwitchConfigError::StaticVlan { mac, vlan }),
                Some(members) if !members.contains(port) => {
                    errors.push(SwitchConfigError::StaticPort { mac, vlan, port });
                }
                Some(_) => {}
            }
        }
    }

    /// The ports of a VLAN; all are in VLAN 0 where there are no others.
    fn members_of(&self, vlan: u16) -> Option<Ports> {
        if self.mode != VlanMode::Dot1q {
            return (vlan == 0).then(|| Ports::first(self.ports.len()));
        }
        let found = self.vlans.iter().find(|one| one.id == vlan)?;
        Some(found.tagged.or(found.untagged))
    }
}

/// What is set for a port that only the mode `dot1q` has.
fn needs_vlans(settings: &SwitchPort) -> Option<&'static str> {
    let asked = [
        (settings.pvid.is_some(), "a PVID"),
        (settings.priority != 0, "a priority"),
        (settings.accept != Accept::All, "which frames a port takes"),
        (settings.tunnel, "a tunnel port"),
        (settings.tpid != ether_type::VLAN, "a type of tags"),
    ];
    let found = asked.iter().find(|(is_set, _)| *is_set)?;
    Some(found.1)
}

/// Whether frames that are not tagged have this type.
fn is_taken(tpid: u16) -> bool {
    tpid <= ether_type::LENGTH_MAX
        || matches!(
            tpid,
            ether_type::IPV4
                | ether_type::IPV6
                | ether_type::ARP
                | ether_type::REVERSE_ARP
                | ether_type::LLDP
                | ether_type::JUMBO_LLC
        )
}
