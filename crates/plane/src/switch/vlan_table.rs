//! The settings of a switch, compiled: which ports a frame of a VLAN may leave by.

use frame::PortId;
use table::fdb::FdbLimits;

use super::SwitchConfigError;
use super::config::{SwitchConfig, SwitchPort, VLAN_MAX, VlanMode};
use crate::Ports;

/// The members of a VLAN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Members {
    pub(super) all: Ports,
    pub(super) tagged: Ports,
}

/// What a [`SwitchConfig`] says, ready for looking up. It does not change.
#[derive(Debug)]
pub struct SwitchTable {
    config: SwitchConfig,
    /// By VLAN; `None`: not in the table. Of one place in modes without VLANs.
    vlans: Vec<Option<Members>>,
    /// By ingress port.
    reach: Vec<Reach>,
}

/// The ports that a port may talk to whatever the VLAN, and itself if it may.
#[derive(Clone, Copy, Debug)]
struct Reach {
    ports: Ports,
    /// Those that it may not talk to only because both are isolated.
    isolated: Ports,
}

impl SwitchTable {
    /// Compiles settings.
    ///
    /// # Errors
    ///
    /// All that is wrong with them.
    pub fn new(config: SwitchConfig) -> Result<Self, Vec<SwitchConfigError>> {
        config.check()?;
        let numbered = || (0..=u8::MAX).map(PortId).zip(&config.ports);
        let isolated = numbered()
            .filter(|(_, settings)| settings.isolated)
            .fold(Ports::NONE, |ports, (port, _)| ports.with(port));
        let reach = numbered()
            .map(|(port, settings)| reach_of(&config, port, settings, isolated))
            .collect();
        Ok(Self {
            vlans: vlans_of(&config),
            reach,
            config,
        })
    }

    /// What was asked for.
    #[must_use]
    pub fn config(&self) -> &SwitchConfig {
        &self.config
    }

    /// Its ports.
    #[must_use]
    pub fn ports(&self) -> Ports {
        Ports::first(self.config.ports.len())
    }

    /// The ports that a frame may leave by which came in by `from` and is of `vlan`.
    #[must_use]
    #[inline]
    pub fn ports_out(&self, from: PortId, vlan: u16) -> Ports {
        let reach = self.reach.get(from.index());
        let members = self
            .members(vlan)
            .map_or(Ports::NONE, |members| members.all);
        reach.map_or(Ports::NONE, |reach| reach.ports.and(members))
    }

    /// Whether a frame of `vlan` may not leave by `to` only because both ports are isolated.
    pub(super) fn are_isolated(&self, from: PortId, vlan: u16, to: PortId) -> bool {
        let reach = self.reach.get(from.index());
        let is_member = self.members(vlan).is_some_and(|one| one.all.contains(to));
        is_member && reach.is_some_and(|reach| reach.isolated.contains(to))
    }

    #[inline]
    pub(super) fn members(&self, vlan: u16) -> Option<Members> {
        self.vlans.get(usize::from(vlan)).copied().flatten()
    }

    /// The settings of a port.
    #[inline]
    pub(super) fn port(&self, port: PortId) -> Option<&SwitchPort> {
        self.config.ports.get(port.index())
    }

    #[inline]
    pub(super) fn has_vlans(&self) -> bool {
        self.config.mode == VlanMode::Dot1q
    }

    /// Ports behind which a station may be known to `before` that this table does not send to
    /// there: they are gone, or left a VLAN or a group.
    pub(super) fn left_since(&self, before: &Self) -> Ports {
        let (old, new) = (&before.config, &self.config);
        if old.mode != new.mode || old.groups != new.groups {
            return before.ports();
        }
        let gone = before.ports().minus(self.ports());
        old.vlans.iter().fold(gone, |left, vlan| {
            let members = self.members(vlan.id).map_or(Ports::NONE, |own| own.all);
            left.or(vlan.tagged.or(vlan.untagged).minus(members))
        })
    }

    /// What the database of stations may hold.
    pub(super) fn limits(&self) -> FdbLimits {
        let by_port = self.config.ports.iter().map(|port| port.stations);
        FdbLimits {
            stations: self.config.stations,
            by_port: by_port.collect(),
            // At most `AGE_MAX`, which fits.
            age_ms: u32::try_from(self.config.age.as_millis()).unwrap_or(u32::MAX),
        }
    }
}

fn vlans_of(config: &SwitchConfig) -> Vec<Option<Members>> {
    if config.mode != VlanMode::Dot1q {
        return vec![Some(Members {
            all: Ports::first(config.ports.len()),
            tagged: Ports::NONE,
        })];
    }
    let mut vlans = vec![None; usize::from(VLAN_MAX) + 1];
    for vlan in &config.vlans {
        vlans[usize::from(vlan.id)] = Some(Members {
            all: vlan.tagged.or(vlan.untagged),
            tagged: vlan.tagged,
        });
    }
    vlans
}

fn reach_of(config: &SwitchConfig, port: PortId, settings: &SwitchPort, isolated: Ports) -> Reach {
    let all = Ports::first(config.ports.len());
    let groups = config.groups.iter().filter(|group| group.contains(port));
    let together = match config.mode {
        VlanMode::Default | VlanMode::Dot1q => all,
        VlanMode::Port => groups.fold(Ports::NONE, |ports, group| ports.or(*group)),
    };
    let others = together.without(port);
    let isolated = match settings.isolated {
        true => others.and(isolated),
        false => Ports::NONE,
    };
    let ports = others.minus(isolated);
    let ports = match settings.hairpin {
        true => ports.with(port),
        false => ports,
    };
    Reach { ports, isolated }
}
