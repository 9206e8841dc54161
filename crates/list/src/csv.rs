//! CSV (RFC 4180) and its kin with tabs, semicolons, bars or blanks in place of commas: one column
//! holds the entries, or two make one together.
//!
//! Lines that begin with `#` are comments. The first other line is a header, and skipped, when
//! its column holds a word and no column an address; a mistaken address there is a bad line as
//! anywhere. Without a header, the last comment before the data is one when it has as many
//! columns as the data. Stricter than most
//! readers about quotes: read leniently, a description can put addresses into any column. A quoted
//! field may go on over line ends, up to the bound on lines; past it, each line inside the quotes
//! is a bad line. An address beside which another says how far it reaches is a bad line, too: see
//! [`Beside`].

use crate::beside::{Beside, holds_entry};
use crate::columns::{Column, Columns};
use crate::entry::Entry;
use crate::error::ListError;
use crate::extent;
use crate::fault::Fault;
use crate::foreign::Foreign;
use crate::intake::{Intake, Sink};
use crate::options::ReadOptions;
use crate::record::{Broken, Field, Separator};
use std::sync::Arc;

/// Reads the lines of one CSV text.
pub(crate) struct Csv<'o> {
    asked: &'o Columns,
    /// What was asked for by number; by heading it is known from the headings on.
    known: Option<Known>,
    separator: Option<Separator>,
    header_may_come: bool,
    /// The last comment before the first record, without its marks.
    comment: Vec<u8>,
    open: Option<Open>,
    failed: Option<ListError>,
}

/// Where the entries are.
struct Known {
    columns: Columns<usize>,
    beside: Beside,
}

/// A record whose last field so far is quoted and goes on over the line end.
struct Open {
    /// Where it began.
    line: u64,
    /// Its lines; empty when they are more than the bound.
    text: Vec<u8>,
}

impl<'o> Csv<'o> {
    pub(crate) fn new(asked: &'o Columns) -> Self {
        let by_number = asked.map(|column| match column {
            Column::Number(number) => Ok(usize::from(*number).saturating_sub(1)),
            Column::Named(_) => Err(()),
        });
        let known = by_number.ok().map(|columns| Known {
            columns,
            beside: Beside::any(),
        });
        Self {
            asked,
            known,
            separator: None,
            header_may_come: true,
            comment: Vec::new(),
            open: None,
            failed: None,
        }
    }

