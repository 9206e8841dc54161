//! Generated frames are valid by the parser and by their checksums, steered where they should be,
//! and as varied as was asked for.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use frame::Burst;
use proptest::prelude::*;
use wire::toeplitz::{Key, Toeplitz};
use wire::{Family, Fragment, Parsed, checksum};

use super::*;
use crate::Share;
use crate::tests_support::{expect_whole, pool};
use crate::{PortSpec, RxState};

fn context() -> OpenContext {
    // Documentation addresses: never drawn by chance among so few frames.
    let samples_v4: Arc<[u32]> = (0..256).map(|low| 0xc000_0200 | low).collect();
    let samples_v6: Arc<[u128]> = (0..256).map(|low| 0x2001_0db8 << 96 | low).collect();
    OpenContext {
        samples_v4,
        samples_v6,
        seed: 42,
        ..OpenContext::default()
    }
}

fn gen_port(text: &str) -> Box<dyn Port> {
    crate::open(&PortSpec::parse(text).unwrap(), PortId(0), &context()).unwrap()
}

/// The first `count` frames of a queue, in bursts of changing sizes.
fn generate(text: &str, queue: u16, of: usize, count: usize) -> Vec<Vec<u8>> {
    let mut pool = pool(512);
    let mut burst = Burst::new();
    let mut frames = Vec::new();
    let mut queue = gen_port(text).open_queue(QueueId(queue), of).unwrap();
    let mut bytes = 0;
    for turn in 0.. {
        let max = (1 + turn % 200).min(count - frames.len());
        let state = queue.rx_burst(&mut pool, &mut burst, max);
        bytes += burst
            .frames()
            .iter()
            .map(|frame| frame.len() as u64)
            .sum::<u64>();
        frames.extend(burst.frames().iter().map(|frame| frame.bytes().to_vec()));
        pool.free_burst(&mut burst);
        if frames.len() == count || state == RxState::Ended {
            break;
        }
    }
    let statistics = queue.statistics();
    assert_eq!(
        (statistics.rx_frames, statistics.rx_bytes),
        (frames.len() as u64, bytes)
    );
    assert_eq!((statistics.missed, queue.in_flight()), (0, 0));
    expect_whole(&mut pool, &mut burst);
    frames
}

/// Parses a frame, checks every checksum over the bytes themselves, and that nothing else is there.
fn check(bytes: &[u8], vlan_tags: u8) -> Parsed {
    let parsed = wire::parse(bytes, bytes.len());
    assert_eq!(parsed.fault, None, "{bytes:02x?}");
    assert_eq!((parsed.vlan_tags, parsed.protocol), (vlan_tags, 17));
    assert!(parsed.fragment == Fragment::Whole && !parsed.snapped);
    let (l3, l4) = (usize::from(parsed.l3_offset), usize::from(parsed.l4_offset));
    let udp_len = usize::from(u16::from_be_bytes([bytes[l4 + 4], bytes[l4 + 5]]));
    assert_eq!(l4 + udp_len, bytes.len(), "no padding, no lie");
    let udp = &bytes[l4..];
    assert_ne!(&udp[6..8], [0, 0], "a checksum is there");
    let addresses = match parsed.family {
        Family::V4 => {
            assert_eq!(l4 - l3, 20);
            assert_eq!(checksum::ones_complement(&bytes[l3..l4]), 0xffff);
            &bytes[l3 + 12..l3 + 20]
        }
        Family::V6 => &bytes[l3 + 8..l3 + 40],
        Family::None => panic!("no IP"),
    };
    let pseudo = [addresses, &[0, 17], &(udp_len as u16).to_be_bytes()].concat();
    let sum = checksum::combine(
        checksum::ones_complement(&pseudo),
        checksum::ones_complement(udp),
    );
    assert_eq!(sum, 0xffff);
    assert!(
        udp[8..].iter().all(|&byte| byte == 0),
        "zeros behind the headers"
    );
    parsed
}

#[test]
fn frames_are_valid_at_every_size_with_every_tag() {
    for (vlan, tags) in [("", 0), (",vlan=7", 1), (",vlan=7.8", 2)] {
        for ipv6 in ["0", "1", "0.5"] {
            for size in [
                "64", "65", "66", "74", "75", "570", "1518", "64-200", "imix",
            ] {
                let text = format!("gen:size={size},ipv6={ipv6},hit=0.3{vlan}");
                for bytes in generate(&text, 0, 1, 100) {
                    let parsed = check(&bytes, tags);
                    let outer = if tags == 0 { 0 } else { 7 };
                    assert_eq!(parsed.vlan_tci, outer);
                }
            }
        }
    }
}

