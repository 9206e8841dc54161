//! Special-purpose address space, declared once: what warnings speak of, and what a user can keep
//! out of reach of block lists.

use crate::entry::Entry;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use table::Entries;

/// What address space is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Private networks.
    Private,
    /// Between providers and their customers.
    Shared,
    /// A host and itself.
    Loopback,
    /// One link.
    LinkLocal,
    /// Groups.
    Multicast,
    /// A host that has no address yet. The one address only: the rest of `0.0.0.0/8` is a source
    /// that lists of bogons block for good reason.
    Unspecified,
    /// Everybody on a link.
    Broadcast,
}

impl Space {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// One or two words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Shared => "shared",
            Self::Loopback => "loopback",
            Self::LinkLocal => "link-local",
            Self::Multicast => "multicast",
            Self::Unspecified => "unspecified",
            Self::Broadcast => "broadcast",
        }
    }

    /// Whether it is private or shared, as `--keep private` exempts it; the rest is local.
    #[must_use]
    pub fn is_private(self) -> bool {
        matches!(self, Self::Private | Self::Shared)
    }

    /// Whether a list that covers it earns a warning. Unspecified and broadcast addresses stand in
    /// many lists of bogus sources, where they do no harm.
    #[must_use]
    pub fn is_warned_of(self) -> bool {
        !matches!(self, Self::Unspecified | Self::Broadcast)
    }
}

/// A network with a purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Special {
    /// What it is for.
    pub space: Space,
    /// The first address.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub prefix_len: u8,
    /// Where that is said.
    pub source: &'static str,
}

impl Special {
    /// The network as an entry.
    #[must_use]
    pub fn entry(&self) -> Entry {
        // Every line of `ALL` is a network, which a test asserts.
        Entry::network(self.address, self.prefix_len)
            .unwrap_or_else(|_| Entry::address(self.address))
    }
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} space {} ({})",
            self.space.name(),
            self.entry(),
            self.source
        )
    }
}

const fn v4(space: Space, address: [u8; 4], prefix_len: u8, source: &'static str) -> Special {
    let [a, b, c, d] = address;
    let address = IpAddr::V4(Ipv4Addr::new(a, b, c, d));
    Special {
        space,
        address,
        prefix_len,
        source,
    }
}

const fn v6(space: Space, top: u16, low: u16, prefix_len: u8, source: &'static str) -> Special {
    let address = IpAddr::V6(Ipv6Addr::new(top, 0, 0, 0, 0, 0, 0, low));
    Special {
        space,
        address,
        prefix_len,
        source,
    }
}

/// All of them.
pub const ALL: &[Special] = &[
    v4(Space::Private, [10, 0, 0, 0], 8, "RFC 1918"),
    v4(Space::Private, [172, 16, 0, 0], 12, "RFC 1918"),
    v4(Space::Private, [192, 168, 0, 0], 16, "RFC 1918"),
    v6(Space::Private, 0xFC00, 0, 7, "RFC 4193"),
    v4(Space::Shared, [100, 64, 0, 0], 10, "RFC 6598"),
    v4(Space::Loopback, [127, 0, 0, 0], 8, "RFC 1122"),
    v6(Space::Loopback, 0, 1, 128, "RFC 4291"),
    v4(Space::LinkLocal, [169, 254, 0, 0], 16, "RFC 3927"),
    v6(Space::LinkLocal, 0xFE80, 0, 10, "RFC 4291"),
    v4(Space::Multicast, [224, 0, 0, 0], 4, "RFC 5771"),
    v6(Space::Multicast, 0xFF00, 0, 8, "RFC 4291"),
    v4(Space::Unspecified, [0, 0, 0, 0], 32, "RFC 1122"),
    v6(Space::Unspecified, 0, 0, 128, "RFC 4291"),
    v4(Space::Broadcast, [255, 255, 255, 255], 32, "RFC 919"),
];

/// Private and shared space, as `--keep private` exempts it.
#[must_use]
pub fn private() -> Entries {
    entries_of(Space::is_private)
}

/// All that hosts need to find each other, as `--keep local` exempts it.
#[must_use]
pub fn local() -> Entries {
    entries_of(|space| !space.is_private())
}

fn entries_of(wanted: impl Fn(Space) -> bool) -> Entries {
    let mut entries = Entries::default();
    for special in ALL.iter().filter(|special| wanted(special.space)) {
        special.entry().push_to(&mut entries);
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_network_and_every_space_is_kept_once() {
        for special in ALL {
            assert!(
                Entry::network(special.address, special.prefix_len).is_ok(),
                "{special:?}"
            );
        }
        let kept = private().count() + local().count();
        assert_eq!(kept, ALL.len());
    }

    #[test]
    fn they_speak_for_themselves() {
        assert_eq!(ALL[0].to_string(), "private space 10.0.0.0/8 (RFC 1918)");
        assert_eq!(ALL[6].to_string(), "loopback space ::1 (RFC 4291)");
    }
}
