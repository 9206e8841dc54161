//! Looks at each entry for what a block list had better not cover. On the path of every line:
//! an address costs one look at a table of 256 bytes unless its first byte is watched.

use crate::entry::{Entry, Span};
use crate::options::OwnAddress;
use crate::special::{self, Special};
use std::net::IpAddr;
use table::Address;

/// What is watched, of both families.
pub(crate) struct Watch {
    v4: FamilyWatch<u32>,
    v6: FamilyWatch<u128>,
}

/// One thing that an entry touches.
#[derive(Clone, Copy)]
pub(crate) enum Concern {
    /// Every address of a family.
    Everything,
    /// A special network.
    Special(&'static Special),
    /// An address that the caller named.
    Own(OwnAddress),
}

impl Concern {
    /// Kinds of concern, each with its own bound on warnings.
    pub(crate) const KINDS: usize = special::Space::COUNT + 2;

    /// Which kind it is, below [`Self::KINDS`].
    pub(crate) fn kind(self) -> usize {
        match self {
            Self::Everything => special::Space::COUNT,
            Self::Own(_) => special::Space::COUNT + 1,
            Self::Special(special) => special.space as usize,
        }
    }

    /// The warning about `entry`.
    pub(crate) fn sentence(self, entry: Entry) -> String {
        match self {
            Self::Everything => {
                format!("{entry} is every address there is and covers the default route")
            }
            Self::Special(special) => {
                format!("{entry} {} {special}", relation(entry, special.entry()))
            }
            Self::Own(OwnAddress { address, role }) if entry == Entry::address(address) => {
                format!("{entry} is {role}")
            }
            Self::Own(OwnAddress { address, role }) => {
                format!("{entry} covers {address}, {role}")
            }
        }
    }
}

fn relation(entry: Entry, special: Entry) -> &'static str {
    fn of<A: Address>(entry: Span<A>, special: Span<A>) -> &'static str {
        if entry.contains(special.first()) && entry.contains(special.last()) {
            "covers"
        } else if special.contains(entry.first()) && special.contains(entry.last()) {
            "lies in"
        } else {
            "reaches into"
        }
    }
    match (entry, special) {
        (Entry::V4(entry), Entry::V4(special)) => of(entry, special),
        (Entry::V6(entry), Entry::V6(special)) => of(entry, special),
        _ => "is beside",
    }
}

impl Watch {
    /// Watches the special networks and these addresses.
    pub(crate) fn new(own: &[OwnAddress]) -> Self {
        let mut watch = Self {
            v4: FamilyWatch::new(),
            v6: FamilyWatch::new(),
        };
        for special in special::ALL
            .iter()
            .filter(|special| special.space.is_warned_of())
        {
            match special.entry() {
                Entry::V4(span) => watch.v4.special(span, special),
                Entry::V6(span) => watch.v6.special(span, special),
            }
        }
        for &own in own {
            match own.address {
                IpAddr::V4(address) => watch.v4.own(address.to_bits(), own),
                IpAddr::V6(address) => watch.v6.own(address.to_bits(), own),
            }
        }
        watch.v4.own.sort_by_key(|&(address, _)| address);
        watch.v6.own.sort_by_key(|&(address, _)| address);
        watch
    }

    /// True when an IPv4 address may be of concern; false is certain.
    #[inline]
    pub(crate) fn may_concern_v4(&self, address: u32) -> bool {
        self.v4.tops[(address >> 24) as usize]
    }

    /// Calls `tell` for each thing that `entry` touches; for all of a family, only for that.
    pub(crate) fn concerns(&self, entry: Entry, tell: &mut dyn FnMut(Concern)) {
        if entry.is_everything() {
            return tell(Concern::Everything);
        }
        match entry {
            Entry::V4(span) => self.v4.concerns(span, tell),
            Entry::V6(span) => self.v6.concerns(span, tell),
        }
    }
}

/// What is watched of one family.
struct FamilyWatch<A> {
    special: Vec<(Span<A>, &'static Special)>,
    own: Vec<(A, OwnAddress)>,
    /// The first bytes of all that is watched.
    tops: [bool; 256],
}

impl<A: Address> FamilyWatch<A> {
    fn new() -> Self {
        Self {
            special: Vec::new(),
            own: Vec::new(),
            tops: [false; 256],
        }
    }

    fn special(&mut self, span: Span<A>, special: &'static Special) {
        self.special.push((span, special));
        self.tops[top(span.first())..=top(span.last())].fill(true);
    }

    fn own(&mut self, address: A, own: OwnAddress) {
        self.own.push((address, own));
        self.tops[top(address)] = true;
    }

    fn concerns(&self, span: Span<A>, tell: &mut dyn FnMut(Concern)) {
        let (first, last) = (span.first(), span.last());
        if !self.tops[top(first)..=top(last)].contains(&true) {
            return;
        }
        for &(watched, special) in &self.special {
            if watched.first() <= last && first <= watched.last() {
                tell(Concern::Special(special));
            }
        }
        let start = self.own.partition_point(|&(address, _)| address < first);
        for &(_, own) in self.own[start..]
            .iter()
            .take_while(|&&(address, _)| address <= last)
        {
            tell(Concern::Own(own));
        }
    }
}

/// The first byte of an address.
fn top<A: Address>(address: A) -> usize {
    address.top16() >> 8
}
