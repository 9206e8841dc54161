//! What the keeper answers.

use super::name::SetName;
use super::publish::RecentlyHit;
use super::request::{LoadedFrom, Origin};
use super::save::Saved;
use plane::SetRule;
use std::fmt;
use std::time::{Duration, SystemTime};
use table::live::{Counts, Entry};

/// An answer. Whatever changed is in force on every worker and in the journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reply {
    /// To `List`: in the order of the configuration.
    Sets(Vec<SetFacts>),
    /// To `Show`.
    Set(Box<SetFacts>),
    /// To `Test`.
    Test(Vec<TestAnswer>),
    /// To `Add` and `Replace`.
    Added(Added),
    /// To `Delete`.
    Deleted(Deleted),
    /// To `Flush`.
    Flushed(Flushed),
    /// To `Load`.
    Loaded(Load),
    /// To `Amend`: false where nothing was changed, since it is for the guards to judge: load the
    /// whole list.
    Amended(bool),
    /// To `Save`.
    Saved(Box<Saved>),
    /// To `SetAction`: what it was before.
    ActionSet {
        /// What a hit did before.
        before: plane::Action,
    },
    /// To `Reload`: the sets whose settings are other ones now.
    Reloaded(Vec<SetName>),
    /// To `SetRules`.
    RulesSet,
}

/// What `Add` did. The sum of all is the number of entries given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// The set had them not.
    pub added: u64,
    /// The set had them already; their timeout and comment are those of this request now.
    pub already_there: u64,
    /// Of those, entries that had a timeout and have none now.
    pub made_permanent: u64,
    /// Of those, entries that have a timeout and had none.
    pub made_timed: u64,
    /// What `Replace` took out beside.
    pub deleted: u64,
}

/// What `Delete` did. The sum of all is the number of entries given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The set has them no longer.
    pub deleted: u64,
    /// The set had them not, or for a feed: it did not give them.
    pub was_not_there: u64,
    /// Taken back by a feed, and still there by hand or from the file.
    pub still_there: u64,
}

/// What `Flush` did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Entries that were in the set.
    pub entries: u64,
}

/// What `Load` did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Different entries in the file part now.
    pub entries: u64,
    /// Entries that the file part had not.
    pub added: u64,
    /// Entries that the file part has no longer.
    pub removed: u64,
    /// True when a guard would have refused it and `force` overrode that.
    pub forced: bool,
    /// True when a later load of the same set was done already: nothing has changed.
    pub superseded: bool,
}

/// One set as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct SetFacts {
    /// Its name.
    pub name: SetName,
    /// Its rule as it is now.
    pub rule: SetRule,
    /// What the configuration has for an action, where somebody changed it live.
    pub configured: Option<plane::Action>,
    /// How many entries.
    pub counts: Counts,
    /// IPv4 addresses that its file part covered when it was loaded.
    pub covered_v4: u64,
    /// The file part, once one was loaded.
    pub loaded: Option<LoadedList>,
    /// When a change was last made in it, by whomever; none since the start.
    pub changed: Option<SystemTime>,
    /// Loads refused since the start.
    pub refused: u64,
    /// Why the last of them was; none when one was accepted since.
    pub refusal: Option<String>,
}

/// What is known of a file part.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedList {
    /// Where it was read.
    pub from: LoadedFrom,
    /// By what kind of source.
    pub origin: Origin,
    /// When it came into force.
    pub since: SystemTime,
    /// Different entries.
    pub entries: u64,
}

/// What a set says of an address.
#[derive(Clone, Debug, PartialEq)]
pub struct TestAnswer {
    /// The set.
    pub name: SetName,
    /// What a hit does.
    pub rule: SetRule,
    /// Entries that hold the address, the narrowest networks first; none: it is not in the set.
    pub reasons: Vec<TestReason>,
    /// Where its file part was read.
    pub source: Option<LoadedFrom>,
    /// Hits of the address.
    pub hits: RecentlyHit,
}

/// The part of a set that an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartHeld {
    /// The file part.
    File,
    /// The dynamic part.
    Dynamic,
}

/// An entry that holds an address.
#[derive(Clone, Debug, PartialEq)]
pub struct TestReason {
    /// As it was given, not merged with others.
    pub entry: Entry,
    /// The part it is in; an entry in both is told twice.
    pub part: PartHeld,
    /// Who gave it.
    pub origin: Origin,
    /// Where it stands.
    pub place: Place,
    /// By hand what was said of it; from a file the rest of its line.
    pub comment: Option<String>,
    /// Since when the set has it; for the file part since when that is in force.
    pub since: Option<SystemTime>,
    /// Until it goes by itself; none for never.
    pub time_left: Option<Duration>,
}

/// Where an entry stands. Displays as `FILE:LINE`, or the best there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a file or of what was kept of another source.
    Line {
        /// As people know it.
        name: String,
        /// The first being 1.
        line: u64,
    },
    /// A source, and why there is no line.
    Source {
        /// As people know it.
        name: String,
        /// Why no line is told, without full stop.
        why: &'static str,
    },
    /// Given by itself.
    Single(Origin),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { name, line } => write!(f, "{name}:{line}"),
            Self::Source { name, .. } => f.write_str(name),
            Self::Single(origin) => origin.fmt(f),
        }
    }
}
