//! What the control socket asks of the rest of the daemon: two traits, so that a test can stand in
//! for it. Both are called from several connections' threads at once.

use super::answers::{
    ActionParams, AddParams, Added, ConfigAnswer, DeleteParams, Deleted, Dispatch, Fdb, FdbParams,
    Flows, FlushParams, Flushed, Health, Hits, LoadParams, Loaded, Memory, Nat, NatParams,
    Neighbours, NeighboursParams, RefreshParams, Refreshed, Reloaded, Routes, RoutesParams, Rss,
    Rules, RulesLoadParams, RulesLoaded, RulesParams, SetFacts, SetList, Status, TestAnswer, Vlans,
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

/// What is asked of a switch where there is none.
pub(crate) fn no_switch() -> RpcError {
    let sentence = "this daemon runs no switch: kind = \"switch\" in [[pipeline]] would be one";
    RpcError::new(ErrorKind::Refused, sentence)
}

/// What is asked of a router where there is none.
pub(crate) fn no_router() -> RpcError {
    let sentence = "this daemon runs no router: kind = \"router\" in [[pipeline]] would be one";
    RpcError::new(ErrorKind::Refused, sentence)
}

/// What is asked of rules where there are none.
pub(crate) fn no_rules() -> RpcError {
    let sentence = "this daemon has no rules: give its [[pipeline]] rules = \"FILE\", or load some \
                    with 'linerate rules load FILE'";
    RpcError::new(ErrorKind::Refused, sentence)
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

    /// A part of the stations that the switch knows.
    ///
    /// # Errors
    /// There is no switch; a port has no such name.
    fn fdb(&self, _params: &FdbParams) -> Result<Fdb, RpcError> {
        Err(no_switch())
    }

    /// What the switch did, and frames by VLAN.
    ///
    /// # Errors
    /// There is no switch.
    fn vlans(&self) -> Result<Vlans, RpcError> {
        Err(no_switch())
    }

    /// A part of the neighbours that the router knows.
    ///
    /// # Errors
    /// There is no router.
    fn neighbours(&self, _params: &NeighboursParams) -> Result<Neighbours, RpcError> {
        Err(no_router())
    }

    /// NAT as a whole, and a part of its flows.
    ///
    /// # Errors
    /// There is no router, or none with NAT.
    fn nat(&self, _params: &NatParams) -> Result<Nat, RpcError> {
        Err(no_router())
    }

    /// The route to an address, or a part of all routes.
    ///
    /// # Errors
    /// There is no router.
    fn routes(&self, _params: &RoutesParams) -> Result<Routes, RpcError> {
        Err(no_router())
    }

    /// Rules of packets, and what they matched: the policy, and a part of the rules.
    ///
    /// # Errors
    /// There are no rules.
    fn rules(&self, _params: &RulesParams) -> Result<Rules, RpcError> {
        Err(no_rules())
    }

    /// Has the rules that `input` holds take the place of those there are.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] with `FILE:LINE:COLUMN`: the rules stay as they were.
    fn load_rules(
        &self,
        _params: &RulesLoadParams,
        _input: &mut dyn Read,
    ) -> Result<RulesLoaded, RpcError> {
        Err(no_rules())
    }

    /// The addresses hit most, at most `top`, and sets that never hit.
    ///
    /// # Errors
    /// Nobody counts.
    fn hits(&self, top: usize) -> Result<Hits, RpcError>;

    /// Where memory went.
    fn memory(&self) -> Memory;

    /// The configuration in force, without secrets.
    fn config(&self) -> ConfigAnswer;

    /// Whether traffic may be sent to the daemon, and why not.
    fn health(&self) -> Health;

    /// Begins to drain, or ends that.
    fn drain(&self, on: bool) -> Health;

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
