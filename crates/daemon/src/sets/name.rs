//! Names of sets.

use std::fmt;
use std::str::FromStr;

/// The name of a set: 1 to 64 letters, digits, dots, dashes and underscores of ASCII, so that it
/// can stand in a label of a metric, in a file name and on a command line as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SetName(Box<str>);

/// What a set cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError {
    /// As given, cut to what fits a line.
    pub given: String,
}

impl SetName {
    /// The longest name, bytes.
    pub const BYTES_MAX: usize = 64;

    /// A name.
    ///
    /// # Errors
    /// [`NameError`]: too long, empty, or with other characters.
    pub fn new(name: &str) -> Result<Self, NameError> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if (1..=Self::BYTES_MAX).contains(&name.len()) && name.bytes().all(is_fit) {
            Ok(Self(name.into()))
        } else {
            let given = name.chars().take(Self::BYTES_MAX).collect();
            Err(NameError { given })
        }
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SetName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl fmt::Display for SetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a set cannot be called {:?}: use 1 to {} letters, digits, dots, dashes, underscores",
            self.given,
            SetName::BYTES_MAX
        )
    }
}

impl std::error::Error for NameError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_name_may_be() {
        for name in ["a", "spamhaus-drop", "level_1.v4", &"x".repeat(64)] {
            assert_eq!(SetName::new(name).expect("a name").as_str(), name);
        }
        for name in ["", "a b", "ä", "a/b", "x\n", &"x".repeat(65)] {
            assert!(SetName::new(name).is_err(), "{name:?}");
        }
        let error = SetName::new("a b").expect_err("a blank");
        assert!(error.to_string().contains("\"a b\""), "{error}");
    }
}
