//! The settings of a switch in words: `10=A,Bt` for a VLAN, `A=10` for a port.

mod setting;
#[cfg(test)]
mod tests;
mod values;

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use plane::switch::{SwitchConfig, SwitchConfigError, SwitchTable, Vlan, VlanMode};

use super::PortNames;

/// Stations that are learned unless it is said otherwise.
const STATIONS: u32 = 65_536;
/// A station that sends nothing for so long is forgotten, unless it is said otherwise
/// (IEEE 802.1Q-2022, table 8-6).
const AGE: Duration = Duration::from_secs(300);

/// What a user wrote, by option or key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchWords {
    /// Which frames may pass between which ports; where it is left out, what the others need.
    pub vlan_mode: Option<VlanMode>,
    /// `10=A,Bt` or `10-20=A,Bt`.
    pub vlan: Vec<String>,
    /// `A,B`.
    pub group: Vec<String>,
    /// `A=10` or `A=none`.
    pub pvid: Vec<String>,
    /// `A=5`.
    pub priority: Vec<String>,
    /// `A=all`, `A=tagged` or `A=untagged`.
    pub accept: Vec<String>,
    /// `A=on` or `A=off`.
    pub filter: Vec<String>,
    /// `A=0x88a8`.
    pub tpid: Vec<String>,
    /// `A`, or `A=0x88a8` with the type of its tags.
    pub tunnel: Vec<String>,
    /// `A`.
    pub isolated: Vec<String>,
    /// `A`.
    pub hairpin: Vec<String>,
    /// `A=1000`, or `1000` for each port.
    pub storm: Vec<String>,
    /// `A=1000`.
    pub port_stations: Vec<String>,
    /// `MAC@VLAN=A`, or `MAC=A` where there are no VLANs.
    pub r#static: Vec<String>,
    /// After how long a station is forgotten.
    pub age: Option<Duration>,
    /// How many stations are learned.
    pub stations: Option<u32>,
    /// For how long a port is left out that a loop is noticed at; where it is left out, none is.
    pub loop_quiet: Option<Duration>,
    /// Frames to 01-80-C2-00-00-00 to 0F are forwarded.
    pub forward_reserved: bool,
}

/// A word that cannot be read, or settings that cannot be together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordError {
    /// The option or key, as fields of [`SwitchWords`] are called; none where several disagree.
    pub key: Option<&'static str>,
    /// Which of its words, from 0; none where it is not one alone.
    pub index: Option<usize>,
    /// What is wrong and what to do.
    pub sentence: String,
}

impl fmt::Display for WordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for WordError {}

/// Mistakes, as they are found.
#[derive(Default)]
pub(crate) struct Faults(Vec<WordError>);

impl Faults {
    /// What was read of the word at `index`; none after a mistake.
    pub(crate) fn take<T>(
        &mut self,
        key: &'static str,
        index: usize,
        read: Result<T, String>,
    ) -> Option<T> {
        let mistake = |sentence| WordError {
            key: Some(key),
            index: Some(index),
            sentence,
        };
        read.map_err(|sentence| self.0.push(mistake(sentence))).ok()
    }

    /// What was read of several.
    pub(crate) fn take_all<T>(
        &mut self,
        key: &'static str,
        texts: &[String],
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let numbered = texts.iter().enumerate();
        numbered
            .filter_map(|(index, text)| self.take(key, index, read(text)))
            .collect()
    }

    /// All mistakes so far.
    pub(crate) fn result(&mut self) -> Result<(), Vec<WordError>> {
        match std::mem::take(&mut self.0) {
            none if none.is_empty() => Ok(()),
            mistakes => Err(mistakes),
        }
    }
}

impl SwitchWords {
    /// The settings that are meant.
    ///
    /// # Errors
    ///
    /// All words that cannot be read; if there is none, all that is wrong with them together.
    pub fn table(&self, names: &PortNames) -> Result<SwitchTable, Vec<WordError>> {
        let table = SwitchTable::new(self.config(names)?).map_err(|errors| {
            let name = |port| names.shown(port);
            let said = |error: &SwitchConfigError| WordError {
                key: key_of(error),
                index: None,
                sentence: error.sentence(&name),
            };
            errors.iter().map(said).collect::<Vec<_>>()
        })?;
        match nobody_talks(table.config()) {
            None => Ok(table),
            Some(sentence) => Err(vec![WordError {
                key: Some("vlan_mode"),
                index: None,
                sentence: sentence.to_owned(),
            }]),
        }
    }

