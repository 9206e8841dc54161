//! Fragments through a bridge: in every order, hostile ones, floods.

use std::sync::Arc;

use frame::{FramePool, PoolRequest, Region};
use table::CompiledLists;
use table::flows::WhenFull;
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};

use super::*;
use crate::{Bridge, HitAddresses, Policy, Ports, Ruleset, Stateful, StatefulConfig, Timeouts};

const INSIDE: PortId = PortId(0);
const OUTSIDE: PortId = PortId(1);

struct Bench {
    bridge: Bridge,
    ruleset: Ruleset,
    pool: FramePool,
    now: Nanos,
    dropped: Vec<(Vec<u8>, DropReason)>,
}

impl Bench {
    fn new(limits: FragmentLimits) -> Self {
        let config = StatefulConfig {
            allow_new: Ports::only(INSIDE),
            flows: 4096,
            full: WhenFull::Evict,
            answers_from_any: false,
            timeouts: Timeouts::default(),
            log: None,
        };
        let stateful = Box::new(Stateful::new(config).expect("some megabytes"));
        let bridge = Bridge::new([INSIDE, OUTSIDE], Box::new(HitAddresses::new([1, 2])));
        let lists = CompiledLists::compile(&[]).expect("no lists");
        let policy = Policy::new(Vec::new()).expect("no rules");
        let request = PoolRequest {
            frames: limits.held + 300,
            stride_bytes: 576,
            headroom_bytes: 64,
            node: None,
        };
        let fragments = Box::new(Fragments::new(limits));
        Self {
            bridge: bridge
                .with_stateful(Some(stateful))
                .with_fragments(Some(fragments)),
            ruleset: Ruleset::new(Arc::new(lists), Arc::new(policy)).expect("none of both"),
            pool: Region::with_pools(&[request]).expect("memory").1.remove(0),
            now: Nanos(1_000_000_000),
            dropped: Vec::new(),
        }
    }

    /// What leaves of a burst and of what it releases, in its order.
    fn burst(&mut self, from: PortId, frames: &[&[u8]]) -> Vec<Vec<u8>> {
        let (mut burst, mut verdicts) = (Burst::new(), Verdicts::new());
        for bytes in frames {
            let mut frame = self.pool.alloc().expect("a free frame");
            frame.copy_from(bytes).expect("a short frame");
            assert!(burst.push(frame).is_ok());
        }
        self.bridge.set_now(self.now);
        self.bridge
            .decide(&burst, from, &self.ruleset, &mut verdicts);
        if !self.fragments().acts() {
            let mut left = Vec::new();
            for (frame, &verdict) in burst.drain().zip(verdicts.as_slice()) {
                finish(&mut self.pool, &mut self.dropped, &mut left, frame, verdict);
            }
            self.take_lost();
            return left;
        }
        self.bridge
            .fragments()
            .expect("given")
            .settle(&mut burst, &verdicts);
        self.take_lost();
        let mut left = Vec::new();
        let fragments = self.bridge.fragments().expect("given");
        while let Some(one) = fragments.next_released() {
            assert_eq!(one.from, from);
            finish(
                &mut self.pool,
                &mut self.dropped,
                &mut left,
                one.frame,
                one.verdict,
            );
        }
        left
    }

    fn take_lost(&mut self) {
        let fragments = self.bridge.fragments().expect("given");
        while let Some(one) = fragments.next_lost() {
            let none = &mut Vec::new();
            finish(
                &mut self.pool,
                &mut self.dropped,
                none,
                one.frame,
                one.verdict,
            );
            assert!(none.is_empty());
        }
    }

    fn one(&mut self, from: PortId, frame: &[u8]) -> Vec<Vec<u8>> {
        self.burst(from, &[frame])
    }

    fn fragments(&mut self) -> &mut Fragments {
        self.bridge.fragments().expect("given")
    }

    fn wait(&mut self, millis: u64) {
        self.now = self.now.after(millis * 1_000_000);
    }

    /// Why frames were dropped since this was last asked.
    fn reasons(&mut self) -> Vec<DropReason> {
        self.dropped.drain(..).map(|(_, reason)| reason).collect()
    }
}

fn finish(
    pool: &mut FramePool,
    dropped: &mut Vec<(Vec<u8>, DropReason)>,
    left: &mut Vec<Vec<u8>>,
    frame: Frame,
    verdict: Verdict,
) {
    match verdict {
        Verdict::Forward(_) => left.push(frame.bytes().to_vec()),
        Verdict::Drop(reason) => dropped.push((frame.bytes().to_vec(), reason)),
        Verdict::Hold | Verdict::Consume => panic!("what waits is not released"),
    }
    pool.free(frame);
}

