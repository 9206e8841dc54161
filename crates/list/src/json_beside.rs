//! What stands beside an address in a JSON object and makes it more than one address: the other end
//! of a range, a prefix length, a netmask, or an exception.

use crate::entry::{Entry, parse_address};
use crate::extent;
use crate::fault::Fault;
use crate::json_key::{is_own, words_of};
use crate::json_scalar::Scalar;
use crate::options::Purpose;
use crate::spared;
use std::net::IpAddr;

/// What a key means for the address beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Start,
    End,
    Length,
    /// How many addresses there are, beside the first.
    Count,
    Other,
}

/// The fields of an object so far, as far as they are more than they seem.
#[derive(Default)]
pub(crate) struct Beside {
    start: Option<String>,
    end: Option<String>,
    /// Keys and values of prefix lengths and netmasks.
    lengths: Vec<(String, String)>,
    count: Option<u64>,
    /// Addresses under keys that say nothing of them.
    others: Vec<(String, IpAddr)>,
    exception: bool,
    /// A field says the opposite of what a list for blocking is for, and one for letting through.
    contradicts_block: bool,
    contradicts_allow: bool,
}

/// Of an object that has more nothing is known of the others.
const OTHERS_MAX: usize = 8;

/// Words of keys of what is taken out of the entries beside them.
const EXCEPTIONS: [&str; 14] = [
    "except",
    "excepted",
    "excepting",
    "exception",
    "exceptions",
    "exclude",
    "excluded",
    "excludes",
    "excluding",
    "exclusion",
    "exclusions",
    "nomatch",
    "unless",
    "without",
];

impl Beside {
    /// Sees a field.
    pub(crate) fn see(&mut self, key: &str, value: &Scalar<'_>) {
        let is_address = |text: &str| parse_address(text.as_bytes()).is_some();
        self.exception |= is_exception(key) && is_something(value);
        self.contradicts_block |= contradicts(key, value, Purpose::Block);
        self.contradicts_allow |= contradicts(key, value, Purpose::Allow);
        match (Role::of(key), value) {
            (Role::Start, Scalar::Text(text)) if is_address(text) => {
                self.start = Some(key.to_owned());
            }
            (Role::End, Scalar::Text(text)) if is_address(text) => self.end = Some(key.to_owned()),
            (Role::Length, Scalar::Text(text)) if is_length(text) => self.see_length(key, text),
            (Role::Length, Scalar::Whole(length @ 0..=128)) => {
                self.see_length(key, &length.to_string());
            }
            (Role::Count, Scalar::Whole(count)) => self.count = Some(*count),
            (Role::Count, Scalar::Text(text)) => self.count = text.trim().parse().ok(),
            (Role::Other, Scalar::Text(text)) => self.see_other(key, text),
            _ => {}
        }
    }

    fn see_length(&mut self, key: &str, text: &str) {
        if self.lengths.len() < OTHERS_MAX {
            self.lengths.push((key.to_owned(), text.to_owned()));
        }
    }

    fn see_other(&mut self, key: &str, text: &str) {
        if let Some(address) = parse_address(text.as_bytes())
            && !is_own(&words_of(key))
            && self.others.len() < OTHERS_MAX
        {
            self.others.push((key.to_owned(), address));
        }
    }

    /// What is wrong with all entries of the object.
    pub(crate) fn fault_of_all(&self, purpose: Purpose) -> Option<Fault> {
        match (self.exception, self.contradicts(purpose)) {
            (true, _) => Some(Fault::Exception),
            (_, true) => Some(purpose.opposite()),
            _ => None,
        }
    }

    fn contradicts(&self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Block => self.contradicts_block,
            Purpose::Allow => self.contradicts_allow,
            Purpose::Read => false,
        }
    }

    /// What is wrong with reading the field `text` of `key` alone.
    pub(crate) fn fault(&self, key: &str, text: &str, purpose: Purpose) -> Option<Fault> {
        if self.exception && !is_exception(key) && Entry::parse(text.as_bytes()).is_ok() {
            return Some(Fault::Exception);
        }
        if self.contradicts(purpose) && Entry::parse(text.as_bytes()).is_ok() {
            return Some(purpose.opposite());
        }
        let address = parse_address(text.as_bytes())?;
        let is_other = |of: &Option<String>| of.as_ref().is_some_and(|other| other != key);
        if is_other(&self.start) || is_other(&self.end) {
            return Some(Fault::JsonRange);
        }
        let is_count =
            |count| Role::of(key) == Role::Start || extent::may_have_count(address, count);
        if self.count.is_some_and(is_count) {
            return Some(Fault::JsonRange);
        }
        let mut others = self.others.iter();
        if others.any(|(other, end)| other != key && extent::may_be_ends(address, *end)) {
            return Some(Fault::JsonRange);
        }
        let mut lengths = self.lengths.iter();
        lengths
            .any(|(of, _)| of != key)
            .then_some(Fault::JsonLength)
    }

    /// Whether the value of `key` is a prefix length or a netmask.
    pub(crate) fn is_length(&self, key: &str) -> bool {
        self.lengths.iter().any(|(of, _)| of == key)
    }

    /// The network of an address and all lengths beside it, where they say the same.
    pub(crate) fn network(&self, address: &str) -> Option<Entry> {
        let mut networks = self
            .lengths
            .iter()
            .map(|(_, length)| extent::network(address.as_bytes(), length.as_bytes()).ok());
        let network = networks.next()??;
        networks
            .all(|other| other == Some(network))
            .then_some(network)
    }
}

