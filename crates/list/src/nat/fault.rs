//! Why a file for NAT was not read.

use std::io;
use std::{error, fmt};

use crate::excerpt;

/// What is wrong at a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatFault {
    /// The line, the first being 1.
    pub line: u64,
    /// Where the word begins, the first character of the line being 1.
    pub column: u64,
    /// What is wrong and what to do: a sentence that names the word.
    pub sentence: String,
}

/// Why there are no rules.
#[derive(Debug)]
pub enum NatTextError {
    /// Reading failed.
    Read(String, io::Error),
    /// It is no text, or too long.
    Text(String, &'static str),
    /// Words are wrong.
    Words {
        /// The file, as the caller named it.
        file: String,
        /// The first faults, one a statement.
        faults: Vec<NatFault>,
    },
}

impl NatFault {
    pub(super) fn new(place: (u64, u64), word: &str, predicate: &str) -> Self {
        let sentence = match word {
            "" => format!("the line ends where it {predicate}"),
            word => format!("\"{}\" {predicate}", excerpt::of(word.as_bytes())),
        };
        let (line, column) = place;
        Self {
            line,
            column,
            sentence,
        }
    }
}

impl fmt::Display for NatFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.sentence)
    }
}

impl error::Error for NatFault {}

impl fmt::Display for NatTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(file, error) => {
                write!(f, "{file} cannot be read ({error}): check the name")
            }
            Self::Text(file, what) => write!(f, "{file} {what}"),
            Self::Words { file, faults } => {
                let lines: Vec<String> = faults.iter().map(|one| format!("{file}:{one}")).collect();
                f.write_str(&lines.join("\n"))
            }
        }
    }
}

impl error::Error for NatTextError {}
