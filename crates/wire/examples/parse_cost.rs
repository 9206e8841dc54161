//! What parsing and hashing cost, in ns a frame, over bursts of 64 frames that stay in L1.
//!
//! `cargo run --release -p linerate-wire --example parse_cost`. Kinds are interleaved round by
//! round and the fastest round of each counts, so that a machine whose speed drifts compares them
//! fairly. The last lines hold other kinds against the first: ratios travel, nanoseconds do not.

use std::hint::black_box;
use std::time::Instant;

use wire::emit::{Extension, Framing, Icmp, Ipv4, Ipv6, Network, Recipe, Tag, Tcp, Transport};
use wire::toeplitz::{Key, Toeplitz};
use wire::{FlowKey, Parsed, parse, parse_into};

const BURST: usize = 64;
const ROUNDS: usize = 300;
const BURSTS_A_ROUND: usize = 200;

type Kind = (&'static str, Vec<Vec<u8>>);

/// A burst of frames that differ in their addresses, 60 bytes at least.
fn burst(recipe: impl Fn(u32) -> Vec<u8>) -> Vec<Vec<u8>> {
    (0..BURST as u32)
        .map(|index| recipe(index.wrapping_mul(0x9E37_79B9)))
        .collect()
}

fn emitted(recipe: &Recipe<'_>) -> Vec<u8> {
    let mut frame = vec![0; recipe.frame_len()];
    let len = recipe.emit(&mut frame).expect("a sound recipe");
    frame.truncate(len);
    frame
}

fn plain(network: Network<'_>) -> Recipe<'_> {
    Recipe {
        network,
        len_min: 60,
        ..Recipe::default()
    }
}

/// A frame of UDP made a fragment by its flags and offset.
fn fragment(salt: u32, word: u16) -> Vec<u8> {
    let mut frame = emitted(&plain(v4(salt, udp(salt))));
    frame[20..22].copy_from_slice(&word.to_be_bytes());
    frame
}

fn v4(salt: u32, transport: Transport<'_>) -> Network<'_> {
    Network::Ipv4(
        Ipv4 {
            src: salt,
            dst: !salt,
            ..Ipv4::default()
        },
        transport,
    )
}

fn v6<'a>(salt: u32, extensions: &'a [Extension<'a>]) -> Network<'a> {
    let (src, dst) = (u128::from(salt) << 64 | 1, u128::from(salt) << 90 | 2);
    Network::Ipv6(
        Ipv6 {
            src,
            dst,
            extensions,
            ..Ipv6::default()
        },
        udp(salt),
    )
}

fn udp(salt: u32) -> Transport<'static> {
    Transport::Udp {
        src_port: salt as u16,
        dst_port: 53,
    }
}

fn tcp(salt: u32) -> Transport<'static> {
    Transport::Tcp(Tcp {
        src_port: salt as u16,
        dst_port: 443,
        ..Tcp::default()
    })
}

fn kinds() -> Vec<Kind> {
    let tags = [Tag::service(5), Tag::vlan(7)];
    let options = [Extension::Generic {
        protocol: 60,
        body: &[1, 4, 0, 0, 0, 0],
    }; 8];
    let snap = Framing::Snap {
        oui: [0; 3],
        tags: &[],
    };
    let icmp = Transport::Icmp(Icmp::default());
    vec![
        (
            "IPv4 UDP",
            burst(|salt| emitted(&plain(v4(salt, udp(salt))))),
        ),
        (
            "IPv4 TCP",
            burst(|salt| emitted(&plain(v4(salt, tcp(salt))))),
        ),
        (
            "IPv4 UDP or TCP at random",
            burst(|salt| {
                let transport = if salt >> 13 & 1 == 0 {
                    udp(salt)
                } else {
                    tcp(salt)
                };
                emitted(&plain(v4(salt, transport)))
            }),
        ),
        ("IPv6 UDP", burst(|salt| emitted(&plain(v6(salt, &[]))))),
        ("IPv4 first fragment", burst(|salt| fragment(salt, 0x2000))),
        ("IPv4 later fragment", burst(|salt| fragment(salt, 0x2003))),
        ("IPv4 ICMP", burst(|salt| emitted(&plain(v4(salt, icmp))))),
        (
            "one tag, IPv4 UDP",
            burst(|salt| {
                emitted(&Recipe {
                    tags: &tags[1..],
                    ..plain(v4(salt, udp(salt)))
                })
            }),
        ),
        (
            "two tags, IPv4 UDP",
            burst(|salt| {
                emitted(&Recipe {
                    tags: &tags,
                    ..plain(v4(salt, udp(salt)))
                })
            }),
        ),
        (
            "SNAP, IPv4 UDP",
            burst(|salt| {
                emitted(&Recipe {
                    framing: snap,
                    ..plain(v4(salt, udp(salt)))
                })
            }),
        ),
        (
            "IPv6, 8 extension headers",
            burst(|salt| emitted(&plain(v6(salt, &options)))),
        ),
        ("no IP", burst(|_| emitted(&plain(Network::Other(0x88B5))))),
    ]
}

/// Nanoseconds an item of `work`, which does `items` of them.
fn timed(items: usize, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..BURSTS_A_ROUND {
        work();
    }
    start.elapsed().as_nanos() as f64 / (BURSTS_A_ROUND * items) as f64
}

fn parse_burst(frames: &[Vec<u8>]) {
    for frame in frames {
        let frame = black_box(frame.as_slice());
        let parsed = parse(frame, frame.len());
        // What a classifier takes: everything else may stay in registers or go unread.
        black_box((parsed.src, parsed.dst, parsed.fault, parsed.readable));
    }
}

/// Parses a whole burst first, as a classifier of several passes does.
fn parse_burst_to_memory(frames: &[Vec<u8>], found: &mut [Parsed; BURST]) {
    for (frame, found) in frames.iter().zip(found.iter_mut()) {
        let frame = black_box(frame.as_slice());
        parse_into(frame, frame.len(), found);
    }
    black_box(found);
}

fn hash_burst(toeplitz: &Toeplitz, keys: &[FlowKey]) {
    for key in keys {
        black_box(toeplitz.hash(black_box(key)));
    }
}

fn keys(frames: &[Vec<u8>]) -> Vec<FlowKey> {
    frames
        .iter()
        .filter_map(|frame| parse(frame, frame.len()).flow_key())
        .collect()
}

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("this is a debug build: its figures mean nothing");
    }
    let kinds = kinds();
    let (symmetric, other) = (
        Toeplitz::new(&Key::SYMMETRIC),
        Toeplitz::new(&Key::MICROSOFT),
    );
    let (keys_v4, keys_v6) = (keys(&kinds[0].1), keys(&kinds[3].1));
    let mut work: Vec<(String, Box<dyn FnMut()>)> = Vec::new();
    for (name, frames) in kinds {
        if ["IPv4 UDP", "IPv6 UDP"].contains(&name) {
            let frames = frames.clone();
            let name = format!("{name}, all of Parsed stored");
            let mut found = [Parsed::default(); BURST];
            work.push((
                name,
                Box::new(move || parse_burst_to_memory(&frames, &mut found)),
            ));
        }
        work.push((name.to_string(), Box::new(move || parse_burst(&frames))));
    }
    for (name, toeplitz, keys) in [
        (
            "hash, symmetric key, IPv4",
            symmetric.clone(),
            keys_v4.clone(),
        ),
        ("hash, symmetric key, IPv6", symmetric, keys_v6.clone()),
        ("hash, other key, IPv4", other.clone(), keys_v4),
        ("hash, other key, IPv6", other, keys_v6),
    ] {
        work.push((
            name.to_string(),
            Box::new(move || hash_burst(&toeplitz, &keys)),
        ));
    }
    let mut fastest = vec![f64::INFINITY; work.len()];
    for _ in 0..ROUNDS {
        for (best, (_, work)) in fastest.iter_mut().zip(&mut work) {
            *best = best.min(timed(BURST, work));
        }
    }
    for ((name, _), ns) in work.iter().zip(&fastest) {
        println!("{name:36} {ns:6.2} ns  x{:.2}", ns / fastest[0]);
    }
}
