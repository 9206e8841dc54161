//! What is told of sets.

use super::{Action, SetHits, Side};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// What methods about one set take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetParams {
    /// The set.
    pub set: String,
}

/// What `set.list` answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SetList {
    /// In the order of the configuration.
    pub sets: Vec<SetFacts>,
}

/// What `set.show` answers, and `set.list` for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetFacts {
    /// The name.
    pub set: String,
    /// What a hit does.
    pub action: Action,
    /// What the configuration has in its place, where that was changed while it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configured: Option<Action>,
    /// Where it does something else, or nothing: by ingress port and side. Empty where `action`
    /// is all there is to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<ActionFacts>,
    /// Which headers of packets inside packets it looks at, `outer` or `inner`; none for both.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub headers: Option<String>,
    /// Different entries, of the file and dynamic.
    pub entries: u64,
    /// Of those, entries added by hand or by a feed.
    pub dynamic: u64,
    /// Of those, entries that go by themselves.
    pub timed: u64,
    /// Where the file part comes from; none for a set without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// By what the source is read: `file`, `url`, `command`, or `hand` for `set.load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// When the file part was last replaced, seconds since 1970; none when never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_at: Option<u64>,
    /// When anything in the set was last changed, seconds since 1970; none since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<u64>,
    /// Loads refused since the start.
    #[serde(default)]
    pub refusals: u64,
    /// Why the last load was refused; none when it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// How the sources that feed it fare; empty for a set that is changed by hand alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<SourceFacts>,
    /// What hit it, where one set is asked for and workers run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<SetHits>,
    /// Frames that were received since the start, of which these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<u64>,
}

/// How one source of a set fares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFacts {
    /// A path, a URL without its query, a program.
    pub source: String,
    /// `file`, `url`, `command` or `crowdsec`.
    pub kind: String,
    /// Whether nothing was ever read of it since the start, so that the set is without its list.
    pub never_read: bool,
    /// Whether its last good copy is in use, from before the start.
    pub from_copy: bool,
    /// When it was last known to be current, seconds since 1970; none since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<u64>,
    /// Tries in a row that failed or were refused.
    pub failed_in_a_row: u32,
    /// When the first of these was, seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<u64>,
    /// When it is tried next, seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_try_at: Option<u64>,
    /// Why the last try failed; none after a success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why a file is polled, and not watched; none where it is watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwatched: Option<String>,
}

/// What a set does on one ingress port and side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionFacts {
    /// The port by which frames enter.
    pub port: String,
    /// The address looked at.
    pub side: Side,
    /// None where the set does nothing.
    pub action: Option<Action>,
}

/// What `set.test` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestParams {
    /// The address.
    pub address: IpAddr,
}

/// What `set.test` answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestAnswer {
    /// As asked.
    pub address: IpAddr,
    /// Every set, in the order of the configuration.
    pub sets: Vec<SetTest>,
    /// What all sets together do to frames that have the address, by ingress port and side.
    #[serde(default)]
    pub verdicts: Vec<AddressVerdict>,
    /// Whether the bridge follows connections, so that frames that pass the sets may still be
    /// dropped for having none.
    #[serde(default)]
    pub stateful: bool,
}

/// What all sets together do to sound frames that have an address on one side. The other address
/// of a frame may still have it dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressVerdict {
    /// The port by which frames enter.
    pub port: String,
    /// Where frames have the address.
    pub side: Side,
    /// The reason for which they are dropped, as in `linerate drops`; none where they pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drop: Option<String>,
    /// The sets whose action is block there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block: Vec<String>,
    /// The sets whose action is allow there: they exempt the address from all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// The sets whose action is count there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub count: Vec<String>,
    /// Whether frames that pass are counted as those that a count set would have dropped.
    #[serde(default)]
    pub would_drop: bool,
}

/// What one set says of an address.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SetTest {
    /// The set.
    pub set: String,
    /// What a hit does.
    pub action: Action,
    /// The entries that hold the address; empty when none does.
    pub matches: Vec<Match>,
    /// Frames of this address that hit a set; of which, see [`HitCounts::of_sets`].
    #[serde(default)]
    pub hits: HitCounts,
}

/// Hits of one address, counted in bounded memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HitCounts {
    /// Frames in the last minute; none where it is not known.
    #[serde(default)]
    pub last_minute: Option<u64>,
    /// Frames in the last hour; none where it is not known.
    #[serde(default)]
    pub last_hour: Option<u64>,
    /// Each may be too high by so many, and is never too low.
    #[serde(default)]
    pub error: u64,
    /// The same of `last_minute` alone.
    #[serde(default)]
    pub last_minute_error: u64,
    /// The same of `last_hour` alone.
    #[serde(default)]
    pub last_hour_error: u64,
    /// Hits are counted by address: so many sets have it, and the counts are of all of them
    /// together. 1: they are this set's own; 0: this set has it not.
    #[serde(default)]
    pub of_sets: u64,
}

/// An entry that holds an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// What it covers, in its shortest form.
    pub entry: String,
    /// Who gave it: `file`, `url`, `command`, `hand` or `crowdsec`.
    pub from: String,
    /// Whether it is in the part that loads replace; otherwise it was given by itself.
    pub file_part: bool,
    /// `FILE:LINE`, or the source's name where the line is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// As given with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Since when the set has it, seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u64>,
    /// When it goes by itself, milliseconds from now; none for never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_ms: Option<u64>,
}
