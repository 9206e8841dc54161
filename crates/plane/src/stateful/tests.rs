//! Flows through a bridge: who may begin, what passes then, floods.

use std::sync::Arc;

use frame::{FramePool, PoolRequest, Region};
use table::flows::WhenFull;
use table::{CompiledLists, RssHash};
use wire::emit::{Icmp, Ipv4, Ipv6, Network, Recipe, Tcp, Transport};

use super::*;
use crate::{Bridge, HitAddresses, Policy, Ports, Ruleset};

const INSIDE: PortId = PortId(0);
const OUTSIDE: PortId = PortId(1);
const CLIENT: u32 = 0x0A00_0001;
const SERVER: u32 = 0xC633_6401;
const SYN: u8 = 2;
const ACK: u8 = 16;
const FIN: u8 = 1;
const RST: u8 = 4;

struct Bench {
    bridge: Bridge,
    ruleset: Ruleset,
    pool: FramePool,
    now: Nanos,
}

impl Bench {
    fn new(flows: u32, full: WhenFull) -> Self {
        Self::with_log(flows, full, None)
    }

    fn with_log(flows: u32, full: WhenFull, log: Option<FlowLogConfig>) -> Self {
        Self::of(StatefulConfig {
            allow_new: Ports::only(INSIDE),
            flows,
            full,
            answers_from_any: false,
            timeouts: Timeouts::default(),
            log,
        })
    }

    fn of(config: StatefulConfig) -> Self {
        let stateful = Box::new(Stateful::new(config).expect("some megabytes"));
        let bridge = Bridge::new([INSIDE, OUTSIDE], Box::new(HitAddresses::new([1, 2])));
        let lists = CompiledLists::compile(&[]).expect("no lists");
        let policy = Policy::new(Vec::new()).expect("no rules");
        let request = PoolRequest {
            frames: 300,
            stride_bytes: 576,
            headroom_bytes: 64,
            node: None,
        };
        Self {
            bridge: bridge.with_stateful(Some(stateful)),
            ruleset: Ruleset::new(Arc::new(lists), Arc::new(policy)).expect("none of both"),
            pool: Region::with_pools(&[request]).expect("memory").1.remove(0),
            now: Nanos(1_000_000_000),
        }
    }

    /// Why each frame of a burst was dropped, if it was.
    fn burst(&mut self, from: PortId, frames: &[Vec<u8>]) -> Vec<Option<DropReason>> {
        let (mut burst, mut verdicts) = (Burst::new(), Verdicts::new());
        for bytes in frames {
            let mut frame = self.pool.alloc().expect("a free frame");
            frame.copy_from(bytes).expect("a short frame");
            assert!(burst.push(frame).is_ok());
        }
        self.bridge.set_now(self.now);
        self.bridge
            .decide(&burst, from, &self.ruleset, &mut verdicts);
        self.pool.free_burst(&mut burst);
        let other = if from == INSIDE { OUTSIDE } else { INSIDE };
        let reason = |verdict: &Verdict| match verdict {
            Verdict::Drop(reason) => Some(*reason),
            Verdict::Hold | Verdict::Consume => {
                panic!("nothing is held without a memory of fragments")
            }
            Verdict::Forward(to) => {
                assert_eq!(*to, other);
                None
            }
        };
        verdicts.as_slice().iter().map(reason).collect()
    }

    fn one(&mut self, from: PortId, frame: &[u8]) -> Option<DropReason> {
        self.burst(from, &[frame.to_vec()])[0]
    }

    fn wait(&mut self, seconds: u64) {
        self.now = self.now.after(seconds * 1_000_000_000);
    }

    fn stateful(&self) -> &Stateful {
        self.bridge.stateful().expect("it was given one")
    }
}

