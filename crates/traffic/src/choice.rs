//! Where the value of a field comes from.

use std::fmt;
use std::sync::Arc;

/// The values a field takes, over all flows. A flow keeps its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice<T> {
    /// Always the same.
    Fixed(T),
    /// Evenly from the first to the second, both included.
    Range(T, T),
    /// Any: what that excludes, the field of [`crate::Recipe`] says.
    Random,
    /// Evenly from a list; a value listed twice comes twice as often.
    List(Arc<[T]>),
}

impl<T: Copy + PartialOrd> Choice<T> {
    /// Reads `random`, one value or `FIRST-LAST`; `None` if it is none of them or the range runs
    /// backwards.
    pub(crate) fn parse(text: &str, value: impl Fn(&str) -> Option<T>) -> Option<Self> {
        if text == "random" {
            return Some(Self::Random);
        }
        if let Some(fixed) = value(text) {
            return Some(Self::Fixed(fixed));
        }
        let (first, last) = text.split_once('-')?;
        let (first, last) = (value(first)?, value(last)?);
        (first <= last).then_some(Self::Range(first, last))
    }

    /// Whether there is a value, none of them above `max`.
    pub(crate) fn is_within(&self, max: T) -> bool {
        match self {
            Self::Fixed(value) => *value <= max,
            Self::Range(first, last) => first <= last && *last <= max,
            Self::Random => true,
            Self::List(list) => !list.is_empty() && list.iter().all(|value| *value <= max),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Choice<T> {
    /// As a user writes it; a list as the number of its values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(value) => write!(f, "{value}"),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
            Self::Random => f.write_str("random"),
            Self::List(list) => write!(f, "one of {}", list.len()),
        }
    }
}
