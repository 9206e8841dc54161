//! Traffic of whole datagrams, datagrams in fragments and tunnels, in queues: what each frame says
//! of itself, a port that it comes from, and one that judges what leaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use frame::{Burst, FramePool, QueueId};
use port::{PortQueue, PortStatistics, RxState};
use wire::emit::{Ipv4, Ipv6, Network, Recipe, Tcp, Transport};
use wire::protocol;

use super::flows::Random;
use super::ports::TestPort;

/// Bytes of a fragment but the last, behind the headers, and of one that begins with a packet.
const PIECE: usize = 40;
const TUNNEL_PIECE: usize = 88;
/// At the end of each frame: its number, its stream, and its number in that.
const MARK: usize = 12;
/// Flows.
const FLOWS: u64 = 200;
/// Datagrams under way at a time.
const OPEN: usize = 24;
/// Frames by which a queue may be ahead of the others.
const AHEAD: u64 = 256;
const ETHERNET: usize = 14;

/// How datagrams lie on queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// Each frame on a queue drawn at random.
    Frames,
    /// Each datagram on one drawn at random.
    Datagrams,
}

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mix {
    pub(crate) datagrams: u32,
    pub(crate) queues: usize,
    pub(crate) spread: Spread,
    /// Fragments that come twice, overlap or are lost, and TCP out of nowhere.
    pub(crate) hostile: bool,
    pub(crate) seed: u64,
}

/// The frames of each queue.
pub(crate) struct Traffic {
    pub(crate) queues: Vec<Vec<Vec<u8>>>,
    pub(crate) frames: usize,
    streams: usize,
}

/// A datagram whose frames are being sent.
struct Open {
    frames: Vec<Vec<u8>>,
    queue: usize,
    /// Its first stream, of one for each queue.
    stream: usize,
}

impl Traffic {
    pub(crate) fn new(mix: Mix) -> Self {
        let mut random = Random::new(mix.seed);
        let mut traffic = Self {
            queues: vec![Vec::new(); mix.queues],
            frames: 0,
            streams: 0,
        };
        // Whole datagrams of one flow are one stream by each queue, in tunnels or not.
        let whole = 2 * FLOWS as usize * mix.queues;
        let mut numbers = vec![0_u32; whole + mix.datagrams as usize * mix.queues];
        traffic.streams = numbers.len();
        let (mut open, mut next): (Vec<Open>, u32) = (Vec::new(), 0);
        while next < mix.datagrams || !open.is_empty() {
            if next < mix.datagrams && open.len() < OPEN {
                let flow = random.below(FLOWS) as u32;
                let (kind, frames) = datagram(mix, (flow, next), &mut random);
                open.push(Open {
                    frames,
                    queue: random.below(mix.queues as u64) as usize,
                    stream: match kind {
                        Kind::Whole => flow as usize * mix.queues,
                        Kind::Carried => (FLOWS as usize + flow as usize) * mix.queues,
                        _ => whole + next as usize * mix.queues,
                    },
                });
                next += 1;
                continue;
            }
            let at = random.below(open.len() as u64) as usize;
            let chosen = &mut open[at];
            let Some(mut frame) = chosen.frames.pop() else {
                open.swap_remove(at);
                continue;
            };
            let queue = match mix.spread {
                Spread::Frames => random.below(mix.queues as u64) as usize,
                Spread::Datagrams => chosen.queue,
            };
            let stream = chosen.stream + queue;
            let mark = frame.len() - MARK;
            frame[mark..][..4].copy_from_slice(&(traffic.frames as u32).to_le_bytes());
            frame[mark + 4..][..4].copy_from_slice(&(stream as u32).to_le_bytes());
            frame[mark + 8..].copy_from_slice(&numbers[stream].to_le_bytes());
            numbers[stream] += 1;
            traffic.frames += 1;
            traffic.queues[queue].push(frame);
        }
        traffic
    }
}