impl Role {
    pub(crate) fn of(key: &str) -> Self {
        let words = words_of(key);
        let any = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
        let all = words.concat();
        let edge = |of: &[&str]| {
            of.iter()
                .any(|word| all.starts_with(word) || all.ends_with(word))
        };
        // Words that begin or end many others count only by themselves.
        if any(&[
            "end",
            "last",
            "to",
            "stop",
            "until",
            "high",
            "upper",
            "max",
            "broadcast",
        ]) || edge(&[
            "lastip",
            "lastaddr",
            "lastaddress",
            "endip",
            "endaddr",
            "endaddress",
        ]) || edge(&["ipend", "ipto", "rangeend", "iplast", "ipstop"])
        {
            Self::End
        } else if any(&["start", "first", "begin", "from", "low", "lower", "min"])
            || edge(&["firstip", "firstaddr", "startip", "startaddr", "beginip"])
            || edge(&["ipstart", "ipfrom", "rangestart", "ipfirst", "ipbegin"])
        {
            Self::Start
        } else if any(&[
            "mask",
            "masklen",
            "netmask",
            "wildcard",
            "prefixlen",
            "bits",
            "cidr",
        ]) || words.iter().any(|word| word.contains("mask"))
            || edge(&[
                "prefixlength",
                "masklength",
                "netmask",
                "subnetmask",
                "prefixlen",
            ])
            || matches!(
                all.as_str(),
                "length" | "len" | "prefix" | "subnet" | "networklength" | "netlen" | "cidrlen"
            )
        {
            Self::Length
        } else if any(&["count", "size", "hosts", "num", "total"]) {
            Self::Count
        } else {
            Self::Other
        }
    }
}

/// Whether what stands under a key is taken out of the entries beside it.
pub(crate) fn is_exception(key: &str) -> bool {
    let words = words_of(key);
    let all = words.concat();
    matches!(all.as_str(), "not" | "nomatch")
        || words.iter().any(|word| EXCEPTIONS.contains(&word.as_str()))
}

/// Whether a field says of the entries beside it the opposite of what the list is for.
fn contradicts(key: &str, value: &Scalar<'_>, purpose: Purpose) -> bool {
    let words = words_of(key);
    let says = |value: &str| spared::says_under(&words, value, purpose);
    match value {
        Scalar::Text(text) => says(text),
        Scalar::Other(text) => says(text),
        Scalar::Whole(number @ 0..=1) => says(&number.to_string()),
        Scalar::Whole(_) | Scalar::Null | Scalar::Several => false,
    }
}

/// False for what a field holds that says nothing.
fn is_something(value: &Scalar<'_>) -> bool {
    match value {
        Scalar::Null | Scalar::Whole(0) => false,
        Scalar::Text(text) => !matches!(text.trim(), "" | "false" | "no" | "none"),
        Scalar::Other(text) => text != "false",
        Scalar::Whole(_) | Scalar::Several => true,
    }
}

/// A prefix length as text (`24`, `/24`), or a netmask.
fn is_length(text: &str) -> bool {
    if let Some(IpAddr::V4(mask)) = parse_address(text.as_bytes()) {
        let bits = mask.to_bits();
        return bits.leading_ones() + bits.trailing_zeros() >= 32;
    }
    let digits = text.strip_prefix('/').unwrap_or(text);
    digits.len() <= 3 && digits.parse::<u8>().is_ok_and(|length| length <= 128)
}

#[cfg(test)]
mod tests {
    use super::Beside;
    use crate::fault::Fault;
    use crate::json_scalar::Scalar;
    use crate::options::Purpose;

