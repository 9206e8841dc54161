//! A NIC that is right, and one of each fault, made of a decorator before generated frames.

use std::time::Duration;

use frame::{Burst, Frame, FramePool, PortId, QueueId};
use port::{
    OpenContext, Port, PortError, PortQueue, PortSpec, PortStatistics, QUEUE_UNTOLD, RxState,
};
use wire::toeplitz::{HashTypes, Key, Toeplitz};
use wire::{FlowKey, protocol};

use super::*;

/// What is wrong with the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// Hashes by another key than it tells.
    Key,
    /// Hashes UDP by addresses, and tells ports.
    Types,
    /// Gives a hash of another function.
    OtherHash,
    /// Gives no hash.
    NoHash,
    /// Delivers what is due in queue 1 to 2, and the other way round.
    Swapped,
    /// Steers one flow in eight past the table.
    Steered,
    /// Moves flows to the next queue halfway.
    Moving,
    /// Tells no queue.
    NoQueue,
}

const QUEUES: u32 = 4;
const FRAMES: u64 = 4000;

fn table() -> Vec<u32> {
    (0..128).map(|bucket| bucket % QUEUES).collect()
}

/// A port whose frames have passed a NIC.
struct Nic {
    inner: Box<dyn Port>,
    fault: Fault,
}

struct NicQueue {
    inner: Box<dyn PortQueue>,
    fault: Fault,
    hash: Toeplitz,
    frames: u64,
    /// In its rings.
    held: Vec<Frame>,
}

/// Frames that a queue of a NIC has in its rings.
const HELD: u32 = 700;

impl Port for Nic {
    fn id(&self) -> PortId {
        self.inner.id()
    }

    fn spec(&self) -> &str {
        self.inner.spec()
    }

    fn mode(&self) -> String {
        self.inner.mode()
    }

    fn queues_max(&self) -> usize {
        self.inner.queues_max()
    }

    fn lossless(&self) -> bool {
        self.inner.lossless()
    }

    fn rx_source(&self) -> bool {
        self.inner.rx_source()
    }

    fn tx_sink(&self) -> bool {
        self.inner.tx_sink()
    }

    fn frame_bytes_max_hint(&self) -> usize {
        self.inner.frame_bytes_max_hint()
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        let key = match self.fault {
            Fault::Key => Key::SYMMETRIC,
            _ => Key::MICROSOFT,
        };
        Ok(Box::new(NicQueue {
            inner: self.inner.open_queue(queue, of)?,
            fault: self.fault,
            hash: Toeplitz::new(&key),
            frames: 0,
            held: Vec::new(),
        }))
    }

    fn frames_held_max(&self, _of: usize) -> u32 {
        HELD
    }
}

impl NicQueue {
    fn hash(&self, flow: &FlowKey) -> u32 {
        let types = match self.fault {
            Fault::Types => HashTypes::UDP_BY_ADDRESSES,
            _ => HashTypes::ALL,
        };
        let hash = self.hash.hash(&types.masked(flow).expect("all are hashed"));
        match self.fault {
            Fault::OtherHash => (hash ^ 0x55).wrapping_mul(0x9E37_79B1) | 1,
            _ => hash,
        }
    }

    fn queue(&self, hash: u32) -> u16 {
        let due = (hash % 128 % QUEUES) as u16;
        match self.fault {
            Fault::Swapped if due == 1 || due == 2 => 3 - due,
            Fault::Steered if hash >> 20 & 7 == 0 => (due + 1) % QUEUES as u16,
            Fault::Moving if self.frames > FRAMES / 2 => (due + 1) % QUEUES as u16,
            Fault::NoQueue => QUEUE_UNTOLD,
            _ => due,
        }
    }
}

impl PortQueue for NicQueue {
    fn begin(&mut self, pool: &mut FramePool) -> Result<(), PortError> {
        self.held.extend((0..HELD).map_while(|_| pool.alloc()));
        Ok(())
    }

    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        assert_eq!(self.held.len(), HELD as usize, "its rings are filled");
        let before = burst.len();
        let state = self.inner.rx_burst(pool, burst, max);
        for at in before..burst.len() {
            let parsed = wire::parse(burst.frames()[at].bytes(), 60);
            let hash = self.hash(&parsed.flow_key().expect("generated frames have one"));
            self.frames += 1;
            let queue = self.queue(hash);
            let meta = burst.frames_mut()[at].meta_mut();
            meta.queue = QueueId(queue);
            meta.rss_hash = if self.fault == Fault::NoHash { 0 } else { hash };
        }
        state
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        self.inner.tx_burst(burst, pool);
    }

    fn statistics(&self) -> PortStatistics {
        self.inner.statistics()
    }
}

fn verifier() -> Verifier {
    Verifier::new(claims_of_a_nic())
}

fn claims_of_a_nic() -> Claims {
    Claims {
        key: Some(Key::MICROSOFT),
        types: HashTypes::ALL,
        table: table(),
        driver: "test".to_owned(),
        other_function: false,
        untold: Vec::new(),
        through_kernel: false,
        hash_off: false,
    }
}

