//! What follows the first field of a plain line. It is a note, and not read, when it can be nothing
//! else: what holds an address, a length, a mask or an exception would make the first field mean
//! something else than it says.

use crate::columns::Columns;
use crate::diagnosis;
use crate::entry::{Entry, Span, parse_address};
use crate::extent::{self, Extent};
use crate::fault::Fault;
use crate::fragment::begins_with_fragment;
use crate::ipv4;
use crate::open_range::is_open_range;
use crate::options::ReadOptions;
use crate::spared;
use std::net::IpAddr;

/// What an entry and the text after it mean together.
pub(crate) enum Rest {
    /// The text is a note.
    Note,
    /// It is part of the entry, as in `192.0.2.1 - 192.0.2.9`.
    Entry(Entry),
    /// The line is bad.
    Bad(Fault),
}

/// Words that take something out of what stands before them.
const EXCEPTIONS: [&[u8]; 8] = [
    b"except",
    b"excepting",
    b"exclude",
    b"excluded",
    b"excluding",
    b"nomatch",
    b"unless",
    b"without",
];

/// Words for a mask or a length that follows.
const MASKS: [&[u8]; 12] = [
    b"bits",
    b"cidr",
    b"len",
    b"length",
    b"slash",
    b"mask",
    b"netmask",
    b"hostmask",
    b"wildcard",
    b"prefix",
    b"prefixlen",
    b"masklen",
];

impl Rest {
    /// What follows `entry`, which was read from `field`: `rest` without comment and blanks
    /// around.
    pub(crate) fn of(entry: Entry, field: &[u8], rest: &[u8], options: &ReadOptions) -> Self {
        let (word, after) = first_word(rest);
        let (mark, tail) = match word {
            [mark @ (b'-' | b'/')] => (*mark, first_word(after)),
            [mark @ (b'-' | b'/'), tail @ ..] => (*mark, (tail, after)),
            _ => return Self::of_note(entry, rest, options),
        };
        let (tail, after) = tail;
        if !may_end_entry(tail) {
            return Self::of_note(entry, rest, options);
        }
        if single(entry).is_none() {
            return Self::Bad(Fault::NotAnEntry);
        }
        match Entry::parse(&[field, &[mark], tail].concat()) {
            Ok(whole) if fault_of_note(whole, after, options).is_none() => Self::Entry(whole),
            Ok(whole) => {
                Self::Bad(fault_of_note(whole, after, options).unwrap_or(Fault::NotAnEntry))
            }
            Err(fault) => Self::Bad(fault),
        }
    }

    fn of_note(entry: Entry, rest: &[u8], options: &ReadOptions) -> Self {
        fault_of_note(entry, rest, options).map_or(Self::Note, Self::Bad)
    }
}

/// Why `note` is more than a note on `entry`.
fn fault_of_note(entry: Entry, note: &[u8], options: &ReadOptions) -> Option<Fault> {
    let (word, _) = first_word(note);
    if word.is_empty() {
        return None;
    }
    if is_where_names_are_sent(entry) && diagnosis::is_host_name(word) {
        return Some(Fault::HostsFile);
    }
    if is_port(word) {
        return Some(Fault::Port);
    }
    if is_open_range(note) {
        return Some(Fault::RangeEnd);
    }
    if words(note).any(takes_out) || denies(note) {
        return Some(Fault::Exception);
    }
    if spared::says(note, options.purpose) {
        return Some(options.purpose.opposite());
    }
    if let Some(fault) = single(entry).and_then(|address| of_next(address, note, options.force)) {
        return Some(fault);
    }
    let is_mask = |word| is_one_of(word, &MASKS) || is_bare_length(word);
    if single(entry).is_some() && words(note).any(is_mask) {
        return Some(Fault::MaskWord);
    }
    if tokens(note).any(is_address) {
        return Some(Fault::TwoAddresses);
    }
    if begins_with_fragment(note) {
        return Some(Fault::Fragment);
    }
    word.starts_with(b",").then_some(Fault::Commas)
}

