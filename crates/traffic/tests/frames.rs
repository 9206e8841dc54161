//! Frames of any recipe are valid by the parser and by checksums over all their bytes, have what
//! the recipe says, and a signature where they are signed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use frame::{Burst, FramePool, Nanos, PoolRequest, Region};
use traffic::{
    Choice, Cover, Flows, Protocol, Random, Recipe, Share, Signature, Sizes, Source, Sources, Stamp,
};
use wire::{Family, Fragment, Parsed, checksum};

fn pool(frames: u32, stride_bytes: u32) -> FramePool {
    let request = PoolRequest {
        frames,
        stride_bytes,
        headroom_bytes: 128,
        node: None,
    };
    Region::with_pools(&[request]).unwrap().1.remove(0)
}

thread_local! {
    /// Memory of frames is never given back.
    static POOL: RefCell<FramePool> = RefCell::new(pool(256, 9_600));
}

/// The first `count` frames of a worker, in bursts of changing sizes, a millisecond apart.
fn frames_of(recipe: &Recipe, worker: usize, of: usize, count: usize) -> Vec<Vec<u8>> {
    POOL.with_borrow_mut(|pool| frames_from(pool, recipe, worker, of, count))
}

fn frames_from(
    pool: &mut FramePool,
    recipe: &Recipe,
    worker: usize,
    of: usize,
    count: usize,
) -> Vec<Vec<u8>> {
    let mut burst = Burst::new();
    let mut source = Source::new(recipe, worker, of).unwrap();
    let mut frames = Vec::new();
    for turn in 0.. {
        let max = (1 + turn % 150).min(count - frames.len());
        source.fill(pool, &mut burst, max, Nanos(turn as u64 * 1_000_000));
        frames.extend(burst.frames().iter().map(|frame| frame.bytes().to_vec()));
        pool.free_burst(&mut burst);
        if frames.len() == count {
            break;
        }
    }
    assert_eq!((source.made(), source.left_out()), (count as u64, (0, 0)));
    frames
}

fn parsed(bytes: &[u8]) -> Parsed {
    let parsed = wire::parse(bytes, bytes.len());
    assert_eq!(parsed.fault, None, "{bytes:02x?}");
    assert!(parsed.fragment == Fragment::Whole && !parsed.snapped && parsed.is_ip());
    parsed
}

/// Parses a frame and sees that every length and checksum is right, by the bytes alone.
fn check(bytes: &[u8]) -> Parsed {
    let parsed = parsed(bytes);
    let (l3, l4) = (usize::from(parsed.l3_offset), usize::from(parsed.l4_offset));
    assert_eq!(l3 + parsed.l3_len as usize, bytes.len(), "no padding");
    let segment = &bytes[l4..];
    let addresses = match parsed.family {
        Family::V4 => {
            assert_eq!(checksum::ones_complement(&bytes[l3..l4]), 0xffff);
            &bytes[l3 + 12..l3 + 20]
        }
        _ => &bytes[l3 + 8..l3 + 40],
    };
    let len = (segment.len() as u16).to_be_bytes();
    let pseudo = match parsed.protocol {
        1 => Vec::new(),
        protocol => [addresses, &[0, protocol], &len].concat(),
    };
    let sum = checksum::combine(
        checksum::ones_complement(&pseudo),
        checksum::ones_complement(segment),
    );
    assert_eq!(sum, 0xffff, "{bytes:02x?}");
    if parsed.protocol == 17 {
        assert_eq!(segment[4..6], len);
        assert_ne!(segment[6..8], [0, 0]);
    }
    parsed
}

fn any_choice<T: Copy + PartialOrd>(random: &mut Random, a: T, b: T) -> Choice<T> {
    let (first, last) = if a <= b { (a, b) } else { (b, a) };
    match random.below(4) {
        0 => Choice::Fixed(a),
        1 => Choice::Range(first, last),
        2 => Choice::List([a, b, a].into()),
        _ => Choice::Random,
    }
}

fn any_recipe(random: &mut Random) -> Recipe {
    let mut wide = || u128::from(random.next()) << 64 | u128::from(random.next());
    let (a, b) = (wide(), wide());
    let mac = |value: u128| value as u64 & ((1 << 48) - 1);
    let vlan = |value: u128| (value % 4095) as u16;
    let sizes = [
        Sizes::Fixed(104 + random.below(1400) as u16),
        Sizes::Range(104, 104 + random.below(9_000) as u16),
        Sizes::Weighted(vec![(104, 3), (9_018, 1), (517, 2)]),
    ];
    Recipe {
        sizes: sizes[random.below(3) as usize].clone(),
        protocol: [
            Protocol::Udp,
            Protocol::Tcp { flags: a as u8 },
            Protocol::IcmpEcho,
        ][random.below(3) as usize],
        ipv6: Share::new([0.0, 0.5, 1.0][random.below(3) as usize]).unwrap(),
        src_v4: any_choice(random, a as u32, b as u32),
        dst_v4: any_choice(random, b as u32, a as u32),
        src_v6: any_choice(random, a, b),
        dst_v6: any_choice(random, b, a),
        src_port: any_choice(random, a as u16, b as u16),
        dst_port: any_choice(random, b as u16, a as u16),
        src_mac: any_choice(random, mac(a), mac(b)),
        dst_mac: any_choice(random, mac(b), mac(a)),
        vlan: (0..random.below(3))
            .map(|_| any_choice(random, vlan(a), vlan(b)))
            .collect(),
        flows: [
            Flows::Endless,
            Flows::Fixed(10),
            Flows::Renewed {
                count: 3,
                per_second: 1_000,
            },
        ][random.below(3) as usize],
        hit: Share::new([0.0, 0.3, 1.0][random.below(3) as usize]).unwrap(),
        samples_v4: [1, 2, 3].into(),
        samples_v6: [1, 2, 3].into(),
        seed: random.next(),
        stamp: match random.below(3) {
            0 => None,
            1 => Some(Stamp {
                first_stream: 7,
                cover: Cover::Network,
            }),
            _ => Some(Stamp {
                first_stream: 65_530,
                cover: Cover::Link,
            }),
        },
    }
}

