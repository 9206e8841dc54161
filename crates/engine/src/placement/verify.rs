//! Whether a NIC places frames as it says: its hash, its table and its queues, each apart.
//!
//! A NIC of 2014 hashed correctly and delivered to the wrong queue, which only hashing again in
//! software shows. Three things are checked of each frame that has addresses: the hash that came
//! with it is ours; its queue is the table's for that hash; its flow was in that queue before.

use std::collections::{BTreeMap, HashMap};

use table::RssHash;
use wire::toeplitz::{HashInput, HashTypes, Key};
use wire::{Family, FlowKey, protocol};

use super::excuse::Excuse;

/// Flows remembered; frames of more are checked but for staying in their queue.
const FLOWS_MAX: usize = 1 << 16;
/// Frames named for each of the three.
const NAMED_MAX: usize = 5;

/// What a NIC says of itself.
#[derive(Clone, Debug)]
pub struct Claims {
    /// Its key; without one its hashes are held against the published keys.
    pub key: Option<Key>,
    /// What of a frame goes into its hash.
    pub types: HashTypes,
    /// The queue of each bucket; empty where it does not say.
    pub table: Vec<u32>,
    /// The driver's name; empty where unknown.
    pub driver: String,
    /// Whether the driver says that its hash is another function than Toeplitz.
    pub other_function: bool,
    /// Kinds of frames, as ethtool names them, of which the driver does not say what it hashes.
    pub untold: Vec<&'static str>,
    /// Whether frames come by a socket of the kernel's, which makes a hash of its own (SipHash) in
    /// place of one by addresses alone.
    pub through_kernel: bool,
    /// Whether the driver hands on no hash (`ethtool -K IFACE rxhash off`): the kernel makes all.
    pub hash_off: bool,
}

/// What came with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The flow, as parsed.
    pub flow: FlowKey,
    /// The hash; 0 where none was given.
    pub hash: u32,
    /// The receive queue; none where it is not known.
    pub queue: Option<u32>,
    /// Whether the frame is a fragment of a packet.
    pub fragment: bool,
}

/// A frame that is not placed as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Which frame, counted from 1.
    pub number: u64,
    /// What came with it.
    pub seen: Sighting,
    /// The hash or queue that was due; for a flow that changed its queue the one before.
    pub due: u32,
}

/// One of the three checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Frames that agreed.
    pub right: u64,
    /// Frames that did not.
    pub wrong: u64,
    /// The first of them.
    pub first: Vec<Misplaced>,
}

/// Other inputs and keys that a wrong hash is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instead {
    /// By addresses alone.
    Addresses,
    /// By addresses and ports.
    Ports,
    /// By the key of Microsoft's suite.
    Microsoft,
    /// By the symmetric key.
    Symmetric,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Frames seen.
    pub frames: u64,
    /// Frames without addresses, or whose kind has no hash, which were left out.
    pub without_flow: u64,
    /// Frames that came without a hash of the NIC's.
    pub hash_untold: u64,
    /// Hashes that differ from what most NICs do and contradict no claim, by kind of frame.
    pub excused: BTreeMap<(&'static str, Excuse), u64>,
    /// Frames whose queue nobody told.
    pub queue_untold: u64,
    /// Flows remembered.
    pub flows: usize,
    /// Given hashes against ours.
    pub hash: Check,
    /// Queues against the table's.
    pub queue: Check,
    /// Queues against that of the same flow's frame before.
    pub flow: Check,
    /// Wrong hashes that would be right otherwise, by family, protocol and how.
    pub instead: BTreeMap<(&'static str, Instead), u64>,
    /// `(due, seen)` queues of wrong ones, and how many frames.
    pub queue_pairs: BTreeMap<(u32, u32), u64>,
    /// `(before, after)` queues of flows that changed theirs, and how often.
    pub flow_pairs: BTreeMap<(u32, u32), u64>,
    /// Buckets whose frames were in more than one queue.
    pub split_buckets: usize,
    /// What is likely behind it, a sentence each.
    pub causes: Vec<String>,
    /// What is to be known of hashes that contradict no claim, a sentence each.
    pub notes: Vec<String>,
}

impl Verification {
    /// Whether nothing that could be checked was wrong.
    #[must_use]
    pub fn agrees(&self) -> bool {
        self.hash.wrong == 0 && self.queue.wrong == 0 && self.flow.wrong == 0
    }

    /// Whether hashes came and none was Toeplitz by any key or input that was tried.
    #[must_use]
    pub fn is_other_hash(&self) -> bool {
        let explained: u64 = self.instead.values().sum();
        // Of 32 bits one in four thousand million agrees by chance.
        self.hash.wrong > 0 && explained == 0 && self.hash.right <= self.hash.wrong >> 20
    }
}

/// Where a bucket's frames were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bucket {
    Unseen,
    One(u32),
    Several,
}

