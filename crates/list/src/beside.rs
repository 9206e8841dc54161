//! Columns beside the one that is read. One that says how far an address reaches makes the line a
//! bad one: read without it, half of what the line means would be believed whole.
//!
//! Where the column was asked for by number, any other address counts, and a number right after
//! it that may be a prefix length. Where it was asked for by heading, so do columns whose
//! headings speak of an end or a length; under any other heading a mask, a count of addresses and
//! an address that may be the other end of a range do, unless it names something else: the
//! source and the destination of a flow are columns of their own. Wherever there are headings, any
//! number or mask under one for a length counts.

use crate::columns::Columns;
use crate::entry::{Entry, parse_address};
use crate::extent::{self, Extent};
use crate::fault::Fault;
use crate::json_beside::Role;
use crate::json_key::{is_own, words_of};
use crate::options::Purpose;
use crate::record::Field;
use crate::rest;
use crate::spared;
use std::net::IpAddr;

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

/// Words of headings of numbers that are no lengths.
const NUMBERS: [&str; 53] = [
    "abuse",
    "activity",
    "age",
    "as",
    "category",
    "cc",
    "class",
    "code",
    "confidence",
    "count",
    "country",
    "date",
    "day",
    "days",
    "events",
    "flags",
    "frequency",
    "host",
    "hour",
    "hours",
    "index",
    "isp",
    "lat",
    "level",
    "line",
    "lines",
    "lon",
    "month",
    "n",
    "no",
    "num",
    "number",
    "occurrences",
    "order",
    "port",
    "ports",
    "priority",
    "protocol",
    "rank",
    "rate",
    "rating",
    "risk",
    "row",
    "seen",
    "severity",
    "since",
    "threat",
    "time",
    "times",
    "ttl",
    "type",
    "weight",
    "year",
];

/// Which other columns matter.
pub(crate) struct Beside {
    /// All of them, and not only those with headings that say so.
    any: bool,
    /// By index.
    headings: Vec<Headed>,
}

/// What the heading of a column says.
struct Headed {
    words: Vec<String>,
    is_extent: bool,
    is_length: bool,
    is_count: bool,
    /// What stands there belongs to no address beside it.
    is_own: bool,
    /// No word of it is known, so that it may name a length, in another language.
    is_strange: bool,
}

impl Headed {
    fn of(heading: &[u8]) -> Self {
        let text = String::from_utf8_lossy(heading);
        let (words, role) = (words_of(&text), Role::of(&text));
        let is_extent = is_extent(heading);
        Self {
            is_extent,
            is_length: role == Role::Length,
            is_count: role == Role::Count,
            is_own: is_own(&words) && !is_extent,
            is_strange: !words.iter().any(|word| NUMBERS.contains(&word.as_str())),
            words,
        }
    }
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
        Self {
            any: false,
            headings: headings.iter().map(|heading| Headed::of(heading)).collect(),
        }
    }

    /// What is wrong with taking the entry at `at` alone.
    pub(crate) fn fault(&self, fields: &[Field<'_>], at: usize) -> Option<Fault> {
        let address = parse_address(&fields[at]);
        let reach = address.and_then(|address| self.reach(fields, (at, address)));
        if reach.is_some() {
            return reach;
        }
        let others = || (0..fields.len()).filter(|&index| index != at);
        let matters = |index: &usize| self.matters(*index);
        if others()
            .filter(matters)
            .any(|index| rest::is_exception(&fields[index]))
        {
            return Some(Fault::Exception);
        }
        let other = others().find(|&index| match self.matters(index) {
            true => holds_entry(&fields[index]),
            false => address.is_some_and(|address| self.may_be_end(index, address, fields)),
        })?;
        let pair = [at.min(other), at.max(other)];
        let all = extent::hint(fields).filter(|columns| *columns == Columns::All);
        let columns = all.or_else(|| extent::hint_of_pair(fields, pair));
        Some(Fault::OtherColumn(columns, number(at)))
    }

    /// What a number or a mask in another column says of how far the address at `at` reaches.
    fn reach(&self, fields: &[Field<'_>], (at, address): (usize, IpAddr)) -> Option<Fault> {
        let others = || (0..fields.len()).filter(|&index| index != at);
        if let Some(next) = extent::beside(fields, at) {
            let extent = Extent::of(address, &fields[next]);
            let fault = self.fault_of_next(extent, &fields[next], [at, next]);
            if fault.is_some() {
                return fault;
            }
        }
        let is_length = |index: &usize| {
            self.says(*index, |of| of.is_length) && extent::is_length_of(address, &fields[*index])
        };
        if let Some(index) = others().find(is_length) {
            return Some(Fault::MaybeLength(number(at), number(index)));
        }
        let is_count = |index: usize| {
            let count = std::str::from_utf8(&fields[index]).ok();
            let count = count.and_then(|count| count.trim().parse().ok());
            self.says(index, |of| of.is_count)
                && count.is_some_and(|count| extent::may_have_count(address, count))
        };
        others().any(is_count).then_some(Fault::AddressCount)
    }

    /// What is wrong when the column behind the address says this. A number there may be a length
    /// where nothing is known of the column; a mask or a count is one, unless its heading names
    /// something else.
    fn fault_of_next(
        &self,
        extent: Option<Extent>,
        field: &[u8],
        [at, next]: [usize; 2],
    ) -> Option<Fault> {
        let matters = self.matters(next);
        let is_known = !matters && self.says(next, |of| of.is_own);
        match extent? {
            Extent::Mask(_) if matters && parse_address(field).is_none() => {
                Some(Fault::MaybeLength(number(at), number(next)))
            }
            Extent::Mask(_) if !matters && !is_known => {
                Some(Fault::MaybeLength(number(at), number(next)))
            }
            Extent::Length(_) if matters || (!is_known && self.says(next, |of| of.is_strange)) => {
                Some(Fault::MaybeLength(number(at), number(next)))
            }
            Extent::Count if !is_known => Some(Fault::AddressCount),
            Extent::Wildcard(prefix_len) if !is_known => Some(Fault::Wildcard(prefix_len)),
            _ => None,
        }
    }

    /// Whether whatever stands in a column may belong to the address.
    fn matters(&self, index: usize) -> bool {
        self.any || self.says(index, |of| of.is_extent || of.is_length)
    }

    fn says(&self, index: usize, what: fn(&Headed) -> bool) -> bool {
        self.headings.get(index).is_some_and(what)
    }

    /// Whether a column under a heading that says nothing holds the other end of a range.
    fn may_be_end(&self, index: usize, address: IpAddr, fields: &[Field<'_>]) -> bool {
        let other = parse_address(&fields[index]);
        !self.says(index, |of| of.is_own)
            && other.is_some_and(|other| extent::may_be_ends(address, other))
    }

    /// Whether a field says the opposite of what the list is for: by its heading, or without one.
    pub(crate) fn contradicts(&self, fields: &[Field<'_>], purpose: Purpose) -> bool {
        let spares = |(index, field): (usize, &Field<'_>)| match self.headings.get(index) {
            Some(headed) => {
                spared::says_under(&headed.words, &String::from_utf8_lossy(field), purpose)
            }
            None => spared::is_word(field, purpose),
        };
        fields.iter().enumerate().any(spares)
    }
}

fn number(index: usize) -> u16 {
    u16::try_from(index + 1).unwrap_or(u16::MAX)
}

/// An entry, or an address with a port; ClassBench writes a mark before the source.
pub(crate) fn holds_entry(field: &[u8]) -> bool {
    let field = field.strip_prefix(b"@").unwrap_or(field);
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