fn verified(fault: Fault) -> Verification {
    let spec = format!("gen:addresses=200,frames={FRAMES},seed=7");
    let spec = PortSpec::parse(&spec).expect("a spec");
    let inner = port::open(&spec, PortId(0), &OpenContext::default()).expect("a generator");
    let mut verifier = verifier();
    let enough = Enough {
        frames: FRAMES,
        duration: Duration::from_secs(600),
    };
    let mut nic = Nic { inner, fault };
    observe(&mut nic, &[None], &mut verifier, enough, &|| false).expect("frames");
    let found = verifier.conclude();
    assert_eq!((found.frames, found.without_flow), (FRAMES, 0), "{fault:?}");
    found
}

fn cause(found: &Verification, wanted: &str) {
    assert!(
        found.causes.iter().any(|cause| cause.contains(wanted)),
        "{:?}",
        found.causes
    );
}

#[test]
fn rings_of_all_queues_are_filled() {
    let spec = PortSpec::parse("gen:frames=4000,seed=7").expect("a spec");
    let inner = port::open(&spec, PortId(0), &OpenContext::default()).expect("a generator");
    let fault = Fault::None;
    let mut verifier = verifier();
    let enough = Enough {
        frames: 4000,
        duration: Duration::from_secs(600),
    };
    let mut nic = Nic { inner, fault };
    observe(&mut nic, &[None; 4], &mut verifier, enough, &|| false).expect("frames");
    assert_eq!(verifier.conclude().frames, 4000);
}

#[test]
fn a_nic_that_does_as_it_says() {
    let found = verified(Fault::None);
    assert!(found.agrees(), "{found:?}");
    assert_eq!(found.hash.right, FRAMES);
    assert_eq!(found.queue.right, FRAMES);
    assert_eq!(found.flow.right, FRAMES - found.flows as u64);
    assert!(found.causes.is_empty(), "{:?}", found.causes);
}

#[test]
fn a_wrong_hash_is_explained() {
    let found = verified(Fault::Key);
    assert_eq!((found.hash.right, found.hash.wrong), (0, FRAMES));
    assert_eq!(found.instead[&("udp4", Instead::Symmetric)], FRAMES);
    // By the NIC's own hash its queues are right.
    assert_eq!((found.queue.wrong, found.flow.wrong), (0, 0));
    cause(&found, "symmetric key");
    assert!(!found.is_other_hash());
    let found = verified(Fault::Types);
    assert_eq!(found.instead[&("udp4", Instead::Addresses)], FRAMES);
    cause(&found, "rx-flow-hash udp4 sdfn");
    assert_eq!(found.hash.first.len(), 5);
    assert_eq!(found.hash.first[0].number, 1);
}

#[test]
fn another_function_is_said_to_be_so() {
    let found = verified(Fault::OtherHash);
    assert!(found.is_other_hash());
    cause(&found, "the hash of the driver test is not Toeplitz");
    assert_eq!(found.queue.wrong, 0);
    let found = verified(Fault::NoHash);
    assert_eq!((found.hash.wrong, found.hash_untold), (0, FRAMES));
    assert_eq!(found.queue.right, FRAMES, "by our own hash");
    cause(&found, "no hash comes with frames");
}

#[test]
fn wrong_queues_are_told_apart() {
    let found = verified(Fault::Swapped);
    let pairs: Vec<_> = found.queue_pairs.keys().copied().collect();
    assert_eq!(pairs, [(1, 2), (2, 1)]);
    assert_eq!(
        (found.hash.wrong, found.flow.wrong, found.split_buckets),
        (0, 0, 0)
    );
    cause(&found, "the NIC's table is not the one");
    let found = verified(Fault::Steered);
    assert!(found.queue.wrong > 0 && found.split_buckets > 0);
    assert_eq!(found.flow.wrong, 0, "each flow stays where it was steered");
    cause(&found, "steers past the table");
    let wrong = found.queue.first[0];
    assert_eq!(wrong.due, wrong.seen.hash % 128 % QUEUES);
    assert_ne!(wrong.seen.queue, Some(wrong.due));
}

#[test]
fn a_flow_that_moves_is_seen_whatever_the_table() {
    let found = verified(Fault::Moving);
    assert!(
        (1..=found.flows as u64).contains(&found.flow.wrong),
        "{found:?}"
    );
    assert!(
        found
            .flow_pairs
            .keys()
            .all(|(before, after)| (before + 1) % QUEUES == *after)
    );
    cause(&found, "flows change their queue");
    let found = verified(Fault::NoQueue);
    assert_eq!(
        (found.queue_untold, found.queue.right, found.flow.right),
        (FRAMES, 0, 0)
    );
    assert!(found.agrees());
}

/// Claims, protocol, whether it is a fragment, the hash that came, and what becomes of it: it is
/// right, named by a note, or wrong.
type Hashed = (
    Claims,
    u8,
    bool,
    fn(FlowKey) -> u32,
    Result<&'static str, ()>,
);

