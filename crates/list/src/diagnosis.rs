//! Says what is wrong with a field that is no entry. Off the fast path: only bad lines come here.

use std::net::Ipv4Addr;

use crate::entry::{Entry, parse_address, parse_prefix_len};
use crate::fault::Fault;
use crate::open_range::has_other_mark;
use crate::{ipv4, ipv6, marks};

/// What begins a comment elsewhere, beside `!`.
const COMMENTS: [&[u8]; 5] = [b"//", b"/*", b"*/", b"--", b"%"];

/// As `syslog` writes them.
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// Dates, each digit a 0.
const DATES: [&[u8; 10]; 6] = [
    b"0000-00-00",
    b"0000/00/00",
    b"0000.00.00",
    b"00/00/0000",
    b"00.00.0000",
    b"00-00-0000",
];

/// The fault of a field that [`crate::Entry::parse`] did not read. The order is from the most
/// telling sign to the least.
#[cold]
pub(crate) fn of(field: &[u8]) -> Fault {
    let has = |byte| field.contains(&byte);
    if has(b'\r') {
        return Fault::LineEnds;
    }
    if field.iter().any(|byte| byte.is_ascii_control()) {
        return Fault::NotText;
    }
    if field.starts_with(b"<") && marks::fault(field).is_none() {
        return Fault::Markup;
    }
    if let Some(excepted) = field.strip_prefix(b"!") {
        let is_entry = parse_address(excepted).is_some() || Entry::parse_known(excepted).is_some();
        return match is_entry {
            true => Fault::Exception,
            false => Fault::ForeignComment,
        };
    }
    let quoted = field.starts_with(b"'") && marks::fault(field).is_none();
    if quoted || COMMENTS.iter().any(|mark| field.starts_with(mark)) {
        return Fault::ForeignComment;
    }
    if field.windows(3).any(|three| three == b"://") {
        return Fault::Url;
    }
    if has(b',') {
        let alone = field.strip_suffix(b",").and_then(Entry::parse_known);
        return match alone {
            Some(_) => Fault::TrailingComma,
            None => Fault::Commas,
        };
    }
    if field.starts_with(b"[") {
        return Fault::Brackets;
    }
    if has(b'%') && has(b':') {
        return Fault::Zone;
    }
    if are_joined(field) {
        return Fault::Joined;
    }
    marks::fault(field)
        .or_else(|| of_two_parts(field))
        .unwrap_or_else(|| of_address(field))
}

/// True when an entry ends in the middle of the field and another begins there: after the digits
/// of a prefix length, or of the last number of an IPv4 address before one of IPv6.
fn are_joined(field: &[u8]) -> bool {
    let marks = |mark: u8| {
        field
            .iter()
            .enumerate()
            .filter(move |&(_, &byte)| byte == mark)
    };
    let slash = marks(b'/').next();
    let third_dot = marks(b'.').nth(2).filter(|_| field.contains(&b':'));
    let Some((at, _)) = slash.or(third_dot) else {
        return false;
    };
    if slash.is_some() && is_mask(&field[at + 1..]) {
        return false;
    }
    let ends = (at + 2..=at + 4).filter(|&end| end < field.len());
    let mut splits = ends.map(|end| field.split_at(end));
    splits.any(|(left, right)| {
        matches!(Entry::parse_known(left), Some(Ok(_))) && begins_with_entry(right)
    })
}

/// True when an address stands at the start, up to a slash, a dash or the end.
fn begins_with_entry(text: &[u8]) -> bool {
    let end = text.iter().position(|byte| matches!(byte, b'/' | b'-'));
    parse_address(&text[..end.unwrap_or(text.len())]).is_some()
}

/// A netmask, or the inverse of one.
fn is_mask(text: &[u8]) -> bool {
    let inverse = |mask: u32| mask.leading_zeros() + mask.trailing_ones() >= 32;
    ipv4::parse(text).is_some_and(|mask| inverse(mask) || inverse(!mask))
}

/// A date as logs and feeds begin with.
pub(crate) fn is_date(field: &[u8]) -> bool {
    let field = field.strip_prefix(b"\"").unwrap_or(field);
    let field = field.strip_prefix(b"[").unwrap_or(field);
    let shape = field.iter().take(10);
    let shape: Vec<u8> = shape
        .map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte })
        .collect();
    MONTHS.contains(&field) || DATES.iter().any(|date| shape == *date)
}

