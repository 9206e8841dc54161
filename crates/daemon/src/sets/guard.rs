//! What a load is held against before it comes into force.
//!
//! An emptied download, half a file, a list in which somebody pasted another, or one with
//! `10.0.0.0/8` in it must not become what is blocked. Three guards, each of which `force`
//! overrides, and a key of the configuration. A list that was forced is known again, also after a
//! restart, until another one is accepted:
//!
//! * **Empty.** A load without entries never replaces a file part, unless `allow_empty` says so.
//! * **Changes too much.** Different entries are counted, not lines: a file with every line twice
//!   is the same list. Entries that are new, or entries that are gone, may be at most `max_change`
//!   of those before. The same holds of IPv4 addresses covered and of IPv6 /64 networks touched,
//!   where it is about 65,536 of them or more: one line `1.0.0.0/8` among thousands of addresses
//!   is one entry more, and sixteen million addresses. The first load is not held against anything.
//!   Neither is a list that is small before and after: below `max_change_floor` entries a person
//!   edits by hand, and one line more is a large share. A list that grows beyond the floor is held
//!   against the floor.
//! * **Covers private or own addresses.** What is *newly* covered may not reach into private,
//!   shared, loopback, link-local or multicast space (`list::special`), nor be an address of this
//!   machine, its gateways or its resolvers. Unspecified, broadcast and documentation addresses
//!   may be: lists of bogus sources have them and they do no harm. Sets that block nowhere are
//!   exempt, and so are sets that are told so in the configuration, and address space that a `keep`
//!   set exempts from all sets. What a set covers that only counts is reported, so that whoever
//!   turns it to block knows.

use super::config::Keeps;
use super::fault::{ChangeBy, Covered, Fault};
use super::lines::{self, live_entry};
use super::request::{Amendment, LoadedFrom};
use super::state::{SetState, Sets};
use engine::OwnAddress;
use list::special;
use plane::{Action, SetRule};
use std::net::IpAddr;
use table::live::{Difference, Entry, Sorted};

/// Fewer newly covered or uncovered addresses are no reason to refuse: one network of 16 bits.
const ADDRESSES_MIN: u64 = 1 << 16;

/// Entries that a change in place has at most: some milliseconds of work. More are loaded.
const AMENDED_MAX: usize = 2048;

/// Places of covered space that a refusal names; the rest is counted.
const COVERED_MAX: usize = 8;

/// Address space that a load may newly cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MayCover {
    /// Private and shared space.
    pub(super) private: bool,
    /// What hosts need to find each other, and this machine's own addresses outside private space.
    pub(super) local: bool,
}

/// What the keeper knows when a load begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guards {
    pub(super) max_change: f64,
    /// Lists with fewer entries are not held against `max_change`.
    pub(super) max_change_floor: u64,
    pub(super) allow_empty: bool,
    pub(super) may_cover: MayCover,
    /// No hit of the set drops anything.
    pub(super) only_counts: bool,
    /// What the list is known by that is in force, where somebody forced it.
    pub(super) forced: Option<u64>,
}

impl Sets {
    /// What a load of this set is held against.
    pub(super) fn guards(&self, set: usize) -> Guards {
        let SetState {
            config,
            rule,
            forced,
            ..
        } = &self.sets[set];
        let is_exempt = |space: Keeps| {
            let is_kept = |set: &SetState| {
                set.config.keeps == Some(space)
                    && set.rule.action == Action::Allow
                    && set.rule.exceptions.is_empty()
            };
            let allows = rule.action == Action::Allow && !may_block(rule);
            allows || config.allow_private || self.sets.iter().any(is_kept)
        };
        Guards {
            max_change: config.max_change,
            max_change_floor: config.max_change_floor,
            allow_empty: config.allow_empty,
            may_cover: MayCover {
                private: is_exempt(Keeps::Private),
                local: is_exempt(Keeps::Local),
            },
            only_counts: !may_block(rule),
            forced: *forced,
        }
    }
}

impl SetState {
    /// Says, once, what a set that goes over to blocking blocks and a guard would have refused.
    pub(super) fn warn_of_counted(&mut self) {
        if may_block(&self.rule)
            && let Some(counted) = self.counted.take()
        {
            tracing::warn!(set = %self.name, "the set blocks now, and {counted}");
        }
    }
}

/// Whether a hit drops a frame anywhere.
fn may_block(rule: &SetRule) -> bool {
    let exceptions = rule.exceptions.iter();
    let mut actions = exceptions.map(|exception| exception.action);
    rule.action == Action::Block || actions.any(|action| action == Action::Block)
}

/// What the guards say of a load.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Why it is refused; empty where it is not.
    pub(super) faults: Vec<Fault>,
    /// What would refuse it if the set did more than count.
    pub(super) counted: Option<Fault>,
}

/// Holds a load against all guards: who mends a list wants to know all that is wrong with it.
pub(super) fn check(
    guards: &Guards,
    sorted: &Sorted,
    difference: &Difference,
    from: &LoadedFrom,
    own: &[OwnAddress],
) -> Checked {
    let mut checked = Checked::default();
    if guards.forced == Some(sorted.fingerprint()) {
        return checked;
    }
    if difference.after.entries == 0 {
        if !guards.allow_empty {
            checked.faults.push(Fault::Empty);
        }
        return checked;
    }
    checked.faults.extend(changes(guards, difference));
    let covers = covers(guards.may_cover, sorted, from, own);
    match guards.only_counts {
        true => checked.counted = covers,
        false => checked.faults.extend(covers),
    }
    checked
}