/// Takes frames in and concludes.
#[derive(Debug)]
pub struct Verifier {
    claims: Claims,
    hash: RssHash,
    published: [(Instead, RssHash); 2],
    queues: HashMap<FlowKey, u32>,
    buckets: Vec<Bucket>,
    found: Verification,
}

impl Verifier {
    /// One that has seen nothing.
    #[must_use]
    pub fn new(claims: Claims) -> Self {
        let published = [
            (Instead::Microsoft, RssHash::portable(&Key::MICROSOFT)),
            (Instead::Symmetric, RssHash::portable(&Key::SYMMETRIC)),
        ];
        Self {
            hash: RssHash::portable(&claims.key.unwrap_or(Key::MICROSOFT)),
            buckets: vec![Bucket::Unseen; claims.table.len()],
            claims,
            published,
            queues: HashMap::new(),
            found: Verification::default(),
        }
    }

    /// Frames seen so far.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.found.frames
    }

    /// Takes one frame in; `None` for one without addresses.
    pub fn see(&mut self, seen: Option<Sighting>) {
        self.found.frames += 1;
        let masked = seen.and_then(|seen| Some((seen, self.claims.types.masked(&seen.flow)?)));
        let Some((seen, input)) = masked else {
            self.found.without_flow += 1;
            return;
        };
        let ours = self.hash.one().hash(&input);
        // The table is looked up with the NIC's own hash, be it as it may.
        let hash = match seen.hash {
            0 => {
                self.found.hash_untold += 1;
                self.unseen_hash(&seen, ours)
            }
            _ => self.check_hash(seen, ours),
        };
        let Some(queue) = seen.queue else {
            self.found.queue_untold += 1;
            return;
        };
        if let Some(hash) = hash {
            self.check_queue(seen, hash, queue);
        }
        self.check_flow(seen, queue);
    }

    /// Checks the hash that came with a frame; gives the one that placed it, where that is known.
    fn check_hash(&mut self, seen: Sighting, ours: u32) -> Option<u32> {
        let instead = match seen.hash == ours {
            true => None,
            false => self.instead(seen),
        };
        if seen.hash != ours
            && let Some(excuse) = self.excuse(&seen, instead)
        {
            *self.found.excused.entry((kind(&seen), excuse)).or_default() += 1;
            if excuse == Excuse::Addresses {
                self.found.hash.right += 1;
                return Some(seen.hash);
            }
            self.found.hash_untold += 1;
            return self.unseen_hash(&seen, ours);
        }
        let number = self.found.frames;
        let right = note(&mut self.found.hash, number, seen, ours, seen.hash);
        if !right && let Some(instead) = instead {
            let how = (kind(&seen), instead);
            *self.found.instead.entry(how).or_default() += 1;
        }
        Some(seen.hash)
    }

    /// The hash by which a NIC that does as it says places a frame, where it says enough.
    fn unseen_hash(&self, seen: &Sighting, ours: u32) -> Option<u32> {
        (self.claims.key.is_some() && self.is_told(seen)).then_some(ours)
    }

    /// Whether the driver says what of such a frame it hashes.
    fn is_told(&self, seen: &Sighting) -> bool {
        let kind = kind(seen);
        !matches!(kind, "fragments" | "ip4" | "ip6") && !self.claims.untold.contains(&kind)
    }

    /// Why a hash that is not ours contradicts no claim.
    fn excuse(&self, seen: &Sighting, instead: Option<Instead>) -> Option<Excuse> {
        let is_told = self.is_told(seen);
        let input = self
            .claims
            .types
            .input(seen.flow.family, seen.flow.protocol);
        let by_ports = is_told && input == Some(HashInput::Ports);
        match instead {
            Some(Instead::Addresses) if !is_told => Some(Excuse::Addresses),
            Some(_) => None,
            None if self.claims.hash_off => Some(Excuse::HashOff),
            None if self.claims.through_kernel && !by_ports => Some(Excuse::Replaced),
            None if seen.fragment => Some(Excuse::Fragment),
            None => None,
        }
    }

    /// How a hash that is not ours would be.
    fn instead(&self, seen: Sighting) -> Option<Instead> {
        let inputs = [
            (Instead::Ports, HashTypes::ALL),
            (Instead::Addresses, HashTypes::ADDRESSES),
        ];
        let by = |hash: &RssHash, types: HashTypes| {
            let input = types.masked(&seen.flow);
            input.is_some_and(|input| hash.one().hash(&input) == seen.hash)
        };
        let input = inputs.iter().find(|(_, types)| by(&self.hash, *types));
        let key = || {
            let mut keys = self.published.iter();
            keys.find(|(_, hash)| inputs.iter().any(|(_, types)| by(hash, *types)))
        };
        input.map(|(how, _)| *how).or_else(|| Some(key()?.0))
    }

    fn check_queue(&mut self, seen: Sighting, hash: u32, queue: u32) {
        let len = self.claims.table.len();
        if len == 0 {
            return;
        }
        let bucket = hash as usize % len;
        let due = self.claims.table[bucket];
        self.buckets[bucket] = match self.buckets[bucket] {
            Bucket::Unseen => Bucket::One(queue),
            Bucket::One(before) if before == queue => Bucket::One(queue),
            _ => Bucket::Several,
        };
        if !note(&mut self.found.queue, self.found.frames, seen, due, queue) {
            *self.found.queue_pairs.entry((due, queue)).or_default() += 1;
        }
    }

    fn check_flow(&mut self, seen: Sighting, queue: u32) {
        let full = self.queues.len() >= FLOWS_MAX;
        let before = match self.queues.get_mut(&seen.flow) {
            Some(before) => std::mem::replace(before, queue),
            None if full => return,
            None => {
                self.queues.insert(seen.flow, queue);
                return;
            }
        };
        if !note(&mut self.found.flow, self.found.frames, seen, before, queue) {
            *self.found.flow_pairs.entry((before, queue)).or_default() += 1;
        }
    }

    /// What was found, and what is likely behind it.
    #[must_use]
    pub fn conclude(mut self) -> Verification {
        self.found.flows = self.queues.len();
        let several = self.buckets.iter().filter(|seen| **seen == Bucket::Several);
        self.found.split_buckets = several.count();
        self.found.causes = self.causes();
        let excused = self.found.excused.iter();
        self.found.notes = excused
            .map(|(&own, &frames)| own.1.note(own.0, frames))
            .collect();
        self.found
    }

    fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let found = &self.found;
        let told = found.hash.right + found.hash.wrong;
        if told == 0 && found.hash_untold > 0 {
            causes.push(self.no_hash());
        } else if found.is_other_hash() {
            causes.push(self.other_hash());
        }
        causes.extend(
            found
                .instead
                .iter()
                .map(|(how, frames)| instead_cause(*how, *frames)),
        );
        let others: u64 = found.hash.wrong - found.instead.values().sum::<u64>();
        if others > 0 && !found.is_other_hash() {
            causes.push(format!(
                "{others} hashes are right by no input that was tried: frames in tunnels may be \
                 hashed by their inner addresses, or the key was changed meanwhile"
            ));
        }
        causes.extend(self.queue_cause());
        if found.flow.wrong > 0 {
            causes.push(
                "flows change their queue: flow director or aRFS steers them after a socket moved \
                 (ethtool -K IFACE ntuple off), or the table was changed meanwhile"
                    .to_owned(),
            );
        }
        causes
    }

    fn no_hash(&self) -> String {
        format!(
            "no hash comes with frames: {} gives none, and only queues can be checked",
            self.driver()
        )
    }

    fn other_hash(&self) -> String {
        if self.claims.key.is_none() && !self.claims.other_function {
            return format!(
                "no key is told by {}, and the hashes are none by a published key: the key is \
                 another (--key), or the kernel makes the hashes, by SipHash, where a driver has \
                 none",
                self.driver()
            );
        }
        let why = match self.claims.other_function {
            true => "the driver says so itself",
            false => {
                "no key and no input that was tried gives these hashes; the kernel makes its \
                      own, by SipHash, where a driver has none"
            }
        };
        format!("the hash of {} is not Toeplitz: {why}", self.driver())
    }

    fn driver(&self) -> String {
        match self.claims.driver.as_str() {
            "" => "this driver".to_owned(),
            driver => format!("the driver {driver}"),
        }
    }

    fn queue_cause(&self) -> Option<String> {
        let found = &self.found;
        if found.queue.wrong == 0 {
            return None;
        }
        Some(match found.split_buckets {
            0 => "each bucket has one queue, but not the table's: the NIC's table is not the one \
                  that its driver tells, or its queues are numbered otherwise"
                .to_owned(),
            split => format!(
                "frames of {split} buckets are in several queues: flow director or aRFS steers \
                 past the table (ethtool -K IFACE ntuple off; ethtool -n IFACE), or the queue is \
                 not chosen by this hash"
            ),
        })
    }
}