fn hashed() -> Vec<Hashed> {
    // Told are TCP by ports and UDP by addresses.
    let told = || Claims {
        types: HashTypes::UDP_BY_ADDRESSES,
        ..claims_of_a_nic()
    };
    let untold = || Claims {
        untold: vec!["udp4"],
        ..claims_of_a_nic()
    };
    let off = Claims {
        hash_off: true,
        ..claims_of_a_nic()
    };
    let socket = |claims| Claims {
        through_kernel: true,
        ..claims
    };
    let other: fn(FlowKey) -> u32 = |_| 0x1234_5678;
    let (tcp, udp, icmp) = (protocol::TCP, protocol::UDP, protocol::ICMP);
    let udp4 = Ok("udp4 have a hash that the kernel made");
    let ip4 = Ok("ip4 have a hash that the kernel made");
    let fragments = Ok("fragments have a hash that the kernel made");
    let (fragment, addresses) = (Ok("by neither key and addresses"), Ok("by addresses alone"));
    vec![
        (told(), udp, false, by_addresses, Ok("right")),
        (told(), udp, false, other, Err(())),
        (told(), tcp, false, by_addresses, Err(())),
        (untold(), udp, false, by_addresses, addresses),
        (untold(), udp, false, other, Err(())),
        (socket(untold()), udp, false, other, udp4),
        (socket(told()), udp, false, other, udp4),
        (socket(told()), tcp, false, other, Err(())),
        (socket(told()), icmp, false, other, ip4),
        (socket(told()), udp, true, other, fragments),
        (told(), udp, true, other, fragment),
        (off, tcp, false, other, Ok("rxhash on")),
    ]
}

/// What a driver does not say cannot be wrong, and what it says can.
#[test]
fn hashes_that_contradict_no_claim_are_named() {
    for (row, (claims, protocol, fragment, hash, expected)) in hashed().into_iter().enumerate() {
        let (src_port, dst_port) = match fragment || protocol == protocol::ICMP {
            true => (0, 0),
            false => (3, 4),
        };
        let flow = FlowKey::v4(1, 2, src_port, dst_port, protocol);
        let mut verifier = Verifier::new(claims);
        verifier.see(Some(Sighting {
            flow,
            hash: hash(flow),
            queue: None,
            fragment,
        }));
        let found = verifier.conclude();
        assert_eq!(found.agrees(), expected.is_ok(), "row {row}: {found:?}");
        match expected {
            Ok("right") => assert_eq!((found.hash.right, found.notes.len()), (1, 0), "row {row}"),
            Ok(note) => assert!(found.notes[0].contains(note), "row {row}: {found:?}"),
            Err(()) => assert!(found.notes.is_empty(), "row {row}: {found:?}"),
        }
    }
}

fn by_addresses(flow: FlowKey) -> u32 {
    let input = HashTypes::ADDRESSES.masked(&flow).expect("it is hashed");
    Toeplitz::new(&Key::MICROSOFT).hash(&input)
}

/// A hash that nobody knows places a frame that nobody can be blamed for.
#[test]
fn a_queue_is_held_against_the_table_where_the_hash_is_known() {
    let flow = FlowKey::v4(1, 2, 3, 4, protocol::UDP);
    let due = by_addresses(flow) % 128 % QUEUES;
    // Whether the driver says what it hashes, the queue, and frames right and wrong by the table.
    for (told, queue, expected) in [
        (true, due, (1, 0)),
        (true, due + 1, (0, 1)),
        (false, due + 1, (0, 0)),
    ] {
        let mut verifier = Verifier::new(Claims {
            types: HashTypes::UDP_BY_ADDRESSES,
            untold: if told { Vec::new() } else { vec!["udp4"] },
            through_kernel: true,
            ..claims_of_a_nic()
        });
        verifier.see(Some(Sighting {
            flow,
            hash: 0x1234_5678,
            queue: Some(queue),
            fragment: false,
        }));
        let found = verifier.conclude();
        assert_eq!((found.queue.right, found.queue.wrong), expected, "{told}");
    }
}

/// One fault is not hidden by another: whatever is claimed, nothing panics.
#[test]
fn claims_without_sense_are_survived() {
    let mut verifier = Verifier::new(Claims {
        key: None,
        types: HashTypes {
            ipv4: false,
            ..HashTypes::ADDRESSES
        },
        table: vec![u32::MAX; 3],
        driver: String::new(),
        other_function: true,
        untold: Vec::new(),
        through_kernel: false,
        hash_off: false,
    });
    verifier.see(None);
    for port in 0..1000 {
        verifier.see(Some(Sighting {
            flow: FlowKey::v4(1, 2, port, 4, 6),
            hash: u32::from(port).wrapping_mul(77) | 1,
            queue: Some(u32::from(port)),
            fragment: false,
        }));
    }
    verifier.see(Some(Sighting {
        flow: FlowKey::v4(1, 2, 3, 4, 1),
        hash: 1,
        queue: None,
        fragment: false,
    }));
    let found = verifier.conclude();
    assert_eq!(
        (found.frames, found.without_flow, found.queue.wrong),
        (1002, 2, 1000)
    );
    cause(&found, "the driver says so itself");
}
