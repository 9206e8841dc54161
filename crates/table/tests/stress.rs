//! Readers at full rate while a writer adds, removes and replaces whole lists: every answer is
//! held against a slow model of the version its burst has used.
//!
//! The portable test is what ThreadSanitizer watches (`./ci.sh tsan`): it does not see races
//! through SIMD loads.

#[path = "live/model.rs"]
#[allow(dead_code)]
mod model;

use frame::{Nanos, Published, Reader};
use model::{Key, Model};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use table::live::{Change, Entry, Finished, LiveLists, Loaded, Version};
use table::{CompiledLists, Entries, Level, ListMask, Network};

/// Versions that a writer makes at least; `STRESS_VERSIONS` asks for more or fewer.
fn versions() -> u64 {
    let asked = std::env::var("STRESS_VERSIONS").ok();
    let usual = match (cfg!(miri), cfg!(debug_assertions)) {
        (true, _) => 4,
        (false, true) => 300,
        (false, false) => 3000,
    };
    asked.map_or(usual, |count| count.parse().expect("a number"))
}

const READERS: u64 = 2;
const BURST: usize = 64;
/// Addresses of each family; networks hold some of them.
const KEYS: u32 = if cfg!(miri) { 32 } else { 512 };
const LISTS: usize = 3;

fn splitmix(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *seed;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

fn key_v4(index: u32) -> u32 {
    0x0a00_0000 | index << 7
}

fn key_v6(index: u32) -> u128 {
    0x2001_0db8 << 96 | u128::from(index) << 60
}

fn draw_entry(seed: &mut u64) -> Entry {
    let index = splitmix(seed) as u32 % KEYS;
    let host_bits = (splitmix(seed) % 5) as u8;
    match splitmix(seed) % 8 {
        0..3 => Entry::address_v4(key_v4(index)),
        3..6 => Entry::address_v6(key_v6(index)),
        6 => Network::holding(key_v4(index), 25 - host_bits)
            .unwrap()
            .into(),
        _ => Network::holding(key_v6(index), 68 - host_bits)
            .unwrap()
            .into(),
    }
}

/// What the readers see: tables, and what they must answer.
struct Stamped {
    number: u64,
    lists: Arc<CompiledLists>,
    /// By index of the key, IPv4 first.
    wanted: Vec<ListMask>,
}

impl Stamped {
    fn new(version: &Version, model: &Model) -> Arc<Self> {
        let v4 = (0..KEYS).map(|index| Key::V4(key_v4(index)));
        let keys = v4.chain((0..KEYS).map(|index| Key::V6(key_v6(index))));
        Arc::new(Self {
            number: version.number,
            lists: Arc::clone(&version.lists),
            wanted: keys.map(|key| model.lookup(key)).collect(),
        })
    }
}

/// Looks up until told to stop; returns how many bursts.
fn read(mut reader: Reader<Stamped>, mut seed: u64, stop: &AtomicBool, seen: &AtomicU64) -> u64 {
    let (mut bursts, mut last) = (0, 0);
    let mut masks = [ListMask::EMPTY; BURST];
    while !stop.load(Ordering::Relaxed) {
        reader.refresh();
        let version = reader.get();
        assert!(version.number >= last, "versions never go back");
        last = version.number;
        seen.store(last, Ordering::Relaxed);
        let indices: [u32; BURST] = std::array::from_fn(|_| splitmix(&mut seed) as u32 % KEYS);
        version
            .lists
            .lookup_burst_v4(&indices.map(key_v4), &mut masks);
        check(version, &indices, &masks, 0);
        version
            .lists
            .lookup_burst_v6(&indices.map(key_v6), &mut masks);
        check(version, &indices, &masks, KEYS);
        bursts += 1;
        if bursts % 64 == 0 {
            reader.offline(std::thread::yield_now);
        }
    }
    bursts
}

fn check(version: &Stamped, indices: &[u32], masks: &[ListMask], base: u32) {
    for (&index, &mask) in indices.iter().zip(masks) {
        let wanted = version.wanted[(base + index) as usize];
        assert_eq!(
            mask,
            wanted,
            "version {}, key {}",
            version.number,
            base + index
        );
    }
}

struct Writer {
    seed: u64,
    live: LiveLists,
    model: Model,
    published: Published<Stamped>,
    /// Versions made to bring pages home.
    compacted: u64,
}

impl Writer {
    fn publish(&mut self) {
        let next = Stamped::new(self.live.version(), &self.model);
        self.published.publish(next);
    }

    fn change(&mut self) {
        let mut changes = Vec::new();
        for _ in 0..=splitmix(&mut self.seed) % 4 {
            let list = splitmix(&mut self.seed) as usize % LISTS;
            let entry = draw_entry(&mut self.seed);
            changes.push(match splitmix(&mut self.seed) % 2 {
                0 => Change::add(list, entry),
                _ => Change::remove(list, entry),
            });
        }
        self.live.apply(&changes, Nanos(1)).unwrap();
        for change in &changes {
            self.model.change(change, Nanos(1));
        }
        self.publish();
    }

    /// Replaces a list on another thread, and goes on changing meanwhile.
    fn replace(&mut self) {
        let list = splitmix(&mut self.seed) as usize % LISTS;
        let count = splitmix(&mut self.seed) % u64::from(KEYS);
        let file: BTreeSet<Entry> = (0..count).map(|_| draw_entry(&mut self.seed)).collect();
        let load = self.live.begin_load(list).unwrap();
        let number = self.model.begin(list);
        let given = entries(&file);
        let loader = std::thread::spawn(move || load.compile(given).unwrap());
        for _ in 0..3 {
            self.change();
        }
        self.finish(loader.join().expect("the loader ends"));
        assert!(self.model.finish(number, &file));
        self.publish();
    }

    /// Now and then the tables are built anew, with the same answers.
    fn rebuild(&mut self) {
        let rebuild = self.live.begin_rebuild();
        self.change();
        self.finish(rebuild.compile().unwrap());
        self.publish();
    }

    /// Pages go home, with the same answers.
    fn compact(&mut self) {
        if self.live.compact().unwrap().version.is_some() {
            self.compacted += 1;
            self.publish();
        }
        // So that readers let go of what came before, now and then.
        std::thread::yield_now();
    }

    fn finish(&mut self, loaded: Loaded) {
        let finished = self.live.finish_load(loaded).unwrap();
        assert!(matches!(finished, Finished::Published { .. }));
    }
}

fn entries(file: &BTreeSet<Entry>) -> Entries {
    let mut entries = Entries::default();
    for entry in file {
        match *entry {
            Entry::V4(range) if range.first() == range.last() => {
                entries.v4.addresses.push(range.first());
            }
            Entry::V4(range) => entries.v4.ranges.push(range),
            Entry::V6(range) if range.first() == range.last() => {
                entries.v6.addresses.push(range.first());
            }
            Entry::V6(range) => entries.v6.ranges.push(range),
        }
    }
    entries
}

fn stress(level: Level, seed: u64) {
    let versions = versions();
    println!("level {level}, seed {seed}");
    let live = LiveLists::at_level(vec![Entries::default(); LISTS], level).unwrap();
    let model = Model::new(vec![BTreeSet::new(); LISTS]);
    let published = Published::new(Stamped::new(live.version(), &model));
    let stop = AtomicBool::new(false);
    let seen: Vec<AtomicU64> = (0..READERS).map(|_| AtomicU64::new(0)).collect();
    let mut writer = Writer {
        seed,
        live,
        model,
        published,
        compacted: 0,
    };
    std::thread::scope(|scope| {
        let start = |(index, seen)| {
            let (reader, stop) = (writer.published.reader(), &stop);
            scope.spawn(move || read(reader, seed ^ index << 32, stop, seen))
        };
        let readers: Vec<_> = (1u64..).zip(&seen).map(start).collect();
        while writer.live.version().number < versions {
            match splitmix(&mut writer.seed) % 16 {
                0 => writer.replace(),
                1 => writer.rebuild(),
                2 | 3 => writer.compact(),
                _ => writer.change(),
            }
        }
        // Each reader comes to the last version; one that fell over never would.
        let last = writer.live.version().number;
        let is_behind = |seen: &AtomicU64| seen.load(Ordering::Relaxed) < last;
        while seen.iter().any(is_behind) && !readers.iter().any(|reader| reader.is_finished()) {
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        for reader in readers {
            let bursts = reader.join().expect("every answer is right");
            println!("{bursts} bursts while {last} versions came");
        }
    });
    assert_eq!(writer.published.reclaim(), 0);
    println!("{} versions to bring pages home", writer.compacted);
}

#[test]
fn portable_readers_see_whole_versions() {
    stress(Level::Portable, 1);
}

#[test]
#[cfg(not(miri))]
fn fast_readers_see_whole_versions() {
    stress(Level::best(), 2);
}