/// The fault of `left/right` or `left-right` when the left part is an address; of the left part
/// when that is what is wrong.
fn of_two_parts(field: &[u8]) -> Option<Fault> {
    let at = field.iter().position(|byte| matches!(byte, b'/' | b'-'))?;
    let (left, right) = (&field[..at], &field[at + 1..]);
    if parse_address(left).is_none() {
        // A host name may hold dashes, and a path may follow it: the whole field tells more.
        let tells = looks_numeric(left) || of_notation(left).is_some();
        return tells.then(|| of_address(left));
    }
    Some(match field[at] {
        b'/' if parse_prefix_len(right).is_some() => Fault::NotAnEntry,
        b'/' => of_prefix_len(right),
        _ => of_notation(right).unwrap_or(Fault::RangeEnd),
    })
}

fn of_prefix_len(text: &[u8]) -> Fault {
    if text.len() > 1 && text[0] == b'0' && text.iter().all(u8::is_ascii_digit) {
        return Fault::LeadingZero;
    }
    let hexadecimal = hexadecimal(text).filter(|_| !text.contains(&b'.'));
    if let (None, Some(fault)) = (hexadecimal, of_notation(text)) {
        return fault;
    }
    match hexadecimal.or_else(|| ipv4::parse(text)) {
        Some(mask) if mask.leading_ones() + mask.trailing_zeros() == 32 => {
            Fault::Netmask(Some(mask.leading_ones() as u8))
        }
        Some(0) => Fault::Netmask(Some(0)),
        Some(mask) if mask >> 24 == 0 => Fault::Wildcard(ipv4::prefix_of_wildcard(mask)),
        Some(_) => Fault::Netmask(None),
        None => Fault::PrefixLength,
    }
}

/// The fault of an address, or of a part of one, whose numbers are right in another notation.
fn of_notation(field: &[u8]) -> Option<Fault> {
    let begins_with_0x =
        |part: &[u8]| part.len() > 2 && part[0] == b'0' && part[1].eq_ignore_ascii_case(&b'x');
    let mut parts = field.split(|byte| matches!(byte, b'.' | b':'));
    if parts.any(begins_with_0x) {
        let digit =
            |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':' | b'x' | b'X');
        let all = field.iter().all(digit);
        return all.then(|| Fault::Hexadecimal(hexadecimal(field).map(Ipv4Addr::from_bits)));
    }
    (looks_numeric(field) && of_numbers(field) == Fault::LeadingZero).then_some(Fault::LeadingZero)
}

/// What an IPv4 address in hexadecimal is: one number, or four with dots of which some may be
/// decimal.
fn hexadecimal(field: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(field).ok()?;
    let number = |part: &str| match part.strip_prefix("0x").or(part.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if part.len() > 1 && part.starts_with('0') => None,
        None => part.parse().ok(),
    };
    let numbers: Vec<u32> = text.split('.').map(number).collect::<Option<_>>()?;
    match numbers[..] {
        [number] if text.starts_with('0') => Some(number),
        [a, b, c, d] if numbers.iter().all(|&number| number < 256) => {
            Some(a << 24 | b << 16 | c << 8 | d)
        }
        _ => None,
    }
}

/// The fault of a field that should be one address.
pub(crate) fn of_address(field: &[u8]) -> Fault {
    if let Some(fault) = of_notation(field) {
        return fault;
    }
    if has_other_mark(field) {
        return Fault::RangeMark;
    }
    let has = |byte| field.contains(&byte);
    if has(b':') {
        return of_colons(field);
    }
    if looks_numeric(field) {
        return of_numbers(field);
    }
    if is_host_name(field) {
        return Fault::HostName;
    }
    Fault::NotAnEntry
}

fn of_colons(field: &[u8]) -> Fault {
    let hex = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let last = field.iter().rposition(|&byte| byte == b':').unwrap_or(0);
    let (left, right) = (&field[..last], field.get(last + 1..).unwrap_or_default());
    if (ipv4::parse(left).is_some() || is_host_name(left))
        && right.first().is_some_and(u8::is_ascii_digit)
    {
        return Fault::Port;
    }
    if let Some(fault) = of_notation(left).filter(|_| !left.contains(&b':')) {
        return fault;
    }
    if !field.iter().all(hex) {
        return Fault::NotAnEntry;
    }
    let embedded_is_wrong =
        looks_numeric(right) && right.contains(&b'.') && ipv4::parse(right).is_none();
    let rest_is_right = || {
        let mut whole = left.to_vec();
        whole.extend_from_slice(b":1.2.3.4");
        ipv6::parse(&whole).is_some()
    };
    if embedded_is_wrong && rest_is_right() {
        of_numbers(right)
    } else {
        Fault::NotIpv6
    }
}