    /// Reads a line without its end.
    pub(crate) fn read_line<S: Sink>(&mut self, line: &[u8], intake: &mut Intake<'_, S>) {
        match self.open.take() {
            _ if self.failed.is_some() => {}
            Some(open) => self.read_on(open, line, intake),
            None if line.trim_ascii().is_empty() => {}
            None if line.starts_with(b"#") => self.read_comment(line),
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

    /// Headings may stand in a comment, which the first record tells.
    fn read_comment(&mut self, line: &[u8]) {
        let marks = line.iter().take_while(|&&byte| byte == b'#').count();
        let text = line[marks..].trim_ascii();
        if self.header_may_come && !text.is_empty() {
            text.clone_into(&mut self.comment);
        }
    }

    /// At the end of the text: a record that is still open is a bad line.
    ///
    /// # Errors
    /// No column has the heading asked for.
    pub(crate) fn finish<S: Sink>(self, intake: &mut Intake<'_, S>) -> Result<(), ListError> {
        if let Some(open) = self.open
            && !open.text.is_empty()
        {
            bad_at(open.line, &open.text, intake);
        }
        self.failed.map_or(Ok(()), Err)
    }

    fn read_record<S: Sink>(&mut self, line: &[u8], intake: &mut Intake<'_, S>) {
        let is_first = std::mem::take(&mut self.header_may_come);
        let separator = *self.separator.get_or_insert_with(|| Separator::of(line));
        let fields = match separator.fields(line) {
            Ok(fields) => fields,
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
        if is_first && self.read_headings(separator, &fields, intake) {
            return;
        }
        let Some(known) = &self.known else {
            return;
        };
        if let Some(foreign) = Foreign::of_columns(&fields) {
            return intake.bad(Fault::Foreign(foreign), line);
        }
        match known.entry(&fields, intake.options) {
            Ok(entry) => intake.take(entry, line),
            Err((fault, About::Line)) => intake.bad(fault, line),
            Err((fault, About::Field(index))) => intake.bad(fault, &fields[index]),
        }
    }

    /// Looks for headings in the first record, or else in the last comment before it. True when
    /// the record is no data.
    fn read_headings<S: Sink>(
        &mut self,
        separator: Separator,
        fields: &[Field<'_>],
        intake: &Intake<'_, S>,
    ) -> bool {
        let comment = std::mem::take(&mut self.comment);
        let of_comment = separator.fields(&comment).ok();
        let of_comment = of_comment.filter(|headings| headings.len() == fields.len());
        let may_be_headings = !fields.iter().any(|field| holds_entry(field));
        if let Some(known) = &mut self.known {
            let is_header = may_be_headings && known.may_be_headings(fields);
            let headings = if is_header {
                Some(fields)
            } else {
                of_comment.as_deref()
            };
            known.beside = headings.map_or_else(Beside::any, Beside::any_and_headings);
            return is_header;
        }
        let of_record = Known::by_headings(self.asked, fields);
        let heading = match of_record {
            Ok(known) if may_be_headings => {
                self.known = Some(known);
                return true;
            }
            Ok(_) => self.asked.to_string(),
            Err(heading) => heading,
        };
        let known = of_comment.map(|headings| Known::by_headings(self.asked, &headings));
        if let Some(Ok(known)) = known {
            self.known = Some(known);
            return false;
        }
        self.failed = Some(ListError::NoHeading {
            file: Arc::clone(&intake.file),
            heading,
            headings: headings_shown(fields),
        });
        true
    }
}

/// The headings there are, for a message.
fn headings_shown(fields: &[Field<'_>]) -> String {
    let shown: Vec<_> = fields
        .iter()
        .take(20)
        .map(|field| crate::excerpt::of(field))
        .collect();
    shown.join(", ")
}

/// What the text of a bad line is.
enum About {
    Field(usize),
    Line,
}

impl Known {
    /// The columns that have the headings asked for; the heading that none or two have.
    fn by_headings(asked: &Columns, headings: &[Field<'_>]) -> Result<Self, String> {
        let columns = asked.map(|column| match column {
            Column::Number(number) => Ok(usize::from(*number).saturating_sub(1)),
            Column::Named(name) => place_of(name, headings).ok_or_else(|| name.clone()),
        })?;
        Ok(Self {
            beside: Beside::by_headings(headings),
            columns,
        })
    }

    /// Whether every column that was asked for holds a word.
    fn may_be_headings(&self, fields: &[Field<'_>]) -> bool {
        let is_word = |at: usize| {
            let parsed = fields.get(at).map(|field| Entry::parse(field));
            matches!(parsed, Some(Err(Fault::NotAnEntry | Fault::HostName)))
        };
        match self.columns {
            Columns::One(at) => is_word(at),
            Columns::Range(a, b) | Columns::Network(a, b) => is_word(a) && is_word(b),
            Columns::All => false,
        }
    }

    /// The entry of a record.
    fn entry(&self, fields: &[Field<'_>], options: &ReadOptions) -> Result<Entry, (Fault, About)> {
        let (force, purpose) = (options.force, options.purpose);
        let field = |index: usize| match fields.get(index) {
            None => Err((Fault::ColumnMissing(fields.len()), About::Line)),
            Some(field) if field.is_empty() => Err((Fault::ColumnEmpty, About::Line)),
            Some(field) => Ok(field),
        };
        if !force && self.beside.contradicts(fields, purpose) {
            return Err((purpose.opposite(), About::Line));
        }
        match self.columns {
            Columns::One(at) => {
                let about = |fault| (fault, About::Field(at));
                let entry = Entry::parse(field(at)?).map_err(about)?;
                match self.beside.fault(fields, at) {
                    Some(fault) if !force => Err((fault, About::Line)),
                    _ => Ok(entry),
                }
            }
            Columns::Range(first, last) => {
                let range = extent::range(field(first)?, field(last)?);
                range.map_err(|fault| (fault, About::Line))
            }
            Columns::Network(address, length) => {
                let network = extent::network(field(address)?, field(length)?);
                network.map_err(|fault| (fault, About::Line))
            }
            Columns::All => Err((Fault::NotAnEntry, About::Line)),
        }
    }
}

/// The one column with this heading: as it is written, or but for upper and lower case.
fn place_of(name: &str, headings: &[Field<'_>]) -> Option<usize> {
    let place = |same: &dyn Fn(&[u8]) -> bool| {
        let mut places = (0..headings.len()).filter(|&place| same(&headings[place]));
        let first = places.next()?;
        places.next().is_none().then_some(first)
    };
    let name = name.as_bytes();
    place(&|heading| heading == name).or_else(|| place(&|h| h.eq_ignore_ascii_case(name)))
}

/// Counts a record that began on `line` and whose quotes do not end.
fn bad_at<S: Sink>(line: u64, text: &[u8], intake: &mut Intake<'_, S>) {
    let now = std::mem::replace(&mut intake.line, line);
    intake.bad(Fault::CsvQuotes, text);
    intake.line = now;
}
