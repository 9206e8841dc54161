//! What came of some of a text: of all of it, or of one set of a script.

use crate::report::Finding;

/// Entries and what they earned. A script may empty one, exchange two, or drop one.
#[derive(Clone, Default)]
pub(crate) struct Held<S> {
    pub(crate) sink: S,
    pub(crate) entry_count: u64,
    pub(crate) warnings: Vec<Finding>,
    pub(crate) warning_count: u64,
}

impl<S> Held<S> {
    pub(crate) fn new(sink: S) -> Self {
        Self {
            sink,
            entry_count: 0,
            warnings: Vec::new(),
            warning_count: 0,
        }
    }
}
