//! To whom sources deliver: the keeper of sets, behind a trait, so that tests need none.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use list::JsonPath;
use table::{Entries, live};

use super::source::Kind;

/// A whole list, to replace the file part of a set.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The set.
    pub set: Arc<str>,
    /// The list as given.
    pub entries: Entries,
    /// The source, as people know it: a path, a URL without query, a program.
    pub name: String,
    /// What kind of source it is.
    pub kind: Kind,
    /// When the text was current: when it was fetched, or the file last changed.
    pub at: SystemTime,
    /// Bytes of the text as it came.
    pub bytes: u64,
    /// A file that holds these very bytes: the list itself, or the copy of what was fetched.
    pub file: Option<PathBuf>,
    /// The columns that were read, where the list has columns.
    pub columns: Option<list::Columns>,
    /// Where in JSON it was read.
    pub json_paths: Vec<JsonPath>,
    /// Skips the guards.
    pub force: bool,
}

/// What CrowdSec decided since the last time, to be applied in one batch: deletions first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Takes all earlier decisions of CrowdSec out of the set before `added` goes in: the change is
    /// the whole truth, as after a start.
    pub replace: bool,
    /// Entries that nothing stands for any more.
    pub deleted: Vec<live::Entry>,
    /// Entries to add, or to give another time or comment.
    pub added: Vec<Decided>,
}

/// One entry that CrowdSec decided on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The address or network.
    pub entry: live::Entry,
    /// How long it stands.
    pub left: Duration,
    /// Origin and scenario, bounded and printable.
    pub comment: String,
}

/// What a source changed of a list that was loaded, to be applied in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amended {
    /// The source, as the delivery named it.
    pub name: String,
    /// What kind of source it is.
    pub kind: Kind,
    /// Entries that it has now and had not.
    pub added: Vec<live::Entry>,
    /// Entries that it has no longer; none is among those added.
    pub removed: Vec<live::Entry>,
    /// The copy of the list as it is now, where one was written.
    pub copy: Option<CopyOf>,
}

/// A copy of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOf {
    /// The file.
    pub file: PathBuf,
    /// When the last byte was written.
    pub at: SystemTime,
    /// Bytes of the text.
    pub bytes: u64,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Entries of the set that are of this source now.
    pub entries: u64,
}

/// Why a delivery was not taken: a sentence of the keeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The sentence.
    pub reason: String,
    /// True when another try with the same list may fare better: the keeper was busy or is
    /// stopping. A guard's refusal stands until the list changes or the operator forces it.
    pub passing: bool,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// The keeper of sets, as sources see it. Calls block until every worker sees the change.
pub trait Deliver: Send + Sync {
    /// A list is about to be opened, to replace the file part of a set: what somebody removes from
    /// the set from now on stays removed when the list is loaded.
    ///
    /// # Errors
    /// There is no such set, or the keeper has ended.
    fn begin(&self, set: &str) -> Result<Box<dyn Begun + '_>, Refused>;

    /// Adds and deletes dynamic entries that CrowdSec decided on.
    ///
    /// # Errors
    /// The keeper refuses; the set is as it was.
    fn change(&self, set: &str, change: Change) -> Result<Taken, Refused>;

    /// Changes a list in place that this source loaded. False where nothing was changed, since the
    /// whole list is to be loaded: the set has another one, or the guards are to judge it.
    ///
    /// # Errors
    /// The keeper refuses; the set is as it was.
    fn amend(&self, set: &str, amended: Amended) -> Result<bool, Refused>;
}

/// A load that was begun.
pub trait Begun {
    /// Replaces the file part of the set, behind the guards of the keeper.
    ///
    /// # Errors
    /// The keeper refuses; the set is as it was.
    fn load(self: Box<Self>, delivery: Delivery) -> Result<Taken, Refused>;

    /// Says that the list could not be read: the old one stays.
    fn give_up(self: Box<Self>, why: &str);
}
