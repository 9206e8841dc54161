//! What methods take and answer, as types that server and client share.
//!
//! `docs/daemon/control-protocol.md` has them in words; a test holds its examples against these.
//! Answers may get more members in the same version of the protocol, and never lose one: who
//! reads them skips what it does not know. Parameters refuse what they do not know.

mod change;
mod dispatch;
mod entry_list;
mod fdb;
mod flows;
mod health;
mod nat;
mod routing;
mod rules;
mod sets;
mod show;
mod stream;
mod vlans;

pub use change::{
    Action, ActionParams, AddParams, Added, Covered, DeleteParams, Deleted, Exempt, FlushParams,
    Flushed, LoadParams, Loaded, RefreshParams, Refreshed, Side,
};
pub use dispatch::{Dispatch, DispatchCounts, DispatchPort, DispatchRow};
pub(super) use entry_list::place_of;
pub use entry_list::{EntryList, parse_entry};
pub use fdb::{Fdb, FdbParams, Station};
pub use flows::{FlowCounts, Flows, FragmentCounts, FragmentTotals, Rss, RssBucket};
pub use health::{DrainParams, Health, HealthKind, HealthReason};
pub use nat::{Nat, NatFlow, NatParams};
pub use routing::{
    HopFacts, Neighbour, Neighbours, NeighboursParams, RouteFacts, Routes, RoutesParams,
};
pub use rules::{RuleFacts, Rules, RulesLoadParams, RulesLoaded, RulesParams};
pub use sets::{
    ActionFacts, AddressVerdict, HitCounts, Match, SetFacts, SetList, SetParams, SetTest,
    SourceFacts, TestAnswer, TestParams,
};
pub use show::{
    ConfigAnswer, DropFacts, Drops, HitAddress, Hits, HitsParams, Memory, MemoryFacts, PassFacts,
    PortFacts, Ports, Reloaded, SetHits, Sets, Status, WorkerFacts, Workers,
};
pub use stream::{
    CancelParams, Cancelled, Saved, SavedLines, StreamBegun, StreamEnd, StreamItem, WatchParams,
};
pub use vlans::{SwitchEvent, VlanFacts, Vlans};

use serde::{Deserialize, Serialize};

/// What `hello` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HelloParams {
    /// The version of the protocol that the client speaks; another one is refused. Without it the
    /// server only introduces itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u32>,
    /// Who asks, for the log: a name and a version, at most 64 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// What `hello` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// `linerate`.
    pub server: String,
    /// The program's version.
    pub version: String,
    /// The protocol's version.
    pub protocol: u32,
    /// The daemon's process.
    pub pid: u32,
    /// Longest line that the server takes, bytes with the newline.
    pub line_bytes_max: u64,
    /// Most entries of one request.
    pub entries_max: u64,
}

/// A method without parameters: an empty object, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}