/// Why a comment after a semicolon is more than that on `entry`: it begins with an address, or with
/// what says how far the entry reaches.
pub(crate) fn fault_of_comment(
    entry: Entry,
    comment: &[u8],
    options: &ReadOptions,
) -> Option<Fault> {
    let (word, _) = first_word(comment);
    let next = word.split(|&byte| byte == b';').next()?;
    if spared::is_word(next, options.purpose) && comment.trim_ascii() == word {
        return Some(options.purpose.opposite());
    }
    let reach = single(entry).and_then(|address| of_next(address, next, options.force));
    let is_second = is_address(next) || matches!(Entry::parse_known(next), Some(Ok(_)));
    match reach {
        Some(Fault::TwoColumns(_)) | None if is_second => Some(Fault::TwoAddresses),
        Some(Fault::NetmaskBeside(prefix_len)) => Some(Fault::Netmask(Some(prefix_len))),
        None => begins_with_fragment(next).then_some(Fault::Fragment),
        fault => fault,
    }
}

/// `:80`, which stands apart from its address.
fn is_port(word: &[u8]) -> bool {
    matches!(word, [b':', port @ ..] if is_number(port))
}

/// `/24` or a mask in hexadecimal, also in marks: what stands apart from its address.
fn is_bare_length(word: &[u8]) -> bool {
    let is_mark = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'/';
    let start = word.iter().position(|byte| !is_mark(byte));
    let end = word.iter().rposition(|byte| !is_mark(byte));
    let (Some(start), Some(end)) = (start, end) else {
        return false;
    };
    let bare = &word[start..=end];
    let length = bare.strip_prefix(b"/").unwrap_or_default();
    (is_number(length) && length.len() <= 3) || extent::hex_mask(bare).is_some()
}

/// `not` or `but not` at the start.
fn denies(note: &[u8]) -> bool {
    let (word, after) = first_word(note);
    let is_joined = [b"but".as_slice(), b"and"]
        .iter()
        .any(|of| word.eq_ignore_ascii_case(of));
    let word = if is_joined { first_word(after).0 } else { word };
    let letters = word
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    word[..letters].eq_ignore_ascii_case(b"not")
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// What is wrong when the next thing after an address says how far it reaches.
fn of_next(address: IpAddr, note: &[u8], force: bool) -> Option<Fault> {
    let next = tokens(note).next()?;
    match Extent::of(address, next)? {
        Extent::Mask(prefix_len) if note.starts_with(next) => {
            Some(Fault::NetmaskBeside(prefix_len))
        }
        Extent::Mask(prefix_len) => Some(Fault::Netmask(Some(prefix_len))),
        Extent::Wildcard(prefix_len) => Some(Fault::Wildcard(prefix_len)),
        Extent::Last(_) if note.starts_with(next) => Some(Fault::TwoColumns(Columns::Range(1, 2))),
        Extent::Last(_) => Some(Fault::TwoAddresses),
        Extent::Length(_) if !force => Some(Fault::MaybeLength(1, 2)),
        Extent::Count if !force => Some(Fault::AddressCount),
        Extent::Length(_) | Extent::Count => None,
    }
}

/// The first word, and what follows it.
pub(crate) fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace);
    let end = end.unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii_start())
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty())
}

/// What could be addresses and numbers, without the marks around.
fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mark = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':'));
    text.split(mark).filter(|token| !token.is_empty())
}

/// An address, one with a port, or four numbers that were meant as one.
pub(crate) fn is_address(token: &[u8]) -> bool {
    if parse_address(token).is_some() {
        return true;
    }
    let mut bare = token;
    while let [start @ .., b'.' | b':'] = bare {
        bare = start;
    }
    while let [b'.', end @ ..] = bare {
        bare = end;
    }
    let numbers = bare.split(|&byte| byte == b':').next().unwrap_or_default();
    let dots = numbers.iter().filter(|&&byte| byte == b'.').count();
    let numeric = numbers
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    parse_address(bare).is_some() || ipv4::parse(numbers).is_some() || (numeric && dots >= 3)
}

