//! What is wrong with a recipe.

use std::fmt;

/// Why frames cannot be made as asked: one sentence that names the thing and the remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeError {
    sentence: String,
}

impl RecipeError {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self {
            sentence: sentence.into(),
        }
    }

    /// For a value that a key does not take; `wanted` finishes "it takes ...".
    pub(crate) fn value(key: &str, value: &str, wanted: &str) -> Self {
        Self::new(format!(
            "{key}={value} is not understood: {key} takes {wanted}"
        ))
    }
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for RecipeError {}