/// The fault of a field of digits and dots.
fn of_numbers(field: &[u8]) -> Fault {
    let numbers = || field.split(|&byte| byte == b'.');
    let count = numbers().count();
    if numbers().any(<[u8]>::is_empty) {
        return Fault::EmptyNumber;
    }
    if count > 4 {
        return Fault::RunTogether;
    }
    if count < 4 {
        return Fault::TooFewNumbers(count as u8);
    }
    if numbers().any(|number| number.len() > 1 && number[0] == b'0') {
        return Fault::LeadingZero;
    }
    Fault::NumberAbove255
}

/// Digits and dots, and at least one digit.
fn looks_numeric(field: &[u8]) -> bool {
    field
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && field.iter().any(u8::is_ascii_digit)
}

/// Letters, digits, dashes and underscores with dots between, and a letter somewhere.
pub(crate) fn is_host_name(field: &[u8]) -> bool {
    let name = field.strip_suffix(b".").unwrap_or(field);
    let letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    name.contains(&b'.')
        && name.iter().any(u8::is_ascii_alphabetic)
        && name
            .split(|&byte| byte == b'.')
            .all(|part| !part.is_empty() && part.iter().all(letter))
}

#[cfg(test)]
mod tests {
    use crate::entry::Entry;
    use crate::wording::Wording;

    /// The message about a field, as it is printed after `FILE:LINE: `.
    fn message(field: &str) -> String {
        Entry::parse(field.as_bytes())
            .unwrap_err()
            .about(field, Wording::Options)
            .to_string()
    }

    #[track_caller]
    fn check(field: &str, predicate: &str) {
        assert_eq!(message(field), format!("\"{field}\" {predicate}"));
    }

    #[test]
    fn names() {
        check("example.com", "is a host name; a list holds addresses");
        check(
            "my-host.example.com.",
            "is a host name; a list holds addresses",
        );
        check("abc.de", "is a host name; a list holds addresses");
        check(
            "1.2.3.4.in-addr.arpa",
            "is a host name; a list holds addresses",
        );
        check("http://192.0.2.1/x", "is a URL; a list holds addresses");
        check("ftp://example.com", "is a URL; a list holds addresses");
    }

    #[test]
    fn ipv4() {
        let together = "is more than one IPv4 address; two may have run together";
        check("176.221.42.3254.174.140.223", together);
        check("1.2.3.45.6.7.8", together);
        check("1.2.3.4.5/8", together);
        check("1.2.3", "has 3 of the four numbers of an IPv4 address");
        check("3232235777", "has 1 of the four numbers of an IPv4 address");
        check("10/8", "has 1 of the four numbers of an IPv4 address");
        check("1..2.3", "has a dot without a number beside it");
        check("1.2.3.4.", "has a dot without a number beside it");
        check("1.2.3.256", "has a number above 255");
        check("1.2.3.4444", "has a number above 255");
        check("300.2.3.4/8", "has a number above 255");
        let octal = "has a number with a leading zero, which some programs read as octal; \
                     write it without";
        check("010.0.0.1", octal);
        check("10.0.0.00", octal);
        check("10.01.0.0/16", octal);
        check("10.0.0.1:80", "has a port; a list holds plain addresses");
        check(
            "example.com:443",
            "has a port; a list holds plain addresses",
        );
    }

