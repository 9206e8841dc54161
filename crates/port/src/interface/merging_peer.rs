//! The other end of a veth pair, which may leave segments merged that a wire would have cut.

use super::peer::name_of_peer;
use super::{Feature, Interface};

/// Offloads by which a sender leaves the cutting of segments to its hardware, which veth has not.
const SEGMENTING: [&str; 3] = [
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
];

impl Interface {
    /// A sentence for the start where the other end of a veth pair leaves segments merged, so that
    /// frames come that no wire ever had; `None` too where that end is in another namespace and
    /// cannot be asked. `spec` is the port's.
    pub(crate) fn note_on_merging_peer(&self, spec: &str) -> Option<String> {
        let index = self.index().ok()?;
        let veth = self.driver().is_ok_and(|driver| driver == "veth");
        let peer = veth.then(|| name_of_peer(&self.name, index)).flatten()?;
        let features = Self::named(&peer).ok()?.features().ok()?;
        let merges = |feature: &Feature| feature.active && SEGMENTING.contains(&&feature.name[..]);
        features.iter().any(merges).then(|| {
            format!(
                "{spec}: {peer}, its other end, leaves segments merged, and merged frames are left \
                 out; have it cut them: ethtool -K {peer} tx off"
            )
        })
    }
}
