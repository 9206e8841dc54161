//! What there is to say about one frame, as JSON has it.

use daemon::rpc::answers::RouteFacts;
use serde::Serialize;

/// One frame.
#[derive(Debug, Serialize)]
pub(super) struct FrameFacts {
    /// As in `frame 3 of a.pcap`.
    #[serde(skip)]
    pub(super) name: String,
    /// Its number in the capture, the first being 1.
    pub(super) number: u64,
    /// Bytes that are there, without FCS, and that it had on the wire.
    pub(super) bytes: usize,
    pub(super) original_len: usize,
    pub(super) headers: Vec<HeaderFacts>,
    /// What the headers do not say.
    pub(super) notes: Vec<String>,
    pub(super) placement: PlacementFacts,
    /// How many sets were asked.
    #[serde(skip)]
    pub(super) sets: usize,
    pub(super) matches: Vec<MatchFacts>,
    /// The capture cut it within addresses: what sets hold of those is not known.
    pub(super) addresses_cut: bool,
    /// `forward`, `drop`, `hold` or `consume`.
    pub(super) verdict: &'static str,
    /// The name of the drop reason, and its sentence.
    pub(super) reason: Option<&'static str>,
    pub(super) sentence: Option<&'static str>,
    /// The rule of `--pass` that alone let it pass.
    pub(super) rule: Option<&'static str>,
    #[serde(skip)]
    pub(super) rule_sentence: Option<&'static str>,
    /// The rules of packets that matched, in the order of their numbers; none where no rule was
    /// tried on it, since sets decided or it is no IP packet.
    pub(super) rules: Option<RulesFacts>,
    /// The route of its destination, of a router alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) route: Option<RouteFacts>,
    /// What leaves by which port; none of a bridge of two ports, where nothing is to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) leaves: Option<Vec<LeavingFacts>>,
}

/// What rules of packets made of a frame.
#[derive(Debug, Serialize)]
pub(super) struct RulesFacts {
    /// The rule that decided; none where the policy did.
    pub(super) decided: Option<RuleFacts>,
    /// The policy, where no rule decided: `accept` or `drop`.
    pub(super) policy: Option<&'static str>,
    /// Rules that matched before and went on: counters and jumps.
    pub(super) passed: Vec<RuleFacts>,
}

/// One rule.
#[derive(Debug, Serialize)]
pub(super) struct RuleFacts {
    /// The first being 1.
    pub(super) number: usize,
    pub(super) line: u32,
    pub(super) rule: String,
}

/// A frame that leaves.
#[derive(Debug, Serialize)]
pub(super) struct LeavingFacts {
    pub(super) port: String,
    /// The frame, a copy of it, or one that was made.
    pub(super) what: &'static str,
    pub(super) bytes: usize,
    pub(super) headers: Vec<HeaderFacts>,
}

/// One header.
#[derive(Debug, Serialize)]
pub(super) struct HeaderFacts {
    pub(super) name: String,
    /// From the first byte of the frame.
    pub(super) offset: usize,
    pub(super) bytes: usize,
    /// What it says, in words.
    pub(super) text: String,
}

/// Where the frame goes among workers.
#[derive(Debug, Serialize)]
pub(super) struct PlacementFacts {
    /// The header whose addresses counted: `outer` or `inner`; none without addresses.
    pub(super) header: Option<&'static str>,
    pub(super) flow: Option<FlowFacts>,
    pub(super) hash: Option<u32>,
    pub(super) bucket: Option<u16>,
    pub(super) buckets: usize,
    pub(super) worker: u16,
    pub(super) workers: u16,
}

/// What was hashed.
#[derive(Debug, Serialize)]
pub(super) struct FlowFacts {
    pub(super) src: String,
    pub(super) dst: String,
    pub(super) protocol: u8,
    pub(super) src_port: u16,
    pub(super) dst_port: u16,
    /// In place of ports.
    pub(super) spi: Option<u32>,
}

/// An address that a set holds.
#[derive(Debug, Serialize)]
pub(super) struct MatchFacts {
    pub(super) set: String,
    pub(super) action: &'static str,
    /// The header it is in, `outer` or `inner`, and how many are outside that one.
    pub(super) header: &'static str,
    pub(super) depth: usize,
    pub(super) side: &'static str,
    pub(super) address: String,
    /// How many entries hold it, and the first of them.
    pub(super) count: u64,
    pub(super) entries: Vec<EntryFacts>,
}

/// An entry.
#[derive(Debug, Serialize)]
pub(super) struct EntryFacts {
    /// A file, or the address space to keep.
    pub(super) source: String,
    /// None for address space.
    pub(super) line: Option<u64>,
    pub(super) text: String,
}