    #[test]
    fn fields_that_mean_more_than_one_address() {
        let (range, length) = (Some(Fault::JsonRange), Some(Fault::JsonLength));
        let (exception, spared) = (Some(Fault::Exception), Some(Fault::Spared));
        let table = [
            ("ip", "192.0.2.0", "end", "192.0.2.9", range),
            ("first", "192.0.2.0", "last", "192.0.2.9", range),
            ("last", "192.0.2.9", "first", "192.0.2.0", range),
            ("start_ip", "192.0.2.0", "end_ip", "192.0.2.9", range),
            ("startIp", "192.0.2.0", "endIp", "192.0.2.9", range),
            ("startip", "192.0.2.0", "endip", "192.0.2.9", range),
            ("ipStart", "192.0.2.0", "ipEnd", "192.0.2.9", range),
            ("from", "2001:db8::1", "to", "2001:db8::9", range),
            ("range-begin", "192.0.2.0", "range-end", "192.0.2.9", range),
            ("start", "192.0.2.0", "count", "256", range),
            ("ip", "192.0.2.0", "prefix_length", "24", length),
            ("ip", "192.0.2.0", "prefixLength", "24", length),
            ("ip", "192.0.2.0", "prefixlen", "24", length),
            ("network", "192.0.2.0", "mask_len", "24", length),
            ("network", "192.0.2.0", "netmask", "255.255.255.0", length),
            ("network", "192.0.2.0", "prefix", "24", length),
            ("ip", "192.0.2.0", "cidr", "24", length),
            ("ip", "192.0.2.0", "bits", "24", length),
            ("ip", "192.0.2.0/24", "mask", "255.255.255.0", None),
            ("ip", "192.0.2.0/24", "last", "192.0.2.255", None),
            ("ip", "192.0.2.1", "count", "17", None),
            ("ip", "192.0.2.0", "hosts", "256", range),
            ("ip", "192.0.2.0", "size", "256", range),
            ("ip", "192.0.2.4", "hosts", "4", range),
            ("ip", "192.0.2.4", "hosts", "8", None),
            ("ip", "192.0.2.0", "hosts", "100", None),
            ("ip_von", "192.0.2.0", "ip_bis", "192.0.2.255", range),
            ("ip_bis", "192.0.2.255", "ip_von", "192.0.2.0", range),
            ("src_ip", "192.0.2.1", "dst_ip", "192.0.2.9", None),
            ("ip", "192.0.2.1", "seen_by", "198.51.100.7", None),
            ("ip", "192.0.2.1", "last_seen", "2025-01-01", None),
            ("ip", "192.0.2.1", "first_seen", "2025-01-01", None),
            ("ip", "192.0.2.1", "payload_length", "24", None),
            ("ip", "192.0.2.1", "gateway", "192.0.2.254", None),
            ("ip", "192.0.2.1", "prefix", "AS64496", None),
            ("cidr", "192.0.2.0/24", "except", "192.0.2.1", exception),
            ("cidr", "192.0.2.0/24", "EXCLUDE", "192.0.2.1", exception),
            ("cidr", "192.0.2.0/24", "not", "192.0.2.1", exception),
            ("cidr", "192.0.2.0/24", "NoMatch", "1", exception),
            ("cidr", "192.0.2.0/24", "excludedIps", "x", exception),
            ("cidr", "192.0.2.0/24", "exclude", "", None),
            ("cidr", "192.0.2.0/24", "nomatch", "0", None),
            ("cidr", "192.0.2.0/24", "not_before", "2026-11-01", None),
            ("cidr", "192.0.2.0/24", "note", "x", None),
            ("cidr", "192.0.2.0/24", "action", "allow", spared),
            ("ip", "192.0.2.1", "active", "false", spared),
            ("ip", "192.0.2.1", "enabled", "0", spared),
            ("ip", "192.0.2.1", "action", "block", None),
        ];
        for (key, text, other, value, fault) in table {
            let mut beside = Beside::default();
            beside.see(key, &Scalar::Text(text.into()));
            beside.see(
                other,
                &match value.parse() {
                    Ok(number) => Scalar::Whole(number),
                    Err(_) => Scalar::Text(value.into()),
                },
            );
            let found = beside.fault(key, text, Purpose::Block);
            assert_eq!(found, fault, "{key}, {other} {value}");
        }
    }

    #[test]
    fn lengths_as_text() {
        for value in ["24", "/24", "0", "128"] {
            let mut beside = Beside::default();
            beside.see("prefix_len", &Scalar::Text(value.into()));
            let fault = beside.fault("ip", "192.0.2.0", Purpose::Block);
            assert_eq!(fault, Some(Fault::JsonLength), "{value}");
        }
        let mut beside = Beside::default();
        beside.see("prefix_len", &Scalar::Text("long".into()));
        assert_eq!(beside.fault("ip", "192.0.2.0", Purpose::Block), None);
    }
}
