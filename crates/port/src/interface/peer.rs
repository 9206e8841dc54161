//! The other end of a veth pair, where it is in this network namespace too.

use super::Interface;
use super::attached::reaches_out;
use super::names_here;
use super::sysfs::Folder;

/// What leaves checksums to the receiver's hardware.
const LEAVES: [&str; 3] = [
    "tx-checksum-ip-generic",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
];

/// The name of the other end; `None` where it is elsewhere, or there is none.
pub(super) fn name_of_peer(name: &str, index: u32) -> Option<String> {
    // The number of an end elsewhere is one of over there, and may be that of anything here.
    if reaches_out(index).unwrap_or(true) {
        return None;
    }
    let peer = Folder::of(name, index)?.number("iflink")?;
    let is_peer = |name: &String| {
        let folder = Folder::of(name, peer);
        folder.is_some_and(|folder| folder.number("iflink") == Some(index))
    };
    names_here().ok()?.into_iter().find(is_peer)
}

impl Interface {
    /// The sentence about the other end of a veth pair that leaves checksums to this one. Of an end
    /// in another network namespace only its frames tell.
    pub(crate) fn checksums_note(&self) -> Option<String> {
        if self.driver().ok()? != "veth" {
            return None;
        }
        let peer = name_of_peer(self.name(), self.index().ok()?)?;
        let features = Self::named(&peer).ok()?.features().ok()?;
        let leaves = |name: &str| LEAVES.contains(&name);
        let mut on = features.iter().filter(|feature| feature.active);
        on.any(|feature| leaves(&feature.name)).then(|| {
            let name = self.name();
            format!(
                "{name}: its other end {peer} leaves checksums to the receiver; `ethtool -K {peer} \
                 tx off` ends that"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_no_pair() {
        let loopback = Interface::named("lo").unwrap();
        assert_eq!(loopback.checksums_note(), None);
        // It says that it is its own link, and so is its other end.
        let peer = name_of_peer("lo", loopback.index().unwrap());
        assert!(peer.is_none_or(|name| name == "lo"));
    }
}
