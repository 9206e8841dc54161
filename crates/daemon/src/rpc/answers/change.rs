//! Changes of sets.

use super::EntryList;
use serde::{Deserialize, Serialize};

/// What `set.add` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddParams {
    /// The set.
    pub set: String,
    /// What goes in, all or nothing.
    pub entries: EntryList,
    /// When they go by themselves, milliseconds from now; without it never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// For people; at most 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Changes it even if it is a set of address space that `keep` exempts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What `set.add` answers, when every worker sees the entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// Entries that the set had not.
    pub added: u64,
    /// Entries it had; their timeout and comment are those of this request now.
    pub already: u64,
    /// Of those it had, entries that had a timeout and have none now.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub made_permanent: u64,
    /// Of those it had, entries that have a timeout now and had none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub made_timed: u64,
    /// Entries of a set that blocks which are not blocked all the same. Only requests of at most
    /// 16 entries are looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exempt: Vec<Exempt>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// An entry that an allow set exempts from all others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exempt {
    /// As it was added.
    pub entry: String,
    /// The allow set, which may be one of address space that `keep` exempts.
    pub set: String,
}

/// What `set.delete` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteParams {
    /// The set.
    pub set: String,
    /// What goes out, each as it went in: a network takes no addresses within it along.
    pub entries: EntryList,
    /// Changes it even if it is a set of address space that `keep` exempts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What `set.delete` answers, when no worker sees the entries any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deleted {
    /// Entries that are gone.
    pub deleted: u64,
    /// Entries that the set had not.
    pub absent: u64,
    /// Entries whose addresses the set has all the same, by others. Only requests of at most 16
    /// entries are looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covered: Vec<Covered>,
}

/// An entry whose addresses another entry of the same set covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// As it was to go out.
    pub entry: String,
    /// An entry that has all of it.
    pub by: String,
}

/// What `set.flush` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlushParams {
    /// The set.
    pub set: String,
    /// Changes it even if it is a set of address space that `keep` exempts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What `set.flush` answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flushed {
    /// Entries that are gone.
    pub deleted: u64,
}

/// What `set.load` takes, beside the open file that comes with the line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadParams {
    /// The set whose file part is replaced.
    pub set: String,
    /// What the file is called in messages and in `set.test`; it is not opened by this name.
    pub file: String,
    /// The column that holds the entries, by its number or heading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The columns that hold the entries, as `columns` of `[[set]]` names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<String>,
    /// Where the addresses of JSON are, as `json_path` of `[[set]]` says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_path: Option<String>,
    /// Overrides the guards against lists that are empty, change too much or cover private or own
    /// addresses, and takes one that has less than it says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What `set.load` answers, when every worker sees the new list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// Different entries of the file part now.
    pub entries: u64,
    /// Entries that it had not.
    pub added: u64,
    /// Entries that it has no longer.
    pub removed: u64,
    /// Whether a guard would have refused it, had it not been forced.
    pub forced: bool,
    /// Lines to think twice about, the first of each kind.
    pub warnings: Vec<String>,
    /// From the request to the last worker.
    pub seconds: f64,
}

/// What `set.refresh` takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefreshParams {
    /// The set whose sources are read.
    pub set: String,
    /// Overrides the guards.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// What `set.refresh` answers, when every worker sees what was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Refreshed {
    /// The sources that were read, by the names they are shown by.
    pub sources: Vec<String>,
    /// Different entries of the set now.
    pub entries: u64,
    /// From the request to the last worker.
    pub seconds: f64,
}

/// What a set does with a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Drops the frame, unless its address is in an allow set.
    Block,
    /// Counts the hit and drops nothing.
    Count,
    /// Exempts the address from block sets.
    Allow,
}

impl Action {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        plane::Action::from(self).name()
    }
}

impl From<Action> for plane::Action {
    fn from(action: Action) -> Self {
        match action {
            Action::Block => Self::Block,
            Action::Count => Self::Count,
            Action::Allow => Self::Allow,
        }
    }
}

impl From<plane::Action> for Action {
    fn from(action: plane::Action) -> Self {
        match action {
            plane::Action::Block => Self::Block,
            plane::Action::Count => Self::Count,
            plane::Action::Allow => Self::Allow,
        }
    }
}

/// Which address of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The source.
    Source,
    /// The destination.
    Destination,
}

impl From<plane::Side> for Side {
    fn from(side: plane::Side) -> Self {
        match side {
            plane::Side::Src => Self::Source,
            plane::Side::Dst => Self::Destination,
        }
    }
}

/// What `set.action` takes; it answers with [`super::SetFacts`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionParams {
    /// The set.
    pub set: String,
    /// What it does from now on.
    pub action: Action,
    /// For this address of a frame alone; without it for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// For frames that come in by this port alone; without it by any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Changes it even if it is a set of address space that `keep` exempts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}
