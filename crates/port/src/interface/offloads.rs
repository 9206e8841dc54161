//! Offloads switched off while a port is open, and put back when it is closed.

use super::found::{Found, Place};
use super::records::{Kept, Records};
use super::{HashSettings, Interface, Restored};
use crate::sys::ethtool::Feature;
use crate::sys::hardware_stamps::StampSettings;

/// What merges frames on receive into larger ones than the wire's.
pub const MERGING: [&str; 5] = [
    "rx-lro",
    "rx-gro",
    "rx-gro-hw",
    "rx-gro-list",
    "rx-udp-gro-forwarding",
];

/// What takes VLAN tags off received frames before XDP sees them: tags of 802.1Q and of 802.1ad.
pub const TAKING_TAGS: [&str; 2] = ["rx-vlan-hw-parse", "rx-vlan-stag-hw-parse"];

/// The offloads of one interface that were on and were switched off. Its owner calls
/// [`Offloads::put_back`] from its `Drop`; after `kill -9` the record is there, by which the next
/// start or `linerate restore` does it.
#[derive(Debug, Default)]
pub struct Offloads {
    /// The interface's number when they were changed.
    index: u32,
    changed: Vec<Feature>,
    /// Those that stayed on, whatever was asked.
    stayed: Vec<String>,
    record: Option<Kept>,
    /// What the user should know, a sentence each.
    notes: Vec<String>,
}

impl Offloads {
    /// Switches off those of `names` that the interface has and that are on or asked for, after
    /// what a dead process left is put back and what is there now is written down.
    /// What cannot be switched off is no error: see [`Offloads::stayed`].
    #[must_use]
    pub fn switch_off(interface: &Interface, names: &[&str]) -> Self {
        let restored = interface.restore();
        let mut offloads = Self {
            index: interface.index().unwrap_or(0),
            notes: restored.iter().filter_map(Restored::sentence).collect(),
            ..Self::default()
        };
        // Interfaces without any of this, old kernels: nothing to switch off.
        let mut features = interface.features().unwrap_or_default();
        features.retain(|feature| {
            let on = feature.active || feature.requested;
            names.contains(&feature.name.as_str()) && on && feature.changeable
        });
        offloads.write_down(interface, &features);
        features.retain(|feature| interface.set_feature(feature, false).is_ok());
        offloads.changed = features;
        if offloads.changed.is_empty() {
            offloads.record = None;
        }
        let stays = |feature: &Feature| feature.active && names.contains(&feature.name.as_str());
        let after = interface.features().unwrap_or_default();
        let stayed = after.into_iter().filter(stays).map(|feature| feature.name);
        offloads.stayed = stayed.collect();
        offloads
    }

    fn write_down(&mut self, interface: &Interface, features: &[Feature]) {
        let on = features.iter().filter(|feature| feature.requested);
        let names: Vec<String> = on.map(|feature| feature.name.clone()).collect();
        if names.is_empty() {
            return;
        }
        let changes = Changes {
            offloads: names,
            ..Changes::default()
        };
        match record(&Records::here(), interface, changes) {
            Ok(record) => self.record = Some(record),
            Err(error) => self.notes.push(not_written(interface.name(), &error)),
        }
    }

    /// What the user should know: what was put back first, and what would not be after `kill -9`.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The names of those that are still on.
    #[must_use]
    pub fn stayed(&self) -> &[String] {
        &self.stayed
    }

    /// The names of those that were switched off.
    pub fn changed(&self) -> impl Iterator<Item = &str> {
        self.changed.iter().map(|feature| feature.name.as_str())
    }

    /// Somebody who outlives this process keeps account of what is changed: nothing is put back
    /// after `kill -9` for this one's sake.
    pub fn hand_over(&mut self) {
        self.record = None;
    }

    /// Leaves everything as it is now, for somebody else to put back.
    pub fn leave(&mut self) {
        self.changed.clear();
    }

    /// Switches those of `names` on that the interface has.
    pub fn switch_on(interface: &Interface, names: &[&str]) {
        for feature in interface.features().unwrap_or_default() {
            if names.contains(&feature.name.as_str()) && !feature.requested {
                // As with `put_back`: what the kernel refuses stays off.
                let _ = interface.set_feature(&feature, true);
            }
        }
    }

    /// Puts everything back, the last change first, whatever the interface is called by now. One
    /// that was made anew since is left alone: it never had them changed.
    pub fn put_back(&mut self, interface: &Interface) {
        let changed = interface.numbered(self.index);
        for feature in self.changed.drain(..).rev() {
            if let Some(interface) = &changed {
                // Nobody is there any more to be told of a failure.
                let _ = interface.set_feature(&feature, feature.requested);
            }
        }
        self.record = None;
    }
}

/// What is about to be changed, as it is now.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) offloads: Vec<String>,
    pub(super) interrupts: Vec<(u32, String)>,
    pub(super) placement: Option<HashSettings>,
    pub(super) stamping: Option<StampSettings>,
    /// Nothing of it: it is to be a bridge's.
    pub(super) bridged: bool,
}

/// Writes down what is there before it is changed.
pub(super) fn record(
    records: &Records,
    interface: &Interface,
    changes: Changes,
) -> std::io::Result<Kept> {
    let Changes {
        offloads,
        interrupts,
        placement,
        stamping,
        bridged,
    } = changes;
    let place = Place::here().ok_or(std::io::ErrorKind::NotFound)?;
    let (_, address) = interface.hardware_address()?;
    records.keep(&Found {
        place,
        process: std::process::id(),
        index: interface.index()?,
        name: interface.name().to_owned(),
        address,
        offloads,
        interrupts,
        placement,
        stamping,
        bridged,
    })
}

pub(super) fn not_written(name: &str, error: &std::io::Error) -> String {
    let folder = Records::here().folder().display().to_string();
    format!(
        "{name}: what is changed on it cannot be written down in {folder} ({error}), so that \
         after `kill -9` nobody puts it back"
    )
}
