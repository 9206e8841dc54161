//! What a reader has to say about single lines: bad ones, and ones to think twice about.

use crate::fault::Fault;
use crate::wording::Wording;
use std::fmt;
use std::sync::Arc;

/// A line that holds no entry and should. Displays as `FILE:LINE: what is wrong`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The list, as the caller named it.
    pub file: Arc<str>,
    /// The line, the first being 1; of an element that spans lines, where it ends.
    pub line: u64,
    /// What is wrong.
    pub fault: Fault,
    /// The text that it is about, made printable and cut.
    pub text: String,
    /// For whom its message is.
    pub wording: Wording,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}",
            self.file,
            self.line,
            self.fault.about(&self.text, self.wording)
        )
    }
}

/// What to do about a list with so many bad lines, these the first, beside so many entries. Where
/// most lines are bad, what is wrong is how the list is read and not a line.
#[must_use]
pub fn remedy(bad: &[BadLine], bad_count: u64, entry_count: u64) -> String {
    let wording = bad.first().map_or(Wording::default(), |line| line.wording);
    let option = bad.iter().find_map(|line| line.fault.option(wording));
    match option.filter(|_| bad_count > entry_count) {
        Some(option) if entry_count == 0 => {
            format!("none of its lines is an entry as it stands; {option}")
        }
        None if entry_count == 0 => {
            format!("none of its lines is an entry; {}", of_whole(bad, wording))
        }
        Some(option) => format!("{option}; otherwise {}", of_rest(wording)),
        None => of_rest(wording),
    }
}

/// What to do where some lines are bad.
fn of_rest(wording: Wording) -> String {
    match wording.skip_bad_lines() {
        Some(skip) => format!("mend the list, or load the rest with {skip}"),
        None => "mend the list".to_owned(),
    }
}

/// What a list is of which no line is an entry, by what is wrong with most lines, and what to do.
fn of_whole(bad: &[BadLine], wording: Wording) -> String {
    let kinds: Vec<String> = bad.iter().map(|line| line.fault.whole(wording)).collect();
    let count = |kind: &String| kinds.iter().filter(|one| *one == kind).count();
    let most = kinds.iter().max_by_key(|kind| count(kind));
    most.map_or_else(|| "mend the list".to_owned(), String::clone)
}

impl Fault {
    /// What a list is of which all lines have this fault, and what to do.
    fn whole(self, wording: Wording) -> String {
        let said = match self {
            Self::Markup => "it is a web page or an error in place of a list: fetch it again",
            Self::HostName | Self::HostsFile => "it is a list of names: give a list of addresses",
            Self::Url => "it is a list of URLs: give a list of addresses",
            Self::Foreign(foreign) => foreign.whole(),
            Self::NotText => "it is no text: give a list of addresses, a line each",
            Self::LineEnds => "its lines end with carriage returns alone: use tr '\\r' '\\n'",
            Self::LeadingZero => {
                "it has leading zeros: where its numbers are decimal, take the zeros away \
                 (sed -E 's/\\b0+([0-9])/\\1/g')"
            }
            Self::Hexadecimal(_) => "it has hexadecimal numbers: write its addresses in decimal",
            Self::JsonWithoutAddress => {
                let path = wording.json_path("KEY");
                return format!("{path} names the key that holds the address, as in src.ip");
            }
            Self::Commas | Self::DateFirst => {
                let column = wording.column("N");
                return format!("it has columns: {column} names the one that holds the address");
            }
            _ => "mend the list",
        };
        said.to_owned()
    }
}

/// A warning. Displays as `FILE:LINE: sentence`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The list, as the caller named it.
    pub file: Arc<str>,
    /// The line, the first being 1; 0 when it is about the whole list.
    pub line: u64,
    /// The warning, without full stop.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.text),
            line => write!(f, "{}:{line}: {}", self.file, self.text),
        }
    }
}