/// What a datagram is sent as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Whole,
    /// Whole, in a tunnel.
    Carried,
    Pieces,
    /// In a tunnel, whose packet is in fragments.
    TunnelInPieces,
    /// In fragments, each of which is in a packet of a tunnel.
    PiecesInTunnel,
}

/// The frames of a datagram in the order in which they are sent, the last one first.
fn datagram(mix: Mix, (flow, number): (u32, u32), random: &mut Random) -> (Kind, Vec<Vec<u8>>) {
    let kind = match random.below(8) {
        0 | 1 => Kind::Whole,
        2 => Kind::Carried,
        3 => Kind::TunnelInPieces,
        4 => Kind::PiecesInTunnel,
        _ => Kind::Pieces,
    };
    let len = PIECE * (3 + random.below(6) as usize) + random.below(30) as usize;
    let bare = plain(flow, len, mix.hostile && flow.is_multiple_of(7));
    let mut frames = match kind {
        Kind::Whole => vec![bare],
        Kind::Carried => vec![carried(flow, &bare)],
        Kind::Pieces => cut(&bare, PIECE, number),
        Kind::TunnelInPieces => cut(&ipip(&bare), TUNNEL_PIECE, number),
        Kind::PiecesInTunnel => {
            let pieces = cut(&bare, PIECE, number);
            pieces.iter().map(|piece| carried(flow, piece)).collect()
        }
    };
    if mix.hostile && frames.len() > 1 {
        spoil(&mut frames, random);
    }
    for at in (1..frames.len()).rev() {
        frames.swap(at, random.below(at as u64 + 1) as usize);
    }
    (kind, frames)
}

/// What hostile or unlucky senders do to one datagram of some. None of it depends on what comes in
/// one burst: a datagram that others may turn bad, or whose fragments come twice, is never whole,
/// and one that turns bad has no first fragment that could have passed before.
fn spoil(frames: &mut Vec<Vec<u8>>, random: &mut Random) {
    let [one, other] = [(); 2].map(|()| random.below(frames.len() as u64 - 1) as usize);
    match random.below(8) {
        0 => {
            drop(frames.remove(one));
            frames.push(frames[other].clone());
        }
        1 => frames.truncate(one.max(1)),
        2 => drop(frames.remove(0)),
        3 => {
            // The same range with other bytes where they are compared.
            drop(frames.remove(0));
            let mut changed = frames[0].clone();
            let behind = changed.len() - MARK - 20;
            changed[behind] ^= 0xFF;
            frames.push(changed);
        }
        _ => {}
    }
}

fn emit(network: Network<'_>, payload: &[u8]) -> Vec<u8> {
    let recipe = Recipe {
        network,
        payload,
        ..Recipe::default()
    };
    let mut bytes = vec![0; recipe.frame_len()];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes
}

/// A datagram of a flow with so many bytes behind its network header.
fn plain(flow: u32, len: usize, tcp: bool) -> Vec<u8> {
    let (src_port, dst_port) = (1000 + (flow % 5000) as u16, 53);
    let (transport, header) = if tcp {
        let tcp = Tcp {
            src_port,
            dst_port,
            // A reset begins no flow.
            flags: 0x04,
            ..Tcp::default()
        };
        (Transport::Tcp(tcp), 20)
    } else {
        (Transport::Udp { src_port, dst_port }, 8)
    };
    let v4 = Ipv4 {
        src: 0x2D53_1000 + flow,
        dst: 0x2D53_4000 + flow.wrapping_mul(7919) % 4096,
        ..Ipv4::default()
    };
    let v6 = Ipv6 {
        src: 0x2001_0DB8 << 96 | u128::from(flow) << 64,
        dst: 0x2001_0DB8 << 96 | 9,
        ..Ipv6::default()
    };
    let payload: Vec<u8> = (0..len - header)
        .map(|at| (at * 7 + flow as usize) as u8)
        .collect();
    match flow % 3 {
        0 => emit(Network::Ipv6(v6, transport), &payload),
        _ => emit(Network::Ipv4(v4, transport), &payload),
    }
}

