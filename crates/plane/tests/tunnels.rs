//! Packets inside packets: each header is judged by the sets that look at it.

use std::sync::Arc;

use frame::{BURST_MAX, Burst, FramePool, PoolRequest, PortId, Region};
use plane::{
    Action, Bridge, DropReason, Headers, HitAddresses, Otherwise, Policy, Ports, Ruleset, SetRule,
    Side, Sides, Stateful, StatefulConfig, Timeouts, Verdict, Verdicts,
};
use table::flows::WhenFull;
use table::{CompiledLists, Entries};
use wire::emit::{Ipv4, Network, Recipe, Transport};
use wire::{HashHeader, Malformed, protocol};

const HERE: PortId = PortId(0);
const THERE: PortId = PortId(1);
const ETHERNET_BYTES: usize = 14;

/// Packets from the inside out, each a source and a destination, as one frame.
fn frame(pairs: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    for (place, &(src, dst)) in pairs.iter().enumerate() {
        let transport = match place {
            0 => Transport::Udp {
                src_port: 7,
                dst_port: 7,
            },
            _ => Transport::Raw(protocol::IPV4),
        };
        let ip = Ipv4 {
            src,
            dst,
            ..Ipv4::default()
        };
        let inner = bytes.split_off(bytes.len().min(ETHERNET_BYTES));
        let recipe = Recipe {
            network: Network::Ipv4(ip, transport),
            payload: &inner,
            ..Recipe::default()
        };
        bytes = vec![0; recipe.frame_len()];
        recipe.emit(&mut bytes).expect("a sound recipe");
    }
    bytes
}

