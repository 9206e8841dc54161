//! The classifier, the policy and what stands behind it, with one frame.

use std::fs::File;
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use engine::placement::{BUCKETS_MIN, Indirection};
use frame::{Burst, FramePool, PoolRequest, PortId, Region};
use plane::{Bridge, MatchedLists, Ruleset, Side, Verdict, Verdicts};
use table::CompiledLists;
use wire::toeplitz::{Key, Toeplitz};
use wire::{LinkProtocol, Malformed, Parsed, Placing, Tunnel};

use super::behind::{Behind, Leaving};
use super::facts::{EntryFacts, FlowFacts, FrameFacts, LeavingFacts, MatchFacts, PlacementFacts};
use super::headers;
use super::rules::Watched;
use super::source::FoundFrame;
use crate::error::Error;
use crate::load::ReadChoices;
use crate::resolve::{SetPlan, Source, keep_name};

const HEADROOM_BYTES: u32 = 64;
/// Frames of the pool: one, with a copy for each port and what a node makes besides.
const POOL_FRAMES: u32 = 256;

/// What is asked.
pub(super) struct Question<'a> {
    pub(super) plan: &'a SetPlan,
    pub(super) choices: ReadChoices,
    pub(super) behind: &'a Behind,
    /// The port that the frame comes in by.
    pub(super) from: PortId,
    pub(super) workers: u16,
}

/// What a frame is judged by.
pub(super) struct Judge<'a> {
    asked: Question<'a>,
    ruleset: Ruleset,
    bridge: Bridge,
    pool: FramePool,
    placing: Placing,
}

/// What the policy, and what is behind it, made of a frame.
struct Decided {
    verdict: Verdict,
    matched: Vec<(usize, MatchedLists)>,
    leaves: Option<Vec<Leaving>>,
}

/// A frame's packets, from the outside in.
pub(super) struct Packets {
    pub(super) outer: Parsed,
    pub(super) tunnels: Vec<Tunnel>,
    /// The first fault inside.
    pub(super) fault: Option<Malformed>,
}

impl Packets {
    fn of(bytes: &[u8], original_len: usize, placing: &Placing) -> Self {
        let outer = wire::parse(bytes, original_len);
        let mut tunnels = Vec::new();
        let fault = placing.ports.each(bytes, &outer, |tunnel| {
            tunnels.push(*tunnel);
            ControlFlow::Continue(())
        });
        Self {
            outer,
            tunnels,
            fault,
        }
    }

    pub(super) fn at(&self, depth: usize) -> &Parsed {
        match depth.checked_sub(1) {
            Some(tunnel) => self
                .tunnels
                .get(tunnel)
                .map_or(&self.outer, |found| &found.inner),
            None => &self.outer,
        }
    }
}

impl<'a> Judge<'a> {
    pub(super) fn new(asked: Question<'a>, lists: CompiledLists) -> Result<Self, Error> {
        let policy = Arc::new(asked.plan.policy.clone());
        let placing = policy.placing();
        let bridge = asked.behind.bridge(&policy);
        let ruleset = Ruleset::new(Arc::new(lists), policy).map_err(Error::refused)?;
        let request = PoolRequest {
            frames: POOL_FRAMES,
            stride_bytes: frame::STRIDE_BYTES_MAX,
            headroom_bytes: HEADROOM_BYTES,
            node: None,
        };
        let pools = Region::with_pools(&[request]).map_err(Error::refused)?;
        let pool = pools.1.into_iter().next();
        Ok(Self {
            asked,
            ruleset,
            bridge,
            pool: pool.ok_or_else(|| Error::refused("there is no memory for a frame"))?,
            placing,
        })
    }

    pub(super) fn explain(&mut self, found: &FoundFrame) -> Result<FrameFacts, Error> {
        let before = *self.bridge.passed();
        let rules = self.ruleset.policy().packet_rules.clone();
        let watched = rules.as_deref().map(Watched::new);
        let decided = self.decide(found)?;
        let passed = |rule: &&LinkProtocol| self.bridge.passed().of(**rule) != before.of(**rule);
        let rule = LinkProtocol::ALL.iter().find(passed);
        let packets = Packets::of(&found.bytes, found.original_len, &self.placing);
        let mut matches = Vec::new();
        for (depth, lists) in decided.matched {
            self.matches(&packets, depth, lists, &mut matches)?;
        }
        let reason = match decided.verdict {
            Verdict::Drop(reason) => Some(reason),
            _ => None,
        };
        let leaves = |all: Vec<Leaving>| all.into_iter().map(|one| self.leaving(one)).collect();
        Ok(FrameFacts {
            name: found.name.clone(),
            number: found.number,
            bytes: found.bytes.len(),
            original_len: found.original_len.max(found.bytes.len()),
            headers: headers::facts(&found.bytes, &packets),
            notes: headers::notes(&packets),
            placement: self.placement(&found.bytes, &packets),
            sets: self.asked.plan.policy.rules().len(),
            matches,
            addresses_cut: (0..=packets.tunnels.len())
                .any(|depth| packets.at(depth).addresses_cut()),
            verdict: word(decided.verdict),
            reason: reason.map(|reason| reason.name()),
            sentence: reason.map(|reason| reason.sentence()),
            rule: rule.map(|rule| rule.name()),
            rule_sentence: rule.map(|rule| rule.sentence()),
            rules: watched.and_then(|watched| watched.moved()),
            route: self
                .asked
                .behind
                .route((self.asked.from, &found.bytes), packets.outer.dst_ip()),
            leaves: decided.leaves.map(leaves),
        })
    }

    fn leaving(&self, leaving: Leaving) -> LeavingFacts {
        let packets = Packets::of(&leaving.bytes, leaving.bytes.len(), &self.placing);
        LeavingFacts {
            port: leaving.port,
            what: leaving.what,
            bytes: leaving.bytes.len(),
            headers: headers::facts(&leaving.bytes, &packets),
        }
    }

