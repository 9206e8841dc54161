//! What the words of a JSON key say.

/// Words of keys of arrays that are one range.
const RANGES: [&str; 7] = [
    "between", "bounds", "interval", "pair", "range", "ranges", "span",
];

/// Words of keys of lists that are no plural.
const LISTS: [&str; 8] = [
    "allowed", "banned", "blocked", "denied", "ipv4", "ipv6", "v4", "v6",
];

/// The words of a key, in small letters: at other marks, and where a large letter follows a small
/// one.
pub(crate) fn words_of(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    // What is longer names no field of an address.
    for char in key.chars().take(64) {
        let begins = !char.is_alphanumeric() || (was_small && char.is_uppercase());
        if begins {
            words.push(String::new());
        }
        was_small = char.is_lowercase();
        if char.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(char.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a key says that several entries stand under it: a plural, or a word for a list.
pub(crate) fn is_list(key: &str) -> bool {
    let words = words_of(key);
    words.iter().any(|word| {
        let is_plural = word.len() > 2 && word.ends_with('s') && !word.ends_with("ss");
        is_plural || word.ends_with("list") || LISTS.contains(&word.as_str())
    })
}

/// Words of keys and headings of addresses and numbers that stand for themselves.
const OWN: [&str; 52] = [
    "as",
    "asn",
    "attacker",
    "attacks",
    "bytes",
    "client",
    "destination",
    "dest",
    "dns",
    "dport",
    "dst",
    "external",
    "forwarder",
    "frames",
    "gateway",
    "gw",
    "hits",
    "hop",
    "id",
    "inside",
    "internal",
    "local",
    "mx",
    "nat",
    "neighbor",
    "neighbour",
    "nexthop",
    "ns",
    "observer",
    "origin",
    "outside",
    "packets",
    "peer",
    "pid",
    "port",
    "private",
    "proxy",
    "public",
    "remote",
    "reporter",
    "reports",
    "resolver",
    "router",
    "score",
    "sensor",
    "server",
    "source",
    "sport",
    "src",
    "target",
    "victim",
    "via",
];

/// Whether a key says that what stands under it belongs to no address beside it.
pub(crate) fn is_own(words: &[String]) -> bool {
    let is_of = |word: &str| {
        let bare = word.strip_suffix("ip").or(word.strip_suffix("addr"));
        OWN.contains(&word) || bare.is_some_and(|bare| OWN.contains(&bare))
    };
    words.iter().any(|word| is_of(word))
}

/// Whether a key says that two values under it are one range.
pub(crate) fn is_range(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    let is_word = |word: &str| RANGES.contains(&word);
    let mut words = lower.split(|char: char| !char.is_alphanumeric());
    words.any(is_word) || RANGES.iter().any(|word| lower.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::{is_list, is_range};

    #[test]
    fn keys_of_lists() {
        for key in [
            "ips",
            "blockedHosts",
            "prefixes",
            "block-list",
            "banned",
            "v4",
        ] {
            assert!(is_list(key), "{key}");
        }
        for key in ["data", "net", "address", "host", "x", "ip", "as", "entry"] {
            assert!(!is_list(key), "{key}");
        }
    }

    #[test]
    fn keys_of_ranges() {
        for key in [
            "range",
            "ip_range",
            "ipRange",
            "IPRANGES",
            "address-pair",
            "bounds",
        ] {
            assert!(is_range(key), "{key}");
        }
        for key in ["ips", "addresses", "orange_juice", "prefixes", "x"] {
            assert!(!is_range(key), "{key}");
        }
    }
}
