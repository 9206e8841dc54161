//! Changes and what came of them.

use super::Entry;
use crate::compiled::CompileError;
use frame::Nanos;
use std::fmt;

/// Longest comment, bytes: what `ipset` allows.
pub const COMMENT_BYTES_MAX: usize = 255;

/// What may be said of an entry of the dynamic part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// When the entry goes by itself, on the clock of whoever calls; none for never.
    pub expires: Option<Nanos>,
    /// For people; at most [`COMMENT_BYTES_MAX`] bytes.
    pub comment: Option<Box<str>>,
    /// A word of whoever calls, kept as it is; 0 for none. Entries without a note take less memory.
    pub tag: u64,
}

impl Note {
    /// True when the entry's time is over.
    pub(super) fn is_over(&self, now: Nanos) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// One change of one list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The list's index.
    pub list: usize,
    /// What goes in or out.
    pub entry: Entry,
    /// In or out.
    pub action: Action,
}

/// In or out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Into the dynamic part, with a note, which replaces the one that was there.
    Add(Note),
    /// Out of both parts.
    Remove,
    /// Out of the dynamic part.
    Withdraw,
    /// Into the file part: its source has it now.
    SourceAdd,
    /// Out of the file part: its source has it no longer.
    SourceRemove,
}

impl Change {
    /// Adds an entry for good and without a comment.
    #[must_use]
    pub fn add(list: usize, entry: impl Into<Entry>) -> Self {
        Self {
            list,
            entry: entry.into(),
            action: Action::Add(Note::default()),
        }
    }

    /// Removes an entry.
    #[must_use]
    pub fn remove(list: usize, entry: impl Into<Entry>) -> Self {
        Self {
            list,
            entry: entry.into(),
            action: Action::Remove,
        }
    }

    /// Takes an entry out of the dynamic part.
    #[must_use]
    pub fn withdraw(list: usize, entry: impl Into<Entry>) -> Self {
        Self {
            list,
            entry: entry.into(),
            action: Action::Withdraw,
        }
    }

    /// Adds an entry to the file part.
    #[must_use]
    pub fn source_add(list: usize, entry: impl Into<Entry>) -> Self {
        Self {
            list,
            entry: entry.into(),
            action: Action::SourceAdd,
        }
    }

    /// Takes an entry out of the file part.
    #[must_use]
    pub fn source_remove(list: usize, entry: impl Into<Entry>) -> Self {
        Self {
            list,
            entry: entry.into(),
            action: Action::SourceRemove,
        }
    }

    /// The same, and the entry goes by itself at `expires`.
    #[must_use]
    pub fn until(mut self, expires: Nanos) -> Self {
        if let Action::Add(note) = &mut self.action {
            note.expires = Some(expires);
        }
        self
    }

    /// The same with a comment.
    #[must_use]
    pub fn comment(mut self, comment: &str) -> Self {
        if let Action::Add(note) = &mut self.action {
            note.comment = Some(comment.into());
        }
        self
    }
}

/// What a change did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The set has it now and had it not.
    Added,
    /// The set had it already, in either part. It is in the part now that it was added to; in the
    /// dynamic part with the timeout and the comment of this change and of no other.
    AlreadyThere,
    /// The set has it no longer.
    Removed,
    /// One part has it no longer, and the other still does.
    StillThere,
    /// The set had it not; of a change of one part: that part had it not.
    WasNotThere,
}

/// Why changes were not made. None of them was, and everything is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeError {
    /// There is no such list.
    NoSuchList {
        /// As given.
        list: usize,
        /// How many there are.
        count: usize,
    },
    /// A comment longer than [`COMMENT_BYTES_MAX`].
    CommentTooLong {
        /// As given, bytes.
        bytes: usize,
    },
    /// The tables have no room for it.
    Table(CompileError),
    /// A load that was begun by other lists.
    ForeignLoad,
}

impl From<CompileError> for ChangeError {
    fn from(error: CompileError) -> Self {
        Self::Table(error)
    }
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchList { list, count } => {
                write!(
                    f,
                    "there is no list {list}; there are {count}, counted from 0"
                )
            }
            Self::CommentTooLong { bytes } => write!(
                f,
                "a comment of {bytes} bytes; at most {COMMENT_BYTES_MAX} are possible"
            ),
            Self::Table(error) => error.fmt(f),
            Self::ForeignLoad => write!(f, "this load was begun by other lists"),
        }
    }
}

impl std::error::Error for ChangeError {}
