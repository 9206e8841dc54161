//! What a rule says: where, which rule, and what is wrong.

use std::fmt;

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the root of the repository.
    pub path: String,
    /// The line, counted from 1; 0 when the finding is about the whole file.
    pub line: usize,
    /// The rule's name.
    pub rule: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    /// A finding about one line.
    #[must_use]
    pub fn at(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            rule,
            message: message.into(),
        }
    }

    /// A finding about a whole file.
    #[must_use]
    pub fn of(path: &str, rule: &'static str, message: impl Into<String>) -> Self {
        Self::at(path, 0, rule, message)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}: {} [{}]", self.path, self.message, self.rule),
            line => write!(
                out,
                "{}:{line}: {} [{}]",
                self.path, self.message, self.rule
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_file_line_and_rule() {
        let finding = Finding::at("a.rs", 3, "line-length", "too long");
        assert_eq!(finding.to_string(), "a.rs:3: too long [line-length]");
        assert_eq!(Finding::of("a.rs", "r", "bad").to_string(), "a.rs: bad [r]");
    }
}