#[test]
fn any_recipe_makes_valid_frames() {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let seed = since.as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Random::new(seed, 0);
    for _ in 0..400 {
        let recipe = any_recipe(&mut random);
        for (sequence, bytes) in frames_of(&recipe, 1, 2, 60).iter().enumerate() {
            let parsed = check(bytes);
            assert_eq!(usize::from(parsed.vlan_tags), recipe.vlan.len());
            let expected = recipe
                .stamp
                .map(|stamp| (stamp.first_stream + 1, sequence as u64));
            let signature = Signature::of(bytes);
            let told = signature.map(|signature| (signature.stream, signature.sequence));
            assert_eq!(told, expected, "{recipe:?}\n{bytes:02x?}");
        }
    }
}

fn signed() -> Recipe {
    Recipe {
        stamp: Some(Stamp::default()),
        ..Recipe::default()
    }
}

/// The smallest sizes that documents name, and the sentence for one byte less.
#[test]
fn smallest_sizes_are_as_stated() {
    let cases = [
        (Protocol::Udp, 64, 84),
        (Protocol::IcmpEcho, 64, 84),
        (Protocol::Tcp { flags: 2 }, 76, 96),
    ];
    for (protocol, v4, v6) in cases {
        for (ipv6, smallest) in [(Share::NONE, v4), (Share::ALL, v6)] {
            for tags in [0, 1, 2] {
                let vlan = vec![Choice::Fixed(5); tags];
                let mut recipe = Recipe {
                    protocol,
                    ipv6,
                    vlan,
                    ..signed()
                };
                let smallest = smallest + 4 * tags;
                assert_eq!(recipe.smallest_bytes(), smallest);
                recipe.sizes = Sizes::Fixed(smallest as u16);
                let frames = frames_of(&recipe, 0, 1, 5);
                assert!(frames.iter().all(|bytes| bytes.len() + 4 == smallest));
                assert!(frames.iter().all(|bytes| Signature::of(bytes).is_some()));
                recipe.sizes = Sizes::Fixed(smallest as u16 - 1);
                let error = recipe.validate().unwrap_err().to_string();
                let wanted = if smallest == 64 {
                    "64 to 9216"
                } else {
                    "give at least"
                };
                assert!(error.contains(wanted), "{error}");
            }
        }
    }
}

#[test]
fn workers_have_streams_and_flows_of_their_own() {
    let recipe = Recipe {
        flows: Flows::Fixed(10),
        ..signed()
    };
    let mut flows = HashSet::new();
    for worker in 0..3 {
        for (sequence, bytes) in frames_of(&recipe, worker, 3, 400).iter().enumerate() {
            let signature = Signature::of(bytes).unwrap();
            assert_eq!(usize::from(signature.stream), worker);
            assert_eq!(signature.sequence, sequence as u64);
            flows.insert(check(bytes).flow_key().unwrap());
        }
    }
    assert_eq!(flows.len(), 10);
    let refused =
        |recipe: &Recipe, worker, of| Source::new(recipe, worker, of).err().unwrap().to_string();
    assert!(refused(&recipe, 0, 11).contains("more than the 10"));
    assert!(refused(&recipe, 2, 2).contains("number 2"));
    let stamp = Some(Stamp {
        first_stream: 65_534,
        cover: Cover::Network,
    });
    let last = Recipe { stamp, ..signed() };
    assert!(refused(&last, 0, 3).contains("more than the 2"));
}

