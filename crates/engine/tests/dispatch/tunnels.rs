//! Flows inside one tunnel beside flows without: they spread over workers by what is inside, none
//! is reordered, and nothing goes uncounted.

use engine::{DispatchKind, DispatchPolicy, RunReport};
use wire::emit::{Ipv4, Network, Recipe, Transport};
use wire::{HashHeader, protocol};

use crate::Shape;
use crate::flows::{LEN, packet, plain};

const FRAMES: u64 = 100_000;
const VXLAN_PORT: u16 = 4789;

/// The two ends that all tunnels are between.
fn outside(transport: Transport<'_>, payload: &[u8]) -> [u8; LEN] {
    let ip = Ipv4 {
        src: 0x2D53_0201,
        dst: 0x2D53_0202,
        ..Ipv4::default()
    };
    let recipe = Recipe {
        network: Network::Ipv4(ip, transport),
        payload,
        ..Recipe::default()
    };
    let mut bytes = [0; LEN];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// The frame of a flow as what a tunnel carries.
fn inside(flow: u32) -> Vec<u8> {
    let recipe = packet(flow);
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// IPIP, GRE and VXLAN, each one flow to who looks at the outer header alone.
fn tunnelled(flow: u32) -> [u8; LEN] {
    const ETHERNET_BYTES: usize = 14;
    let inner = inside(flow);
    let ip = &inner[ETHERNET_BYTES..];
    match flow % 3 {
        0 => outside(Transport::Raw(protocol::IPV4), ip),
        1 => outside(
            Transport::Raw(protocol::GRE),
            &[&[0, 0, 0x08, 0x00], ip].concat(),
        ),
        _ => {
            let udp = Transport::Udp {
                src_port: 50_000,
                dst_port: VXLAN_PORT,
            };
            let header = [0x08, 0, 0, 0, 0, 0, 42, 0];
            outside(udp, &[&header, &inner[..]].concat())
        }
    }
}

fn mixed(flow: u32) -> [u8; LEN] {
    match flow % 2 {
        0 => plain(flow),
        _ => tunnelled(flow / 2),
    }
}

/// Frames that each worker decided on.
fn handled(report: &RunReport) -> Vec<u64> {
    let rows = report.dispatch.rows.iter();
    let deciding = rows.filter(|row| row.kind == DispatchKind::Decide && row.port.0 == 0);
    deciding.map(|row| row.counts.handled).collect()
}

#[test]
fn flows_with_and_without_tunnels_keep_their_order() {
    for policy in [DispatchPolicy::Hybrid, DispatchPolicy::Deferred] {
        for lossless in [true, false] {
            for hash in [None, Some(HashHeader::Outer), Some(HashHeader::Inner)] {
                let shape = Shape {
                    lossless,
                    make: mixed,
                    hash,
                    ..Shape::new(2, policy)
                };
                let report = shape.run(FRAMES);
                if lossless {
                    assert_eq!(report.accounting.tx, report.accounting.rx, "{shape:?}");
                }
            }
        }
    }
}

#[test]
fn one_tunnel_spreads_by_what_is_inside() {
    let shares = |hash| {
        let shape = Shape {
            make: tunnelled,
            hash,
            ..Shape::new(2, DispatchPolicy::Deferred)
        };
        let report = shape.run(FRAMES);
        let handled = handled(&report);
        assert_eq!(handled.iter().sum::<u64>(), report.accounting.rx);
        handled
    };
    // Addresses alone are the same: IPIP and GRE have no ports, so both are one worker's.
    let outer = shares(Some(HashHeader::Outer));
    let most = outer.iter().max().expect("two workers");
    assert!(*most >= FRAMES * 6 / 10, "{outer:?}");
    for hash in [None, Some(HashHeader::Inner)] {
        let inner = shares(hash);
        let least = inner.iter().min().expect("two workers");
        assert!(*least >= FRAMES * 4 / 10, "{inner:?}");
    }
}

/// Frames are placed by the flows that a bridge remembers: else the worker that decides
/// has no shard for them, and they are dropped.
#[test]
fn flows_inside_tunnels_meet_their_worker() {
    for hash in [None, Some(HashHeader::Inner)] {
        let shape = Shape {
            make: mixed,
            stateful: true,
            hash,
            ..Shape::new(2, DispatchPolicy::Hybrid)
        };
        let report = shape.run(FRAMES);
        assert_eq!(report.accounting.tx, report.accounting.rx, "{shape:?}");
    }
}
