//! Frames in a pool's memory with fresh addresses in each pass, and a set asked about both.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};

use frame::{Burst, Frame, FramePool, PoolRequest, Region};
use table::AddressSetV4;

use crate::LabError;
use crate::contest::refused;
use crate::design::Design;
use crate::design::array::ArrayTable;
use crate::shuffle::Seeded;

/// Where the source address begins in an untagged IPv4 frame; the destination follows.
const SRC: usize = 26;
/// A UDP frame of 64 bytes, FCS not counted, without addresses.
const FRAME: [u8; 60] = {
    let mut bytes = [0; 60];
    bytes[0] = 2;
    bytes[6] = 2;
    bytes[12] = 0x08;
    bytes[14] = 0x45;
    bytes[17] = 46;
    bytes[22] = 64;
    bytes[23] = 17;
    bytes
};
/// Most frames handled together.
pub(crate) const BATCH_MAX: usize = 256;
/// Frames of a receive ring, whose headers can be read before the first is handled.
const RING: usize = 1024;

/// All frames of a pool, shuffled, as in a pool that has run for a while. Every pass stamps each
/// with fresh addresses and then takes each once, in the same order: no line of a header is
/// touched twice before all others were.
pub(crate) struct Stamped {
    frames: Vec<Frame>,
    pool: FramePool,
    seeded: Seeded,
}

impl Stamped {
    /// `count` frames at this distance.
    pub(crate) fn new(
        stride_bytes: u32,
        count: u32,
        seed: u64,
    ) -> Result<Rc<RefCell<Self>>, LabError> {
        let request = PoolRequest {
            frames: count,
            stride_bytes,
            headroom_bytes: engine::HEADROOM_BYTES,
            node: None,
        };
        let (_, mut pools) = Region::with_pools(&[request]).map_err(refused)?;
        let mut pool = pools.remove(0);
        let mut frames = Vec::with_capacity(count as usize);
        while let Some(mut frame) = pool.alloc() {
            frame.copy_from(&FRAME).map_err(refused)?;
            frames.push(frame);
        }
        let mut seeded = Seeded::new(seed);
        seeded.shuffle(&mut frames);
        Ok(Rc::new(RefCell::new(Self {
            frames,
            pool,
            seeded,
        })))
    }

    /// Writes fresh random addresses into every frame.
    fn stamp(&mut self) {
        for frame in &mut self.frames {
            let addresses = self.seeded.next().to_be_bytes();
            if let Some(place) = frame.bytes_mut().get_mut(SRC..SRC + 8) {
                place.copy_from_slice(&addresses);
            }
        }
    }

    /// Frames a second of `pass`, over at least this long; stamping is not counted.
    fn rate(&mut self, wanted: Duration, mut pass: impl FnMut(&[Frame])) -> f64 {
        self.stamp();
        pass(&self.frames);
        let (mut passes, mut taken) = (0, Duration::ZERO);
        while taken < wanted {
            self.stamp();
            let begun = Instant::now();
            pass(&self.frames);
            taken += begun.elapsed();
            passes += 1;
        }
        (passes * self.frames.len()) as f64 / taken.as_secs_f64()
    }
}

impl Drop for Stamped {
    fn drop(&mut self) {
        let mut burst = Burst::new();
        for frame in self.frames.drain(..) {
            if let Err(frame) = burst.push(frame) {
                self.pool.free_burst(&mut burst);
                self.pool.free(frame);
            }
        }
        self.pool.free_burst(&mut burst);
    }
}

/// Source and destination; zeros where the frame is not IPv4. Taken apart as a pattern: with
/// ranges of the bytes the compiler copied them first, and a frame took 10 ns instead of 1.
#[inline(always)]
pub(crate) fn addresses(frame: &Frame) -> [u32; 2] {
    let Some((bytes, _)) = frame.bytes().split_first_chunk::<34>() else {
        return [0; 2];
    };
    let [.., a, b, c, d, e, f, g, h] = *bytes;
    if (bytes[12], bytes[13], bytes[14] >> 4) != (0x08, 0, 4) {
        return [0; 2];
    }
    [
        u32::from_be_bytes([a, b, c, d]),
        u32::from_be_bytes([e, f, g, h]),
    ]
}

/// What is asked for before it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The headers of a whole ring are read before the first batch of it.
    pub(crate) ring: bool,
    /// The headers of a batch, before any is read.
    pub(crate) headers: bool,
    /// The heads of all addresses of a batch, before any is looked up; of our set, all its lines.
    pub(crate) heads: bool,
    /// Then their arrays.
    pub(crate) arrays: bool,
}

/// What both addresses of a frame are looked up in.
#[derive(Clone)]
pub(crate) enum Table {
    /// The published one.
    Array(Rc<ArrayTable>),
    /// Ours.
    Ours(Rc<AddressSetV4>),
    /// None: the headers are read, and nothing is looked up.
    None,
}

impl Table {
    /// A trial: frames a second over at least this long, once the caches hold what they can of
    /// the table.
    pub(crate) fn rate(
        &self,
        frames: &RefCell<Stamped>,
        wanted: Duration,
        (batch, asked): (usize, Asked),
    ) -> f64 {
        let mut frames = frames.borrow_mut();
        self.warm(&mut frames.seeded);
        frames.rate(wanted, |frames| {
            self.pass(frames, batch, asked);
        })
    }