struct Set(Action, Headers, &'static [u32]);

fn ruleset(sets: &[Set], default: Otherwise) -> Ruleset {
    let rule = |(place, set): (usize, &Set)| SetRule {
        headers: set.1,
        ..SetRule::new(format!("set{place}"), set.0, Sides::BOTH)
    };
    let mut policy = Policy::new(sets.iter().enumerate().map(rule).collect()).expect("few rules");
    policy.default = default;
    let entries = sets.iter().map(|set| {
        let mut entries = Entries::default();
        entries.v4.addresses = set.2.to_vec();
        entries
    });
    let entries: Vec<Entries> = entries.collect();
    let lists = CompiledLists::compile(&entries.iter().collect::<Vec<_>>()).expect("few lists");
    Ruleset::new(Arc::new(lists), Arc::new(policy)).expect("a list a rule")
}

fn bridge() -> Bridge {
    Bridge::new([HERE, THERE], Box::new(HitAddresses::new([1, 2])))
}

fn pool() -> FramePool {
    let request = PoolRequest {
        frames: BURST_MAX as u32,
        stride_bytes: 576,
        headroom_bytes: 64,
        node: None,
    };
    Region::with_pools(&[request]).expect("memory").1.remove(0)
}

fn decide(bridge: &mut Bridge, ruleset: &Ruleset, frames: &[Vec<u8>]) -> Vec<Verdict> {
    decide_from(HERE, bridge, ruleset, frames)
}

fn decide_from(
    from: PortId,
    bridge: &mut Bridge,
    ruleset: &Ruleset,
    frames: &[Vec<u8>],
) -> Vec<Verdict> {
    let (mut pool, mut burst, mut verdicts) = (pool(), Burst::new(), Verdicts::new());
    for bytes in frames {
        let mut frame = pool.alloc().expect("a free frame");
        frame.copy_from(bytes).expect("a short frame");
        assert!(burst.push(frame).is_ok());
    }
    bridge.decide(&burst, from, ruleset, &mut verdicts);
    pool.free_burst(&mut burst);
    verdicts.as_slice().to_vec()
}

const PASS: Verdict = Verdict::Forward(THERE);
const SRC: Verdict = Verdict::Drop(DropReason::BlockedSrc);
const DST: Verdict = Verdict::Drop(DropReason::BlockedDst);
const NOT_ALLOWED: Verdict = Verdict::Drop(DropReason::NotAllowed);

/// Plain, and 1 to 2 carried by 3 to 4 carried by 5 to 6.
fn samples() -> [Vec<u8>; 3] {
    [
        frame(&[(1, 2)]),
        frame(&[(1, 2), (3, 4)]),
        frame(&[(1, 2), (3, 4), (5, 6)]),
    ]
}

#[test]
fn each_header_by_the_sets_that_look_at_it() {
    use Action::{Allow, Block};
    let (both, outer, inner) = (Headers::BOTH, Headers::OUTER, Headers::INNER);
    let forward = Otherwise::Forward;
    for (sets, default, verdicts) in [
        (&[Set(Block, both, &[1])][..], forward, [SRC, SRC, SRC]),
        (&[Set(Block, outer, &[1])], forward, [SRC, PASS, PASS]),
        (&[Set(Block, inner, &[1])], forward, [SRC, SRC, SRC]),
        (&[Set(Block, inner, &[4])], forward, [PASS, PASS, DST]),
        (&[Set(Block, outer, &[4])], forward, [PASS, DST, PASS]),
        (&[Set(Block, both, &[4])], forward, [PASS, DST, DST]),
        // What is allowed is exempt in its own header alone.
        (
            &[Set(Block, both, &[1]), Set(Allow, both, &[3, 5])],
            forward,
            [SRC, SRC, SRC],
        ),
        (
            &[Set(Block, both, &[1]), Set(Allow, inner, &[1])],
            forward,
            [PASS, PASS, PASS],
        ),
        (
            &[Set(Block, both, &[1]), Set(Allow, outer, &[1])],
            forward,
            [PASS, SRC, SRC],
        ),
        // Under a default of drop every header that is looked at needs an address.
        (
            &[Set(Allow, both, &[1])],
            Otherwise::Drop,
            [PASS, NOT_ALLOWED, NOT_ALLOWED],
        ),
        (
            &[Set(Allow, both, &[1, 3])],
            Otherwise::Drop,
            [PASS, PASS, NOT_ALLOWED],
        ),
        (
            &[Set(Allow, both, &[1, 4, 6])],
            Otherwise::Drop,
            [PASS, PASS, PASS],
        ),
        (
            &[Set(Allow, outer, &[3, 5])],
            Otherwise::Drop,
            [NOT_ALLOWED, PASS, PASS],
        ),
        (
            &[Set(Allow, inner, &[2])],
            Otherwise::Drop,
            [PASS, PASS, NOT_ALLOWED],
        ),
        (&[Set(Block, both, &[9])], Otherwise::Drop, [NOT_ALLOWED; 3]),
    ] {
        let ruleset = ruleset(sets, default);
        let found = decide(&mut bridge(), &ruleset, &samples());
        let sets: Vec<_> = sets.iter().map(|set| (set.0, set.1, set.2)).collect();
        assert_eq!(found, verdicts, "{sets:?} {default:?}");
    }
}

#[test]
fn hits_count_a_frame_once_and_each_address() {
    let sets = [
        Set(Action::Block, Headers::BOTH, &[1, 3]),
        Set(Action::Count, Headers::INNER, &[2]),
    ];
    let mut bridge = bridge();
    let ruleset = ruleset(&sets, Otherwise::Forward);
    decide(&mut bridge, &ruleset, &samples());
    let hits = bridge.hits();
    assert_eq!((hits.of(Side::Src, 0), hits.of(Side::Dst, 0)), (3, 0));
    assert_eq!((hits.of(Side::Src, 1), hits.of(Side::Dst, 1)), (0, 3));
    assert_eq!(hits.would_drop_frames, 0, "all were blocked");
    let mut told = Vec::new();
    bridge.each_header_match(HERE, &ruleset, |place, depth, lists| {
        told.push((place, depth, lists.src, lists.dst));
    });
    let expected = [
        (0, 0, 1, 2),
        (1, 0, 1, 0),
        (1, 1, 1, 2),
        (2, 1, 1, 0),
        (2, 2, 1, 2),
    ];
    assert_eq!(told, expected);
    let addresses = bridge.swap_addresses(Box::new(HitAddresses::new([1, 2])));
    let mut held: Vec<_> = addresses
        .held()
        .map(|hit| (hit.address, hit.count))
        .collect();
    held.sort_unstable();
    assert_eq!(held, [(1, 3), (2, 3), (3, 2)]);
}

#[test]
fn a_full_burst_of_the_deepest_frames_beside_plain_ones() {
    let sets = [Set(Action::Block, Headers::BOTH, &[0x0102_0007])];
    let mut bridge = bridge();
    let ruleset = ruleset(&sets, Otherwise::Forward);
    for round in 0..3 {
        let frames: Vec<Vec<u8>> = (0..BURST_MAX as u32)
            .map(|place| {
                let depth = if round == 1 && place % 3 == 0 { 1 } else { 5 };
                let pair = |layer: u32| (0x0100_0000 + (layer << 16) + place, 1);
                frame(&(0..depth).map(pair).collect::<Vec<_>>())
            })
            .collect();
        let verdicts = decide(&mut bridge, &ruleset, &frames);
        for (place, verdict) in verdicts.iter().enumerate() {
            let expected = if place == 7 { SRC } else { PASS };
            assert_eq!(*verdict, expected, "frame {place} of round {round}");
        }
    }
}

#[test]
fn faults_inside_count_where_a_set_looks_inside() {
    let six: Vec<(u32, u32)> = (1..7).map(|layer| (layer, layer)).collect();
    let mut lying = frame(&[(1, 2), (3, 4)]);
    lying[ETHERNET_BYTES + 20 + 3] += 1;
    let frames = [frame(&six), lying];
    for (headers, verdicts) in [
        (
            Headers::BOTH,
            [Malformed::TooManyTunnels, Malformed::Ipv4LengthBeyondFrame]
                .map(|fault| Verdict::Drop(DropReason::Malformed(fault))),
        ),
        (Headers::OUTER, [PASS, PASS]),
    ] {
        let ruleset = ruleset(&[Set(Action::Block, headers, &[99])], Otherwise::Forward);
        assert_eq!(decide(&mut bridge(), &ruleset, &frames), verdicts);
    }
}

/// A tunnel between 3 and 4 whose flow began here; 1 began one with 2 in it.
#[test]
fn flows_are_the_tunnels_or_those_inside() {
    let begun = [frame(&[(1, 2), (3, 4)])];
    let answers = [
        frame(&[(2, 1), (4, 3)]),
        frame(&[(9, 1), (4, 3)]),
        frame(&[(2, 1)]),
    ];
    let unknown = Verdict::Drop(DropReason::NotEstablished);
    let pass = Verdict::Forward(HERE);
    for (hash, verdicts) in [
        (None, [pass, pass, unknown]),
        (Some(HashHeader::Outer), [pass, pass, unknown]),
        (Some(HashHeader::Inner), [pass, unknown, pass]),
    ] {
        let config = StatefulConfig {
            allow_new: Ports::only(HERE),
            flows: 1000,
            full: WhenFull::Refuse,
            answers_from_any: false,
            timeouts: Timeouts::default(),
            log: None,
        };
        let mut policy = Policy::new(Vec::new()).expect("no rules");
        (policy.stateful, policy.tunnels.hash) = (Some(config), hash);
        let stateful = Box::new(Stateful::new(config).expect("some megabytes"));
        let mut bridge = bridge().with_stateful(Some(stateful)).with_tunnels(&policy);
        let lists = Arc::new(CompiledLists::compile(&[]).expect("no lists"));
        let ruleset = Ruleset::new(lists, Arc::new(policy)).expect("none of both");
        assert_eq!(decide(&mut bridge, &ruleset, &begun), [PASS]);
        let found = decide_from(THERE, &mut bridge, &ruleset, &answers);
        assert_eq!(found, verdicts, "{hash:?}");
    }
}
