//! Why a list was not loaded: a sentence each that names the list and the remedy.

use crate::json_claims::Incomplete;
use crate::report::{BadLine, remedy};
use crate::wording::Wording;
use std::sync::Arc;
use std::{fmt, io};

/// Why a list was not loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListError {
    /// The input could not be read to its end.
    Read {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// True when it was being unpacked.
        gzip: bool,
        /// What the system or the unpacker said.
        source: io::Error,
    },
    /// Lines are wrong, and bad lines are not skipped.
    Refused {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// How many entries the other lines hold.
        entry_count: u64,
        /// How many lines are wrong.
        bad_count: u64,
        /// The first of them.
        bad: Vec<BadLine>,
    },
    /// The input is packed in a way that is not unpacked here.
    Packed {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// How, to stand behind "is".
        what: &'static str,
    },
    /// The input is text in another encoding than UTF-8.
    Encoding {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// Which.
        encoding: &'static str,
    },
    /// More entries than the limits allow.
    TooManyEntries {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// The limit.
        entries_max: u64,
    },
    /// A JSON document that is broken, cut off, or not alone.
    JsonDocument(BadLine),
    /// A list that says of itself that it has more than was read.
    Incomplete {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// What it says, and what was read.
        incomplete: Incomplete,
        /// For whom the message is.
        wording: Wording,
    },
    /// A JSON document has arrays of two addresses each, which may be lists or the ends of ranges.
    JsonPair {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// Where they are.
        path: String,
        /// For whom the message is.
        wording: Wording,
    },
    /// A JSON document has its addresses at none or several paths, or not at the path asked for.
    JsonPath {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// The path asked for, when it is not there.
        asked: Option<String>,
        /// Where addresses are: the first paths.
        paths: Vec<String>,
        /// Whether there are more.
        has_more: bool,
        /// For whom the message is.
        wording: Wording,
    },
    /// No column, or more than one, has the heading asked for.
    NoHeading {
        /// The list, as the caller named it.
        file: Arc<str>,
        /// The heading asked for.
        heading: String,
        /// The first line with columns.
        headings: String,
    },
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read {
                file,
                gzip: true,
                source,
            } => write!(
                f,
                "{file} cannot be unpacked ({source}): the gzip data is damaged or cut off, \
                 fetch it again"
            ),
            Self::Read {
                file,
                gzip: false,
                source,
            } => write!(f, "{file} cannot be read: {source}"),
            Self::Refused {
                file,
                entry_count,
                bad_count,
                bad,
            } => {
                write_bad(f, file, *bad_count, bad)?;
                let (lines, remedy) =
                    (bad_lines(*bad_count), remedy(bad, *bad_count, *entry_count));
                write!(
                    f,
                    "{file} is refused for {lines} and nothing was loaded: {remedy}"
                )
            }
            Self::Packed { file, what } => write!(
                f,
                "{file} is {what}: take the text of the list out of it first, gzip alone is \
                 unpacked here"
            ),
            Self::Encoding { file, encoding } => {
                write!(
                    f,
                    "{file} is {encoding} text: save it as UTF-8, or convert it with 'iconv -f \
                     {encoding} -t UTF-8'"
                )
            }
            Self::TooManyEntries { file, entries_max } => {
                write!(
                    f,
                    "{file} holds more than {entries_max} entries: split the list"
                )
            }
            Self::NoHeading {
                file,
                heading,
                headings,
            } => write!(
                f,
                "{file} has not one column headed \"{heading}\"; its first line is: {headings}; \
                 name a column by its number, the first being 1"
            ),
            json => json.fmt_json(f),
        }
    }
}

impl ListError {
    /// What is wrong with JSON.
    fn fmt_json(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JsonDocument(bad) => write!(
                f,
                "{bad}: a JSON document is loaded whole or not at all, fetch it again"
            ),
            Self::Incomplete {
                file,
                incomplete,
                wording,
            } => write!(
                f,
                "{file} {incomplete}: it was cut off or is one part of several; fetch all of it, \
                 or load it as it is with {}",
                wording.force()
            ),
            Self::JsonPair {
                file,
                path,
                wording,
            } => write!(
                f,
                "{file} has two addresses at {path}, which may be two entries or one range: {} \
                 reads them as entries; a range is written FIRST-LAST",
                wording.json_path(path)
            ),
            Self::JsonPath {
                file,
                asked,
                paths,
                has_more,
                wording,
            } => {
                write_paths(f, file, asked.as_deref(), paths)?;
                let more = if *has_more { " and more" } else { "" };
                match paths.is_empty() {
                    true => f.write_str(
                        ": no text in it is an address or a network, and names of keys are not \
                         read",
                    ),
                    false => write!(
                        f,
                        ": {} says which to read, of {}{more}; several have commas between, and * \
                         stands for any key",
                        wording.json_path_option(),
                        paths.join(", ")
                    ),
                }
            }
            // Said above.
            _ => Ok(()),
        }
    }
}

/// Where addresses are, in place of where they were looked for.
fn write_paths(
    f: &mut fmt::Formatter<'_>,
    file: &str,
    asked: Option<&str>,
    paths: &[String],
) -> fmt::Result {
    match (asked, paths.len()) {
        (Some(asked), _) => write!(f, "{file} has nothing at the path {asked}"),
        (None, 0) => write!(f, "{file} is JSON without a list of addresses"),
        (None, 1) => write!(f, "{file} has addresses in no array"),
        (None, _) => write!(f, "{file} has addresses at more than one path"),
    }
}

fn bad_lines(count: u64) -> String {
    match count {
        1 => "1 bad line".to_owned(),
        more => format!("{more} bad lines"),
    }
}

/// The bad lines that were kept, and how many more there are.
fn write_bad(
    f: &mut fmt::Formatter<'_>,
    file: &str,
    bad_count: u64,
    bad: &[BadLine],
) -> fmt::Result {
    for line in bad {
        writeln!(f, "{line}")?;
    }
    match bad_count.saturating_sub(bad.len() as u64) {
        0 => Ok(()),
        1 => writeln!(f, "{file}: 1 more bad line"),
        more => writeln!(f, "{file}: {more} more bad lines"),
    }
}

impl std::error::Error for ListError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}
