//! Arrays of JSON that may be one entry: the two ends of a range, an address and its prefix length,
//! a row of a table.

use crate::entry::{Entry, parse_address};
use crate::extent::{self, Extent};
use crate::fault::Fault;
use crate::json_key::is_range;
use crate::json_path::Step;
use crate::json_places::Leaf;
use std::net::IpAddr;

/// The longest row; a longer array is a list.
const ROW_MAX: usize = 64;
/// The longest array that may be one entry where nothing says that it is a row.
const PAIR_MAX: usize = 3;

/// The elements of an array, as long as they may be a row.
pub(crate) struct Row {
    /// In an array of arrays, or under a key that says so.
    is_row: bool,
    pub(crate) held: Vec<Leaf>,
    /// Elements so far, also those that are no values.
    pub(crate) count: usize,
}

impl Row {
    /// The array that `path` leads to.
    pub(crate) fn of(path: &[Step]) -> Self {
        let is_row = match path.last() {
            Some(Step::Items) => true,
            Some(Step::Key(key)) => is_range(key),
            _ => false,
        };
        Self {
            is_row,
            held: Vec::new(),
            count: 0,
        }
    }

    /// Adds an element; gives back what is no row.
    pub(crate) fn push(&mut self, leaf: Option<Leaf>) -> Vec<Leaf> {
        self.count += 1;
        self.held.extend(leaf);
        let row_max = if self.is_row { ROW_MAX } else { PAIR_MAX };
        if self.count <= row_max {
            return Vec::new();
        }
        std::mem::take(&mut self.held)
    }

    /// What is wrong with reading the elements that are held one by one.
    pub(crate) fn fault(&self) -> Option<Fault> {
        let texts: Vec<&str> = self.held.iter().map(|leaf| leaf.text.as_str()).collect();
        let is_one = if self.is_row {
            is_row(&texts, self.count)
        } else {
            is_pair(&texts, self.count)
        };
        is_one.then_some(Fault::JsonPair)
    }
}

impl Row {
    /// Two addresses of one family and nothing else: two entries, or the ends of a range.
    pub(crate) fn is_two(&self) -> bool {
        let addresses = self.held.iter().map(|leaf| address(&leaf.text));
        let families: Vec<_> = addresses.map(|of| of.map(|of| of.is_ipv4())).collect();
        self.count == 2 && matches!(families[..], [Some(a), Some(b)] if a == b)
    }
}

/// An address with a number or a mask, two addresses, or two entries among other things.
fn is_row(texts: &[&str], count: usize) -> bool {
    let addresses = texts.iter().filter(|text| address(text).is_some()).count();
    let entries = texts.iter().filter(|text| is_entry(text)).count();
    let has_number = texts.iter().any(|text| is_number(text));
    let is_pair = addresses == 2 && count == 2;
    (addresses > 0 && (has_number || is_pair)) || (entries > 1 && entries < count)
}

/// An address with a number or a mask behind it, or the first and the last address of a network.
fn is_pair(texts: &[&str], count: usize) -> bool {
    if count > PAIR_MAX {
        return false;
    }
    let [first, second, ..] = texts else {
        return false;
    };
    let Some(first) = address(first) else {
        return false;
    };
    if is_number(second) {
        return true;
    }
    match Extent::of(first, second.as_bytes()) {
        Some(Extent::Mask(_) | Extent::Wildcard(_)) => true,
        Some(Extent::Last(last)) => count == texts.len() && are_ends_of_network(first, last),
        _ => false,
    }
}

/// The first and the last address of a network of four addresses or more.
fn are_ends_of_network(first: IpAddr, last: IpAddr) -> bool {
    let (first, last) = match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => {
            (u128::from(first.to_bits()), u128::from(last.to_bits()))
        }
        (IpAddr::V6(first), IpAddr::V6(last)) => (first.to_bits(), last.to_bits()),
        _ => return false,
    };
    let hosts = first ^ last;
    hosts >= 3 && hosts & hosts.wrapping_add(1) == 0 && first & hosts == 0
}

fn address(text: &str) -> Option<IpAddr> {
    parse_address(text.as_bytes())
}

fn is_entry(text: &str) -> bool {
    Entry::parse(text.as_bytes()).is_ok()
}

/// A whole number, also as text (`24`, `/24`), or a mask in hexadecimal.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('/').unwrap_or(text);
    let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_whole || extent::hex_mask(text.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::{is_pair, is_row};

    #[test]
    fn rows_and_pairs() {
        let (a, b, last) = ("198.51.100.0", "198.51.100.7", "198.51.100.255");
        for (texts, row, pair) in [
            (&[a, last][..], true, true),
            (&[a, b], true, true),
            (&[b, a], true, false),
            (&[a, "198.51.100.1"], true, false),
            (&[a, "198.51.100.9"], true, false),
            (&["2001:db8::", "2001:db8::ffff"], true, true),
            (&[a, "255.255.255.0"], true, true),
            (&[a, "0xffffff00"], true, true),
            (&[a, "0.0.0.255"], true, true),
            (&[a, "24"], true, true),
            (&[a, "/24"], true, true),
            (&["24", a], true, false),
            (&[a, "24", "US"], true, true),
            (&["US", a, "24"], true, false),
            (&[a, last, "US"], true, true),
            (&[a, b, last], false, true),
            (&[a, "US"], false, false),
            (&["198.51.100.0/24", "US"], false, false),
            (&["198.51.100.0/24", "192.0.2.0/24"], false, false),
            (&[a], false, false),
            (&[], false, false),
        ] {
            assert_eq!(is_row(texts, texts.len()), row, "{texts:?}");
            assert_eq!(is_pair(texts, texts.len()), pair, "{texts:?}");
        }
        assert!(is_row(&[a, last], 3));
    }
}
