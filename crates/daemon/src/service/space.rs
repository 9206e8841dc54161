//! Address space that no set may block, as entries.

use table::Entries;

use crate::config::Space;

impl Space {
    /// What is in it, and for local space also what this machine is and needs.
    #[must_use]
    pub fn entries(self) -> Entries {
        if self == Self::Private {
            return list::special::private();
        }
        let mut entries = list::special::local();
        for own in engine::own_addresses() {
            list::Entry::address(own.address).push_to(&mut entries);
        }
        entries
    }
}