#[test]
fn sizes_are_with_fcs() {
    let lens =
        |text: &str| -> Vec<usize> { generate(text, 0, 1, 24_000).iter().map(Vec::len).collect() };
    assert!(lens("gen:").iter().all(|&len| len == 60));
    assert!(lens("gen:size=1518").iter().all(|&len| len == 1514));
    let even: HashSet<usize> = lens("gen:size=64-128").into_iter().collect();
    assert_eq!(even, (60..=124).collect());
    let mut imix: HashMap<usize, usize> = HashMap::new();
    lens("gen:size=imix")
        .into_iter()
        .for_each(|len| *imix.entry(len).or_default() += 1);
    assert_eq!(imix.len(), 3);
    for (len, twelfths) in [(60, 7), (566, 4), (1514, 1)] {
        assert!(imix[&len].abs_diff(2_000 * twelfths) < 400, "{imix:?}");
    }
    assert!(
        lens("gen:ipv6=1").iter().all(|&len| len == 62),
        "never shorter than its headers"
    );
    assert!(lens("gen:ipv6=1,vlan=1.2").iter().all(|&len| len == 70));
    for text in [
        "gen:",
        "gen:size=imix",
        "gen:ipv6=1,vlan=1.2",
        "gen:size=64-1000",
    ] {
        let longest = lens(text).into_iter().max().unwrap();
        assert!(gen_port(text).frame_bytes_max_hint() >= longest);
    }
}

#[test]
fn tags_have_the_types_of_their_place() {
    let frame = &generate("gen:vlan=100.200", 0, 1, 1)[0];
    assert_eq!(frame[12..22], [0x88, 0xa8, 0, 100, 0x81, 0, 0, 200, 8, 0]);
    let frame = &generate("gen:vlan=100,ipv6=1", 0, 1, 1)[0];
    assert_eq!(frame[12..18], [0x81, 0, 0, 100, 0x86, 0xdd]);
}

#[test]
fn random_flows_differ_and_repeat_with_their_seed() {
    let keys = |frames: Vec<Vec<u8>>| -> Vec<_> {
        frames
            .iter()
            .map(|bytes| check(bytes, 0).flow_key().unwrap())
            .collect()
    };
    let first = keys(generate("gen:", 0, 1, 5_000));
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), 5_000);
    assert_eq!(first, keys(generate("gen:seed=42", 0, 1, 5_000)));
    assert_ne!(first, keys(generate("gen:seed=43", 0, 1, 5_000)));
    // Every bit is set about half of the time, but for those of the first byte: addresses are
    // global unicast ones.
    let first_bytes: HashSet<_> = first.iter().map(|key| key.src >> 24).collect();
    assert!(first_bytes.len() > 200);
    for bit in 0..24 {
        let src = first.iter().filter(|key| key.src >> bit & 1 == 1).count();
        let dst = first.iter().filter(|key| key.dst >> bit & 1 == 1).count();
        assert!(
            src.abs_diff(2_500) < 250 && dst.abs_diff(2_500) < 250,
            "bit {bit}"
        );
    }
    let ports: HashSet<u16> = first.iter().map(|key| key.src_port).collect();
    assert!(ports.len() > 4_000);
}

#[test]
fn ipv6_has_its_share() {
    let frames = generate("gen:ipv6=0.25,size=100", 0, 1, 10_000);
    let v6: Vec<_> = frames
        .iter()
        .map(|bytes| check(bytes, 0))
        .filter(|parsed| parsed.family == Family::V6)
        .collect();
    assert!(v6.len().abs_diff(2_500) < 250, "{}", v6.len());
    assert!(
        v6.iter()
            .all(|parsed| parsed.src >> 125 == 1 && parsed.dst >> 125 == 1)
    );
    assert_eq!(
        v6.iter()
            .map(|parsed| parsed.src)
            .collect::<HashSet<_>>()
            .len(),
        v6.len()
    );
}

/// How many frames hit by source only, by destination only, and by both.
fn hits(text: &str, count: usize) -> [usize; 3] {
    let context = context();
    let v4: HashSet<u128> = context
        .samples_v4
        .iter()
        .map(|&address| address.into())
        .collect();
    let v6: HashSet<u128> = context.samples_v6.iter().copied().collect();
    let mut hits = [0; 3];
    for bytes in generate(text, 0, 1, count) {
        let parsed = check(&bytes, 0);
        let set = if parsed.family == Family::V4 {
            &v4
        } else {
            &v6
        };
        match (set.contains(&parsed.src), set.contains(&parsed.dst)) {
            (true, false) => hits[0] += 1,
            (false, true) => hits[1] += 1,
            (true, true) => hits[2] += 1,
            (false, false) => {}
        }
    }
    hits
}

