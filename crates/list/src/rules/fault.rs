//! Why rules were not read.

use std::{error, fmt};

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFault {
    /// The line, the first being 1.
    pub line: u32,
    /// The character in it, the first being 1.
    pub column: u32,
    /// What is wrong and what helps, without full stop.
    pub sentence: String,
}

impl fmt::Display for RuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.sentence)
    }
}

impl error::Error for RuleFault {}

/// All that is wrong with a file, as far as it was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesError {
    /// The file, as the caller named it.
    pub file: String,
    /// The first faults, in their order; one at least.
    pub faults: Vec<RuleFault>,
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut faults = self.faults.iter();
        if let Some(fault) = faults.next() {
            write!(f, "{}:{fault}", self.file)?;
        }
        faults.try_for_each(|fault| write!(f, "\n{}:{fault}", self.file))
    }
}

impl error::Error for RulesError {}