    /// The frame as a burst of its own, as a worker has it.
    fn decide(&mut self, found: &FoundFrame) -> Result<Decided, Error> {
        let no_room = || {
            let (name, bytes) = (&found.name, found.bytes.len());
            Error::refused(format!(
                "{name} has {bytes} bytes, which no port takes: choose another"
            ))
        };
        let mut frame = self.pool.alloc().ok_or_else(no_room)?;
        if frame.copy_from(&found.bytes).is_err() {
            self.pool.free(frame);
            return Err(no_room());
        }
        frame.meta_mut().original_len = found.original_len as u32;
        let (mut burst, mut verdicts) = (Burst::new(), Verdicts::new());
        if let Err(frame) = burst.push(frame) {
            self.pool.free(frame);
        }
        let from = self.asked.from;
        self.bridge
            .decide(&burst, from, &self.ruleset, &mut verdicts);
        let mut matched = Vec::new();
        self.bridge
            .each_header_match(from, &self.ruleset, |_, depth, lists| {
                matched.push((depth, lists));
            });
        let verdict = *verdicts.as_slice().first().ok_or_else(no_room)?;
        let behind = self.asked.behind;
        let fate = behind.fate(from, &mut burst, verdicts, &mut self.pool);
        self.pool.free_burst(&mut burst);
        Ok(match fate? {
            Some(fate) => Decided {
                verdict: fate.verdict,
                matched,
                leaves: Some(fate.leaving),
            },
            None => Decided {
                verdict,
                matched,
                leaves: None,
            },
        })
    }

    fn placement(&self, bytes: &[u8], packets: &Packets) -> PlacementFacts {
        let mut facts = PlacementFacts {
            header: None,
            flow: None,
            hash: None,
            bucket: None,
            buckets: BUCKETS_MIN,
            worker: 0,
            workers: self.asked.workers,
        };
        let Some(key) = self.placing.flow_key(bytes, &packets.outer) else {
            return facts;
        };
        let depths = (0..=packets.tunnels.len()).rev();
        let mut owners = depths.filter(|&depth| {
            let plain = packets.at(depth).flow_key();
            plain.is_some_and(|plain| {
                (plain.src, plain.dst, plain.protocol) == (key.src, key.dst, key.protocol)
            })
        });
        let depth = owners.next().unwrap_or(0);
        let packet = packets.at(depth);
        let ports = u32::from(key.src_port) << 16 | u32::from(key.dst_port);
        let is_spi = packet.flow_key() != Some(key);
        let hash = Toeplitz::new(&Key::SYMMETRIC).hash(&key);
        let bucket = engine::bucket_of(hash);
        let owners = Indirection::dealt(BUCKETS_MIN, self.asked.workers).owners();
        facts.header = Some(if depth == 0 { "outer" } else { "inner" });
        facts.flow = Some(FlowFacts {
            src: headers::address(packet.src_ip()),
            dst: headers::address(packet.dst_ip()),
            protocol: key.protocol,
            src_port: if is_spi { 0 } else { key.src_port },
            dst_port: if is_spi { 0 } else { key.dst_port },
            spi: is_spi.then_some(ports),
        });
        (facts.hash, facts.bucket) = (Some(hash), Some(bucket));
        facts.worker = owners.owner(bucket).0;
        facts
    }

    /// The sets that one header's addresses are in, with the entries.
    fn matches(
        &self,
        packets: &Packets,
        depth: usize,
        lists: MatchedLists,
        matches: &mut Vec<MatchFacts>,
    ) -> Result<(), Error> {
        let packet = packets.at(depth);
        let sides = [
            (Side::Src, lists.src, packet.src_ip()),
            (Side::Dst, lists.dst, packet.dst_ip()),
        ];
        for (side, lists, address) in sides {
            let Some(address) = address else {
                continue;
            };
            let plan = self.asked.plan;
            let sets = plan.policy.rules().iter().zip(&plan.sources).enumerate();
            for (_, (rule, source)) in sets.filter(|(place, _)| lists >> place & 1 != 0) {
                let (count, entries) = self.entries(source, address)?;
                matches.push(MatchFacts {
                    set: rule.name.clone(),
                    action: rule
                        .action_at(side, self.asked.from)
                        .unwrap_or(rule.action)
                        .name(),
                    header: if depth == 0 { "outer" } else { "inner" },
                    depth,
                    side: side.name(),
                    address: address.to_string(),
                    count,
                    entries,
                });
            }
        }
        Ok(())
    }

    /// The entries of a set that hold an address.
    fn entries(&self, source: &Source, address: IpAddr) -> Result<(u64, Vec<EntryFacts>), Error> {
        let file = match source {
            Source::File(file) => file,
            Source::Keep(space) => {
                let entry = EntryFacts {
                    source: format!("{} address space", keep_name(*space)),
                    line: None,
                    text: String::new(),
                };
                return Ok((1, vec![entry]));
            }
        };
        let opened = File::open(file)
            .map_err(|error| Error::refused(format!("cannot read list {file} again: {error}")))?;
        let choices = self.asked.choices.with_purpose(list::Purpose::Read);
        let found = list::find(file, opened, choices.options(), address);
        let found = found.map_err(Error::refused)?;
        let entry = |found: list::Match| EntryFacts {
            source: found.file.to_string(),
            line: Some(found.line),
            text: found.text,
        };
        Ok((found.count, found.matches.into_iter().map(entry).collect()))
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Forward(_) => "forward",
        Verdict::Drop(_) => "drop",
        Verdict::Hold => "hold",
        Verdict::Consume => "consume",
    }
}