    /// Looks up as many random addresses as the table has lines, the fastest way.
    fn warm(&self, seeded: &mut Seeded) {
        let bytes = match self {
            Self::Array(table) => table.bytes(),
            Self::Ours(set) => set.bytes(),
            Self::None => 0,
        };
        let all = Asked {
            ring: false,
            headers: false,
            heads: true,
            arrays: true,
        };
        let mut keys = [0; 2 * BATCH_MAX];
        for _ in 0..bytes.div_ceil(64 * keys.len()) {
            keys.fill_with(|| seeded.next() as u32);
            black_box(match self {
                Self::Array(table) => array(table, &keys, all),
                Self::Ours(set) => ours(set, &keys, all),
                Self::None => 0,
            });
        }
    }

    /// Takes the frames in batches; how many addresses were in the set.
    pub(crate) fn pass(&self, frames: &[Frame], batch: usize, asked: Asked) -> usize {
        match self {
            Self::Array(table) => pass(frames, batch, asked, &|keys| array(table, keys, asked)),
            Self::Ours(set) => pass(frames, batch, asked, &|keys| ours(set, keys, asked)),
            Self::None => pass(frames, batch, asked, &|keys: &[u32]| {
                keys.iter().filter(|&&key| key == 0).count()
            }),
        }
    }
}

#[inline(always)]
fn pass(frames: &[Frame], batch: usize, asked: Asked, lookup: &impl Fn(&[u32]) -> usize) -> usize {
    if asked.ring {
        let rings = frames.chunks(RING);
        return rings
            .map(|frames| {
                black_box(frames.iter().map(|frame| addresses(frame)[0]).max());
                batches(frames, batch, asked, lookup)
            })
            .sum();
    }
    batches(frames, batch, asked, lookup)
}

#[inline(always)]
fn batches(
    frames: &[Frame],
    batch: usize,
    asked: Asked,
    lookup: &impl Fn(&[u32]) -> usize,
) -> usize {
    let mut keys = [[0; 2]; BATCH_MAX];
    let mut hits = 0;
    for frames in frames.chunks(batch.clamp(1, BATCH_MAX)) {
        if asked.headers {
            for frame in frames {
                frame::prefetch::read(frame.header_ptr());
            }
        }
        for (keys, frame) in keys.iter_mut().zip(frames) {
            *keys = addresses(frame);
        }
        hits += lookup(keys[..frames.len()].as_flattened());
    }
    black_box(hits)
}

#[inline(always)]
fn array(table: &ArrayTable, keys: &[u32], asked: Asked) -> usize {
    if asked.heads {
        keys.iter().for_each(|&key| table.ask_head(key));
    }
    if asked.arrays {
        keys.iter().for_each(|&key| table.ask_array(key));
    }
    keys.iter().filter(|&&key| table.contains(key)).count()
}

/// Our set asks for the lines of a burst by itself: to leave that out, frames come one at a time.
#[inline(always)]
fn ours(set: &AddressSetV4, keys: &[u32], asked: Asked) -> usize {
    let together = if asked.heads { keys.len() } else { 2 };
    let mut found = [false; 2 * BATCH_MAX];
    let bursts = keys.chunks(together.max(1));
    bursts
        .map(|keys| set.contains_burst(keys, &mut found))
        .sum()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::key::Key;

    const ALL: [Asked; 3] = [
        Asked {
            ring: true,
            headers: false,
            heads: false,
            arrays: false,
        },
        Asked {
            ring: false,
            headers: true,
            heads: true,
            arrays: false,
        },
        Asked {
            ring: false,
            headers: true,
            heads: true,
            arrays: true,
        },
    ];

    #[test]
    fn frames_are_ipv4_and_get_fresh_addresses_in_each_pass() {
        let frames = Stamped::new(1984, 100, 1).expect("memory");
        let mut seen = HashSet::new();
        let mut passes = 0;
        frames.borrow_mut().rate(Duration::from_nanos(1), |frames| {
            passes += 1;
            for frame in frames {
                let parsed = wire::parse(frame.bytes(), frame.len());
                let [src, dst] = addresses(frame);
                assert_eq!((parsed.src, parsed.dst), (src.into(), dst.into()));
                assert!(seen.insert([src, dst]));
            }
        });
        assert_eq!((passes, seen.len()), (2, 200));
    }

    #[test]
    fn every_way_finds_the_same_addresses() {
        let set: Vec<u32> = (0..3000).map(|number| u32::nth(number, 1)).collect();
        let array = ArrayTable::new(set.iter().copied(), 1024).expect("memory");
        let ours = AddressSetV4::new(&set).expect("memory");
        let tables = [Table::Array(Rc::new(array)), Table::Ours(Rc::new(ours))];
        let stamped = Stamped::new(1920, 300, 2).expect("memory");
        let mut stamped = stamped.borrow_mut();
        for (frame, pair) in stamped.frames.iter_mut().zip(set.chunks(2)) {
            // A member as source; a stranger as destination in every other frame.
            let dst = pair[1] ^ (pair[0] & 1);
            let place = &mut frame.bytes_mut()[SRC..SRC + 8];
            place[..4].copy_from_slice(&pair[0].to_be_bytes());
            place[4..].copy_from_slice(&dst.to_be_bytes());
        }
        let known: HashSet<u32> = set.iter().copied().collect();
        let all = stamped.frames.iter().flat_map(addresses);
        let expected = all.filter(|address| known.contains(address)).count();
        assert!((301..600).contains(&expected));
        for table in &tables {
            for batch in [1, 4, 32, 256] {
                for asked in ALL {
                    assert_eq!(table.pass(&stamped.frames, batch, asked), expected);
                }
            }
        }
    }
}
