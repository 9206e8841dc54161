//! What a load is held against before it comes into force.
//!
//! An emptied download, half a file, a list in which somebody pasted another, or one with
//! `10.0.0.0/8` in it must not become what is blocked. Three guards, each of which `force`
//! overrides. A list that was forced is known again, also after a restart, until another one is
//! accepted:
//!
//! * **Empty.** A load without entries never replaces a file part.
//! * **Changes too much.** Different entries are counted, not lines: a file with every line twice
//!   is the same list. Entries that are new, or entries that are gone, may be at most `max_change`
//!   of those before. The same holds of IPv4 addresses covered and of IPv6 /64 networks touched,
//!   where it is about 65,536 of them or more: one line `1.0.0.0/8` among thousands of addresses
//!   is one entry more, and sixteen million addresses. The first load is not held against anything.
//! * **Covers private or own addresses.** What is *newly* covered may not reach into private,
//!   shared, loopback, link-local or multicast space (`list::special`), nor be an address of this
//!   machine, its gateways or its resolvers. Unspecified, broadcast and documentation addresses
//!   may be: lists of bogus sources have them and they do no harm. Sets that allow are exempt, and
//!   so are sets that are told so in the configuration.

use super::lines::{self, live_entry};
use super::name::SetName;
use super::refusal::{ChangeBy, Refusal};
use super::request::LoadedFrom;
use engine::OwnAddress;
use list::special;
use std::net::IpAddr;
use table::live::{Difference, Entry, Sorted};

/// Fewer newly covered or uncovered addresses are no reason to refuse: one network of 16 bits.
const ADDRESSES_MIN: u64 = 1 << 16;

/// What the keeper knows when a load begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guards {
    pub(super) max_change: f64,
    /// It may cover private and own addresses.
    pub(super) may_cover: bool,
    /// What the list is known by that is in force, where somebody forced it.
    pub(super) forced: Option<u64>,
}

/// Holds a load against the guards.
pub(super) fn check(
    set: &SetName,
    guards: &Guards,
    sorted: &Sorted,
    difference: &Difference,
    from: &LoadedFrom,
    own: &[OwnAddress],
) -> Result<(), Refusal> {
    if guards.forced == Some(sorted.fingerprint()) {
        return Ok(());
    }
    if difference.after.entries == 0 {
        return Err(Refusal::Empty {
            set: set.clone(),
            source: from.name.clone(),
            entries: difference.before.entries,
        });
    }
    changes(set, guards.max_change, difference, from)?;
    if guards.may_cover {
        return Ok(());
    }
    covers(set, sorted, from, own)
}

fn changes(
    set: &SetName,
    max_change: f64,
    difference: &Difference,
    from: &LoadedFrom,
) -> Result<(), Refusal> {
    let Difference {
        before,
        after,
        added,
        removed,
    } = difference;
    let entries = [before, after, added, removed].map(|share| share.entries);
    let addresses = [before, after, added, removed].map(|share| share.addresses_v4);
    let networks = [before, after, added, removed].map(|share| share.networks64_v6);
    let measures = [
        (ChangeBy::Entries, entries, 0),
        (ChangeBy::AddressesV4, addresses, ADDRESSES_MIN),
        (ChangeBy::Networks64V6, networks, ADDRESSES_MIN),
    ];
    for (by, [before, after, added, removed], least) in measures {
        let most = added.max(removed);
        if before > 0 && most >= least && most as f64 > max_change * before as f64 {
            return Err(Refusal::ChangesTooMuch {
                set: set.clone(),
                source: from.name.clone(),
                by,
                before,
                after,
                added,
                removed,
                max_change,
            });
        }
    }
    Ok(())
}

fn covers(
    set: &SetName,
    sorted: &Sorted,
    from: &LoadedFrom,
    own: &[OwnAddress],
) -> Result<(), Refusal> {
    let warned = special::ALL
        .iter()
        .filter(|special| special.space.is_warned_of());
    let special = warned.map(|special| (live_entry(special.entry()), special.to_string()));
    let own = own.iter().map(|own| {
        let what = format!("{}, {}", own.address, own.role.phrase());
        (live_entry(list::Entry::address(own.address)), what)
    });
    let (windows, whats): (Vec<Entry>, Vec<String>) = special.chain(own).unzip();
    let newly = sorted.newly_covered(&windows);
    let found = newly.iter().zip(whats);
    let mut found = found.filter_map(|(newly, what)| newly.map(|newly| (newly, what)));
    let Some(((entry, first), what)) = found.next() else {
        return Ok(());
    };
    let first = match entry {
        Entry::V4(_) => IpAddr::V4((first as u32).into()),
        Entry::V6(_) => IpAddr::V6(first.into()),
    };
    Err(Refusal::Covers {
        set: set.clone(),
        place: lines::place_of(from, entry, first).to_string().into(),
        entry,
        what: what.into(),
        count: 1 + found.count() as u64,
    })
}