#[test]
fn fields_take_their_values() {
    let mut recipe = Recipe::default();
    for (key, value) in [
        ("src", "10.1.0.0/16"),
        ("dst", "192.0.2.7"),
        ("sport", "1000-1003"),
        ("dport", "53"),
        ("smac", "02:00:00:00:00:01-02:00:00:00:00:04"),
        ("dmac", "random"),
        ("vlan", "100-102.7"),
        ("flags", "SA"),
        ("size", "78:1+200:3"),
    ] {
        recipe.set(key, value).unwrap();
    }
    let frames = frames_of(&recipe, 0, 1, 4_000);
    let column = |value: &dyn Fn(&Parsed, &[u8]) -> u64| -> HashMap<u64, usize> {
        let mut counts = HashMap::new();
        for bytes in &frames {
            *counts.entry(value(&check(bytes), bytes)).or_default() += 1;
        }
        counts
    };
    let src = column(&|parsed, _| parsed.src as u64);
    assert!(src.keys().all(|src| src >> 16 == 0x0a01) && src.len() > 3_700);
    assert_eq!(
        column(&|parsed, _| parsed.dst as u64),
        [(0xc000_0207, 4_000)].into()
    );
    let sport = column(&|parsed, _| parsed.src_port.into());
    assert!(
        (1000..=1003).all(|port| sport[&port].abs_diff(1_000) < 200),
        "{sport:?}"
    );
    assert_eq!(
        column(&|parsed, _| parsed.dst_port.into()),
        [(53, 4_000)].into()
    );
    assert_eq!(
        column(&|parsed, _| parsed.tcp_flags.into()),
        [(0x12, 4_000)].into()
    );
    let smac = column(&|_, bytes| bytes[11].into());
    assert!(
        (1..=4).all(|last| smac[&last].abs_diff(1_000) < 200),
        "{smac:?}"
    );
    assert!(
        column(&|_, bytes| bytes[5].into()).len() > 250,
        "random MACs"
    );
    assert_eq!(
        column(&|_, bytes| (bytes[0] & 3).into()),
        [(2, 4_000)].into()
    );
    let vlan = column(&|parsed, _| parsed.vlan_tci.into());
    assert!(
        (100..=102).all(|id| vlan[&id].abs_diff(1_333) < 200),
        "{vlan:?}"
    );
    assert_eq!(column(&|_, bytes| bytes[19].into()), [(7, 4_000)].into());
    let sizes = column(&|_, bytes| bytes.len() as u64);
    assert!(
        sizes[&74].abs_diff(1_000) < 200 && sizes[&196].abs_diff(3_000) < 200,
        "{sizes:?}"
    );
}

#[test]
fn hits_have_their_share_beside_fixed_fields() {
    let recipe = Recipe {
        src_v4: Choice::Fixed(9),
        dst_v4: Choice::Range(10, 12),
        hit: Share::new(0.3).unwrap(),
        samples_v4: [100, 101].into(),
        ..signed()
    };
    let mut sides = [0; 4];
    for bytes in frames_of(&recipe, 0, 1, 9_000) {
        let parsed = check(&bytes);
        let (src, dst) = (parsed.src >= 100, parsed.dst >= 100);
        assert!(src || parsed.src == 9);
        assert!(dst || (10..=12).contains(&parsed.dst));
        sides[usize::from(src) + 2 * usize::from(dst)] += 1;
    }
    assert!(
        sides[1..]
            .iter()
            .all(|count: &usize| count.abs_diff(900) < 200),
        "{sides:?}"
    );
}

/// Ten flows at a time, a thousand new ones a second: after each millisecond one is another.
#[test]
fn flows_are_renewed_as_time_passes() {
    let recipe = Recipe {
        flows: Flows::Renewed {
            count: 20,
            per_second: 2_000,
        },
        ..Recipe::default()
    };
    let sources = Sources::new(&recipe).unwrap();
    let (mut pool, mut burst) = (pool(256, 1_920), Burst::new());
    let mut ever = HashSet::new();
    for worker in 0..2 {
        let mut source = sources.source(worker, 2, false).unwrap();
        for milli in 0..50 {
            let now = Nanos(7_000_000_000 + milli * 1_000_000);
            let mut flows = HashSet::new();
            for turn in 0..4 {
                source.fill(&mut pool, &mut burst, 128, now);
                // Draws are made up to 128 ahead.
                for frame in burst.frames().iter().filter(|_| turn > 0) {
                    flows.insert(parsed(frame.bytes()).flow_key().unwrap());
                }
                pool.free_burst(&mut burst);
            }
            assert_eq!(flows.len(), 10, "worker {worker} at {milli} ms");
            ever.extend(flows);
        }
    }
    assert_eq!(ever.len(), 2 * (10 + 49));
}

#[test]
fn frames_too_long_for_a_chunk_have_no_number() {
    let recipe = Recipe {
        sizes: Sizes::Range(1_700, 1_900),
        ..signed()
    };
    let mut source = Source::new(&recipe, 0, 1).unwrap();
    let (mut pool, mut burst) = (pool(64, 1_920), Burst::new());
    let made = source.fill(&mut pool, &mut burst, 60, Nanos(5));
    assert_eq!((made, source.made()), (burst.len(), burst.len() as u64));
    let (left_out, room) = source.left_out();
    assert_eq!(left_out + made as u64, 60);
    assert!(left_out > 0 && room == 1_792);
    for (sequence, frame) in burst.frames().iter().enumerate() {
        let signature = Signature::of(frame.bytes()).unwrap();
        assert_eq!(
            (signature.sequence, signature.sent),
            (sequence as u64, Nanos(5))
        );
    }
    pool.free_burst(&mut burst);
    assert_eq!(pool.free_count(), pool.total());
}
