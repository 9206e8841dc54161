//! Why the keeper did not do what it was asked.

use super::fault::{Fault, Guarded};
use super::name::SetName;
use std::fmt;
use table::live::{COMMENT_BYTES_MAX, Entry};

/// Why something was not done. Unless the text says otherwise nothing has changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such set.
    NoSuchSet {
        /// As asked.
        set: SetName,
        /// Those there are.
        sets: Vec<SetName>,
    },
    /// A comment is too long.
    CommentTooLong {
        /// Of this entry.
        entry: Entry,
        /// As given.
        bytes: usize,
    },
    /// There are too many single entries.
    TooMany {
        /// So many there may be, in all sets.
        entries_max: usize,
    },
    /// The origin cannot give or take single entries.
    NotSingle {
        /// As given.
        origin: super::Origin,
    },
    /// The guards refuse a load.
    Guarded(Guarded),
    /// Two sets of one name, or more sets than there can be.
    Policy {
        /// Why.
        reason: String,
    },
    /// The tables cannot be made.
    Table {
        /// Why.
        reason: String,
    },
    /// The change is published, but a worker did not confirm in time.
    NotConfirmed {
        /// How long was waited, milliseconds.
        waited_ms: u128,
    },
    /// The change is in force, but the journal could not be written: it will not survive a
    /// restart.
    NotKept {
        /// Why.
        reason: String,
    },
    /// A reload that needs a restart.
    NeedsRestart {
        /// What cannot change live.
        what: String,
    },
    /// The keeper has ended.
    Stopped,
}

impl Refusal {
    /// A word for metrics and programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NoSuchSet { .. } => "no-such-set",
            Self::CommentTooLong { .. } => "comment-too-long",
            Self::TooMany { .. } => "too-many",
            Self::NotSingle { .. } => "not-single",
            // Nothing is refused without a fault.
            Self::Guarded(guarded) => guarded.faults.first().map_or("", Fault::reason),
            Self::Policy { .. } => "policy",
            Self::Table { .. } => "table",
            Self::NotConfirmed { .. } => "not-confirmed",
            Self::NotKept { .. } => "not-kept",
            Self::NeedsRestart { .. } => "needs-restart",
            Self::Stopped => "stopped",
        }
    }

    /// True for what `force` would override.
    #[must_use]
    pub fn is_guard(&self) -> bool {
        matches!(self, Self::Guarded(_))
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchSet { set, sets } => {
                write!(f, "there is no set '{set}'; there are")?;
                let mut sets = sets.iter();
                if let Some(first) = sets.next() {
                    write!(f, " {first}")?;
                } else {
                    write!(f, " none")?;
                }
                sets.try_for_each(|name| write!(f, ", {name}"))
            }
            Self::CommentTooLong { entry, bytes } => write!(
                f,
                "the comment of {entry} has {bytes} bytes and at most {COMMENT_BYTES_MAX} are \
                 kept: shorten it"
            ),
            Self::TooMany { entries_max } => write!(
                f,
                "all sets together may have {entries_max} entries that were added one by one: load \
                 a file in place of adding more"
            ),
            Self::NotSingle { origin } => write!(
                f,
                "a {origin} source gives whole lists: load them in place of adding entries"
            ),
            Self::Guarded(guarded) => guarded.fmt(f),
            Self::Policy { reason } => f.write_str(reason),
            Self::Table { reason } => write!(f, "the tables cannot be made: {reason}"),
            Self::NotConfirmed { waited_ms } => write!(
                f,
                "the change is published, but a worker did not confirm it within {waited_ms} ms: \
                 see 'linerate show workers'"
            ),
            Self::NotKept { reason } => write!(
                f,
                "the change is in force but will not survive a restart, since the journal cannot \
                 be written: {reason}"
            ),
            Self::NeedsRestart { what } => write!(f, "{what} cannot change live: restart"),
            Self::Stopped => write!(
                f,
                "the daemon takes no changes now, since it is being reloaded or stops: try again"
            ),
        }
    }
}

impl std::error::Error for Refusal {}
