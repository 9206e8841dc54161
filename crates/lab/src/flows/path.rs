//! Frames on their way: parsed, and then their flows found, counted, begun and ended.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};

use frame::Nanos;
use table::flows::{FlowTable, LOCATE_MAX, Sighting, Tick, ticks};
use table::{FlowColumns, RssHash};
use wire::Parsed;
use wire::toeplitz::Key;

use super::population::{Ends, Population};
use crate::shuffle::Seeded;

/// Frames in memory.
const FRAMES: usize = 8192;
/// Bytes from one to the next.
const STRIDE: usize = 1984;
/// Nanoseconds from one packet to the next: ten million a second.
const APART: u64 = 100;
/// Records looked at for expiry after each burst, at most.
const EXPIRED_MAX: usize = 64;
/// Seconds without a packet after which a flow is over.
pub(super) const IDLE_SECONDS: u32 = 2;
/// Addresses and ports in an untagged IPv4 frame of UDP.
const SRC: usize = 26;

/// Frames in shuffled order.
pub(super) struct Frames {
    bytes: Vec<u8>,
    order: Vec<usize>,
}

impl Frames {
    pub(super) fn new(seed: u64) -> Self {
        let mut bytes = vec![0; FRAMES * STRIDE];
        for frame in bytes.chunks_exact_mut(STRIDE) {
            frame[12] = 0x08;
            frame[14] = 0x45;
            frame[17] = 46;
            frame[22] = 64;
            frame[23] = wire::protocol::UDP;
            frame[39] = 26;
        }
        let mut order: Vec<usize> = (0..FRAMES).collect();
        Seeded::new(seed).shuffle(&mut order);
        Self { bytes, order }
    }

    fn stamp(&mut self, population: &mut Population) {
        for &place in &self.order {
            let Ends { src, dst, ports } = Ends::of(population.next());
            let at = place * STRIDE + SRC;
            let words = [src, dst, ports].map(u32::to_be_bytes);
            self.bytes[at..at + 12].copy_from_slice(words.as_flattened());
        }
    }

    /// Passes over all frames, stamped before each, for at least so long; nanoseconds a frame,
    /// stamping left out.
    fn nanos_per_frame(
        &mut self,
        population: &mut Population,
        wanted: Duration,
        mut pass: impl FnMut(&[&[u8]]),
    ) -> f64 {
        let (mut passes, mut taken) = (0, Duration::ZERO);
        while taken < wanted {
            self.stamp(population);
            let frame = |&place: &usize| &self.bytes[place * STRIDE..place * STRIDE + 60];
            let frames: Vec<&[u8]> = self.order.iter().map(frame).collect();
            let begun = Instant::now();
            pass(&frames);
            taken += begun.elapsed();
            passes += 1;
        }
        taken.as_nanos() as f64 / (passes * FRAMES) as f64
    }
}

/// The path, with a table of flows or without.
pub(super) struct Path {
    pub(super) frames: Rc<RefCell<Frames>>,
    /// Its own: if paths shared one, flows that began while the path without a table ran
    /// would be news to the table, several times as many as it was to have.
    pub(super) population: Population,
    pub(super) table: Option<Tracked>,
}

/// A table that frames go by, and its clock.
pub(super) struct Tracked {
    pub(super) table: FlowTable<u32>,
    /// Nanoseconds from one packet to the next by the clock of the table.
    pub(super) apart: u64,
    rss: RssHash,
    now: Nanos,
}

/// The ends of the packets of a burst.
pub(super) struct Columns {
    src: [u32; LOCATE_MAX],
    dst: [u32; LOCATE_MAX],
    ports: [u32; LOCATE_MAX],
}

impl Columns {
    pub(super) const EMPTY: Self = Self {
        src: [0; LOCATE_MAX],
        dst: [0; LOCATE_MAX],
        ports: [0; LOCATE_MAX],
    };

    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, ends: Ends) {
        (self.src[at], self.dst[at], self.ports[at]) = (ends.src, ends.dst, ends.ports);
    }

    #[inline(always)]
    fn ends(&self, at: usize) -> Ends {
        Ends {
            src: self.src[at],
            dst: self.dst[at],
            ports: self.ports[at],
        }
    }
}

impl Tracked {
    pub(super) fn new(table: FlowTable<u32>) -> Self {
        Self {
            table,
            apart: APART,
            rss: RssHash::new(&Key::SYMMETRIC),
            now: Nanos(0),
        }
    }

    /// One burst: hashes, places, counts, what is new, what is over.
    #[inline]
    pub(super) fn burst(&mut self, columns: &Columns, count: usize) {
        let count = count.min(LOCATE_MAX);
        let flows = FlowColumns {
            src: &columns.src[..count],
            dst: &columns.dst[..count],
            ports: &columns.ports[..count],
        };
        let mut hashes = [0; LOCATE_MAX];
        self.rss.hash_v4(flows, &mut hashes);
        let mut sightings = [Sighting::default(); LOCATE_MAX];
        for (at, sighting) in sightings.iter_mut().enumerate().take(count) {
            *sighting = columns.ends(at).sighting(hashes[at]);
        }
        let sightings = &sightings[..count];
        let now = Tick::from(self.now);
        let mut missing = self.table.visit(sightings, &mut |at, flow| {
            flow.count(sightings[at].from, 60, now);
        });
        while missing != 0 {
            self.begin(
                &sightings[missing.trailing_zeros() as usize % LOCATE_MAX],
                now,
            );
            missing &= missing - 1;
        }
        self.table.expire(now, EXPIRED_MAX, &mut |flow| {
            black_box(flow.frames());
        });
        self.now = self.now.after(self.apart * count as u64);
    }

    fn begin(&mut self, sighting: &Sighting<u32>, now: Tick) {
        let timeout = ticks(IDLE_SECONDS);
        let place = self.table.insert(sighting, timeout, now, &mut |_| ());
        if let Some(flow) = place.ok().and_then(|place| self.table.flow_mut(place)) {
            flow.count(sighting.from, 60, now);
        }
    }
}

impl Path {
    /// Runs until so much time of the table's clock is over.
    pub(super) fn warm(&mut self, until: Nanos) {
        while self.table.as_ref().is_some_and(|table| table.now < until) {
            self.measure(Duration::from_millis(20));
        }
    }

    /// Nanoseconds a frame over at least this long.
    pub(super) fn measure(&mut self, wanted: Duration) -> f64 {
        let (population, table) = (&mut self.population, &mut self.table);
        let mut frames = self.frames.borrow_mut();
        frames.nanos_per_frame(population, wanted, |frames| {
            let mut parsed = [Parsed::default(); LOCATE_MAX];
            let mut columns = Columns::EMPTY;
            for burst in frames.chunks(LOCATE_MAX) {
                for bytes in burst {
                    frame::prefetch::read(bytes.as_ptr());
                }
                for (parsed, bytes) in parsed.iter_mut().zip(burst) {
                    wire::parse_into(bytes, bytes.len(), parsed);
                }
                let Some(tracked) = table else {
                    black_box(&parsed);
                    continue;
                };
                for (at, parsed) in parsed.iter().enumerate().take(burst.len()) {
                    if let Some(key) = parsed.flow_key() {
                        let (src, dst) = (key.src as u32, key.dst as u32);
                        let ports = u32::from(key.src_port) << 16 | u32::from(key.dst_port);
                        columns.set(at, Ends { src, dst, ports });
                    }
                }
                tracked.burst(&columns, burst.len());
            }
        })
    }
}