/// A whole packet of UDP with so many bytes behind its network header.
pub(crate) fn whole(six: bool, source: u32, len: usize) -> Vec<u8> {
    let udp = Transport::Udp {
        src_port: 7,
        dst_port: 9,
    };
    let v4 = Ipv4 {
        src: source,
        dst: 0xC633_6401,
        ..Ipv4::default()
    };
    let v6 = Ipv6 {
        src: 0x2001_0DB8 << 96 | u128::from(source) << 64,
        dst: 9,
        ..Ipv6::default()
    };
    let payload: Vec<u8> = (0..len - 8)
        .map(|at| (at * 7 + source as usize) as u8)
        .collect();
    let recipe = Recipe {
        network: if six {
            Network::Ipv6(v6, udp)
        } else {
            Network::Ipv4(v4, udp)
        },
        payload: &payload,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// A packet cut into fragments of 24 bytes, the last as long as is left.
pub(crate) fn cut(frame: &[u8], identification: u32) -> Vec<Vec<u8>> {
    let parsed = wire::parse(frame, frame.len());
    let len = frame.len() - usize::from(parsed.l4_offset);
    (0..len)
        .step_by(24)
        .map(|start| part(frame, start..(start + 24).min(len), identification))
        .collect()
}

pub(crate) fn part(frame: &[u8], range: std::ops::Range<usize>, identification: u32) -> Vec<u8> {
    let parsed = wire::parse(frame, frame.len());
    let mut out = vec![0; frame.len() + 8];
    let len = wire::emit::fragment((frame, &parsed), range, identification, &mut out);
    out.truncate(len.expect("a sound packet"));
    out
}

/// Calls with every order of the first `count` numbers.
pub(crate) fn each_order(count: usize, each: &mut impl FnMut(&[usize])) {
    fn go(order: &mut Vec<usize>, at: usize, each: &mut impl FnMut(&[usize])) {
        if at == order.len() {
            return each(order);
        }
        for other in at..order.len() {
            order.swap(at, other);
            go(order, at + 1, each);
            order.swap(at, other);
        }
    }
    go(&mut (0..count).collect(), 0, each);
}

#[test]
fn fragments_in_any_order_pass_in_that_order_once_the_first_is_there() {
    let mut bench = Bench::new(FragmentLimits::default());
    let mut identification = 0;
    for (six, count) in [false, true]
        .into_iter()
        .flat_map(|six| (2..=6).map(move |n| (six, n)))
    {
        let whole = whole(six, 1, 24 * count - 5);
        each_order(count, &mut |order| {
            identification += 1;
            let pieces = cut(&whole, identification);
            let came: Vec<&[u8]> = order.iter().map(|&at| &pieces[at][..]).collect();
            let first = order.iter().position(|&at| at == 0).expect("it is there");
            // One by one, in one burst, in two.
            match identification % 3 {
                0 => assert_eq!(bench.burst(INSIDE, &came), came, "{order:?}"),
                1 => {
                    let (one, other) = came.split_at(count / 2);
                    let left = [bench.burst(INSIDE, one), bench.burst(INSIDE, other)].concat();
                    assert_eq!(left, came, "{order:?}");
                }
                _ => {
                    for (at, frame) in came.iter().enumerate() {
                        let left = bench.one(INSIDE, frame);
                        let wanted = match at {
                            at if at < first => &[],
                            at if at == first => &came[..=at],
                            at => &came[at..=at],
                        };
                        assert_eq!(left, wanted, "{order:?}");
                    }
                }
            }
            assert!(bench.fragments().is_empty() && bench.fragments().held() == 0);
        });
    }
    assert_eq!(bench.reasons(), []);
}

#[test]
fn all_share_what_is_decided_of_the_first() {
    let mut bench = Bench::new(FragmentLimits::default());
    for six in [false, true] {
        let pieces = cut(&whole(six, 1, 80), 5);
        // None may begin a flow outside.
        for at in [2, 1, 0, 3] {
            assert_eq!(bench.one(OUTSIDE, &pieces[at]), Vec::<Vec<u8>>::new());
        }
        assert_eq!(bench.reasons(), [DropReason::NotEstablished; 4]);
        // The same names on the other side are another packet's.
        assert_eq!(bench.one(OUTSIDE, &pieces[1]).len(), 0);
        assert_eq!(bench.one(INSIDE, &pieces[0]).len(), 1);
        assert_eq!(bench.fragments().held(), 1);
        for _ in 0..100 {
            bench.wait(50);
            bench.one(INSIDE, &whole(six, 1, 80));
        }
        assert_eq!(bench.reasons(), [DropReason::FragmentTimeout]);
        assert!(bench.fragments().is_empty());
    }
}

#[test]
fn bad_packets_are_dropped_from_there_on_and_duplicates_alone() {
    let mut bench = Bench::new(FragmentLimits::default());
    for six in [false, true] {
        let packet = whole;
        let whole = packet(six, 2, 96);
        let pieces = cut(&whole, 7);
        assert_eq!(bench.one(INSIDE, &pieces[0]).len(), 1);
        assert_eq!(bench.one(INSIDE, &pieces[2]).len(), 1);
        assert_eq!(bench.one(INSIDE, &pieces[2]).len(), 0);
        assert_eq!(bench.reasons(), [DropReason::FragmentDuplicate]);
        // RFC 5722: some of what the third has.
        assert_eq!(bench.one(INSIDE, &part(&whole, 40..56, 7)).len(), 0);
        assert_eq!(bench.one(INSIDE, &pieces[1]).len(), 0);
        assert_eq!(bench.reasons(), [DropReason::FragmentOverlap; 2]);
        // Held ones, too, and two ends.
        assert_eq!(bench.one(INSIDE, &pieces[3].clone()).len(), 0);
        bench.reasons();
        let again = cut(&whole, 8);
        assert_eq!(bench.burst(INSIDE, &[&again[1], &again[3]]).len(), 0);
        let short = cut(&packet(six, 2, 80), 8);
        assert_eq!(bench.one(INSIDE, &short[3]).len(), 0);
        assert_eq!(bench.reasons().len(), 3);
        assert_eq!(bench.one(INSIDE, &again[0]).len(), 0);
        assert_eq!(bench.reasons().len(), 1);
    }
}

#[test]
fn tiny_first_fragments_are_malformed_and_atomic_ones_are_whole() {
    let mut bench = Bench::new(FragmentLimits::default());
    // RFC 1858, RFC 3128: what begins within a TCP header tells of one that hides its flags.
    let mut tiny = part(&whole(false, 3, 80), 8..32, 9);
    tiny[23] = wire::protocol::TCP;
    assert_eq!(bench.one(INSIDE, &tiny).len(), 0);
    // RFC 7112: the first fragment of IPv6 has all headers. This one ends in destination options.
    let mut chain = part(&whole(true, 3, 80), 0..8, 9);
    (chain[54], chain[62], chain[63]) = (60, 17, 1);
    assert_eq!(bench.one(INSIDE, &chain).len(), 0);
    let tiny = wire::Malformed::TinyFragment;
    let short = wire::Malformed::Ipv6ExtensionTruncated;
    let faults = [DropReason::Malformed(tiny), DropReason::Malformed(short)];
    assert_eq!(bench.reasons(), faults);
    // RFC 6946: alone and whole, whatever else has its identification.
    let packet = whole(true, 3, 80);
    assert_eq!(bench.one(INSIDE, &part(&packet, 24..48, 10)).len(), 0);
    let atomic = part(&packet, 0..80, 10);
    assert_eq!(bench.one(INSIDE, &atomic), [atomic]);
    assert_eq!(bench.fragments().held(), 1);
}

#[test]
fn an_end_leaves_nothing() {
    let mut bench = Bench::new(FragmentLimits::default());
    let free = bench.pool.free_count();
    for source in 0..40 {
        bench.one(INSIDE, &cut(&whole(false, source, 80), 1)[1]);
    }
    assert_eq!(bench.fragments().held(), 40);
    bench.fragments().clear(DropReason::Shutdown);
    bench.take_lost();
    assert_eq!(bench.reasons(), [DropReason::Shutdown; 40]);
    assert_eq!(
        (bench.fragments().held(), bench.pool.free_count()),
        (0, free)
    );
}

#[test]
fn a_fragment_of_a_fragment_is_dropped() {
    let mut bench = Bench::new(FragmentLimits::default());
    let inner = &cut(&whole(true, 5, 96), 8)[0];
    for (more, why) in [(1, "first"), (0, "atomic")] {
        let mut outer = inner.clone();
        // The packet's own fragment header becomes the second of two.
        outer.splice(54..54, [44, 0, 0, more, 0, 0, 0, 7]);
        outer[19] += 8;
        assert_eq!(wire::parse(&outer, outer.len()).fault, None, "{why}");
        assert!(bench.one(INSIDE, &outer).is_empty(), "{why}");
        assert_eq!(bench.reasons(), [DropReason::FragmentUnknown], "{why}");
    }
    // Two atomic headers are on a whole packet.
    let mut whole = inner.clone();
    whole[57] = 0;
    whole.splice(54..54, [44, 0, 0, 0, 0, 0, 0, 7]);
    whole[19] += 8;
    whole[66..70].copy_from_slice(&[0; 4]);
    let udp = 54 + 16;
    let len = whole.len() - udp;
    whole[udp + 4..udp + 6].copy_from_slice(&(len as u16).to_be_bytes());
    assert_eq!(wire::parse(&whole, whole.len()).fault, None);
    assert_eq!(bench.one(INSIDE, &whole), [whole.clone()]);
}

/// Honest packets of four fragments in a random order, four at a time, among ten times as many
/// hostile fragments; how many of 500 pass whole.
fn honest_among(hostile: &mut impl FnMut(u32) -> Vec<u8>, limits: FragmentLimits) -> usize {
    const HONEST: u32 = 500;
    let mut bench = Bench::new(limits);
    let bytes = bench.fragments().bytes();
    let mut random = Random(0xF100_D5EED);
    let mut passed = 0;
    for group in 0..HONEST / 4 {
        let mut frames: Vec<Vec<u8>> = (0..4)
            .flat_map(|nth| cut(&whole(nth % 2 == 1, 1 + nth, 96), 1000 + group))
            .collect();
        for at in (1..frames.len()).rev() {
            frames.swap(at, random.below(at + 1));
        }
        let mut left = Vec::new();
        for frame in &frames {
            let flood: Vec<Vec<u8>> = (0..10).map(|_| hostile(random.next())).collect();
            let mut burst: Vec<&[u8]> = flood.iter().map(Vec::as_slice).collect();
            burst.push(frame);
            // A million fragments a second.
            bench.now = bench.now.after(11_000);
            let honest = |bytes: &Vec<u8>| frames.contains(bytes);
            left.extend(bench.burst(INSIDE, &burst).into_iter().filter(honest));
            assert!(bench.fragments().held() <= limits.held as usize);
            assert!(bench.fragments().len() <= limits.datagrams as usize);
        }
        let pieces = |nth| cut(&whole(nth % 2 == 1, 1 + nth, 96), 1000 + group);
        let is_whole = |nth: &u32| pieces(*nth).iter().all(|piece| left.contains(piece));
        passed += (0..4).filter(is_whole).count();
    }
    assert_eq!(bench.fragments().bytes(), bytes, "memory is fixed");
    bench.reasons();
    bench.fragments().clear(DropReason::Shutdown);
    bench.take_lost();
    let accounts = bench.pool.accounts();
    assert_eq!(bench.pool.free_count(), bench.pool.total(), "{accounts:?}");
    passed
}

/// SplitMix64, its upper half.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB) >> 32) as u32
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }
}

#[test]
fn half_of_what_is_honest_passes_in_floods() {
    let limits = FragmentLimits {
        datagrams: 4096,
        held: 256,
        ..FragmentLimits::default()
    };
    let templates = [false, true].map(|six| cut(&whole(six, 77, 96), 0));
    for (name, piece, sources) in [
        ("first ones, any source", 0, u32::MAX),
        ("last ones, any source", 3, u32::MAX),
        ("first ones, one source", 0, 1),
        ("last ones, one source", 3, 1),
    ] {
        let mut hostile = |draw: u32| {
            let six = draw & 1 == 1;
            let mut frame = templates[usize::from(six)][piece].clone();
            let source = ((draw % sources) | 0x8000_0000).to_be_bytes();
            if six {
                frame[22..26].copy_from_slice(&source);
                frame[58..62].copy_from_slice(&draw.to_be_bytes());
            } else {
                frame[26..30].copy_from_slice(&source);
                frame[18..20].copy_from_slice(&(draw as u16 >> 1).to_be_bytes());
            }
            frame
        };
        let passed = honest_among(&mut hostile, limits);
        println!("{name}: {passed} of 500 honest packets passed");
        assert!(passed >= 250, "{name}: {passed}");
    }
}
