//! Values: read from words, and written as words.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::matches::FLAGS;
use super::{MatchKind, Value, ValueKind};

/// The value of a word; an error is a predicate for the word.
pub(super) fn value(kind: &MatchKind, word: &str) -> Result<Value, String> {
    match kind.value {
        ValueKind::Ipv4 => addresses(word, 32, |text| {
            text.parse::<Ipv4Addr>()
                .map(|a| u128::from(a.to_bits()))
                .ok()
        }),
        ValueKind::Ipv6 => addresses(word, 128, |text| text.parse().map(Ipv6Addr::to_bits).ok()),
        ValueKind::Number(names) => number(kind, names, word),
        ValueKind::Port => Ok(Value::Port(word.to_owned())),
        ValueKind::Flags => flags(word).map(|flags| Value::Flags(flags, None)),
    }
}

fn addresses(word: &str, bits: u32, read: impl Fn(&str) -> Option<u128>) -> Result<Value, String> {
    let version = if bits == 32 { "IPv4" } else { "IPv6" };
    let address = |text: &str| {
        read(text).ok_or_else(|| format!("is not an {version} address, network or range"))
    };
    if let Some((first, last)) = word.split_once('-') {
        return range(address(first)?, address(last)?);
    }
    let Some((first, length)) = word.split_once('/') else {
        let address = address(word)?;
        return Ok(Value::Range(address, address));
    };
    let first = address(first)?;
    let length = length.parse::<u32>().ok().filter(|&length| length <= bits);
    let length = length.ok_or_else(|| format!("has no length from 0 to {bits} behind the '/'"))?;
    let behind = u128::MAX.checked_shr(128 - bits + length).unwrap_or(0);
    if first & behind != 0 {
        return Err(format!(
            "has bits set behind its length: write the network's first address, or /{bits} if \
             one address is meant"
        ));
    }
    Ok(Value::Range(first, first | behind))
}

fn range(first: u128, last: u128) -> Result<Value, String> {
    match first <= last {
        true => Ok(Value::Range(first, last)),
        false => Err("ends before it begins: write the smaller end first".to_owned()),
    }
}

fn number(kind: &MatchKind, names: &[(&str, u8)], word: &str) -> Result<Value, String> {
    if let Some((_, value)) = names.iter().find(|(name, _)| *name == word) {
        return Ok(Value::Range((*value).into(), (*value).into()));
    }
    let max = kind.field.value_max();
    let one = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse::<u128>().ok();
        let number = number.filter(|&number| plain && number <= max);
        number.ok_or_else(|| format!("is no value here: write {} (0 to {max})", kind.value.hint()))
    };
    match word.split_once('-') {
        Some((first, last)) => range(one(first)?, one(last)?),
        None => one(word).map(|number| Value::Range(number, number)),
    }
}

/// One flag of TCP.
pub(super) fn flags(word: &str) -> Result<u8, String> {
    let bit = FLAGS.iter().position(|flag| *flag == word);
    let bit = bit.ok_or_else(|| format!("is no flag of TCP: write {}", FLAGS.join(", ")))?;
    Ok(1 << bit)
}

/// A value as it is written.
pub(super) fn text(kind: &MatchKind, value: &Value) -> String {
    match value {
        Value::Port(name) => format!("\"{name}\""),
        Value::Flags(flags, None) => flag_words(*flags),
        Value::Flags(flags, Some(mask)) => {
            let flags = if *flags == 0 {
                "none".to_owned()
            } else {
                flag_words(*flags)
            };
            format!("{flags} / {}", flag_words(*mask))
        }
        Value::Range(first, last) => match kind.value {
            ValueKind::Ipv4 => span((*first, *last), 32, |address| {
                Ipv4Addr::from_bits(address as u32).to_string()
            }),
            ValueKind::Ipv6 => span((*first, *last), 128, |address| {
                Ipv6Addr::from_bits(address).to_string()
            }),
            ValueKind::Number(names) if first == last => {
                let name = names.iter().find(|(_, value)| u128::from(*value) == *first);
                name.map_or_else(|| first.to_string(), |(name, _)| (*name).to_owned())
            }
            _ if first == last => first.to_string(),
            _ => format!("{first}-{last}"),
        },
    }
}

fn flag_words(flags: u8) -> String {
    let set = FLAGS
        .iter()
        .enumerate()
        .filter(|(bit, _)| flags >> bit & 1 != 0);
    let set: Vec<&str> = set.map(|(_, flag)| *flag).collect();
    set.join(",")
}

/// An address, a network, or else a range.
fn span((first, last): (u128, u128), bits: u32, text: impl Fn(u128) -> String) -> String {
    let differ = first ^ last;
    let low = 128 - differ.leading_zeros();
    let is_network = differ & differ.wrapping_add(1) == 0 && first & differ == 0;
    match (first == last, is_network) {
        (true, _) => text(first),
        (_, true) => format!("{}/{}", text(first), bits - low),
        _ => format!("{}-{}", text(first), text(last)),
    }
}
