//! What the control socket asks of the rest of the daemon: two traits, so that a test can stand in
//! for it. Both are called from several connections' threads at once.

use super::answers::{
    ActionParams, AddParams, Added, ConfigAnswer, DeleteParams, Deleted, Dispatch, Flows,
    FlushParams, Flushed, Hits, LoadParams, Loaded, Memory, RefreshParams, Refreshed, Reloaded,
    Rss, SetFacts, SetList, Status, TestAnswer,
};
use super::error::{ErrorKind, RpcError};
use super::stream::Stream;
use serde_json::value::RawValue;
use std::io::Read;
use std::net::IpAddr;

/// A change under way: what is asked of the keeper at once, and waited for later, so that requests
/// that came together are answered by one version of the tables.
pub type Pending<T> = Box<dyn FnOnce() -> Result<T, RpcError> + Send>;

/// Lines to write into a file, and how many entries they are.
pub struct SetLines {
    /// Entries among the lines.
    pub entries: u64,
    /// Without newlines.
    pub lines: Box<dyn Iterator<Item = String> + Send>,
}

/// The daemon's sets.
pub trait Sets: Send + Sync {
    /// All sets.
    ///
    /// # Errors
    /// The keeper is gone or busy; so with all methods.
    fn list(&self) -> Result<SetList, RpcError>;

    /// One set.
    ///
    /// # Errors
    /// [`ErrorKind::NoSuchSet`]; so with all methods that name a set.
    fn show(&self, set: &str) -> Result<SetFacts, RpcError>;

    /// What every set says of an address.
    ///
    /// # Errors
    /// As [`Sets::list`].
    fn test(&self, address: IpAddr) -> Result<TestAnswer, RpcError>;

    /// Adds entries; done when every worker sees them.
    fn add(&self, params: AddParams) -> Pending<Added>;

    /// Deletes entries; done when no worker sees them.
    fn delete(&self, params: DeleteParams) -> Pending<Deleted>;

    /// Deletes all entries, of the file and dynamic.
    ///
    /// # Errors
    /// As [`Sets::show`].
    fn flush(&self, params: &FlushParams) -> Result<Flushed, RpcError>;

    /// Replaces the file part by what `input` holds.
    ///
    /// # Errors
    /// [`ErrorKind::Guarded`], [`ErrorKind::Refused`] with `FILE:LINE`.
    fn load(&self, params: &LoadParams, input: &mut dyn Read) -> Result<Loaded, RpcError>;

    /// Reads the sources of a set now, and waits for what comes of it.
    ///
    /// # Errors
    /// [`ErrorKind::Guarded`], [`ErrorKind::Refused`] with `FILE:LINE` or for want of a source.
    fn refresh(&self, params: &RefreshParams) -> Result<Refreshed, RpcError>;

    /// The lines of a file that [`Sets::load`] reads back to the same set.
    ///
    /// # Errors
    /// As [`Sets::show`].
    fn save(&self, set: &str) -> Result<SetLines, RpcError>;

    /// Changes what a hit does, while frames go by.
    ///
    /// # Errors
    /// As [`Sets::show`].
    fn action(&self, params: &ActionParams) -> Result<SetFacts, RpcError>;
}

/// Everything else that the daemon tells, and reloading.
pub trait Facts: Send + Sync {
    /// All counts at one moment.
    fn status(&self) -> Status;

    /// How frames get to the worker that decides on them.
    fn dispatch(&self) -> Dispatch;

    /// Flows that the bridge remembers.
    fn flows(&self) -> Flows;

    /// The buckets that flows are hashed to.
    fn rss(&self) -> Rss;

    /// The addresses hit most, at most `top`, and sets that never hit.
    ///
    /// # Errors
    /// Nobody counts.
    fn hits(&self, top: usize) -> Result<Hits, RpcError>;

    /// Where memory went.
    fn memory(&self) -> Memory;

    /// The configuration in force, without secrets.
    fn config(&self) -> ConfigAnswer;

    /// Reads the configuration again and changes what can change while frames go by, or nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`], with `FILE:LINE` or what cannot change.
    fn reload(&self) -> Result<Reloaded, RpcError>;

    /// Begins to copy frames that were dropped or counted.
    ///
    /// # Errors
    /// Parameters are wrong, or there are too many captures.
    fn capture(&self, _params: Option<&RawValue>) -> Result<Box<dyn Stream>, RpcError> {
        Err(RpcError::new(
            ErrorKind::Refused,
            "this daemon takes no captures",
        ))
    }
}
