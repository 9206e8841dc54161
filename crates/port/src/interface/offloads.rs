//! Offloads switched off while a port is open, and put back when it is closed.

use super::Interface;
use crate::sys::ethtool::Feature;

/// What merges frames on receive into larger ones than the wire's.
pub const MERGING: [&str; 5] = [
    "rx-lro",
    "rx-gro",
    "rx-gro-hw",
    "rx-gro-list",
    "rx-udp-gro-forwarding",
];

/// The offloads of one interface that were on and were switched off. Its owner calls
/// [`Offloads::put_back`] from its `Drop`; after `kill -9` nobody does.
#[derive(Debug, Default)]
pub struct Offloads {
    /// The interface's number when they were changed.
    index: u32,
    changed: Vec<Feature>,
    /// Those that stayed on, whatever was asked.
    stayed: Vec<String>,
}

impl Offloads {
    /// Switches off those of `names` that the interface has and that are on or asked for.
    /// What cannot be switched off is no error: see [`Offloads::stayed`].
    #[must_use]
    pub fn switch_off(interface: &Interface, names: &[&str]) -> Self {
        let mut offloads = Self {
            index: interface.index().unwrap_or(0),
            ..Self::default()
        };
        // Interfaces without any of this, old kernels: nothing to switch off.
        let features = interface.features().unwrap_or_default();
        for feature in features {
            let named = names.contains(&feature.name.as_str());
            let on = feature.active || feature.requested;
            if named && on && feature.changeable && interface.set_feature(&feature, false).is_ok() {
                offloads.changed.push(feature);
            }
        }
        let stays = |feature: &Feature| feature.active && names.contains(&feature.name.as_str());
        let after = interface.features().unwrap_or_default();
        let stayed = after.into_iter().filter(stays).map(|feature| feature.name);
        offloads.stayed = stayed.collect();
        offloads
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

    /// Puts everything back, the last change first. An interface that was made anew since is left
    /// alone: it never had them changed.
    pub fn put_back(&mut self, interface: &Interface) {
        let same = interface.index().is_ok_and(|index| index == self.index);
        for feature in self.changed.drain(..).rev() {
            if same {
                // Nobody is there any more to be told of a failure.
                let _ = interface.set_feature(&feature, feature.requested);
            }
        }
    }
}