fn frame(network: Network<'_>, payload: &[u8]) -> Vec<u8> {
    let recipe = Recipe {
        network,
        payload,
        len_min: 60,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

fn v4(src: u32, dst: u32, transport: Transport<'_>) -> Vec<u8> {
    let ip = Ipv4 {
        src,
        dst,
        ..Ipv4::default()
    };
    frame(Network::Ipv4(ip, transport), &[0; 8])
}

fn tcp(src: (u32, u16), dst: (u32, u16), flags: u8) -> Vec<u8> {
    let tcp = Tcp {
        src_port: src.1,
        dst_port: dst.1,
        flags,
        ..Tcp::default()
    };
    v4(src.0, dst.0, Transport::Tcp(tcp))
}

fn out(flags: u8) -> Vec<u8> {
    tcp((CLIENT, 4000), (SERVER, 443), flags)
}

fn back(flags: u8) -> Vec<u8> {
    tcp((SERVER, 443), (CLIENT, 4000), flags)
}

fn udp(src: (u32, u16), dst: (u32, u16)) -> Vec<u8> {
    let (src_port, dst_port) = (src.1, dst.1);
    v4(src.0, dst.0, Transport::Udp { src_port, dst_port })
}

fn icmp(src: u32, dst: u32, kind: u8, quote: &[u8]) -> Vec<u8> {
    let icmp = Icmp {
        kind,
        code: 1,
        rest: 7 << 16,
    };
    let ip = Ipv4 {
        src,
        dst,
        ..Ipv4::default()
    };
    frame(Network::Ipv4(ip, Transport::Icmp(icmp)), quote)
}

const NEW: Option<DropReason> = Some(DropReason::NotEstablished);

#[test]
fn only_the_allowed_side_begins() {
    let mut bench = Bench::new(1000, WhenFull::Refuse);
    for frame in [back(SYN), back(SYN | ACK), back(ACK), back(RST), back(0)] {
        assert_eq!(bench.one(OUTSIDE, &frame), NEW);
    }
    assert_eq!(bench.one(OUTSIDE, &udp((SERVER, 53), (CLIENT, 5353))), NEW);
    assert!(bench.stateful().is_empty(), "refusals leave nothing behind");
    for flags in [SYN | ACK, RST, RST | ACK] {
        assert_eq!(
            bench.one(INSIDE, &out(flags)),
            NEW,
            "{flags} begins nothing"
        );
    }
    assert_eq!(bench.one(INSIDE, &out(SYN)), None);
    assert_eq!(bench.one(OUTSIDE, &back(SYN | ACK)), None);
    assert_eq!(bench.one(INSIDE, &out(ACK)), None);
    assert_eq!(bench.one(OUTSIDE, &back(ACK)), None);
    assert_eq!(
        bench.one(OUTSIDE, &back(SYN)),
        NEW,
        "an attempt from outside"
    );
    let other_side = Some(DropReason::OtherSide);
    assert_eq!(bench.one(OUTSIDE, &out(ACK)), other_side, "a client inside");
    assert_eq!(
        bench.one(INSIDE, &back(ACK)),
        other_side,
        "a server outside"
    );
    let other = tcp((SERVER, 443), (CLIENT, 4001), ACK);
    assert_eq!(bench.one(OUTSIDE, &other), NEW);
}

#[test]
fn flows_are_over_in_time() {
    let mut bench = Bench::new(1000, WhenFull::Refuse);
    assert_eq!(bench.one(INSIDE, &out(SYN)), None);
    bench.wait(31);
    assert_eq!(bench.one(OUTSIDE, &back(SYN | ACK)), NEW);
    assert_eq!(bench.one(INSIDE, &out(SYN)), None);
    assert_eq!(bench.one(OUTSIDE, &back(SYN | ACK)), None);
    assert_eq!(bench.one(INSIDE, &out(ACK)), None);
    bench.wait(7400);
    assert_eq!(bench.one(OUTSIDE, &back(ACK)), None);
    assert_eq!(bench.one(OUTSIDE, &back(RST)), None);
    // Its slot of the wheel may be a minute away: it is over all the same.
    bench.wait(11);
    assert_eq!(bench.one(OUTSIDE, &back(ACK)), NEW);
    assert_eq!(bench.one(INSIDE, &out(SYN)), None, "the ports again");
    assert_eq!(bench.one(OUTSIDE, &back(SYN | ACK)), None);
    for (from, frame) in [(INSIDE, out(FIN | ACK)), (OUTSIDE, back(FIN | ACK))] {
        assert_eq!(bench.one(from, &frame), None);
    }
    bench.wait(11);
    assert_eq!(bench.one(OUTSIDE, &back(ACK)), NEW);
    let (query, answer) = ((CLIENT, 999), (SERVER, 53));
    assert_eq!(bench.one(INSIDE, &udp(query, answer)), None);
    assert_eq!(bench.one(OUTSIDE, &udp(answer, query)), None);
    bench.wait(100);
    assert_eq!(bench.one(OUTSIDE, &udp(answer, query)), None);
    bench.wait(181);
    assert_eq!(bench.one(OUTSIDE, &udp(answer, query)), NEW);
    bench.wait(7500);
    assert_eq!(bench.one(OUTSIDE, &back(0)), NEW);
    assert!(bench.stateful().is_empty());
}

#[test]
fn errors_pass_to_who_sent_what_they_quote() {
    let mut bench = Bench::new(1000, WhenFull::Refuse);
    let unrelated = Some(DropReason::IcmpUnrelated);
    let router = 0xC000_0201;
    let about = |sent: &[u8], to| icmp(router, to, 3, &sent[14..14 + 28]);
    assert_eq!(bench.one(OUTSIDE, &about(&out(SYN), CLIENT)), unrelated);
    assert_eq!(bench.one(INSIDE, &out(SYN)), None);
    assert_eq!(bench.one(OUTSIDE, &about(&out(SYN), CLIENT)), None);
    assert_eq!(bench.one(OUTSIDE, &about(&back(SYN), CLIENT)), unrelated);
    assert_eq!(bench.one(INSIDE, &about(&back(ACK), SERVER)), None);
    bench.wait(31);
    assert_eq!(bench.one(OUTSIDE, &about(&out(SYN), CLIENT)), unrelated);
    assert_eq!(bench.one(OUTSIDE, &icmp(SERVER, CLIENT, 0, &[])), NEW);
    assert_eq!(bench.one(OUTSIDE, &icmp(SERVER, CLIENT, 8, &[])), NEW);
    assert_eq!(bench.one(INSIDE, &icmp(CLIENT, SERVER, 8, &[])), None);
    assert_eq!(bench.one(OUTSIDE, &icmp(SERVER, CLIENT, 0, &[])), None);
    assert_eq!(bench.one(OUTSIDE, &icmp(SERVER, CLIENT, 5, &[0; 28])), NEW);
}

#[test]
fn pieces_follow_their_first() {
    let mut bench = Bench::new(1000, WhenFull::Refuse);
    let unknown = Some(DropReason::FragmentUnknown);
    let piece = |offset: u16, identification| {
        let ip = Ipv4 {
            src: SERVER,
            dst: CLIENT,
            identification,
            more_fragments: true,
            fragment_offset: offset,
            ..Ipv4::default()
        };
        let ports = Transport::Udp {
            src_port: 53,
            dst_port: 999,
        };
        let raw = Transport::Raw(protocol::UDP);
        let transport = if offset == 0 { ports } else { raw };
        frame(Network::Ipv4(ip, transport), &[0; 40])
    };
    assert_eq!(bench.one(OUTSIDE, &piece(0, 5)), NEW);
    assert_eq!(bench.one(OUTSIDE, &piece(48, 5)), unknown);
    let query = udp((CLIENT, 999), (SERVER, 53));
    assert_eq!(bench.one(INSIDE, &query), None);
    let mixed = [piece(48, 5), piece(0, 5), piece(48, 5), piece(48, 6)];
    let verdicts = bench.burst(OUTSIDE, &mixed);
    assert_eq!(verdicts, [unknown, None, None, unknown]);
    assert_eq!(bench.one(OUTSIDE, &piece(96, 5)), None);
    bench.wait(16);
    assert_eq!(bench.one(OUTSIDE, &piece(96, 5)), unknown);
}

#[test]
fn ipv6_has_its_neighbours_and_the_same_rules() {
    let mut bench = Bench::new(1000, WhenFull::Refuse);
    let packet = |src, dst, hop_limit, transport| {
        let ip = Ipv6 {
            src,
            dst,
            hop_limit,
            ..Ipv6::default()
        };
        frame(Network::Ipv6(ip, transport), &[0; 16])
    };
    let message = |kind, hops| {
        let icmp = Icmp {
            kind,
            code: 0,
            rest: 0,
        };
        packet(1, 2, hops, Transport::Icmpv6(icmp))
    };
    assert_eq!(bench.one(OUTSIDE, &message(135, 255)), None);
    assert_eq!(bench.one(OUTSIDE, &message(135, 254)), NEW);
    assert_eq!(bench.one(OUTSIDE, &message(128, 64)), NEW);
    let ports = |src_port, dst_port| Transport::Udp { src_port, dst_port };
    assert_eq!(bench.one(OUTSIDE, &packet(2, 1, 64, ports(9, 7))), NEW);
    assert_eq!(bench.one(INSIDE, &packet(1, 2, 64, ports(7, 9))), None);
    assert_eq!(bench.one(OUTSIDE, &packet(2, 1, 64, ports(9, 7))), None);
    assert_eq!(bench.stateful().len(), [0, 1]);
}

/// What was sent to a group or to all may be answered by anybody, for half a minute after it was
/// last sent; what was sent to one host by that one.
#[test]
fn many_answer_who_asked_many() {
    let config = StatefulConfig {
        allow_new: Ports::only(INSIDE),
        flows: 1000,
        full: WhenFull::Refuse,
        answers_from_any: true,
        timeouts: Timeouts::default(),
        log: None,
    };
    let (asker, other) = ((CLIENT, 4000), (SERVER, 50_000));
    for (asked, answered) in [
        ((0xEFFF_FFFA, 1900), None),
        ((u32::MAX, 3702), None),
        ((SERVER + 1, 1900), NEW),
    ] {
        let mut bench = Bench::of(config);
        assert_eq!(bench.one(OUTSIDE, &udp(other, asker)), NEW);
        assert_eq!(bench.one(INSIDE, &udp(asker, asked)), None);
        bench.wait(20);
        assert_eq!(bench.one(INSIDE, &udp(asker, asked)), None);
        bench.wait(20);
        assert_eq!(
            bench.one(OUTSIDE, &udp(other, asker)),
            answered,
            "{asked:?}"
        );
        assert_eq!(bench.one(OUTSIDE, &udp(other, (CLIENT, 4001))), NEW);
        assert_eq!(bench.one(OUTSIDE, &tcp(other, asker, SYN)), NEW);
        // To a group, from outside, as the one inside sent it.
        let other_side = Some(DropReason::OtherSide);
        assert_eq!(bench.one(OUTSIDE, &udp(asker, asked)), other_side);
        bench.wait(11);
        assert_eq!(bench.one(OUTSIDE, &udp(other, asker)), NEW, "{asked:?}");
    }
    let mut bench = Bench::new(1000, WhenFull::Refuse);
    assert_eq!(bench.one(INSIDE, &udp(asker, (0xEFFF_FFFA, 1900))), None);
    assert_eq!(
        bench.one(OUTSIDE, &udp(other, asker)),
        NEW,
        "it was not asked for"
    );
}

/// A flood of openings from the allowed side, each from another address.
fn openings(range: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    let opening = |number| tcp((0x0B00_0000 + number, 1024), (SERVER, 80), SYN);
    range.map(opening).collect()
}

#[test]
fn a_flood_of_openings_is_bounded_and_lets_nothing_in() {
    for full in [WhenFull::Refuse, WhenFull::Evict] {
        let mut bench = Bench::new(1280, full);
        assert_eq!(bench.one(INSIDE, &out(SYN)), None);
        assert_eq!(bench.one(OUTSIDE, &back(SYN | ACK)), None);
        assert_eq!(bench.one(INSIDE, &out(ACK)), None);
        let bytes = bench.stateful().bytes();
        let mut refused = 0;
        for number in 0..200 {
            let verdicts = bench.burst(INSIDE, &openings(number * 200..number * 200 + 200));
            let reasons = verdicts.iter().flatten();
            refused += reasons
                .inspect(|&&why| assert_eq!(why, DropReason::FlowsFull))
                .count();
            // What nobody inside began stays out, whatever was evicted.
            let answer = tcp((SERVER, 80), (CLIENT, 9), SYN | ACK);
            assert_eq!(bench.one(OUTSIDE, &answer), NEW);
            assert_eq!(bench.one(OUTSIDE, &back(SYN)), NEW);
            assert_eq!(
                bench.one(OUTSIDE, &back(ACK)),
                None,
                "the long one goes last"
            );
        }
        assert!(bench.stateful().len()[0] <= 1280);
        assert_eq!(bench.stateful().bytes(), bytes);
        assert_eq!(refused > 0, full == WhenFull::Refuse);
        let counts = bench.stateful().counts()[0];
        assert_eq!(counts.evicted > 0, full == WhenFull::Evict);
    }
}

#[test]
fn who_knows_the_rss_key_fills_one_bucket() {
    let mut bench = Bench::new(12_800, WhenFull::Refuse);
    let rss = RssHash::new(&Key::SYMMETRIC);
    let hash = |src: u32, port: u32| rss.one().hash_v4(src, SERVER, port << 16 | 80) % 128;
    let mut sent = 0;
    for number in 0..40_000 {
        let (src, port) = (0x0B00_0000 + number, 1024);
        if hash(src, port) != 5 {
            continue;
        }
        sent += 1;
        let verdict = bench.one(INSIDE, &tcp((src, port as u16), (SERVER, 80), SYN));
        let expected = (sent > 100).then_some(DropReason::FlowsFull);
        assert_eq!(verdict, expected, "number {sent}");
    }
    assert!(sent > 200, "{sent} in one bucket");
    assert_eq!(bench.stateful().len()[0], 100);
    let counts = bench.stateful().counts()[0];
    assert_eq!((counts.full, counts.crowded), (sent - 100, 0));
    // The other buckets have all their room.
    let other = (0..).find(|&port| hash(CLIENT, port) != 5).expect("most");
    let opening = tcp((CLIENT, other as u16), (SERVER, 80), SYN);
    assert_eq!(bench.one(INSIDE, &opening), None);
}

#[test]
fn flows_are_written_down_when_they_end_and_now_and_then() {
    let config = FlowLogConfig {
        interval: 60,
        records: 8,
    };
    let mut bench = Bench::with_log(1280, WhenFull::Evict, Some(config));
    let stateful = bench.bridge.stateful_mut().expect("it was given one");
    let mut reader = stateful.take_readers().remove(0);
    let mut read = || -> Vec<FlowRecord> { std::iter::from_fn(|| reader.pop()).collect() };
    assert_eq!(bench.one(INSIDE, &out(SYN)), None);
    assert_eq!(bench.one(OUTSIDE, &back(SYN | ACK)), None);
    assert_eq!(bench.one(INSIDE, &out(ACK)), None);
    assert_eq!(read(), [], "nothing has ended");
    bench.wait(61);
    assert_eq!(bench.one(INSIDE, &out(ACK)), None);
    assert_eq!(bench.one(INSIDE, &out(ACK)), None);
    let interval = read();
    assert_eq!(interval.len(), 1, "once an interval: {interval:?}");
    let record = interval[0];
    assert_eq!(
        (record.event, record.state()),
        (FlowEvent::Interval, "established")
    );
    assert_eq!(record.from, (u128::from(CLIENT), 4000));
    assert_eq!(record.to, (u128::from(SERVER), 443));
    assert_eq!((record.frames, record.arrival), ([3, 1], 0));
    assert_eq!(bench.one(OUTSIDE, &back(RST)), None);
    bench.wait(70);
    let other = udp((CLIENT, 1), (SERVER, 53));
    assert_eq!(bench.one(INSIDE, &other), None);
    let ended = read();
    assert_eq!(ended.len(), 1, "{ended:?}");
    assert_eq!(
        (ended[0].event, ended[0].state()),
        (FlowEvent::Expired, "reset")
    );
    assert_eq!(ended[0].frames, [4, 2]);
    bench
        .bridge
        .stateful_mut()
        .expect("the same")
        .write_last(|| false);
    let last = read();
    assert_eq!(
        (last.len(), last[0].event, last[0].state()),
        (1, FlowEvent::Stopped, "unanswered")
    );
    // A flood evicts more than the log has room for: the rest is counted.
    for number in 0..100 {
        bench.burst(INSIDE, &openings(number * 100..number * 100 + 100));
    }
    let (written, lost) = bench.stateful().log_counts();
    let evicted = bench.stateful().counts()[0].evicted;
    assert_eq!((written - 3, lost), (8, evicted - 8));
    assert_eq!(read().len(), 8);
}