/// A field that is an exception: the mark or word alone, or with an address.
pub(crate) fn is_exception(field: &[u8]) -> bool {
    let (word, after) = first_word(field);
    takes_out(word) && (after.is_empty() || tokens(field).any(is_address))
}

/// `!` or a word that makes an exception.
fn takes_out(word: &[u8]) -> bool {
    word.starts_with(b"!") || is_one_of(word, &EXCEPTIONS)
}

fn is_one_of(word: &[u8], words: &[&[u8]]) -> bool {
    let letters = |byte: &u8| !byte.is_ascii_alphabetic();
    let mut parts = word.split(letters).filter(|part| !part.is_empty());
    parts.any(|part| words.iter().any(|one| part.eq_ignore_ascii_case(one)))
}

/// What follows a dash or a slash was meant to end an entry: a number, or more than one.
fn may_end_entry(text: &[u8]) -> bool {
    let marks = text
        .iter()
        .filter(|byte| matches!(byte, b'.' | b':'))
        .count();
    let numeric = text
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let starts = text
        .first()
        .is_some_and(|byte| byte.is_ascii_hexdigit() || *byte == b':');
    (starts && marks > 1) || (numeric && !text.is_empty()) || parse_network(text)
}

/// Something with a slash behind an address or a number.
fn parse_network(text: &[u8]) -> bool {
    text.contains(&b'/') && text.first().is_some_and(u8::is_ascii_digit)
}

/// The address of an entry that is one.
fn single(entry: Entry) -> Option<IpAddr> {
    match entry {
        Entry::V4(Span::Address(v4)) => Some(IpAddr::V4(v4.into())),
        Entry::V6(Span::Address(v6)) => Some(IpAddr::V6(v6.into())),
        _ => None,
    }
}

