//! Columns beside the one that is read. One that says how far an address reaches makes the line a
//! bad one: read without it, half of what the line means would be believed whole.
//!
//! Where the column was asked for by number, any other address counts, and a number right after
//! it that may be a prefix length. Where it was asked for by heading, so do columns whose
//! headings speak of an end or a length: the source and the destination of a flow are columns of
//! their own. Wherever there are headings, any number or mask under one for a length counts.

use crate::columns::Columns;
use crate::entry::{Entry, parse_address};
use crate::extent::{self, Extent};
use crate::fault::Fault;
use crate::json_beside::Role;
use crate::record::Field;
use crate::rest;

/// Headings, or words of them, of what belongs to an address beside it.
const WORDS: [&str; 31] = [
    "begin",
    "bits",
    "broadcast",
    "cidr",
    "end",
    "finish",
    "first",
    "from",
    "hi",
    "high",
    "last",
    "len",
    "length",
    "lo",
    "low",
    "lower",
    "mask",
    "masklen",
    "max",
    "min",
    "netmask",
    "prefix",
    "prefixlen",
    "prefixlength",
    "size",
    "start",
    "stop",
    "to",
    "until",
    "upper",
    "wildcard",
];

/// Which other columns matter.
pub(crate) struct Beside {
    /// All of them, and not only those with headings that say so.
    any: bool,
    /// By index.
    headings: Vec<Headed>,
}

/// What the heading of a column says.
#[derive(Clone, Copy)]
struct Headed {
    is_extent: bool,
    is_length: bool,
}

impl Beside {
    pub(crate) fn any() -> Self {
        Self {
            any: true,
            headings: Vec::new(),
        }
    }

    pub(crate) fn any_and_headings(headings: &[Field<'_>]) -> Self {
        Self {
            any: true,
            ..Self::by_headings(headings)
        }
    }

    pub(crate) fn by_headings(headings: &[Field<'_>]) -> Self {
        let headed = |heading: &Field<'_>| Headed {
            is_extent: is_extent(heading),
            is_length: Role::of(&String::from_utf8_lossy(heading)) == Role::Length,
        };
        Self {
            any: false,
            headings: headings.iter().map(headed).collect(),
        }
    }

    /// What is wrong with taking the entry at `at` alone.
    pub(crate) fn fault(&self, fields: &[Field<'_>], at: usize) -> Option<Fault> {
        let says = |index: usize, what: fn(&Headed) -> bool| {
            index != at && self.headings.get(index).is_some_and(what)
        };
        let matters = |index: &usize| {
            *index != at && (self.any || says(*index, |of| of.is_extent || of.is_length))
        };
        let number = |index: usize| u16::try_from(index + 1).unwrap_or(u16::MAX);
        let address = parse_address(&fields[at]);
        if let (Some(address), Some(next)) = (address, extent::beside(fields, at))
            && matters(&next)
        {
            match Extent::of(address, &fields[next]) {
                Some(Extent::Mask(_)) if parse_address(&fields[next]).is_none() => {
                    return Some(Fault::MaybeLength(number(at), number(next)));
                }
                Some(Extent::Length(_)) => {
                    return Some(Fault::MaybeLength(number(at), number(next)));
                }
                Some(Extent::Count) => return Some(Fault::AddressCount),
                Some(Extent::Wildcard(prefix_len)) => return Some(Fault::Wildcard(prefix_len)),
                _ => {}
            }
        }
        let mut lengths = (0..fields.len()).filter(|&index| says(index, |of| of.is_length));
        let is_length = |index: &usize| {
            address.is_some_and(|address| extent::is_length_of(address, &fields[*index]))
        };
        if let Some(index) = lengths.find(is_length) {
            return Some(Fault::MaybeLength(number(at), number(index)));
        }
        let others = || (0..fields.len()).filter(matters);
        if others().any(|index| rest::is_exception(&fields[index])) {
            return Some(Fault::Exception);
        }
        let other = others().find(|&index| holds_entry(&fields[index]))?;
        let pair = [at.min(other), at.max(other)];
        let all = extent::hint(fields).filter(|columns| *columns == Columns::All);
        let columns = all.or_else(|| extent::hint_of_pair(fields, pair));
        Some(Fault::OtherColumn(columns, number(at)))
    }
}

/// An entry, or an address with a port.
pub(crate) fn holds_entry(field: &[u8]) -> bool {
    rest::is_address(field) || Entry::parse_known(field).is_some()
}

/// Whether a heading speaks of an end or a length. Marks and words for addresses mean nothing:
/// `IP_end`, `endIP` and `end address` are `end`.
fn is_extent(heading: &[u8]) -> bool {
    let lower = heading.to_ascii_lowercase();
    let mut words = lower.split(|byte| !byte.is_ascii_alphanumeric());
    words.any(|word| {
        let word = std::str::from_utf8(word).unwrap_or_default();
        let stripped = [
            "ip", "ipv4", "ipv6", "address", "addr", "net", "range", "network",
        ];
        let mut bare = stripped
            .iter()
            .flat_map(|part| [word.strip_prefix(part), word.strip_suffix(part)]);
        WORDS.contains(&word) || bare.any(|bare| bare.is_some_and(|bare| WORDS.contains(&bare)))
    })
}

#[cfg(test)]
mod tests {
    use super::is_extent;

    #[test]
    fn headings_of_ends_and_lengths() {
        for heading in [
            "end",
            "End",
            "end_ip",
            "endIP",
            "IPEND",
            "ip_to",
            "last address",
            "Netmask",
            "mask",
            "prefix_len",
            "cidr",
            "start_ip",
            "range-end",
            "ip.last",
            "netmask",
        ] {
            assert!(is_extent(heading.as_bytes()), "{heading}");
        }
        for heading in [
            "dst_ip", "ip", "port", "country", "tor_node", "score", "legend", "network", "asn", "",
            "vendor",
        ] {
            assert!(!is_extent(heading.as_bytes()), "{heading}");
        }
    }
}
