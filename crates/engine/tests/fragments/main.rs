//! Fragments before a judge: the kernel's own reassembly, on the other side of a tap in a network
//! namespace that ends with the test.
//!
//! Packets of up to `LINERATE_FRAGMENT_PIECES` fragments, 8 without it, in every order: 6 are a
//! fiftieth of that. It needs root, `ip`, `unshare` and `/dev/net/tun`; elsewhere it says why it is
//! skipped.

mod host;

use frame::{Burst, FramePool, Nanos, PoolRequest, PortId, Region};
use plane::{
    Bridge, DropReason, Fragments, HitAddresses, Policy, Ports, Reassembled, Reassembler, Ruleset,
    Stateful, StatefulConfig, Timeouts, Verdict, Verdicts,
};
use table::CompiledLists;
use table::flows::WhenFull;
use table::fragments::FragmentLimits;
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Transport};

use host::{HOST_V4, HOST_V6, Host, PORT};

const FROM: PortId = PortId(0);
/// Bytes of a packet in each fragment.
const DATA: usize = 24;
/// Packets that are sent before the host is asked what came: its sockets have room for more.
const TOGETHER: usize = 16;

/// A packet of UDP that begins with its number: its fragments have so many bytes, the last less.
fn packet(six: bool, number: u32, pieces: usize) -> Vec<u8> {
    let udp = Transport::Udp {
        src_port: 4000,
        dst_port: PORT,
    };
    let v4 = Ipv4 {
        src: 0x2D53_0209,
        dst: HOST_V4.into(),
        ttl: 64,
        ..Ipv4::default()
    };
    let v6 = Ipv6 {
        src: u128::from(HOST_V6) + 8,
        dst: HOST_V6.into(),
        hop_limit: 64,
        ..Ipv6::default()
    };
    let network = if six {
        Network::Ipv6(v6, udp)
    } else {
        Network::Ipv4(v4, udp)
    };
    let recipe = Recipe {
        dst_mac: wire::MacAddress(host::MAC),
        network,
        payload: &payload(number, pieces),
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

fn payload(number: u32, pieces: usize) -> Vec<u8> {
    let rest = (4..DATA * pieces - 8 - 5).map(|at| (at as u32 * 7 + number) as u8);
    number.to_be_bytes().into_iter().chain(rest).collect()
}

fn part(packet: &[u8], range: std::ops::Range<usize>, identification: u32) -> Vec<u8> {
    let parsed = wire::parse(packet, packet.len());
    let mut out = vec![0; packet.len() + 8];
    let len = wire::emit::fragment((packet, &parsed), range, identification, &mut out);
    out.truncate(len.expect("a sound packet"));
    out
}

fn cut(packet: &[u8], identification: u32) -> Vec<Vec<u8>> {
    let parsed = wire::parse(packet, packet.len());
    let len = packet.len() - usize::from(parsed.l4_offset);
    let ends = (0..len)
        .step_by(DATA)
        .map(|start| (start, (start + DATA).min(len)));
    ends.map(|(start, end)| part(packet, start..end, identification))
        .collect()
}

/// Calls with every order of the first `count` numbers.
fn each_order(order: &mut Vec<usize>, at: usize, each: &mut impl FnMut(&[usize])) {
    if at == order.len() {
        return each(order);
    }
    for other in at..order.len() {
        order.swap(at, other);
        each_order(order, at + 1, each);
        order.swap(at, other);
    }
}

/// A bridge that remembers flows, and what puts packets together.
struct Ours {
    bridge: Bridge,
    ruleset: Ruleset,
    reassembler: Reassembler,
    pool: FramePool,
    now: Nanos,
}

impl Ours {
    fn new() -> Self {
        let config = StatefulConfig {
            allow_new: Ports::ALL,
            flows: 4096,
            full: WhenFull::Evict,
            answers_from_any: false,
            timeouts: Timeouts::default(),
            log: None,
        };
        let stateful = Stateful::new(config).expect("some megabytes");
        let limits = FragmentLimits {
            held: 2048,
            source_part: 1,
            ..FragmentLimits::default()
        };
        let bridge = Bridge::new([FROM, PortId(1)], Box::new(HitAddresses::new([1, 2])))
            .with_stateful(Some(Box::new(stateful)))
            .with_fragments(Some(Box::new(Fragments::new(limits))));
        let request = PoolRequest {
            frames: 8192,
            stride_bytes: 1024,
            headroom_bytes: 64,
            node: None,
        };
        let lists = CompiledLists::compile(&[]).expect("no lists");
        let policy = Policy::new(Vec::new()).expect("no rules");
        Self {
            bridge,
            ruleset: Ruleset::new(lists.into(), policy.into()).expect("none of both"),
            reassembler: Reassembler::new(limits),
            pool: Region::with_pools(&[request]).expect("memory").1.remove(0),
            now: Nanos(1),
        }
    }

    /// What leaves the bridge of fragments that come in bursts of some.
    fn bridged(&mut self, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut left = Vec::new();
        for some in frames.chunks(5) {
            let (mut burst, mut verdicts) = (Burst::new(), Verdicts::new());
            for bytes in some {
                let mut frame = self.pool.alloc().expect("a free frame");
                frame.copy_from(bytes).expect("a short frame");
                assert!(burst.push(frame).is_ok());
            }
            self.now = self.now.after(1000);
            self.bridge.set_now(self.now);
            self.bridge
                .decide(&burst, FROM, &self.ruleset, &mut verdicts);
            let fragments = self.bridge.fragments().expect("given");
            fragments.settle(&mut burst, &verdicts);
            while let Some(one) = fragments.next_released() {
                if matches!(one.verdict, Verdict::Forward(_)) {
                    left.push(one.frame.bytes().to_vec());
                }
                self.pool.free(one.frame);
            }
            while let Some(one) = fragments.next_lost() {
                self.pool.free(one.frame);
            }
        }
        left
    }

    /// The datagrams, header and payload, that these fragments make, and why others were lost.
    fn together(&mut self, frames: &[Vec<u8>]) -> (Vec<Vec<u8>>, Vec<DropReason>) {
        let (mut made, mut lost) = (Vec::new(), Vec::new());
        for bytes in frames {
            let mut frame = self.pool.alloc().expect("a free frame");
            frame.copy_from(bytes).expect("a short frame");
            match self.reassembler.accept(frame, &mut self.pool) {
                Reassembled::Held => {}
                Reassembled::Untouched(_) => panic!("all are fragments"),
                Reassembled::Packet(frame) => {
                    let parsed = wire::parse(frame.bytes(), frame.len());
                    made.push(frame.bytes()[usize::from(parsed.l4_offset)..].to_vec());
                    self.pool.free(frame);
                }
                Reassembled::Lost(frame, reason) => {
                    lost.push(reason);
                    self.pool.free(frame);
                }
            }
            while let Some((frame, reason)) = self.reassembler.next_lost() {
                lost.push(reason);
                self.pool.free(frame);
            }
        }
        (made, lost)
    }
}

/// What is to be delivered of frames that are sent.
#[derive(Default)]
struct Chunk {
    packets: Vec<(bool, u32, Vec<usize>)>,
}

impl Chunk {
    /// Sends all through the bridge and asks the host; those that did not come are sent once more
    /// under other names, since a busy host may drop what it is sent.
    fn deliver(&mut self, ours: &mut Ours, host: &mut Host, names: &mut u32) {
        for round in 0..5 {
            let mut wanted = Vec::new();
            for (six, number, order) in &self.packets {
                *names += 1;
                let whole = packet(*six, *number, order.len());
                let pieces = cut(&whole, *names);
                let came: Vec<_> = order.iter().map(|&at| pieces[at].clone()).collect();
                let left = ours.bridged(&came);
                assert_eq!(left, came, "{order:?} leave as they came");
                let payload = payload(*number, order.len());
                let (made, lost) = ours.together(&came);
                let datagrams = [datagram_of(&whole).to_vec()];
                assert_eq!((&made[..], &lost[..]), (&datagrams[..], &[][..]));
                host.send(&mut ours.pool, &left);
                wanted.push(payload);
            }
            let came = host.received(&wanted);
            let mut came = came.iter();
            self.packets.retain(|_| came.next() == Some(&false));
            if self.packets.is_empty() {
                return;
            }
            println!("round {round}: {} packets did not come", self.packets.len());
        }
        panic!("the kernel does not deliver {:?}", self.packets);
    }
}

#[test]
fn all_orders_are_what_the_kernel_makes_of_them() {
    let Some(mut host) = Host::new() else { return };
    let most = std::env::var("LINERATE_FRAGMENT_PIECES").ok();
    let most: usize = most.and_then(|most| most.parse().ok()).unwrap_or(8);
    let mut ours = Ours::new();
    let (mut number, mut names) = (0, 0);
    for six in [false, true] {
        for pieces in 2..=most {
            let mut chunk = Chunk::default();
            each_order(&mut (0..pieces).collect(), 0, &mut |order| {
                number += 1;
                chunk.packets.push((six, number, order.to_vec()));
                if chunk.packets.len() == TOGETHER {
                    chunk.deliver(&mut ours, &mut host, &mut names);
                }
            });
            chunk.deliver(&mut ours, &mut host, &mut names);
        }
    }
    println!("{number} packets of up to {most} fragments");
    assert_eq!(ours.bridge.held() + ours.reassembler.held(), 0);
}

/// A good packet and one more fragment: where we make a packet, the kernel makes the same. It makes
/// one more often: it takes what lies within bytes that it has for a repetition.
#[test]
fn hostile_fragments_make_nothing_that_the_kernel_does_not() {
    let Some(mut host) = Host::new() else { return };
    let mut ours = Ours::new();
    let mut state = 0x5EED_u64;
    println!("seed {state}");
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % limit
    };
    let (mut both, mut neither, mut kernel_alone) = (0, 0, 0);
    for case in 0..400_u32 {
        let six = case % 2 == 1;
        let (pieces, number) = (2 + below(4), 1_000_000 + case);
        let whole = packet(six, number, pieces);
        let identification = 60_000 + case;
        let mut frames = cut(&whole, identification);
        let start = 8 * below(3 * pieces - 1);
        // A longer or a shorter packet has another end.
        let other = packet(
            six,
            number,
            pieces + below(3) - 1 + usize::from(pieces == 2),
        );
        let len = other.len() - if six { 54 } else { 34 };
        let start = start.min((len - 1) / 8 * 8);
        let end = (start + 8 * (1 + below(4))).min(len);
        let at = below(frames.len() + 1);
        frames.insert(at, part(&other, start..end, identification));
        for one in (1..frames.len()).rev() {
            frames.swap(one, below(one + 1));
        }
        let (mut made, lost) = ours.together(&frames);
        host.send(&mut ours.pool, &frames);
        // Of two packets' fragments: the host's stack refuses it by its checksum or length.
        made.retain(|made| [datagram_of(&whole), datagram_of(&other)].contains(&&made[..]));
        let mut came = host.received_until_marker(&mut ours.pool, number, pieces);
        came.dedup();
        match (made.is_empty(), came.is_empty()) {
            (false, true) => {
                panic!("case {case}: nothing of {start}..{end} by the kernel; {lost:?}");
            }
            (false, false) => {
                assert_eq!(made[0][8..], came[0], "case {case}");
                assert_eq!(made.len(), came.len(), "case {case}");
                both += 1;
            }
            (true, true) => neither += 1,
            (true, false) => kernel_alone += 1,
        }
        ours.reassembler.clear(DropReason::Shutdown);
        while let Some((frame, _)) = ours.reassembler.next_lost() {
            ours.pool.free(frame);
        }
    }
    println!("{both} of both, {neither} of neither, {kernel_alone} of the kernel alone");
    assert!(both > 20 && neither > 50, "{both}, {neither}");
}

fn datagram_of(packet: &[u8]) -> &[u8] {
    let parsed = wire::parse(packet, packet.len());
    &packet[usize::from(parsed.l4_offset)..]
}