#[test]
fn hits_have_their_share_and_all_three_sides() {
    for text in [
        "gen:hit=0.3",
        "gen:hit=0.3,ipv6=1",
        "gen:hit=0.3,ipv6=0.5",
        "gen:hit=0.3,addresses=5000",
        "gen:hit=0.3,addresses=5000,ipv6=0.5",
    ] {
        let sides = hits(text, 20_000);
        assert!(
            sides.iter().all(|side| side.abs_diff(2_000) < 300),
            "{text}: {sides:?}"
        );
    }
    assert_eq!(hits("gen:hit=1", 5_000).iter().sum::<usize>(), 5_000);
    assert_eq!(
        hits("gen:hit=1,addresses=7", 500).iter().sum::<usize>(),
        500
    );
    assert_eq!(hits("gen:hit=0", 5_000), [0; 3]);
    assert_eq!(hits("gen:", 5_000), [0; 3]);
}

#[test]
fn all_samples_are_drawn() {
    let drawn: HashSet<u128> = generate("gen:hit=1", 0, 1, 10_000)
        .iter()
        .map(|bytes| check(bytes, 0).src)
        .filter(|src| src >> 8 == 0xc0_0002)
        .collect();
    assert_eq!(drawn.len(), 256);
}

#[test]
fn hits_without_samples_are_refused_or_told() {
    let open = |text: &str, v4: &[u32], v6: &[u128]| {
        let context = OpenContext {
            samples_v4: v4.into(),
            samples_v6: v6.into(),
            ..OpenContext::default()
        };
        GenPort::open(&spec(text), PortId(0), &context)
    };
    let error = open("gen:hit=0.1", &[], &[1]).err().unwrap().to_string();
    assert!(
        error.contains("hit=0.1 asks for addresses out of a set"),
        "{error}"
    );
    assert!(open("gen:hit=0.1,ipv6=1", &[1], &[]).is_err());
    assert!(open("gen:ipv6=0.5", &[], &[]).is_ok());
    let mut port = open("gen:hit=0.1,ipv6=0.5", &[1], &[]).unwrap();
    let warnings = port.open_queue(QueueId(0), 2).unwrap().finish().unwrap();
    assert!(
        warnings[0].contains("no generated IPv6 frame is a hit"),
        "{warnings:?}"
    );
    assert!(
        port.open_queue(QueueId(1), 2)
            .unwrap()
            .finish()
            .unwrap()
            .is_empty()
    );
}

fn spec(text: &str) -> GenSpec {
    match PortSpec::parse(text).unwrap() {
        PortSpec::Gen(spec) => spec,
        other => panic!("{other}"),
    }
}

#[test]
fn flows_are_as_many_as_asked_over_all_queues() {
    for of in [1, 2, 3] {
        let mut flows = HashSet::new();
        for queue in 0..of {
            for bytes in generate("gen:addresses=100,hit=0.1", queue, of.into(), 5_000) {
                flows.insert(check(&bytes, 0).flow_key().unwrap());
            }
        }
        assert_eq!(flows.len(), 100, "{of} queues");
    }
    // Ten flows with a tenth of hits: exactly one, and it is the same in every run.
    let flow_hits: HashSet<_> = generate("gen:addresses=10,hit=0.1", 0, 1, 1_000)
        .iter()
        .map(|bytes| check(bytes, 0).flow_key().unwrap())
        .filter(|key| key.src >> 8 == 0xc0_0002 || key.dst >> 8 == 0xc0_0002)
        .collect();
    assert_eq!(flow_hits.len(), 1);
}

#[test]
fn every_queue_makes_frames_of_its_own_buckets_and_of_all_of_them() {
    let toeplitz = Toeplitz::new(&Key::SYMMETRIC);
    for settings in [
        "hit=0.2",
        "hit=0.2,ipv6=1",
        "hit=0.2,ipv6=0.5,vlan=3",
        "addresses=10000",
    ] {
        for of in [2_usize, 3, 7, 128] {
            for queue in [0, of / 2, of - 1] {
                let text = format!("gen:{settings}");
                let tags = u8::from(settings.contains("vlan"));
                let mut buckets = HashSet::new();
                for bytes in generate(&text, queue as u16, of, 2_000) {
                    let key = check(&bytes, tags).flow_key().unwrap();
                    buckets.insert(toeplitz.hash(&key) as usize & 127);
                }
                assert!(
                    buckets.iter().all(|bucket| bucket % of == queue),
                    "{text} {queue}/{of}"
                );
                assert_eq!(
                    buckets.len(),
                    (128 - queue).div_ceil(of),
                    "{text} {queue}/{of}"
                );
            }
        }
    }
}

