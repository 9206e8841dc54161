//! CSV (RFC 4180): one column holds the addresses.
//!
//! Lines that begin with `#` are comments. The first other line is a header, and skipped, when
//! its column holds a word; a mistaken address there is a bad line as anywhere. Stricter than most
//! readers about quotes: read leniently, a description can put addresses into any column. A quoted
//! field may go on over line ends, up to the bound on lines; past it, each line inside the quotes
//! is a bad line.

use crate::entry::Entry;
use crate::fault::Fault;
use crate::intake::{Intake, Sink};
use std::borrow::Cow;

/// Reads the lines of one CSV text.
pub(crate) struct Csv {
    /// From 0.
    column_index: usize,
    header_may_come: bool,
    open: Option<Open>,
}

/// A record whose last field so far is quoted and goes on over the line end.
struct Open {
    /// Where it began.
    line: u64,
    /// Its lines; empty when they are more than the bound.
    text: Vec<u8>,
}

impl Csv {
    /// `column` counts from 1.
    pub(crate) fn new(column: usize) -> Self {
        Self {
            column_index: column.saturating_sub(1),
            header_may_come: true,
            open: None,
        }
    }

    /// Reads a line without its end.
    pub(crate) fn read_line<S: Sink>(&mut self, line: &[u8], intake: &mut Intake<'_, S>) {
        match self.open.take() {
            Some(open) => self.read_on(open, line, intake),
            None if line.trim_ascii().is_empty() || line.starts_with(b"#") => {}
            None => self.read_record(line, intake),
        }
    }

    /// Reads a line that begins inside quotes.
    fn read_on<S: Sink>(&mut self, mut open: Open, line: &[u8], intake: &mut Intake<'_, S>) {
        let fits = open.text.len() + line.len() < intake.options.limits.line_bound();
        if open.text.is_empty() {
            intake.bad(Fault::CsvQuotes, line);
        } else if fits {
            open.text.push(b'\n');
            open.text.extend_from_slice(line);
        } else {
            bad_at(open.line, &open.text, intake);
            intake.bad(Fault::CsvQuotes, line);
            open.text.clear();
        }
        // Quotes inside a quoted field come in pairs, so it is an odd one that ends it.
        let quotes = line.iter().filter(|&&byte| byte == b'"').count();
        if quotes % 2 == 0 {
            self.open = Some(open);
        } else if !open.text.is_empty() {
            let line = std::mem::replace(&mut intake.line, open.line);
            self.read_record(&open.text, intake);
            intake.line = line;
        }
    }

    /// At the end of the text: a record that is still open is a bad line.
    pub(crate) fn finish<S: Sink>(&mut self, intake: &mut Intake<'_, S>) {
        if let Some(open) = self.open.take()
            && !open.text.is_empty()
        {
            bad_at(open.line, &open.text, intake);
        }
    }

    fn read_record<S: Sink>(&mut self, line: &[u8], intake: &mut Intake<'_, S>) {
        let is_first = std::mem::take(&mut self.header_may_come);
        let field = match column(line, self.column_index) {
            Ok(field) => field,
            Err(Broken::Open) => {
                self.header_may_come = is_first;
                self.open = Some(Open {
                    line: intake.line,
                    text: line.to_vec(),
                });
                return;
            }
            Err(Broken::Bad(fault)) => return intake.bad(fault, line),
        };
        match Entry::parse(&field) {
            Ok(entry) => intake.take(entry, line),
            Err(Fault::NotAnEntry | Fault::HostName) if is_first => {}
            Err(fault) => intake.bad(fault, &field),
        }
    }
}

/// Counts a record that began on `line` and whose quotes do not end.
fn bad_at<S: Sink>(line: u64, text: &[u8], intake: &mut Intake<'_, S>) {
    let now = std::mem::replace(&mut intake.line, line);
    intake.bad(Fault::CsvQuotes, text);
    intake.line = now;
}

/// A field without its quotes.
type Field<'a> = Cow<'a, [u8]>;