fn changes(guards: &Guards, difference: &Difference) -> Option<Fault> {
    let Difference {
        before,
        after,
        added,
        removed,
    } = difference;
    let floor = guards.max_change_floor;
    if before.entries.max(after.entries) < floor {
        return None;
    }
    let entries = [before, after, added, removed].map(|share| share.entries);
    let addresses = [before, after, added, removed].map(|share| share.addresses_v4);
    let networks = [before, after, added, removed].map(|share| share.networks64_v6);
    let measures = [
        (ChangeBy::Entries, entries, 0, floor),
        (ChangeBy::AddressesV4, addresses, ADDRESSES_MIN, 0),
        (ChangeBy::Networks64V6, networks, ADDRESSES_MIN, 0),
    ];
    let share = |&(_, [before, _, added, removed], _, floor): &(_, [u64; 4], _, u64)| {
        added.max(removed) as f64 / before.max(floor).max(1) as f64
    };
    let too_much = measures.iter().filter(|measure| {
        let (_, [before, _, added, removed], least, _) = measure;
        *before > 0 && added.max(removed) >= least && share(measure) > guards.max_change
    });
    let needed = too_much.clone().map(share).fold(0.0, f64::max);
    let &(by, [before, after, added, removed], ..) = too_much.into_iter().next()?;
    Some(Fault::ChangesTooMuch {
        by,
        before,
        after,
        added,
        removed,
        max_change: guards.max_change,
        needed: (needed * 100.0).ceil() / 100.0,
    })
}

fn is_private(address: IpAddr) -> bool {
    let mut spaces = special::ALL.iter();
    spaces.any(|special| special.space.is_private() && special.entry().contains(address))
}

/// Address space that no list may newly cover, and what it is.
fn guarded(may_cover: MayCover, own: &[OwnAddress]) -> impl Iterator<Item = (Entry, String)> {
    let warned = special::ALL.iter().filter(move |special| {
        let exempt = match special.space.is_private() {
            true => may_cover.private,
            false => may_cover.local,
        };
        special.space.is_warned_of() && !exempt
    });
    let special = warned.map(|special| (live_entry(special.entry()), special.to_string()));
    let is_exempt =
        move |own: &OwnAddress| may_cover.local || may_cover.private && is_private(own.address);
    let own = own.iter().filter(move |own| !is_exempt(own)).map(|own| {
        let what = format!("{}, {}", own.address, own.role.phrase());
        (live_entry(list::Entry::address(own.address)), what)
    });
    special.chain(own)
}

/// Whether a change in place of a file part with so many entries is one that no guard would refuse,
/// whatever the rest of the list is: what is added is taken as new, and what is removed as there.
pub(super) fn is_harmless(
    guards: &Guards,
    before: u64,
    amendment: &Amendment,
    own: &[OwnAddress],
) -> bool {
    let (added, removed) = (&amendment.added, &amendment.removed);
    let (added_count, removed_count) = (added.len() as u64, removed.len() as u64);
    let share =
        added_count.max(removed_count) as f64 / before.max(guards.max_change_floor).max(1) as f64;
    let is_small = before + added_count < guards.max_change_floor || share <= guards.max_change;
    let is_narrow = |entries: &[Entry]| {
        let widths = entries.iter().map(width);
        widths.fold(0u64, u64::saturating_add) < ADDRESSES_MIN
    };
    let windows: Vec<Entry> = guarded(guards.may_cover, own)
        .map(|(window, _)| window)
        .collect();
    let is_guarded = |entry: &Entry| windows.iter().any(|window| meet(*entry, *window));
    added.len() + removed.len() <= AMENDED_MAX
        && removed_count < before
        && is_small
        && is_narrow(added)
        && is_narrow(removed)
        && !added.iter().any(is_guarded)
}

/// IPv4 addresses, or IPv6 networks of 64 bits, that an entry touches.
fn width(entry: &Entry) -> u64 {
    match entry {
        Entry::V4(range) => u64::from(range.last() - range.first()) + 1,
        Entry::V6(range) => {
            let more = (range.last() >> 64) - (range.first() >> 64);
            u64::try_from(more).unwrap_or(u64::MAX).saturating_add(1)
        }
    }
}

fn meet(a: Entry, b: Entry) -> bool {
    match (a, b) {
        (Entry::V4(a), Entry::V4(b)) => a.first() <= b.last() && b.first() <= a.last(),
        (Entry::V6(a), Entry::V6(b)) => a.first() <= b.last() && b.first() <= a.last(),
        _ => false,
    }
}

fn covers(
    may_cover: MayCover,
    sorted: &Sorted,
    from: &LoadedFrom,
    own: &[OwnAddress],
) -> Option<Fault> {
    let (windows, whats): (Vec<Entry>, Vec<String>) = guarded(may_cover, own).unzip();
    let newly = sorted.newly_covered(&windows);
    let found = newly.iter().zip(whats);
    let found = found.filter_map(|(newly, what)| newly.map(|newly| (newly, what)));
    let found: Vec<((Entry, u128), String)> = found.collect();
    let named = found
        .iter()
        .take(COVERED_MAX)
        .map(|((entry, first), what)| {
            let first = match entry {
                Entry::V4(_) => IpAddr::V4((*first as u32).into()),
                Entry::V6(_) => IpAddr::V6((*first).into()),
            };
            Covered {
                place: lines::place_of(from, *entry, first).to_string().into(),
                entry: *entry,
                what: what.as_str().into(),
            }
        });
    (!found.is_empty()).then(|| Fault::Covers {
        named: named.collect(),
        count: found.len(),
    })
}