#[test]
fn queues_are_bounded_by_buckets_and_flows() {
    assert_eq!(gen_port("gen:").queues_max(), 128);
    assert_eq!(gen_port("gen:addresses=3").queues_max(), 3);
    let error = gen_port("gen:")
        .open_queue(QueueId(0), 129)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("has at most 128 queues, not 129"), "{error}");
    let error = gen_port("gen:")
        .open_queue(QueueId(2), 2)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("has no queue 2"), "{error}");
}

#[test]
fn a_limit_of_frames_is_shared_and_ends() {
    let counts = [0, 1, 2].map(|queue| generate("gen:frames=1000", queue, 3, 5_000).len());
    assert_eq!(counts, [334, 333, 333]);
}

#[test]
fn frames_that_do_not_fit_are_missed_and_told() {
    let mut pool = pool(64);
    let mut burst = Burst::new();
    let mut queue = gen_port("gen:size=1700-1900,frames=60")
        .open_queue(QueueId(0), 1)
        .unwrap();
    assert_eq!(queue.rx_burst(&mut pool, &mut burst, 60), RxState::Ended);
    assert!(
        burst
            .frames()
            .iter()
            .all(|frame| (1696..=1792).contains(&frame.len()))
    );
    let statistics = queue.statistics();
    assert_eq!(statistics.rx_frames, burst.len() as u64);
    assert_eq!(statistics.rx_frames + statistics.missed, 60);
    let warning = queue.finish().unwrap().remove(0);
    assert!(
        warning.contains(&format!("{} generated frames", statistics.missed)),
        "{warning}"
    );
    expect_whole(&mut pool, &mut burst);
}

#[test]
fn an_empty_pool_delays_and_loses_nothing() {
    let mut pool = pool(8);
    let (mut burst, mut second) = (Burst::new(), Burst::new());
    let mut queue = gen_port("gen:frames=20").open_queue(QueueId(0), 1).unwrap();
    assert_eq!(queue.rx_burst(&mut pool, &mut burst, 32), RxState::Open);
    assert_eq!(queue.rx_burst(&mut pool, &mut second, 32), RxState::Open);
    assert_eq!((burst.len(), second.len()), (8, 0));
    queue.tx_burst(&mut burst, &mut pool);
    assert_eq!(queue.statistics().tx_frames, 8);
    let mut seen = 8;
    while queue.rx_burst(&mut pool, &mut burst, 32) == RxState::Open {
        seen += burst.len();
        queue.tx_burst(&mut burst, &mut pool);
    }
    assert_eq!(seen + burst.len(), 20);
    assert_eq!(queue.statistics().rx_frames, 20);
    expect_whole(&mut pool, &mut burst);
}

#[test]
fn sizes_that_no_spec_can_name_are_refused() {
    for size in [
        Sizes::Fixed(0),
        Sizes::Fixed(63),
        Sizes::Range(100, 64),
        Sizes::Range(64, 9_217),
    ] {
        let spec = GenSpec {
            size,
            ..GenSpec::default()
        };
        let error = GenPort::open(&spec, PortId(0), &context()).err().unwrap();
        assert_eq!(error.kind(), PortErrorKind::Setting);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any settings: valid frames.
    #[test]
    fn any_settings_make_valid_frames(
        seed: u64, size in 64..1500_u16, hit in 0.0..1.0_f64, ipv6 in 0.0..1.0_f64,
        vlan in prop::collection::vec(0..4095_u16, 0..3), flows in 0..50_u32, of in 1..5_usize,
    ) {
        let addresses = if flows < 5 { Addresses::Random } else { Addresses::Flows(flows) };
        let (hit, ipv6) = (Share::new(hit).unwrap(), Share::new(ipv6).unwrap());
        let size = Sizes::Fixed(size);
        let tags = vlan.len() as u8;
        let spec = GenSpec { addresses, size, hit, vlan, ipv6, seed: Some(seed), frames: None };
        for bytes in generate(&spec.to_string(), (of - 1) as u16, of, 100) {
            check(&bytes, tags);
        }
    }
}
