//! The other end of a veth pair, where it is in this network namespace too.

use super::listed::Listed;
use super::{Feature, Interface};

/// Offloads by which a sender leaves checksums to hardware, which veth passes on to the receiver.
pub const CHECKSUMS_TX: [&str; 3] = [
    "tx-checksum-ip-generic",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
];

/// Offloads by which a sender leaves the cutting of segments to its hardware, which veth has not.
pub const SEGMENTING: [&str; 3] = [
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
];

/// What has a sender cut its segments itself, as words for `ethtool -K SENDER`: whoever leaves no
/// checksums to hardware leaves no segments, those of UDP neither, which `tso off gso off` does.
/// Generic segmentation (`gso`) may stay on: it cuts before the frame leaves.
pub const CUTTING: &str = "tx off";

impl Interface {
    /// The other end; `None` where it is elsewhere and cannot be asked, or there is none.
    pub(super) fn peer(&self) -> Option<Self> {
        if self.driver().ok()? != "veth" {
            return None;
        }
        let listed = Listed::of(self.index().ok()?).ok()?;
        Self::at(listed.peer()?.index)
    }

    /// The peer, where one of these offloads is on there.
    fn peer_with(&self, offloads: &[&str]) -> Option<Self> {
        let peer = self.peer()?;
        let features = peer.features().ok()?;
        let on = |feature: &Feature| feature.active && offloads.contains(&&feature.name[..]);
        features.iter().any(on).then_some(peer)
    }

    /// The sentence about the other end of a veth pair that leaves checksums to this one. Of an end
    /// in another network namespace only its frames tell.
    pub(crate) fn checksums_note(&self) -> Option<String> {
        let (name, peer) = (self.name(), self.peer_with(&CHECKSUMS_TX)?);
        let peer = peer.name();
        Some(format!(
            "{name}: its other end {peer} leaves checksums to the receiver; `ethtool -K {peer} tx \
             off` ends that"
        ))
    }

    /// A sentence for the start where the other end of a veth pair leaves segments merged, so that
    /// frames come that no wire ever had. `spec` is the port's.
    pub(crate) fn note_on_merging_peer(&self, spec: &str) -> Option<String> {
        let peer = self.peer_with(&SEGMENTING)?;
        let peer = peer.name();
        Some(format!(
            "{spec}: {peer}, its other end, leaves segments merged, and merged frames are left \
             out; have it cut them: ethtool -K {peer} {CUTTING}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loss;

    #[test]
    fn what_ends_merged_segments_is_the_same_everywhere() {
        assert!(
            Loss::Merged
                .remedy()
                .ends_with(&format!("ethtool -K SENDER {CUTTING}"))
        );
        for (page, sender) in [
            (include_str!("../../../../docs/guide.md"), "SENDER"),
            (include_str!("../../../../docs/ledger.md"), "SENDER"),
            (
                include_str!("../../../../docs/guide/two-namespaces.md"),
                "eth0",
            ),
        ] {
            let remedy = format!("ethtool -K {sender} {CUTTING}");
            assert!(page.contains(&remedy), "{remedy}");
            assert!(!page.contains("tso off"), "another remedy");
        }
    }

    #[test]
    fn the_loopback_is_no_pair() {
        let loopback = Interface::named("lo").unwrap();
        assert_eq!(loopback.checksums_note(), None);
        assert!(loopback.peer().is_none());
    }
}
