//! Ports of a trial: each brings frames of its stations to stations behind the others, and what
//! leaves by it is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::cpu_time_nanos;
use frame::{Burst, FramePool, PortId, QueueId};
use port::{Port, PortError, PortQueue, PortStatistics, RxState};
use wire::emit::{Ipv4, Network, Recipe, Tag, Transport};

use crate::shuffle::Seeded;

/// 64 bytes on the wire less the FCS.
pub(super) const FRAME_BYTES: usize = 60;
/// Of so many stations one moves to the next port at a time.
const MOVES_ONE_IN: u64 = 16;
/// Of so many frames one has a source that was never seen and is not seen again.
const STRANGERS_ONE_IN: u64 = 64;
/// Frames of a port after which stations that move are at the next one.
const STAY: u64 = 50_000;

/// What frames a trial is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traffic {
    pub(super) ports: u8,
    /// Behind all ports together.
    pub(super) stations: u32,
    /// Stations move, and new ones come.
    pub(super) changes: bool,
    /// Frames have a tag of this VLAN.
    pub(super) tag: Option<u16>,
    /// Frames of each port that are not counted, and those that are.
    pub(super) warm: u64,
    pub(super) counted: u64,
    pub(super) seed: u64,
}

/// CPU time of the worker from the first frame that counts to the last.
#[derive(Debug, Default)]
pub(super) struct Timing {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Timing {
    pub(super) fn nanos(&self) -> u64 {
        self.ended.load(Ordering::SeqCst) - self.begun.load(Ordering::SeqCst)
    }
}

/// A port of that traffic.
pub(super) struct StationPort {
    pub(super) id: PortId,
    pub(super) traffic: Traffic,
    pub(super) timing: Arc<Timing>,
}

impl Port for StationPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &'static str {
        "stations:"
    }

    fn mode(&self) -> String {
        "memory".to_owned()
    }

    fn queues_max(&self) -> usize {
        1
    }

    fn lossless(&self) -> bool {
        true
    }

    fn frame_bytes_max_hint(&self) -> usize {
        FRAME_BYTES
    }

    fn open_queue(&mut self, _: QueueId, _: usize) -> Result<Box<dyn PortQueue>, PortError> {
        let (id, seed) = (u64::from(self.id.0), self.traffic.seed);
        Ok(Box::new(StationQueue {
            port: id,
            source: Source::new(self.traffic, seed ^ id),
            timing: Arc::clone(&self.timing),
            statistics: PortStatistics::default(),
        }))
    }
}

/// Makes the frames of a port.
pub(super) struct Source {
    traffic: Traffic,
    template: [u8; FRAME_BYTES],
    seeded: Seeded,
    /// Frames that were made.
    made: u64,
}

impl Source {
    pub(super) fn new(traffic: Traffic, seed: u64) -> Self {
        Self {
            traffic,
            template: template(traffic.tag),
            seeded: Seeded::new(seed),
            made: 0,
        }
    }

    fn left(&self) -> u64 {
        self.traffic.warm + self.traffic.counted - self.made
    }

    /// Fills a burst with frames of stations behind `port`; how many.
    #[inline]
    pub(super) fn fill(
        &mut self,
        port: u64,
        pool: &mut FramePool,
        burst: &mut Burst,
        max: usize,
    ) -> usize {
        let before = burst.len();
        let want = max.min(usize::try_from(self.left()).unwrap_or(max));
        let count = pool.alloc_burst_of(burst, want, FRAME_BYTES);
        let turn = self.made / STAY;
        for frame in &mut burst.frames_mut()[before..] {
            let bytes = frame.bytes_mut();
            bytes.copy_from_slice(&self.template);
            let drawn = self.seeded.next();
            // Behind one of the other ports.
            let ports = u64::from(self.traffic.ports);
            let other = (port + 1 + (drawn >> 56) % (ports - 1)) % ports;
            let (source, destination) = (drawn & 0xFFF_FFFF, drawn >> 28 & 0xFFF_FFFF);
            bytes[..6].copy_from_slice(&self.station(destination, other, turn));
            let source =
                match self.traffic.changes && (drawn >> 58).is_multiple_of(STRANGERS_ONE_IN) {
                    true => mac(1 << 31 | (self.seeded.next() as u32)),
                    false => self.station(source, port, turn),
                };
            bytes[6..12].copy_from_slice(&source);
        }
        self.made += count as u64;
        count
    }

    /// A station behind a port, drawn by 28 random bits.
    #[inline]
    fn station(&self, drawn: u64, port: u64, turn: u64) -> [u8; 6] {
        let ports = u64::from(self.traffic.ports);
        let row = (drawn * (u64::from(self.traffic.stations) / ports)) >> 28;
        let moves = self.traffic.changes && row.is_multiple_of(MOVES_ONE_IN);
        let column = if moves { (port + turn) % ports } else { port };
        mac((row * ports + column) as u32)
    }
}

#[inline]
fn mac(number: u32) -> [u8; 6] {
    let [a, b, c, d] = number.to_be_bytes();
    [2, 0, a, b, c, d]
}

fn template(tag: Option<u16>) -> [u8; FRAME_BYTES] {
    let udp = Transport::Udp {
        src_port: 9,
        dst_port: 9,
    };
    let tags: Vec<Tag> = tag.into_iter().map(Tag::vlan).collect();
    let recipe = Recipe {
        tags: &tags,
        network: Network::Ipv4(Ipv4::default(), udp),
        len_min: FRAME_BYTES,
        ..Recipe::default()
    };
    let mut bytes = [0; FRAME_BYTES];
    // A UDP frame of 60 bytes is sound.
    let _sound = recipe.emit(&mut bytes);
    bytes
}

struct StationQueue {
    port: u64,
    source: Source,
    timing: Arc<Timing>,
    statistics: PortStatistics,
}

impl PortQueue for StationQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        let before = self.source.made;
        let count = self.source.fill(self.port, pool, burst, max);
        // All ports are as far as the first, within a burst.
        if self.port == 0 {
            let warm = self.source.traffic.warm;
            if before < warm && self.source.made >= warm {
                self.timing.begun.store(cpu_time_nanos(), Ordering::SeqCst);
            }
            if count != 0 && self.source.left() == 0 {
                self.timing.ended.store(cpu_time_nanos(), Ordering::SeqCst);
            }
        }
        self.statistics.rx_frames += count as u64;
        self.statistics.rx_bytes += (count * FRAME_BYTES) as u64;
        match self.source.left() {
            0 => RxState::Ended,
            _ => RxState::Open,
        }
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        self.statistics.tx_frames += burst.len() as u64;
        pool.free_burst(burst);
    }

    fn statistics(&self) -> PortStatistics {
        self.statistics
    }
}
