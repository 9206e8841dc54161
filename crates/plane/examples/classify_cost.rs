//! What a bridge's decision on a frame costs, in L1: `cargo run --release -p linerate-plane
//! --example classify_cost`. One kind of frame a line; bursts of 64, one set of 1,000 addresses.
//!
//! With an argument that kind alone is run, 100,000 frames once: for counting instructions.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use frame::{Burst, FramePool, PoolRequest, PortId, Region};
use plane::{Action, Bridge, HitAddresses, Policy, Ruleset, SetRule, Sides, Verdicts};
use table::{CompiledLists, Entries};
use wire::emit::{Ipv4, Network, Recipe, Tcp, Transport};

const BURST: usize = 64;
const ROUNDS: usize = 41;
const BURSTS: usize = 1563;
const ETHERNET_BYTES: usize = 14;

fn frame(number: u32, transport: Transport<'_>, payload: &[u8]) -> Vec<u8> {
    let ip = Ipv4 {
        src: 0x2D53_0000 + number,
        dst: 0x2D54_0000 + number,
        ..Ipv4::default()
    };
    let recipe = Recipe {
        network: Network::Ipv4(ip, transport),
        payload,
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

fn udp(number: u32) -> Vec<u8> {
    let transport = Transport::Udp {
        src_port: 1000,
        dst_port: 53,
    };
    frame(number, transport, b"")
}

fn tcp(number: u32) -> Vec<u8> {
    let tcp = Tcp {
        src_port: 1000,
        dst_port: 443,
        ..Tcp::default()
    };
    frame(number, Transport::Tcp(tcp), b"")
}

fn ipip(number: u32) -> Vec<u8> {
    let inner = udp(number + 7);
    frame(number, Transport::Raw(4), &inner[ETHERNET_BYTES..42])
}

fn vxlan(number: u32) -> Vec<u8> {
    let transport = Transport::Udp {
        src_port: 50_000,
        dst_port: 4789,
    };
    let inner = udp(number + 7);
    let header = [0x08, 0, 0, 0, 0, 0, 42, 0];
    frame(number, transport, &[&header, &inner[..42]].concat())
}

/// A kind of frame, made of its number.
type Kind = (&'static str, fn(u32) -> Vec<u8>);

const KINDS: [Kind; 4] = [("udp", udp), ("tcp", tcp), ("ipip", ipip), ("vxlan", vxlan)];

fn filled(pool: &mut FramePool, make: fn(u32) -> Vec<u8>) -> Burst {
    let mut burst = Burst::new();
    for number in 0..BURST as u32 {
        let mut frame = pool.alloc().expect("a free frame");
        frame.copy_from(&make(number)).expect("a short frame");
        assert!(burst.push(frame).is_ok());
    }
    burst
}

fn ruleset() -> Ruleset {
    let mut entries = Entries::default();
    entries.v4.addresses = (0..1000).map(|number| 0x0100_0000 + number * 77).collect();
    let lists = CompiledLists::compile(&[&entries]).expect("one list");
    let rule = SetRule::new("set", Action::Block, Sides::BOTH);
    let policy = Policy::new(vec![rule]).expect("one rule");
    Ruleset::new(Arc::new(lists), Arc::new(policy)).expect("a list a rule")
}

fn main() {
    let request = PoolRequest {
        frames: (BURST * KINDS.len()) as u32,
        stride_bytes: 576,
        headroom_bytes: 64,
        node: None,
    };
    let mut pool = Region::with_pools(&[request]).expect("memory").1.remove(0);
    let ports = [PortId(0), PortId(1)];
    let mut bridge = Bridge::new(ports, Box::new(HitAddresses::new([1, 2])));
    let (ruleset, mut verdicts) = (ruleset(), Verdicts::new());
    let mut run = |burst: &Burst| {
        let begun = Instant::now();
        for _ in 0..BURSTS {
            bridge.decide(black_box(burst), ports[0], &ruleset, &mut verdicts);
            black_box(verdicts.as_slice());
        }
        begun.elapsed().as_nanos() as f64 / (BURSTS * BURST) as f64
    };
    let only = std::env::args().nth(1);
    let bursts = KINDS.map(|(name, make)| (name, filled(&mut pool, make)));
    if let Some((name, burst)) = bursts
        .iter()
        .find(|(name, _)| Some(*name) == only.as_deref())
    {
        println!("{name}: {:.1} ns a frame", run(burst));
    } else {
        let mut times = KINDS.map(|_| Vec::new());
        for _ in 0..ROUNDS {
            for ((_, burst), times) in bursts.iter().zip(&mut times) {
                times.push(run(burst));
            }
        }
        for ((name, _), times) in bursts.iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            println!("{name}: {:.1} ns a frame", times[ROUNDS / 2]);
        }
    }
    for (_, mut burst) in bursts {
        pool.free_burst(&mut burst);
    }
}
