//! What a reader has to say about single lines: bad ones, and ones to think twice about.

use crate::fault::Fault;
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
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}",
            self.file,
            self.line,
            self.fault.about(&self.text)
        )
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
