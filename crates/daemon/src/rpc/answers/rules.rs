//! What `show.rules` and `rules.load` tell: rules of packets, and what they matched.

use serde::{Deserialize, Serialize};

/// What `show.rules` takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesParams {
    /// Where to go on: `next` of the answer before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

/// What `show.rules` answers: the policy, and a part of the rules in their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// Since the start.
    pub seconds: f64,
    /// Where the rules were read.
    pub file: String,
    /// What becomes of packets that no rule decides on: `accept` or `drop`.
    pub policy: String,
    /// Such packets, since these rules hold.
    pub policy_packets: u64,
    /// Their bytes, without FCS.
    pub policy_bytes: u64,
    /// How many rules there are.
    pub count: u64,
    /// Rules.
    pub rules: Vec<RuleFacts>,
    /// Where the next part begins; none behind the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// One rule, and what it matched since these rules hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleFacts {
    /// Its number, the first being 1.
    pub number: u64,
    /// The line that it begins on.
    pub line: u32,
    /// Its canonical text; one of more than 4,096 bytes is cut and ends in ` ...`.
    pub rule: String,
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames, without FCS.
    pub bytes: u64,
}

/// What `rules.load` takes beside an open file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesLoadParams {
    /// What the file is called in messages.
    pub file: String,
}

/// What `rules.load` answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesLoaded {
    /// Rules that hold now.
    pub rules: u64,
    /// Rules that held before; none where there were no rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// What becomes of packets that no rule decides on: `accept` or `drop`.
    pub policy: String,
}
