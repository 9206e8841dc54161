//! Frames on their way: parsed, and then their conversations found, counted, begun and ended.

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
/// Seconds without a packet after which a conversation is over.
pub(super) const IDLE_SECONDS: u32 = 2;
/// Addresses and ports in an untagged IPv4 frame of UDP.
const SRC: usize = 26;

/// Frames in shuffled order, with new conversations each pass.
pub(super) struct Frames {
    bytes: Vec<u8>,
    order: Vec<usize>,
    population: Population,
}

impl Frames {
    pub(super) fn new(population: Population, seed: u64) -> Self {
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
        Self {
            bytes,
            order,
            population,
        }
    }

    fn stamp(&mut self) {
        for &place in &self.order {
            let Ends { src, dst, ports } = Ends::of(self.population.next());
            let at = place * STRIDE + SRC;
            let words = [src, dst, ports].map(u32::to_be_bytes);
            self.bytes[at..at + 12].copy_from_slice(words.as_flattened());
        }
    }

    /// Passes over all frames, stamped before each, for at least so long; nanoseconds a frame,
    /// stamping left out.
    fn nanos_per_frame(&mut self, wanted: Duration, mut pass: impl FnMut(&[&[u8]])) -> f64 {
        let (mut passes, mut taken) = (0, Duration::ZERO);
        while taken < wanted {
            self.stamp();
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

/// The path, with a table of conversations or without.
pub(super) struct Path {
    pub(super) frames: Rc<RefCell<Frames>>,
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
    pub(super) fn burst(&mut self, flows: &[Ends]) {
        let (mut src, mut dst, mut ports) = ([0; LOCATE_MAX], [0; LOCATE_MAX], [0; LOCATE_MAX]);
        for (place, ends) in flows.iter().enumerate().take(LOCATE_MAX) {
            (src[place], dst[place], ports[place]) = (ends.src, ends.dst, ends.ports);
        }
        let count = flows.len().min(LOCATE_MAX);
        let mut hashes = [0; LOCATE_MAX];
        let columns = FlowColumns {
            src: &src[..count],
            dst: &dst[..count],
            ports: &ports[..count],
        };
        self.rss.hash_v4(columns, &mut hashes);
        let mut sightings = [Sighting::default(); LOCATE_MAX];
        for ((sighting, ends), &hash) in sightings.iter_mut().zip(flows).zip(&hashes) {
            *sighting = ends.sighting(hash);
        }
        let mut places = [None; LOCATE_MAX];
        self.table.locate(&sightings[..count], &mut places);
        let now = Tick::from(self.now);
        for (sighting, place) in sightings[..count].iter().zip(places) {
            let timeout = ticks(IDLE_SECONDS);
            let place =
                place.or_else(|| self.table.insert(sighting, timeout, now, &mut |_| ()).ok());
            if let Some(flow) = place.and_then(|place| self.table.flow_mut(place)) {
                flow.count(sighting.from, 60, now);
            }
        }
        self.table.expire(now, EXPIRED_MAX, &mut |flow| {
            black_box(flow.frames());
        });
        self.now = self.now.after(self.apart * count as u64);
    }
}

impl Path {
    /// Nanoseconds a frame over at least this long.
    pub(super) fn measure(&mut self, wanted: Duration) -> f64 {
        let Self { frames, table } = self;
        frames.borrow_mut().nanos_per_frame(wanted, |frames| {
            let mut parsed = [Parsed::default(); LOCATE_MAX];
            let mut flows = [Ends {
                src: 0,
                dst: 0,
                ports: 0,
            }; LOCATE_MAX];
            for burst in frames.chunks(LOCATE_MAX) {
                for (parsed, bytes) in parsed.iter_mut().zip(burst) {
                    wire::parse_into(bytes, bytes.len(), parsed);
                }
                let Some(tracked) = table else {
                    black_box(&parsed);
                    continue;
                };
                for (ends, parsed) in flows.iter_mut().zip(&parsed) {
                    if let Some(key) = parsed.flow_key() {
                        let (src, dst) = (key.src as u32, key.dst as u32);
                        let ports = u32::from(key.src_port) << 16 | u32::from(key.dst_port);
                        *ends = Ends { src, dst, ports };
                    }
                }
                tracked.burst(&flows[..burst.len()]);
            }
        })
    }
}
