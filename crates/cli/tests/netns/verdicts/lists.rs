//! Random lists of addresses, networks and ranges, as lines of text and as elements of nft sets;
//! and addresses in them, at their edges and beside them.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::random::Random;

/// Entries of one family, as first and last address.
pub(crate) struct Family {
    bits: u32,
    entries: Vec<(u128, u128)>,
}

/// One list of both families.
pub(crate) struct List {
    pub(crate) v4: Family,
    pub(crate) v6: Family,
}

impl List {
    pub(crate) fn draw(random: &mut Random) -> Self {
        Self {
            v4: Family::draw(random, 32, [2_000, 200, 100]),
            v6: Family::draw(random, 128, [1_000, 100, 50]),
        }
    }

    /// One entry a line.
    pub(crate) fn text(&self) -> String {
        let mut lines = self.v4.written();
        lines.append(&mut self.v6.written());
        lines.join("\n")
    }

    /// Two sets of nftables, one a family.
    pub(crate) fn sets(&self, name: &str) -> String {
        let mut text = String::new();
        let families = [(4, "ipv4_addr", &self.v4), (6, "ipv6_addr", &self.v6)];
        for (digit, kind, family) in families {
            let elements = family.written().join(", ");
            writeln!(
                text,
                "set {name}{digit} {{ type {kind}; flags interval; auto-merge; \
                 elements = {{ {elements} }} }}"
            )
            .expect("memory");
        }
        text
    }
}

impl Family {
    /// So many addresses, networks and ranges; some lie in each other.
    fn draw(random: &mut Random, bits: u32, [addresses, networks, ranges]: [usize; 3]) -> Self {
        let mask = u128::MAX >> (128 - bits);
        let mut entries = Vec::new();
        for _ in 0..addresses {
            let address = random.wide() & mask;
            entries.push((address, address));
        }
        for _ in 0..networks {
            let host_bits = random.below(bits as usize * 3 / 4) as u32;
            let first = (random.wide() & mask) >> host_bits << host_bits;
            entries.push((first, first | ((1 << host_bits) - 1)));
        }
        for _ in 0..ranges {
            let first = random.wide() & mask;
            let length = random.wide() >> (128 - random.below(bits as usize * 3 / 4).max(1));
            entries.push((first, first.saturating_add(length).min(mask)));
        }
        Self { bits, entries }
    }

    /// Adds every third entry of another list of the family.
    pub(crate) fn take_some(&mut self, of: &Self) {
        self.entries.extend(of.entries.iter().step_by(3));
    }

    fn written(&self) -> Vec<String> {
        let entry = |&(first, last): &(u128, u128)| {
            let host_bits = (last - first).count_ones();
            let network = (first ^ last) == last - first && (last - first + 1).is_power_of_two();
            let (first, last) = (self.address(first), self.address(last));
            match () {
                () if first == last => first,
                () if network => format!("{first}/{}", self.bits - host_bits),
                () => format!("{first}-{last}"),
            }
        };
        self.entries.iter().map(entry).collect()
    }

    fn address(&self, number: u128) -> String {
        if self.bits == 32 {
            Ipv4Addr::from(number as u32).to_string()
        } else {
            Ipv6Addr::from(number).to_string()
        }
    }

    /// In an entry, at one of its ends or right beside it, in so many of a hundred; else any.
    pub(crate) fn near(&self, random: &mut Random, share: u64) -> u128 {
        let mask = u128::MAX >> (128 - self.bits);
        if !random.percent(share) {
            return random.wide() & mask;
        }
        let &(first, last) = random.pick(&self.entries);
        let within = || last - first;
        match random.below(5) {
            0 => first,
            1 => last,
            2 => first.wrapping_sub(1) & mask,
            3 => last.wrapping_add(1) & mask,
            _ => first + random.wide() % within().saturating_add(1),
        }
    }
}