fn outside(transport: Transport<'_>, payload: &[u8]) -> Vec<u8> {
    let ip = Ipv4 {
        src: 0x2D53_0201,
        dst: 0x2D53_0202,
        ..Ipv4::default()
    };
    emit(Network::Ipv4(ip, transport), payload)
}

/// In VXLAN.
fn carried(flow: u32, frame: &[u8]) -> Vec<u8> {
    let udp = Transport::Udp {
        src_port: 50_000 + (flow % 16) as u16,
        dst_port: 4789,
    };
    outside(udp, &[&[0x08, 0, 0, 0, 0, 0, 42, 0], frame].concat())
}

/// In IP.
fn ipip(frame: &[u8]) -> Vec<u8> {
    let number = match frame[ETHERNET] >> 4 {
        6 => protocol::IPV6,
        _ => protocol::IPV4,
    };
    outside(Transport::Raw(number), &frame[ETHERNET..])
}

fn cut(frame: &[u8], size: usize, identification: u32) -> Vec<Vec<u8>> {
    let parsed = wire::parse(frame, frame.len());
    let header = usize::from(parsed.l3_offset) + if frame[ETHERNET] >> 4 == 6 { 40 } else { 20 };
    // The one whose network header is last known to have a transport header right behind it.
    let parsed = wire::Parsed {
        l4_offset: header as u16,
        ..parsed
    };
    let len = frame.len() - header;
    // The last one has room for the mark behind the bytes that are compared.
    let count = (len / size).saturating_sub(1).max(1);
    let part = |at: usize| {
        let end = if at + 1 == count {
            len
        } else {
            (at + 1) * size
        };
        let mut out = vec![0; frame.len() + 8];
        let range = at * size..end;
        let len = wire::emit::fragment((frame, &parsed), range, identification, &mut out);
        out.truncate(len.expect("a sound packet"));
        out
    };
    (0..count).map(part).collect()
}

/// What left.
pub(crate) struct Sieve {
    /// By stream: the number that should come next.
    next: Vec<AtomicU64>,
    /// By frame.
    left: Vec<AtomicBool>,
    reordered: AtomicU64,
    twice: AtomicU64,
    /// Frames that are no whole and sound packets, by their outer header.
    parts: AtomicU64,
}

impl Sieve {
    pub(crate) fn new(traffic: &Traffic) -> Arc<Self> {
        Arc::new(Self {
            next: (0..traffic.streams).map(|_| AtomicU64::new(0)).collect(),
            left: (0..traffic.frames)
                .map(|_| AtomicBool::new(false))
                .collect(),
            reordered: AtomicU64::new(0),
            twice: AtomicU64::new(0),
            parts: AtomicU64::new(0),
        })
    }

    fn judge(&self, frame: &[u8]) {
        let word = |at: usize| {
            let bytes = &frame[frame.len() - MARK + at..][..4];
            u32::from_le_bytes(bytes.try_into().expect("four bytes"))
        };
        let (index, stream, number) = (word(0), word(4), u64::from(word(8)));
        let next = &self.next[stream as usize];
        if number < next.load(Ordering::Acquire) {
            self.reordered.fetch_add(1, Ordering::Relaxed);
        } else {
            next.store(number + 1, Ordering::Release);
        }
        let parsed = wire::parse(frame, frame.len());
        if parsed.fragment != wire::Fragment::Whole || parsed.fault.is_some() {
            self.parts.fetch_add(1, Ordering::Relaxed);
        }
        if self.left[index as usize].swap(true, Ordering::Relaxed) {
            self.twice.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Frames that left before an earlier one of their stream, and frames that left twice.
    pub(crate) fn faults(&self) -> (u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.reordered), load(&self.twice))
    }

