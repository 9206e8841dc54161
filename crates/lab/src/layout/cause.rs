//! Why blocks disturb each other, by arithmetic on where they lay.

use super::block::Block;
use crate::caches::{Cache, Caches};

/// Addresses that are equal in these bits are taken for one another by loads and stores.
const PAGE: u64 = 4096;
const LINE: u64 = 64;

/// Why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// More blocks begin in one set of the L1 cache than it has ways.
    FirstSet {
        /// How many begin there.
        blocks: u64,
        /// Lines that the set holds.
        ways: u64,
    },
    /// Two blocks begin a multiple of 4 KiB apart: loads wait for stores of other addresses.
    Alias,
    /// More blocks begin in one set of the L2 cache than it has ways, if its sets go by these
    /// addresses.
    SecondSet {
        /// How many begin there.
        blocks: u64,
        /// Lines that the set holds.
        ways: u64,
    },
    /// Nothing of that.
    NotByAddresses,
}

impl Cause {
    /// As programs read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FirstSet { .. } => "same_l1_set",
            Self::Alias => "alias_4k",
            Self::SecondSet { .. } => "same_l2_set",
            Self::NotByAddresses => "not_explained_by_addresses",
        }
    }
}

/// Why moving `blamed` makes a difference, which moving `partners` along undoes.
pub(super) fn cause(all: &[Block], blamed: &[usize], partners: &[usize], caches: Caches) -> Cause {
    let of = |orders: &[usize]| -> Vec<u64> {
        let blocks = orders.iter().filter_map(|&order| all.get(order));
        blocks.map(|block| block.address).collect()
    };
    let group = [of(blamed), of(partners)].concat();
    // Two blocks fill no set, whoever else begins there without a part in it.
    if group.len() > 2
        && let Some((blocks, ways)) = caches.first.and_then(|l1| crowded(l1, &group, all))
    {
        return Cause::FirstSet { blocks, ways };
    }
    if has_alias(&group) {
        return Cause::Alias;
    }
    if group.len() > 2
        && let Some((blocks, ways)) = caches.second.and_then(|l2| crowded(l2, &group, all))
    {
        return Cause::SecondSet { blocks, ways };
    }
    Cause::NotByAddresses
}

/// How many of all blocks begin in a set that several of the group do, where they are more than it
/// has ways.
fn crowded(cache: Cache, group: &[u64], all: &[Block]) -> Option<(u64, u64)> {
    let begins_in = |set: u64| move |address: u64| cache.set(address) == set;
    let sets = group.iter().map(|&address| cache.set(address));
    let shared = sets.filter(|&set| {
        let members = group.iter().filter(|&&address| begins_in(set)(address));
        members.count() > 1
    });
    let count = |set: u64| {
        all.iter()
            .filter(|block| begins_in(set)(block.address))
            .count()
    };
    let most = shared.map(count).max()? as u64;
    (most > cache.ways).then_some((most, cache.ways))
}

/// Whether two begin within a line of a multiple of 4 KiB from each other.
fn has_alias(group: &[u64]) -> bool {
    group.iter().enumerate().any(|(at, &a)| {
        group[at + 1..].iter().any(|&b| {
            let apart = a.abs_diff(b) % PAGE;
            apart < LINE || PAGE - apart < LINE
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::BlockKind;

    const CACHES: Caches = Caches {
        first: Some(Cache {
            sets: 64,
            ways: 8,
            line_bytes: 64,
        }),
        second: Some(Cache {
            sets: 1024,
            ways: 8,
            line_bytes: 64,
        }),
        third: None,
    };

    fn blocks(addresses: impl IntoIterator<Item = u64>) -> Vec<Block> {
        let block = |(order, address)| Block {
            order,
            address,
            size: 1 << 20,
            kind: BlockKind::Heap,
            offset: 0,
            sites: Vec::new(),
        };
        addresses.into_iter().enumerate().map(block).collect()
    }

    #[test]
    fn causes() {
        let pages = |count: u64| blocks((0..count).map(|n| n * 0x41000 + 16));
        let spread = |count: u64| blocks((0..count).map(|n| n * 0x41140));
        let second = |count: u64| blocks((0..count).map(|n| n * 0x1_0000 + n % 2 * 192));
        let eight: Vec<usize> = (8..16).collect();
        let first_set = |blocks| Cause::FirstSet { blocks, ways: 8 };
        for (all, blamed, partners, expected) in [
            (pages(40), &[17][..], &[20][..], Cause::Alias),
            (pages(16), &eight, &[0], first_set(16)),
            (pages(16), &eight, &[], first_set(16)),
            (pages(8), &[1, 2, 3], &[4], Cause::Alias),
            (spread(16), &[3], &[4], Cause::NotByAddresses),
            (spread(16), &[3], &[], Cause::NotByAddresses),
            (pages(16), &[3], &[], Cause::NotByAddresses),
            (second(9), &[0, 2], &[], Cause::Alias),
            // A byte before a multiple of 4 KiB is as near as one behind.
            (blocks([4096 * 5, 4096 * 9 - 16]), &[0], &[1], Cause::Alias),
            (
                blocks([4096 * 5, 4096 * 9 - 64]),
                &[0],
                &[1],
                Cause::NotByAddresses,
            ),
            // Orders that were never seen.
            (pages(2), &[7], &[9], Cause::NotByAddresses),
            (blocks([]), &[], &[], Cause::NotByAddresses),
        ] {
            let found = cause(&all, blamed, partners, CACHES);
            assert_eq!(found, expected, "{blamed:?} {partners:?} of {}", all.len());
        }
        let none = cause(&pages(16), &eight, &[0], Caches::default());
        assert_eq!(none, Cause::Alias);
    }
}
