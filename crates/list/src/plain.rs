//! Plain lines: an address, a network or a range, then anything. FireHOL's `.netset` and
//! `.ipset` and Spamhaus DROP as text are such lines.
//!
//! `#` and `;` begin a comment, but for one after `;` that begins with an address, a mask or a
//! length: it may be a column. What follows the first field is a note unless it could be part of
//! what the line means: see [`Rest`].

use crate::columns::Columns;
use crate::entry::{Entry, Span};
use crate::extent::{self, may_be_length_v4};
use crate::fault::Fault;
use crate::foreign::Foreign;
use crate::intake::{Intake, Sink};
use crate::lines::Block;
use crate::options::ReadOptions;
use crate::record::Separator;
use crate::rest::{Rest, fault_of_comment, first_word, is_address};
use crate::wording::Wording;
use crate::{diagnosis, ipv4};

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
        b'\t' | b' ' => {
            let (number, line_end) = short_number(block, at + length + 1)?;
            if may_be_length_v4(address, number) {
                return None;
            }
            line_end
        }
        _ => return None,
    };
    intake.take_v4(address, &block.bytes[at..line_end]);
    Some(line_end + 1)
}

/// The number of a few digits, none being 0, that ends a line, and where the line ends.
#[inline]
fn short_number(block: Block<'_>, start: usize) -> Option<(u32, usize)> {
    let rest = block.bytes.get(start..block.end)?;
    let mut number = 0;
    for (place, byte) in rest.iter().take(ADDRESS_BYTES_MIN).enumerate() {
        match byte {
            b'0'..=b'9' => number = number * 10 + u32::from(byte - b'0'),
            b'\n' => return Some((number, start + place)),
            _ => return None,
        }
    }
    None
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
        return intake.bad(Fault::LineEnds, line);
    }
    let told = without_comment(line);
    let (field, rest) = split_field(told);
    if field.is_empty() {
        return;
    }
    let entry = match Entry::parse(field) {
        Ok(entry) if let Some(fault) = fault_after(entry, told, line, intake.options) => {
            return intake.bad(fault, line);
        }
        Ok(entry) if rest.is_empty() => return intake.take(entry, line),
        Ok(entry) => entry,
        Err(fault) => {
            let (fault, text) = of_line(fault, field, told);
            return intake.bad(fault, text);
        }
    };
    match Rest::of(entry, field, rest, intake.options) {
        Rest::Note => intake.take(entry, line),
        Rest::Entry(whole) => intake.take(whole, line),
        Rest::Bad(fault) => {
            let (fault, _) = of_line(fault, field, told);
            intake.bad(fault, told);
        }
    }
}

/// The entry of one line, by the rules of plain lists; none where it has none.
///
/// # Errors
/// What is wrong with it, for whoever gives single entries.
pub fn entry_of_line(line: &[u8]) -> Result<Option<Entry>, String> {
    let options = ReadOptions {
        wording: Wording::Entry,
        ..ReadOptions::default()
    };
    let mut intake = Intake::new(&"".into(), &options, One(None));
    read_line(line, &mut intake);
    match intake.bad.first() {
        Some(bad) => Err(bad.fault.about(&bad.text, bad.wording).to_string()),
        None => Ok(intake.held.sink.0),
    }
}

/// The entry of one line.
#[derive(Clone)]
struct One(Option<Entry>);

impl Sink for One {
    fn take_v4(&mut self, _: u64, address: u32, _: &[u8]) {
        self.0 = Some(Entry::V4(Span::Address(address)));
    }

    fn take(&mut self, _: u64, entry: Entry, _: &[u8]) {
        self.0 = Some(entry);
    }

    fn fresh(&self) -> Self {
        Self(None)
    }

    fn append(&mut self, other: Self) {
        self.0 = self.0.take().or(other.0);
    }

    fn retain(&mut self, keep: &mut dyn FnMut(Entry) -> bool) -> u64 {
        let gone = self.0.take_if(|entry| !keep(*entry));
        u64::from(gone.is_some())
    }
}

/// The line up to a comment. A semicolon right behind something may stand between columns.
fn without_comment(line: &[u8]) -> &[u8] {
    let begins = |at: usize| match line[at] {
        b'#' => true,
        b';' => at == 0 || line[at - 1].is_ascii_whitespace(),
        _ => false,
    };
    let comment = (0..line.len()).find(|&at| begins(at));
    line[..comment.unwrap_or(line.len())].trim_ascii_end()
}

/// What is wrong with a comment after a semicolon.
fn fault_after(entry: Entry, told: &[u8], line: &[u8], options: &ReadOptions) -> Option<Fault> {
    let comment = line[told.len()..].trim_ascii_start().strip_prefix(b";")?;
    fault_of_comment(entry, comment.trim_ascii_start(), options)
}

/// The first field, and what follows it.
fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    let (word, rest) = first_word(line);
    match word.iter().position(|&byte| byte == b';') {
        Some(at) => (&word[..at], line[at + 1..].trim_ascii_start()),
        None => (word, rest),
    }
}

/// What is wrong with a line whose field has this fault, and the text that it is about. Where
/// the fault comes of columns, it says which of them an option would read.
#[cold]
fn of_line<'a>(fault: Fault, field: &'a [u8], line: &'a [u8]) -> (Fault, &'a [u8]) {
    if let Some(foreign) = Foreign::of(field, line) {
        return (Fault::Foreign(foreign), line);
    }
    if field == b"!" && is_address(first_word(line[1..].trim_ascii_start()).0) {
        return (Fault::Exception, line);
    }
    if fault == Fault::ForeignComment {
        return (fault, line);
    }
    let separator = Separator::of(line);
    let is_dated = diagnosis::is_date(field);
    let is_alone = field.len() == line.len();
    let may_have_columns = match fault {
        Fault::Commas | Fault::TwoAddresses | Fault::TooFewNumbers(_) => true,
        Fault::TrailingComma => !is_alone,
        Fault::Brackets => is_dated,
        Fault::NotAnEntry | Fault::RangeEnd | Fault::NotIpv6 | Fault::PrefixLength => {
            is_dated || separator != Separator::Blanks
        }
        _ => false,
    };
    let fields = may_have_columns
        .then(|| separator.fields(line).ok())
        .flatten();
    match fields.and_then(|fields| extent::hint(&fields)) {
        // Two addresses in prose are no columns.
        Some(columns)
            if fault == Fault::TwoAddresses
                && columns != Columns::All
                && (separator == Separator::Blanks || matches!(columns, Columns::One(_))) =>
        {
            (fault, line)
        }
        Some(columns) => (Fault::Columns(columns), line),
        None if is_dated && may_have_columns => (Fault::DateFirst, line),
        None => (fault, field),
    }
}