    /// One table: what is written in another notation, and the address that is meant where one is.
    #[test]
    fn numbers_in_another_notation() {
        let octal = "has a number with a leading zero, which some programs read as octal; \
                     write it without";
        for field in [
            "010.1.2.3",
            "192.168.001.010",
            "010.1.2.3/32",
            "192.168.001.0/24",
            "010.1.2.3:80",
            "::ffff:010.1.2.3",
            "010.1.2.3-010.1.2.9",
            "10.1.2.3-010.1.2.9",
            "10.0.0.0/08",
            "10.0.0.0/024",
            "10.0.0.0/255.000.000.000",
        ] {
            check(field, octal);
        }
        for (field, meant) in [
            ("0x0a.1.2.3", "10.1.2.3"),
            ("0X0A.0x01.0x02.0x03", "10.1.2.3"),
            ("0x0a010203", "10.1.2.3"),
            ("0x0a.0.0.0/8", "10.0.0.0"),
            ("0x0a.1.2.3-0x0a.1.2.9", "10.1.2.3"),
            ("10.1.2.3-0x0a.1.2.9", "10.1.2.9"),
            ("10.0.0.0/0xff.0.0.0", "255.0.0.0"),
        ] {
            check(
                field,
                &format!("has a number in hexadecimal; write {meant} in its place"),
            );
        }
        for field in [
            "0x0a.1.2",
            "0x100.1.2.3",
            "0x0a.01.2.3",
            "0x2001:0xdb8::1",
            "2001:0xdb8::/32",
            "0x123456789",
        ] {
            check(
                field,
                "has a number that begins with 0x; numbers of IPv4 are written in decimal, those \
                 of IPv6 without 0x",
            );
        }
        for (field, prefix_len) in [
            ("10.0.0.0/0xff000000", 8),
            ("10.0.0.0/0xFFFFFFFF", 32),
            ("10.0.0.0/0x0", 0),
        ] {
            check(
                field,
                &format!("has a netmask; write it as a prefix length: /{prefix_len}"),
            );
        }
        check("0x0a.example.com", "is a host name; a list holds addresses");
        let wildcard = "has a wildcard mask; write it as a prefix length: /28";
        check("10.0.0.0/0x0f", wildcard);
        check("0x", "is not an address, a network or a range");
        check("0xzz.1.2.3", "is a host name; a list holds addresses");
    }

    #[test]
    fn ipv6() {
        check(
            "fe80::1%eth0",
            "has a zone id; a list holds plain addresses",
        );
        check(
            "fe80::%eth0/64",
            "has a zone id; a list holds plain addresses",
        );
        check("[2001:db8::1]", "is in brackets; write the address without");
        check(
            "[2001:db8::1]:80",
            "is in brackets; write the address without",
        );
        check("2001:db8::1::2", "is not an IPv6 address");
        check("1:2:3:4:5:6:7:8:9", "is not an IPv6 address");
        check("::ffff:1.2.3.256", "has a number above 255");
        check("2001:db8:zz::", "is not an address, a network or a range");
    }

    #[test]
    fn networks() {
        check(
            "10.0.0.1/8",
            "has host bits set; the network is probably 10.0.0.0/8",
        );
        check(
            "2001:db8::1/32",
            "has host bits set; the network is probably 2001:db8::/32",
        );
        check("10.0.0.0/33", "has a prefix of more than 32 bits");
        check("2001:db8::/129", "has a prefix of more than 128 bits");
        check("10.0.0.0/", "has no prefix length after the slash");
        check("10.0.0.0/x", "has no prefix length after the slash");
        check("10.0.0.0/-1", "has no prefix length after the slash");
        check("10.0.0.0/1000", "has no prefix length after the slash");
        check(
            "10.0.0.0/8-11.0.0.0",
            "has no prefix length after the slash",
        );
        check(
            "10.0.0.0/255.0.0.0",
            "has a netmask; write it as a prefix length: /8",
        );
        check(
            "10.0.0.0/255.255.255.255",
            "has a netmask; write it as a prefix length: /32",
        );
        check(
            "0.0.0.0/0.0.0.0",
            "has a netmask; write it as a prefix length: /0",
        );
        check(
            "10.0.0.0/0.0.0.255",
            "has a wildcard mask; write it as a prefix length: /24",
        );
    }

    #[test]
    fn ranges() {
        check("10.0.0.9-10.0.0.1", "ends before it begins");
        check("::9-::1", "ends before it begins");
        check(
            "10.0.0.9-::1",
            "begins in one address family and ends in the other",
        );
        check(
            "10.0.0.1-50",
            "has no whole address at the end of the range",
        );
        check("10.0.0.1-", "has no whole address at the end of the range");
        check(
            "10.0.0.1-10.0.0.2-10.0.0.3",
            "has no whole address at the end of the range",
        );
        check(
            "10.0.0.1-10.0.0.0/24",
            "has no whole address at the end of the range",
        );
    }

    #[test]
    fn others() {
        check(
            "1.2.3.4,5",
            "has commas; --column N says which column holds the address",
        );
        for field in ["add", "-", "/", "*.example.com"] {
            check(field, "is not an address, a network or a range");
        }
        check("1.2.3.4\0", "holds control characters; this is not text");
        assert!(message("1.2.3.4\r1.2.3.5").contains("tr '\\r' '\\n'"));
    }
}