/// Why a record, or what is there of it, gives no field.
#[derive(Debug)]
enum Broken {
    /// Its last field is quoted and does not end.
    Open,
    /// It is a bad line.
    Bad(Fault),
}

/// The field at `wanted`. All fields are looked at, so that a broken one after it is seen.
fn column(line: &[u8], wanted: usize) -> Result<Field<'_>, Broken> {
    let mut found = None;
    let mut rest = Some(line);
    let mut count = 0;
    while let Some(from) = rest {
        let (field, after) = split_field(from)?;
        if count == wanted {
            found = Some(field);
        }
        rest = after;
        count += 1;
    }
    match found {
        None => Err(Broken::Bad(Fault::ColumnMissing(count))),
        Some(field) if field.is_empty() => Err(Broken::Bad(Fault::ColumnEmpty)),
        Some(field) => Ok(field),
    }
}

/// The first field and what follows its comma.
fn split_field(text: &[u8]) -> Result<(Field<'_>, Option<&[u8]>), Broken> {
    let wrong = Broken::Bad(Fault::CsvQuotes);
    if let Some(quoted) = text.trim_ascii_start().strip_prefix(b"\"") {
        let (field, rest) = split_quoted(quoted).ok_or(Broken::Open)?;
        return match rest.trim_ascii_start() {
            [] => Ok((field, None)),
            [b',', rest @ ..] => Ok((field, Some(rest))),
            _ => Err(wrong),
        };
    }
    let end = text.iter().position(|&byte| byte == b',');
    let field = text[..end.unwrap_or(text.len())].trim_ascii();
    if field.contains(&b'"') {
        return Err(wrong);
    }
    Ok((Cow::Borrowed(field), end.map(|end| &text[end + 1..])))
}

/// The field up to its closing quote, two quotes being one, and what follows the quote; `None`
/// when it does not close.
fn split_quoted(text: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let mut end = text.iter().position(|&byte| byte == b'"')?;
    if text.get(end + 1) != Some(&b'"') {
        return Some((Cow::Borrowed(text[..end].trim_ascii()), &text[end + 1..]));
    }
    let mut field = Vec::new();
    let mut start = 0;
    while text.get(end + 1) == Some(&b'"') {
        field.extend_from_slice(&text[start..=end]);
        start = end + 2;
        end = start + text[start..].iter().position(|&byte| byte == b'"')?;
    }
    field.extend_from_slice(&text[start..end]);
    Some((Cow::Owned(field), &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(line: &str) -> Vec<String> {
        let text = |index| match column(line.as_bytes(), index) {
            Ok(field) => Some(String::from_utf8_lossy(&field).into_owned()),
            Err(Broken::Bad(Fault::ColumnEmpty)) => Some(String::new()),
            Err(Broken::Bad(Fault::ColumnMissing(count))) => {
                assert_eq!(count, index);
                None
            }
            Err(broken) => Some(format!("{broken:?}")).filter(|_| index == 0),
        };
        (0..).map_while(text).collect()
    }

    #[test]
    fn fields() {
        assert_eq!(columns("a,b,c"), ["a", "b", "c"]);
        assert_eq!(columns(" a , b,, "), ["a", "b", "", ""]);
        assert_eq!(columns("\"a,b\",\"c\" , \"d\""), ["a,b", "c", "d"]);
        let quotes = "\"say \"\"hi\"\"\",\"\"\"\",\"\"";
        assert_eq!(columns(quotes), ["say \"hi\"", "\"", ""]);
        assert_eq!(columns("a,"), ["a", ""]);
    }

    #[test]
    fn quotes_that_are_wrong() {
        for line in ["\"a\"b", "a\"b", "x,\"a\" b,c", "a\",\"b"] {
            assert_eq!(columns(line), ["Bad(CsvQuotes)"], "{line}");
        }
        for line in ["\"a", "x,\"a", "\"a\"\"", "\"", "\"a\n,b"] {
            assert_eq!(columns(line), ["Open"], "{line}");
        }
    }
}
