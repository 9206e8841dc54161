//! A burst is decided on as its frames are one by one: random bursts of every length, of plain
//! and odd frames of both families, against random policies. One frame alone is judged against
//! the words of the policy in `verdicts.rs`.

use std::sync::Arc;

use frame::{BURST_MAX, Burst, Frame, FramePool, PoolRequest, PortId, Region};
use plane::{
    Action, Bridge, HitAddresses, Hits, Otherwise, Policy, Ruleset, SetRule, Sides, Verdict,
    Verdicts,
};
use proptest::prelude::*;
use table::{CompiledLists, Entries};
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};

const PORTS: [PortId; 2] = [PortId(0), PortId(1)];
/// Few addresses, so that hits of all kinds are frequent; 0 is what unreadable ones look like.
const ADDRESSES: u32 = 6;

/// A frame and how much of it was captured.
#[derive(Clone, Debug)]
struct Made {
    bytes: Vec<u8>,
    captured: usize,
}

fn udp(network: impl Fn(Transport<'static>) -> Network<'static>) -> Vec<u8> {
    let udp = Transport::Udp {
        src_port: 7,
        dst_port: 9,
    };
    let recipe = Recipe {
        network: network(udp),
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

fn v4(src: u32, dst: u32) -> Vec<u8> {
    udp(|transport| {
        let ip = Ipv4 {
            src,
            dst,
            ..Ipv4::default()
        };
        Network::Ipv4(ip, transport)
    })
}

fn v6(src: u32, dst: u32) -> Vec<u8> {
    udp(|transport| {
        let ip = Ipv6 {
            src: src.into(),
            dst: dst.into(),
            ..Ipv6::default()
        };
        Network::Ipv6(ip, transport)
    })
}

/// Mostly sound; some with a lying length, of another type, or cut anywhere.
fn any_frame() -> impl Strategy<Value = Made> {
    let parts = (
        0..ADDRESSES,
        0..ADDRESSES,
        any::<bool>(),
        0..16u8,
        0..70usize,
    );
    parts.prop_map(|(src, dst, four, fault, cut)| {
        let mut bytes = if four { v4(src, dst) } else { v6(src, dst) };
        let mut captured = bytes.len();
        match fault {
            0 => bytes[12] = 0x88,
            1 => bytes[14] ^= 0x30,
            2 => bytes[17] = 0xFF,
            3 => captured = cut.min(captured),
            4 => bytes.truncate(cut),
            _ => {}
        }
        captured = captured.min(bytes.len());
        Made { bytes, captured }
    })
}

fn any_rule() -> impl Strategy<Value = (Action, Sides, Vec<u32>)> {
    let action = prop::sample::select(vec![Action::Block, Action::Count, Action::Allow]);
    let sides = prop::sample::select(vec![Sides::BOTH, Sides::SRC, Sides::DST]);
    (action, sides, prop::collection::vec(0..ADDRESSES, 0..3))
}

fn otherwise() -> impl Strategy<Value = Otherwise> {
    prop::sample::select(vec![Otherwise::Forward, Otherwise::Drop])
}

type Rules = Vec<(Action, Sides, Vec<u32>)>;

fn policy(rules: &Rules, default: Otherwise, non_ip: Otherwise, malformed: Otherwise) -> Policy {
    let rule = |(place, (action, sides, _)): (usize, &(Action, Sides, Vec<u32>))| {
        SetRule::new(place.to_string(), *action, *sides)
    };
    let rules = rules.iter().enumerate().map(rule).collect();
    let mut policy = Policy::new(rules).expect("few rules");
    (policy.default, policy.non_ip, policy.malformed) = (default, non_ip, malformed);
    policy
}

fn compile(rules: &Rules) -> CompiledLists {
    let entries = |(_, _, holds): &(Action, Sides, Vec<u32>)| {
        let mut entries = Entries::default();
        entries.v4.addresses.clone_from(holds);
        entries.v6.addresses = holds.iter().copied().map(u128::from).collect();
        entries
    };
    let lists: Vec<Entries> = rules.iter().map(entries).collect();
    CompiledLists::compile(&lists.iter().collect::<Vec<_>>()).expect("few lists")
}

fn frame(pool: &mut FramePool, made: &Made) -> Frame {
    let mut frame = pool.alloc().expect("a free frame");
    frame
        .copy_from(&made.bytes[..made.captured])
        .expect("short");
    if made.captured < made.bytes.len() {
        frame.meta_mut().original_len = made.bytes.len() as u32;
    }
    frame
}

/// Decides on frames in bursts of this length, with one bridge.
fn decide(ruleset: &Ruleset, frames: &[Made], len: usize) -> (Vec<Verdict>, Hits) {
    let request = PoolRequest {
        frames: BURST_MAX as u32,
        stride_bytes: 192,
        headroom_bytes: 64,
        node: None,
    };
    let mut pool = Region::with_pools(&[request]).expect("memory").1.remove(0);
    let mut bridge = Bridge::new(PORTS, Box::new(HitAddresses::new([1, 2])));
    let (mut verdicts, mut all) = (Verdicts::new(), Vec::new());
    for frames in frames.chunks(len) {
        let mut burst = Burst::new();
        for made in frames {
            assert!(burst.push(frame(&mut pool, made)).is_ok());
        }
        bridge.decide(&burst, PORTS[0], ruleset, &mut verdicts);
        assert_eq!(verdicts.as_slice().len(), frames.len());
        if let Some(one) = verdicts.unanimous() {
            assert!(verdicts.as_slice().iter().all(|&verdict| verdict == one));
        }
        all.extend_from_slice(verdicts.as_slice());
        pool.free_burst(&mut burst);
    }
    (all, bridge.hits().clone())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 300 }))]

    #[test]
    fn a_burst_is_decided_on_as_its_frames_are(
        frames in prop::collection::vec(any_frame(), 1..600),
        rules in prop::collection::vec(any_rule(), 0..4),
        (default, non_ip, malformed) in (otherwise(), otherwise(), otherwise()),
        len in 1..=BURST_MAX,
    ) {
        let policy = policy(&rules, default, non_ip, malformed);
        let lists = Arc::new(compile(&rules));
        let ruleset = Ruleset::new(lists, Arc::new(policy)).expect("as many");
        let (alone, hits_alone) = decide(&ruleset, &frames, 1);
        let (together, hits) = decide(&ruleset, &frames, len);
        prop_assert_eq!(together, alone);
        prop_assert_eq!(hits, hits_alone);
    }
}
