//! Plain lines: an address, a network or a range, then anything. FireHOL's `.netset` and
//! `.ipset` and Spamhaus DROP as text are such lines.
//!
//! `#` and `;` begin a comment. What follows the first field is not read, with three exceptions:
//! a range may be written with blanks around its dash, a netmask or a line of a hosts file is a
//! bad line (its first field alone would be a wrong address), and a second address is warned of.

use crate::entry::{Entry, parse_address};
use crate::fault::Fault;
use crate::intake::{Intake, Note, Sink};
use crate::lines::Block;
use crate::{diagnosis, excerpt, ipv4};
use std::net::IpAddr;

/// Trailing text of fewer bytes holds no IPv4 address.
const ADDRESS_BYTES_MIN: usize = 7;

/// Reads a block of lines.
pub(crate) fn read_block<S: Sink>(block: Block<'_>, intake: &mut Intake<'_, S>) {
    let mut at = 0;
    while at < block.end {
        intake.line += 1;
        at = match read_address(block, at, intake) {
            Some(next) => next,
            None => read_any(block, at, intake),
        };
    }
}

/// Reads a line that is an IPv4 address, alone or with a short number after it. Returns where
/// the next line begins; `None` for every other line.
#[inline]
fn read_address<S: Sink>(block: Block<'_>, at: usize, intake: &mut Intake<'_, S>) -> Option<usize> {
    let window = block.bytes[at..].first_chunk()?;
    let (address, length) = ipv4::at_start(window)?;
    let line_end = match window[length] {
        b'\n' => at + length,
        b'\r' if window[length + 1] == b'\n' => at + length + 1,
        b'\t' | b' ' => short_number_end(block, at + length + 1)?,
        _ => return None,
    };
    intake.take_v4(address, &block.bytes[at..line_end]);
    Some(line_end + 1)
}

/// The end of a line on which nothing but a few digits follow.
#[inline]
fn short_number_end(block: Block<'_>, start: usize) -> Option<usize> {
    let rest = block.bytes.get(start..block.end)?;
    let end = rest
        .iter()
        .take(ADDRESS_BYTES_MIN)
        .position(|byte| !byte.is_ascii_digit())?;
    (rest[end] == b'\n').then_some(start + end)
}

fn read_any<S: Sink>(block: Block<'_>, at: usize, intake: &mut Intake<'_, S>) -> usize {
    let (line, next) = block.line_at(at);
    if line.len() > intake.options.limits.line_bound() {
        intake.too_long();
    } else {
        read_line(line.strip_suffix(b"\r").unwrap_or(line), intake);
    }
    next
}

/// Reads a line without its end.
fn read_line<S: Sink>(line: &[u8], intake: &mut Intake<'_, S>) {
    let line = line.trim_ascii();
    if line.contains(&b'\r') {
        // Lines that end in `\r` alone run together; all but the first would be lost.
        return intake.bad(Fault::NotText, line);
    }
    let (field, rest) = split_field(line);
    if field.is_empty() {
        return;
    }
    match Entry::parse(field) {
        Ok(entry) if rest.is_empty() => intake.take(entry, line),
        Ok(entry) => take_with_rest(entry, line, rest, intake),
        Err(fault) => intake.bad(fault, field),
    }
}

/// The first field, and what follows it up to a comment.
fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    let comment = line.iter().position(|byte| matches!(byte, b'#' | b';'));
    let line = &line[..comment.unwrap_or(line.len())];
    let end = line
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(line.len());
    (&line[..end], line[end..].trim_ascii())
}

fn take_with_rest<S: Sink>(entry: Entry, line: &[u8], rest: &[u8], intake: &mut Intake<'_, S>) {
    let word = split_field(rest).0;
    let both = &line[..word.as_ptr_range().end as usize - line.as_ptr() as usize];
    match Rest::of(entry, rest, word) {
        Rest::Text => intake.take(entry, line),
        Rest::RangeEnd(None) => intake.bad(Fault::RangeEnd, line),
        Rest::RangeEnd(Some(last)) => match single(entry).map(|first| Entry::range(first, last)) {
            Some(Ok(range)) => intake.take(range, line),
            Some(Err(fault)) => intake.bad(fault, line),
            None => intake.bad(Fault::NotAnEntry, line),
        },
        Rest::Bad(fault) => intake.bad(fault, both),
        Rest::Address(second) => {
            intake.warn(Note::SecondAddress, || {
                let (entry, second) = (excerpt::of(entry.to_string().as_bytes()), second);
                format!("{second} after {entry} is not loaded: a line holds one entry")
            });
            intake.take(entry, line);
        }
    }
}

/// What the text after an entry is.
enum Rest {
    /// Text that is not read.
    Text,
    /// A dash and an address, or something that was meant as one.
    RangeEnd(Option<IpAddr>),
    /// Another address.
    Address(IpAddr),
    /// Something that makes the first field mean something else than it says.
    Bad(Fault),
}

impl Rest {
    fn of(entry: Entry, rest: &[u8], word: &[u8]) -> Self {
        if let Some(after_dash) = rest.strip_prefix(b"-") {
            let last = split_field(after_dash.trim_ascii_start()).0;
            return match parse_address(last) {
                Some(last) => Self::RangeEnd(Some(last)),
                None if is_like_address(last) => Self::RangeEnd(None),
                None => Self::Text,
            };
        }
        if let [b'/', digit, ..] = word
            && digit.is_ascii_digit()
        {
            return Self::Bad(Fault::NotAnEntry);
        }
        if is_where_names_are_sent(entry) && diagnosis::is_host_name(word) {
            return Self::Bad(Fault::HostsFile);
        }
        match (entry, parse_address(word)) {
            (_, None) => Self::Text,
            (Entry::V4(_), Some(IpAddr::V4(mask))) if is_netmask(mask.to_bits()) => {
                Self::Bad(Fault::Netmask(Some(mask.to_bits().leading_ones() as u8)))
            }
            (_, Some(second)) => Self::Address(second),
        }
    }
}

/// Begins as an address does and has more than one number.
fn is_like_address(word: &[u8]) -> bool {
    let marks = word
        .iter()
        .filter(|byte| matches!(byte, b'.' | b':'))
        .count();
    marks > 1
        && word
            .first()
            .is_some_and(|byte| byte.is_ascii_hexdigit() || *byte == b':')
}

/// The address of an entry that is one.
fn single(entry: Entry) -> Option<IpAddr> {
    use crate::entry::Span::Address;
    match entry {
        Entry::V4(Address(v4)) => Some(IpAddr::V4(v4.into())),
        Entry::V6(Address(v6)) => Some(IpAddr::V6(v6.into())),
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

/// Eight ones or more, then zeros.
fn is_netmask(bits: u32) -> bool {
    bits.leading_ones() >= 8 && bits.leading_ones() + bits.trailing_zeros() >= 32
}
