//! Every small policy over every small universe, against a judge written from the words of the
//! policy's description: whole burst, whole state.

use std::sync::Arc;

use frame::{Burst, FramePool, PoolRequest, PortId, Region};
use plane::{
    Action, Bridge, DropReason, HitAddresses, Otherwise, Policy, Ruleset, SetRule, Side, Sides,
    Verdict, Verdicts,
};
use table::{CompiledLists, Entries};
use wire::Malformed;
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};

const HERE: PortId = PortId(0);
const THERE: PortId = PortId(1);

/// A set of the policy and what it holds.
struct Set {
    action: Action,
    sides: Sides,
    holds: Vec<u32>,
}

fn pool() -> FramePool {
    let request = PoolRequest {
        frames: 512,
        stride_bytes: 576,
        headroom_bytes: 64,
        node: None,
    };
    Region::with_pools(&[request]).expect("memory").1.remove(0)
}

fn udp(src: u32, dst: u32) -> Vec<u8> {
    let ip = Ipv4 {
        src,
        dst,
        ..Ipv4::default()
    };
    emit(Network::Ipv4(
        ip,
        Transport::Udp {
            src_port: 7,
            dst_port: 9,
        },
    ))
}

fn emit(network: Network<'_>) -> Vec<u8> {
    let recipe = Recipe {
        network,
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// A UDP packet whose UDP length is longer than the packet.
fn lying_udp(src: u32, dst: u32) -> Vec<u8> {
    let mut bytes = udp(src, dst);
    bytes[14 + 20 + 4] = 0x40;
    bytes
}

fn ruleset(sets: &[Set], policy: &Policy) -> Ruleset {
    let policy = Arc::new(policy.clone());
    Ruleset::new(Arc::new(compile(sets)), policy).expect("a list a rule")
}

fn forwarding(sets: &[Set]) -> Ruleset {
    ruleset(sets, &policy(sets, Otherwise::Forward))
}

fn compile(sets: &[Set]) -> CompiledLists {
    let entries: Vec<Entries> = sets
        .iter()
        .map(|set| {
            let mut entries = Entries::default();
            entries.v4.addresses.clone_from(&set.holds);
            entries
        })
        .collect();
    CompiledLists::compile(&entries.iter().collect::<Vec<_>>()).expect("few lists")
}

fn policy(sets: &[Set], default: Otherwise) -> Policy {
    let rule =
        |(place, set): (usize, &Set)| SetRule::new(format!("set{place}"), set.action, set.sides);
    let mut policy = Policy::new(sets.iter().enumerate().map(rule).collect()).expect("few rules");
    policy.default = default;
    policy
}

/// Runs frames through a bridge as one burst.
fn decide(bridge: &mut Bridge, ruleset: &Ruleset, frames: &[Vec<u8>]) -> Vec<Verdict> {
    let (mut pool, mut burst, mut verdicts) = (pool(), Burst::new(), Verdicts::new());
    for bytes in frames {
        let mut frame = pool.alloc().expect("a free frame");
        frame.copy_from(bytes).expect("a short frame");
        assert!(burst.push(frame).is_ok());
    }
    bridge.decide(&burst, HERE, ruleset, &mut verdicts);
    pool.free_burst(&mut burst);
    verdicts.as_slice().to_vec()
}

/// The verdict in the words of the documentation, one frame and one set at a time.
fn expected(sets: &[Set], default: Otherwise, src: u32, dst: u32) -> Verdict {
    let any = |action: Action, address: u32, at_src: bool| {
        sets.iter().any(|set| {
            let looks = if at_src { set.sides.src } else { set.sides.dst };
            set.action == action && looks && set.holds.contains(&address)
        })
    };
    let stopped = |address, at_src| {
        any(Action::Block, address, at_src) && !any(Action::Allow, address, at_src)
    };
    let allowed = any(Action::Allow, src, true) || any(Action::Allow, dst, false);
    if stopped(src, true) {
        Verdict::Drop(DropReason::BlockedSrc)
    } else if stopped(dst, false) {
        Verdict::Drop(DropReason::BlockedDst)
    } else if default == Otherwise::Drop && !allowed {
        Verdict::Drop(DropReason::NotAllowed)
    } else {
        Verdict::Forward(THERE)
    }
}

#[test]
fn every_pair_of_sets_over_three_addresses() {
    let addresses = [0, 0x0A00_0001, u32::MAX];
    let subsets: Vec<Vec<u32>> = (0..8)
        .map(|bits| {
            (0..3)
                .filter(|i| bits >> i & 1 == 1)
                .map(|i| addresses[i])
                .collect()
        })
        .collect();
    let actions = [Action::Block, Action::Count, Action::Allow];
    let sides = [Sides::BOTH, Sides::SRC, Sides::DST];
    let pairs: Vec<(u32, u32)> = addresses
        .iter()
        .flat_map(|&src| addresses.map(|dst| (src, dst)))
        .collect();
    let frames: Vec<Vec<u8>> = pairs.iter().map(|&(src, dst)| udp(src, dst)).collect();
    for case in 0..3 * 3 * 3 * 3 * 8 * 2 {
        let holds = &subsets[case / 162 % 8];
        let sets = [
            Set {
                action: actions[case % 3],
                sides: sides[case / 3 % 3],
                holds: vec![addresses[0], addresses[1]],
            },
            Set {
                action: actions[case / 9 % 3],
                sides: sides[case / 27 % 3],
                holds: holds.clone(),
            },
        ];
        let default = [Otherwise::Forward, Otherwise::Drop][case / 81 % 2];
        let mut bridge = Bridge::new([HERE, THERE], Box::new(HitAddresses::new([1, 2])));
        let verdicts = decide(
            &mut bridge,
            &ruleset(&sets, &policy(&sets, default)),
            &frames,
        );
        let wanted: Vec<Verdict> = pairs
            .iter()
            .map(|&(src, dst)| expected(&sets, default, src, dst))
            .collect();
        assert_eq!(verdicts, wanted, "case {case}");
        check_hits(&bridge, &sets, &pairs, &wanted, case);
    }
}

/// Whole-state check of the hit counters.
fn check_hits(
    bridge: &Bridge,
    sets: &[Set],
    pairs: &[(u32, u32)],
    wanted: &[Verdict],
    case: usize,
) {
    for (list, set) in sets.iter().enumerate() {
        let src = |&&(src, _): &&(u32, u32)| set.sides.src && set.holds.contains(&src);
        let dst = |&&(_, dst): &&(u32, u32)| set.sides.dst && set.holds.contains(&dst);
        let hits = bridge.hits();
        assert_eq!(
            hits.of(Side::Src, list),
            pairs.iter().filter(src).count() as u64,
            "case {case}"
        );
        assert_eq!(
            hits.of(Side::Dst, list),
            pairs.iter().filter(dst).count() as u64,
            "case {case}"
        );
        let allowed = |address: u32, at_src: bool| {
            sets.iter().any(|other| {
                let looks = if at_src {
                    other.sides.src
                } else {
                    other.sides.dst
                };
                other.action == Action::Allow && looks && other.holds.contains(&address)
            })
        };
        let would = pairs.iter().zip(wanted).filter(|(pair, verdict)| {
            let stops = src(pair) && !allowed(pair.0, true) || dst(pair) && !allowed(pair.1, false);
            let blocked = matches!(
                verdict,
                Verdict::Drop(DropReason::BlockedSrc | DropReason::BlockedDst)
            );
            set.action == Action::Count && !blocked && stops
        });
        assert_eq!(hits.would_drop[list], would.count() as u64, "case {case}");
    }
}

fn block(holds: Vec<u32>) -> [Set; 1] {
    [Set {
        action: Action::Block,
        sides: Sides::BOTH,
        holds,
    }]
}

#[test]
fn a_blocked_address_does_not_pass_by_being_malformed() {
    let sets = block(vec![5]);
    let mut policy = policy(&sets, Otherwise::Forward);
    let frames = [lying_udp(5, 6), lying_udp(6, 5), lying_udp(6, 7), udp(6, 7)];
    let fault = Malformed::UdpLengthBeyondPacket;
    for (malformed, third) in [
        (Otherwise::Drop, Verdict::Drop(DropReason::Malformed(fault))),
        (Otherwise::Forward, Verdict::Forward(THERE)),
    ] {
        policy.malformed = malformed;
        let mut bridge = Bridge::new([HERE, THERE], Box::new(HitAddresses::new([1, 2])));
        let verdicts = decide(&mut bridge, &ruleset(&sets, &policy), &frames);
        let blocked = [DropReason::BlockedSrc, DropReason::BlockedDst].map(Verdict::Drop);
        assert_eq!(verdicts[..2], blocked);
        assert_eq!(verdicts[2], third);
        assert_eq!(verdicts[3], Verdict::Forward(THERE));
    }
}

#[test]
fn a_trial_counts_what_blocking_would_drop_malformed_or_not() {
    let frames = [lying_udp(5, 6), udp(6, 5), lying_udp(6, 7), udp(6, 7)];
    let trial = [Set {
        action: Action::Count,
        sides: Sides::BOTH,
        holds: vec![5],
    }];
    let mut bridge = Bridge::new([HERE, THERE], Box::new(HitAddresses::new([1, 2])));
    decide(&mut bridge, &forwarding(&trial), &frames);
    let real = block(vec![5]);
    let mut blocking = Bridge::new([HERE, THERE], Box::new(HitAddresses::new([1, 2])));
    let verdicts = decide(&mut blocking, &forwarding(&real), &frames);
    let [src, dst] = [DropReason::BlockedSrc, DropReason::BlockedDst].map(Verdict::Drop);
    let blocked = verdicts
        .iter()
        .filter(|&&verdict| verdict == src || verdict == dst);
    assert_eq!(bridge.hits().would_drop_frames, blocked.count() as u64);
    assert_eq!(bridge.hits().would_drop_frames, 2);
}

#[test]
fn non_ip_frames_follow_their_own_switch() {
    let sets = block(vec![0]);
    let arp = emit(Network::Other(0x0806));
    let lldp = emit(Network::Other(0x88CC));
    for (non_ip, verdict) in [
        (Otherwise::Forward, Verdict::Forward(THERE)),
        (Otherwise::Drop, Verdict::Drop(DropReason::NonIp)),
    ] {
        let mut policy = policy(&sets, Otherwise::Drop);
        policy.non_ip = non_ip;
        let mut bridge = Bridge::new([HERE, THERE], Box::new(HitAddresses::new([1, 2])));
        let frames = [arp.clone(), lldp.clone()];
        let ruleset = ruleset(&sets, &policy);
        assert_eq!(decide(&mut bridge, &ruleset, &frames), [verdict; 2]);
    }
}

#[test]
fn a_frame_with_no_readable_address_never_matches_a_set_that_holds_zero() {
    let sets = block(vec![0]);
    let mut bridge = Bridge::new([HERE, THERE], Box::new(HitAddresses::new([1, 2])));
    let cut = udp(9, 9)[..14 + 8].to_vec();
    let verdicts = decide(&mut bridge, &forwarding(&sets), &[cut]);
    assert!(
        matches!(verdicts[..], [Verdict::Drop(DropReason::Malformed(_))]),
        "{verdicts:?}"
    );
    let hits = |side| bridge.hits().of(side, 0);
    assert_eq!(hits(Side::Src) + hits(Side::Dst), 0);
}

#[test]
fn both_families_in_one_burst_and_the_way_back() {
    let mut entries = Entries::default();
    entries.v4.addresses.push(5);
    entries.v6.addresses.push(6 << 100);
    let lists = Arc::new(CompiledLists::compile(&[&entries]).expect("one list"));
    let policy = Arc::new(policy(&block(vec![]), Otherwise::Forward));
    let ruleset = Ruleset::new(lists, policy).expect("one of each");
    let mut bridge = Bridge::new([HERE, THERE], Box::new(HitAddresses::new([1, 2])));
    let udp6 = |src, dst| {
        let ip = Ipv6 {
            src,
            dst,
            ..Ipv6::default()
        };
        emit(Network::Ipv6(
            ip,
            Transport::Udp {
                src_port: 1,
                dst_port: 2,
            },
        ))
    };
    let frames = [
        udp6(6 << 100, 1),
        udp(5, 1),
        udp6(1, 2),
        udp(1, 5),
        udp(1, 2),
    ];
    let verdicts = decide(&mut bridge, &ruleset, &frames);
    let [src, dst] = [DropReason::BlockedSrc, DropReason::BlockedDst].map(Verdict::Drop);
    let pass = Verdict::Forward(THERE);
    assert_eq!(verdicts, [src, src, pass, dst, pass]);

    let (mut pool, mut burst, mut column) = (pool(), Burst::new(), Verdicts::new());
    let mut frame = pool.alloc().expect("a free frame");
    frame.copy_from(&udp(1, 2)).expect("a short frame");
    assert!(burst.push(frame).is_ok());
    bridge.decide(&burst, THERE, &ruleset, &mut column);
    assert_eq!(column.as_slice(), [Verdict::Forward(HERE)]);
    pool.free_burst(&mut burst);
}