/// `0.0.0.0`, `127.0.0.1`, `::`, `::1`.
fn is_where_names_are_sent(entry: Entry) -> bool {
    single(entry).is_some_and(|address| {
        address.is_unspecified()
            || matches!(address, IpAddr::V4(v4) if v4.octets() == [127, 0, 0, 1])
            || matches!(address, IpAddr::V6(v6) if v6.to_bits() == 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line without comment means: an entry, or what is wrong.
    fn meaning(line: &str) -> String {
        let (field, rest) = first_word(line.as_bytes());
        let entry = Entry::parse(field).unwrap();
        match Rest::of(entry, field, rest, &ReadOptions::default()) {
            Rest::Note => entry.to_string(),
            Rest::Entry(whole) => whole.to_string(),
            Rest::Bad(fault) => format!("{fault:?}"),
        }
    }

    #[test]
    fn notes_are_not_read() {
        for note in [
            "some words",
            "10",
            "7 scanner",
            "US",
            "(score 99)",
            "- a scanner",
            "- 5min",
            "2026-11-01 12:00:00",
            "12:00",
            "[ssh]",
            "0.95",
            "3.5 GB",
            "v1.2.3",
            "AS64500",
            "00:11:22:33:44:55",
            "scanner.example.com",
            "// a note",
            "= bad",
            "attack!",
            "| x",
            "1.2.3.4.in-addr.arpa",
            "http",
            "2026-11-01T12:00:00Z",
            "*",
            "45",
            "443",
            "up",
            "up to date",
            "to be checked",
            ": note",
            "... and so on",
            "-> note",
            "notes",
            "0x1234",
            "http /index",
            "seen 3/24",
            "but nothing",
        ] {
            assert_eq!(meaning(&format!("192.0.2.1 {note}")), "192.0.2.1", "{note}");
        }
        for (line, entry) in [
            ("198.51.100.0/24 5", "198.51.100.0/24"),
            ("198.51.100.0/24 a prefix", "198.51.100.0/24"),
            ("198.51.100.0/24 - a network", "198.51.100.0/24"),
            ("198.51.100.4 24", "198.51.100.4"),
            ("198.51.100.0 8", "198.51.100.0"),
            ("198.51.100.7 32 64500", "198.51.100.7"),
            ("2001:db8::1 10", "2001:db8::1"),
        ] {
            assert_eq!(meaning(line), entry, "{line}");
        }
    }

    #[test]
    fn blanks_around_a_mark() {
        for (line, entry) in [
            ("192.0.2.30 - 192.0.2.40 a note", "192.0.2.30-192.0.2.40"),
            ("192.0.2.50 -192.0.2.60", "192.0.2.50-192.0.2.60"),
            ("198.51.100.0 / 24", "198.51.100.0/24"),
            ("198.51.100.0 /24 x", "198.51.100.0/24"),
            ("2001:db8:: / 32", "2001:db8::/32"),
            ("2001:db8::1 - 2001:db8::9", "2001:db8::1-2001:db8::9"),
        ] {
            assert_eq!(meaning(line), entry, "{line}");
        }
        for (line, fault) in [
            ("192.0.2.1 - 192.0.2.300", "RangeEnd"),
            ("192.0.2.1 - 50", "RangeEnd"),
            ("192.0.2.1 -50", "RangeEnd"),
            ("192.0.2.1 - 2.50", "RangeEnd"),
            ("192.0.2.9 - 192.0.2.1", "RangeReversed"),
            ("192.0.2.9 - ::1", "RangeOfTwoFamilies"),
            ("192.0.2.0 - 192.0.3.0/24", "RangeEnd"),
            ("198.51.100.0 / 255.255.255.0", "Netmask(Some(24))"),
            ("198.51.100.0 / 33", "PrefixTooLong(32)"),
            ("10.0.0.0/8 - 11.0.0.0", "NotAnEntry"),
            ("10.0.0.0/8 /8", "NotAnEntry"),
            ("192.0.2.1 - 192.0.2.9 192.0.2.20", "TwoAddresses"),
            ("192.0.2.1 - 192.0.2.9 - 192.0.2.20", "TwoAddresses"),
            ("192.0.2.0 / 24 !192.0.2.7", "Exception"),
            ("192.0.2.1 - 192.0.2.9 , 100 , x", "Commas"),
        ] {
            assert_eq!(meaning(line), fault, "{line}");
        }
    }

    #[test]
    fn what_makes_the_line_mean_something_else() {
        let range = "TwoColumns(Range(1, 2))";
        for (line, fault) in [
            ("198.51.100.0 198.51.100.255", range),
            ("198.51.100.0\t198.51.100.255\t24\tx", range),
            ("2001:db8:: 2001:db8::ffff", range),
            ("198.51.100.0 (198.51.100.255)", "TwoAddresses"),
            ("198.51.100.9 198.51.100.2", "TwoAddresses"),
            ("198.51.100.0/24 203.0.113.0/24", "TwoAddresses"),
            ("198.51.100.0/24 2001:db8::1", "TwoAddresses"),
            ("198.51.100.1 seen with 198.51.100.2", "TwoAddresses"),
            ("198.51.100.1 to=198.51.100.9", "TwoAddresses"),
            ("198.51.100.1 to 198.51.100.9", "RangeEnd"),
            ("198.51.100.1 to 9", "RangeEnd"),
            ("198.51.100.1 .. 9", "RangeEnd"),
            ("198.51.100.0 + 255", "RangeEnd"),
            ("198.51.100.0 +255", "RangeEnd"),
            ("198.51.100.1 \u{2013} 198.51.100.9", "RangeEnd"),
            ("198.51.100.1 and 198.51.100.9:80,", "TwoAddresses"),
            ("198.51.100.1 [2001:db8::1]:80", "TwoAddresses"),
            ("198.51.100.1 198.51.100.300", "TwoAddresses"),
            ("198.51.100.1 198.51.100.9.", "TwoAddresses"),
            ("198.51.100.0 255.255.255.0", "NetmaskBeside(24)"),
            ("198.51.100.0\t255.255.255.0\tx", "NetmaskBeside(24)"),
            ("198.51.100.0 (255.255.255.0)", "Netmask(Some(24))"),
            ("198.51.100.0 mask 255.255.255.0", "MaskWord"),
            ("198.51.100.0 netmask 0xffffff00", "MaskWord"),
            ("198.51.100.0 len 24", "MaskWord"),
            ("198.51.100.0 0.0.0.255", "Wildcard(Some(24))"),
            ("198.51.100.0\t0.0.0.255\tx", "Wildcard(Some(24))"),
            ("198.51.100.7 0.0.0.0", "Wildcard(Some(32))"),
            ("10.0.0.0 0.255.255.255", "Wildcard(Some(8))"),
            ("10.0.0.0 0.0.254.255", "Wildcard(None)"),
            ("198.51.100.1 .9", "Fragment"),
            ("198.51.100.1 .9 a host", "Fragment"),
            ("198.51.100.1 (.9)", "Fragment"),
            ("198.51.100.1 and .9", "Fragment"),
            ("198.51.100.1 100.9.", "Fragment"),
            ("198.51.100.0/24 .100.9", "Fragment"),
            ("2001:db8::1 :beef", "Fragment"),
            ("2001:db8::1 2001:db8", "Fragment"),
            ("198.51.100.0 24", "MaybeLength(1, 2)"),
            ("198.51.100.0\t24\t64500", "MaybeLength(1, 2)"),
            ("198.51.100.0 (24)", "MaybeLength(1, 2)"),
            ("198.51.100.0 | 24", "MaybeLength(1, 2)"),
            ("2001:db8:: 32", "MaybeLength(1, 2)"),
            ("198.51.100.0 256", "AddressCount"),
            ("198.51.100.0/24 !198.51.100.2", "Exception"),
            ("198.51.100.0/24 ! 198.51.100.2", "Exception"),
            ("198.51.100.0/24 except 198.51.100.2", "Exception"),
            ("198.51.100.0/24 (Except the gateway)", "Exception"),
            ("198.51.100.0/24 but not 198.51.100.2", "Exception"),
            ("198.51.100.0/24 , 203.0.113.0/24", "TwoAddresses"),
            ("198.51.100.0/24 , x", "Commas"),
            ("0.0.0.0 ads.example.com", "HostsFile"),
            ("198.51.100.7 allow", "Spared"),
            ("198.51.100.7 ACCEPT", "Spared"),
            ("198.51.100.0/24 whitelist", "Spared"),
            ("198.51.100.7 - ignore", "Spared"),
            ("198.51.100.1 - 198.51.100.9 permit", "Spared"),
        ] {
            assert_eq!(meaning(line), fault, "{line}");
        }
    }

    #[test]
    fn what_stands_apart_from_its_address() {
        for (line, fault) in [
            ("198.51.100.0/24 not .2", "Exception"),
            ("198.51.100.0/24 Not: the gateway", "Exception"),
            ("198.51.100.0 note /24", "MaskWord"),
            ("198.51.100.0 (/24)", "MaybeLength(1, 2)"),
            ("198.51.100.0 US (/24)", "MaskWord"),
            ("198.51.100.0 0xffffff00", "NetmaskBeside(24)"),
            ("198.51.100.0 0xFFFFFF00", "NetmaskBeside(24)"),
            ("198.51.100.0 US 0xffffff00", "MaskWord"),
            ("198.51.100.0 0x000000ff", "Wildcard(Some(24))"),
            ("198.51.100.1 :80", "Port"),
            ("2001:db8::1 :80", "Port"),
        ] {
            assert_eq!(meaning(line), fault, "{line}");
        }
        for line in [
            "198.51.100.1 -> 198.51.100.9",
            "198.51.100.1 - .9",
            "198.51.100.1 -.9",
            "198.51.100.1 up to .9",
        ] {
            assert_eq!(meaning(line), "RangeEnd", "{line}");
        }
    }
}
