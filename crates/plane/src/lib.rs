//! Decisions on frames: what a burst's bytes mean, and one verdict for each of its frames.
//!
//! No unsafe, no I/O, no clock, no threads: a pipeline is given a burst, the compiled lists and
//! the time, and returns a column of verdicts. Whoever owns ports and pools carries them out.
//!
//! A frame's walk through this crate: [`Classifier::classify`] parses the burst and looks all its
//! addresses up at once; [`Bridge`] weighs the answers by the [`Ruleset`]'s [`Policy`] and writes
//! one [`Verdict`] a frame into [`Verdicts`].
#![forbid(unsafe_code)]

mod address_verdict;
mod bridge;
mod classify;
mod counted;
mod drop_reason;
mod fragments;
mod hit_addresses;
mod hits;
pub mod host;
mod links;
pub mod nat;
mod node;
mod outbox;
mod pass;
mod policy;
mod ports;
mod reassemble;
pub mod router;
mod rule_stage;
mod rules;
mod ruleset;
mod stateful;
pub mod switch;
mod tunnelled;
mod verdict;

pub use address_verdict::AddressVerdict;
pub use bridge::{Bridge, MatchedLists};
pub use classify::{Classifier, original_len};
pub use drop_reason::{DropReason, Severity};
pub use fragments::{Fragments, Gathered, Gatherer, Released, Route, datagram_place};
pub use hit_addresses::{HIT_ADDRESSES_MAX, HitAddress, HitAddresses};
pub use hits::{Hits, SideHits};
pub use links::Links;
pub use node::{Forwarding, LinkDown, Node, NodeCount, Pair};
pub use outbox::{Origin, Outbox, Outgoing};
pub use pass::{PassCounts, PassRuleError, PassRules};
pub use policy::{
    Action, Exception, Headers, Otherwise, Policy, PolicyError, SetRule, Side, Sides, TunnelPolicy,
};
pub use ports::Ports;
pub use reassemble::{Reassembled, Reassembler};
pub use stack::icmp::Report;

pub use rules::{Rejection, RuleCount, RuleCounts, RuleName, RuleNames, RuleTable};
pub use ruleset::{ListsMismatch, Ruleset};
pub use stateful::{
    FLOW_BUCKETS, FlowEvent, FlowLogConfig, FlowRecord, Shards, Stateful, StatefulConfig, Timeouts,
};
pub use verdict::{Verdict, Verdicts};
