//! Address space that no set may block, as entries.

use engine::OwnAddress;
use table::Entries;

use crate::config::Space;

impl Space {
    /// What is in it, and for local space also what this machine is and needs.
    #[must_use]
    pub fn entries(self) -> Entries {
        if self == Self::Private {
            return list::special::private();
        }
        local_with(&engine::own_addresses())
    }
}

/// Local space of a machine that has these addresses.
pub(super) fn local_with(own: &[OwnAddress]) -> Entries {
    let mut entries = list::special::local();
    for own in own {
        list::Entry::address(own.address).push_to(&mut entries);
    }
    entries
}