    pub(crate) fn parts(&self) -> u64 {
        self.parts.load(Ordering::Relaxed)
    }

    /// By frame: whether it left.
    pub(crate) fn left(&self) -> Vec<bool> {
        let load = |left: &AtomicBool| left.load(Ordering::Relaxed);
        self.left.iter().map(load).collect()
    }
}

/// Where the frames come from.
pub(crate) fn piece_port(traffic: &Traffic, lossless: bool) -> TestPort {
    let mut all = traffic.queues.clone();
    let sent: Arc<[AtomicU64]> = all.iter().map(|_| AtomicU64::new(0)).collect();
    let queues_max = all.len();
    let open = move |queue: QueueId, queues: usize| {
        let me = usize::from(queue.0);
        let mut frames = std::mem::take(&mut all[me]);
        // One worker has all queues' frames, those of a datagram in their order.
        if queues < sent.len() {
            frames.extend(all.iter_mut().flat_map(std::mem::take));
        }
        for idle in &sent[queues.min(sent.len())..] {
            idle.store(u64::MAX - AHEAD, Ordering::Relaxed);
        }
        PieceQueue {
            frames: frames.into_iter(),
            sent: Arc::clone(&sent),
            me,
            statistics: PortStatistics::default(),
        }
    };
    TestPort {
        queues_max,
        lossless,
        tx_sink: false,
        frame_bytes_max: 1024,
        ..TestPort::new(0, open)
    }
}

/// No queue is far ahead of the others: what waits stays within bounds however long one worker gets
/// no CPU.
struct PieceQueue {
    frames: std::vec::IntoIter<Vec<u8>>,
    sent: Arc<[AtomicU64]>,
    me: usize,
    statistics: PortStatistics,
}

impl PortQueue for PieceQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let sent = |queue: &AtomicU64| queue.load(Ordering::Relaxed);
        let slowest = self.sent.iter().map(sent).min().unwrap_or(0);
        let room = slowest.saturating_add(AHEAD) - self.sent[self.me].load(Ordering::Relaxed);
        for _ in 0..max.min(burst.room()).min(room as usize) {
            let Some(bytes) = self.frames.as_slice().first() else {
                break;
            };
            let Some(mut frame) = pool.alloc() else {
                break;
            };
            frame.copy_from(bytes).expect("a short frame");
            self.frames.next();
            self.statistics.rx_frames += 1;
            self.statistics.rx_bytes += frame.len() as u64;
            // The caller has asked for no more than there is room for.
            let _full = burst.push(frame).map_err(|frame| pool.free(frame));
        }
        let ended = self.frames.len() == 0;
        let sent = if ended {
            u64::MAX - AHEAD
        } else {
            self.statistics.rx_frames
        };
        self.sent[self.me].store(sent, Ordering::Relaxed);
        if ended { RxState::Ended } else { RxState::Open }
    }

    fn tx_burst(&mut self, _: &mut Burst, _: &mut FramePool) {}

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}

/// Where they go.
pub(crate) fn sieve_port(queues_max: usize, sieve: &Arc<Sieve>) -> TestPort {
    let sieve = Arc::clone(sieve);
    let open = move |_, _| SieveQueue {
        sieve: Arc::clone(&sieve),
        statistics: PortStatistics::default(),
    };
    TestPort::sink(queues_max, open)
}

struct SieveQueue {
    sieve: Arc<Sieve>,
    statistics: PortStatistics,
}

impl PortQueue for SieveQueue {
    fn rx_burst(&mut self, _: &mut FramePool, _: &mut Burst, _: usize) -> RxState {
        RxState::Ended
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        for frame in burst.frames() {
            self.sieve.judge(frame.bytes());
            self.statistics.tx_bytes += frame.len() as u64;
        }
        self.statistics.tx_frames += burst.len() as u64;
        pool.free_burst(burst);
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}