    /// The settings that are meant, which may not go together.
    ///
    /// # Errors
    ///
    /// All words that cannot be read.
    pub(crate) fn config(&self, names: &PortNames) -> Result<SwitchConfig, Vec<WordError>> {
        let mut faults = Faults::default();
        let vlans = self.vlans(names, &mut faults);
        let groups = faults.take_all("group", &self.group, |text| names.ports(text));
        let mode = self.vlan_mode.unwrap_or(match (vlans.len(), groups.len()) {
            (0, 0) => VlanMode::Default,
            (0, _) => VlanMode::Port,
            _ => VlanMode::Dot1q,
        });
        let statics = &self.r#static;
        let statics = faults.take_all("static", statics, |text| values::station(text, names));
        let config = SwitchConfig {
            ports: self.ports(names, &vlans, &mut faults),
            statics,
            mode,
            vlans,
            groups,
            age: self.age.unwrap_or(AGE),
            stations: self.stations(),
            loop_quiet: self.loop_quiet,
            forward_reserved: self.forward_reserved,
        };
        faults.result()?;
        Ok(config)
    }

    /// VLANs and their members, each VLAN once.
    fn vlans(&self, names: &PortNames, faults: &mut Faults) -> Vec<Vlan> {
        let mut vlans = Vec::new();
        let mut given = HashSet::new();
        for (index, text) in self.vlan.iter().enumerate() {
            let read = values::vlans(text, names);
            let read = read.and_then(|own| values::once(own, &mut given));
            vlans.extend(faults.take("vlan", index, read).unwrap_or_default());
        }
        vlans
    }

    fn stations(&self) -> u32 {
        self.stations.unwrap_or(STATIONS)
    }
}

/// A mode without what it asks for drops every frame, which nobody wants.
fn nobody_talks(config: &SwitchConfig) -> Option<&'static str> {
    let (vlans, groups) = (config.vlans.len(), config.groups.len());
    match (config.mode, vlans, groups) {
        (VlanMode::Dot1q, 0, _) => {
            Some("the mode dot1q without a VLAN drops every frame: add a VLAN, as in 10=A,Bt")
        }
        (VlanMode::Port, _, 0) => {
            Some("the mode port without a group drops every frame: add a group, as in A,B")
        }
        _ => None,
    }
}

/// The option or key that is to be corrected, if it is one.
fn key_of(error: &SwitchConfigError) -> Option<&'static str> {
    match error {
        SwitchConfigError::VlanNumber { .. }
        | SwitchConfigError::VlanTwice { .. }
        | SwitchConfigError::VlanMember { .. }
        | SwitchConfigError::TaggedAndUntagged { .. } => Some("vlan"),
        SwitchConfigError::Pvid { .. } => Some("pvid"),
        SwitchConfigError::Priority { .. } => Some("priority"),
        SwitchConfigError::Tpid { .. } => Some("tpid"),
        SwitchConfigError::Storm { .. } => Some("storm"),
        SwitchConfigError::NeedsPortMode
        | SwitchConfigError::GroupOfOne { .. }
        | SwitchConfigError::GroupMember { .. } => Some("group"),
        SwitchConfigError::StaticAddress { .. }
        | SwitchConfigError::StaticTwice { .. }
        | SwitchConfigError::StaticVlan { .. }
        | SwitchConfigError::StaticPort { .. } => Some("static"),
        SwitchConfigError::Stations { .. } | SwitchConfigError::TooManyStatics { .. } => {
            Some("stations")
        }
        SwitchConfigError::Age { .. } => Some("age"),
        SwitchConfigError::LoopQuiet { .. } => Some("loop_quiet"),
        SwitchConfigError::NoPorts
        | SwitchConfigError::TooManyPorts { .. }
        | SwitchConfigError::NeedsDot1q { .. } => None,
    }
}