/// Whether `seen` is `due`, written down.
fn note(check: &mut Check, number: u64, frame: Sighting, due: u32, seen: u32) -> bool {
    if seen == due {
        check.right += 1;
        return true;
    }
    check.wrong += 1;
    if check.first.len() < NAMED_MAX {
        check.first.push(Misplaced {
            number,
            seen: frame,
            due,
        });
    }
    false
}

/// As ethtool names kinds of frames; it has no name for fragments.
fn kind(seen: &Sighting) -> &'static str {
    match (seen.flow.family, seen.flow.protocol) {
        _ if seen.fragment => "fragments",
        (Family::V6, protocol::TCP) => "tcp6",
        (Family::V6, protocol::UDP) => "udp6",
        (Family::V6, _) => "ip6",
        (_, protocol::TCP) => "tcp4",
        (_, protocol::UDP) => "udp4",
        _ => "ip4",
    }
}

fn instead_cause((kind, how): (&'static str, Instead), frames: u64) -> String {
    let hash_type = |what: &str, letters: &str| {
        format!(
            "hash types: {frames} frames of {kind} are hashed by {what}; ethtool -N IFACE \
             rx-flow-hash {kind} {letters}"
        )
    };
    match how {
        Instead::Addresses => hash_type("addresses alone", "sdfn"),
        Instead::Ports => hash_type("addresses and ports", "sd"),
        Instead::Microsoft => format!(
            "key: {frames} frames of {kind} are hashed by the published key, not by the one told"
        ),
        Instead::Symmetric => format!(
            "key: {frames} frames of {kind} are hashed by the symmetric key, not by the one told"
        ),
    }
}
