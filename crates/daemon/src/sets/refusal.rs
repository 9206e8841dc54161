//! Why the keeper did not do what it was asked.

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
    /// A load has no entries.
    Empty {
        /// The set.
        set: SetName,
        /// The source.
        source: String,
        /// Entries that the file part has.
        entries: u64,
    },
    /// A load changes more than `max_change`.
    ChangesTooMuch {
        /// The set.
        set: SetName,
        /// The source.
        source: String,
        /// What changes too much.
        by: ChangeBy,
        /// In the file part before.
        before: u64,
        /// In the load.
        after: u64,
        /// In the load and not before.
        added: u64,
        /// Before and not in the load.
        removed: u64,
        /// The share that may change.
        max_change: f64,
    },
    /// A load newly covers address space that block lists had better leave alone.
    Covers {
        /// The set.
        set: SetName,
        /// The source, with the line where it is known: `FILE:LINE`.
        place: Box<str>,
        /// The entry that does.
        entry: Entry,
        /// What it covers: `private space 10.0.0.0/8 (RFC 1918)`, `192.0.2.1, its gateway`.
        what: Box<str>,
        /// How many such networks and addresses are newly covered.
        count: u64,
    },
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

/// What a load changes too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeBy {
    /// Entries, each once however often it is given.
    Entries,
    /// IPv4 addresses that match.
    AddressesV4,
    /// IPv6 networks of 64 bits of which an address matches.
    Networks64V6,
}

impl ChangeBy {
    fn unit(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::AddressesV4 => "IPv4 addresses",
            Self::Networks64V6 => "IPv6 /64 networks",
        }
    }
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
            Self::Empty { .. } => "empty",
            Self::ChangesTooMuch { .. } => "changes-too-much",
            Self::Covers { .. } => "covers-private-or-own",
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
        matches!(
            self,
            Self::Empty { .. } | Self::ChangesTooMuch { .. } | Self::Covers { .. }
        )
    }

    fn write_guard(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty {
                set,
                source,
                entries: 0,
            } => write!(
                f,
                "{source} holds no entries and set '{set}' has none either: mend the list, or \
                 load it with --force"
            ),
            Self::Empty {
                set,
                source,
                entries,
            } => write!(
                f,
                "{source} holds no entries and set '{set}' keeps its {entries}: mend the list, \
                 or empty the set with --force"
            ),
            Self::ChangesTooMuch {
                set,
                source,
                by,
                before,
                after,
                added,
                removed,
                max_change,
            } => write!(
                f,
                "{source} has {after} {} where set '{set}' has {before} ({added} new, {removed} \
                 gone), more than max_change = {max_change} allows, so the old list stays: look \
                 at the list, then load it with --force",
                by.unit()
            ),
            Self::Covers {
                set,
                place,
                entry,
                what,
                count,
            } => {
                write!(f, "{place}: {entry} covers {what}")?;
                if *count > 1 {
                    write!(f, " and {} more such", count - 1)?;
                }
                write!(
                    f,
                    ", so set '{set}' keeps its old list: take it out of the list, or load it \
                     with --force"
                )
            }
            _ => Ok(()),
        }
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
            Self::Empty { .. } | Self::ChangesTooMuch { .. } | Self::Covers { .. } => {
                self.write_guard(f)
            }
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
