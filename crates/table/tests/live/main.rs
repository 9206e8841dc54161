//! Lists that change against a slow model: random sequences with loads that go on, expiry, and
//! networks that uncover what lay beneath. Each failure names its seed.

mod model;

use frame::Nanos;
use model::{Key, Model};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use table::live::{
    Change, ChangeError, Entry, Finished, LiveLists, Load, Loaded, Note, Outcome, Rebuild,
};
use table::{CompileError, CompiledLists, Entries, Level, ListMask, Network, Range};

struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    fn below(&mut self, count: u64) -> u64 {
        self.word() % count
    }
}

/// Few addresses, so that entries meet: `VALUES` of them, spread by a shift to where indices,
/// nodes and leaves of the tables meet.
const VALUES: u32 = if cfg!(miri) { 8 } else { 32 };

/// A small world within the address space.
#[derive(Clone, Copy, Debug)]
struct Space {
    shift_v4: u32,
    shift_v6: u32,
}

impl Space {
    fn v4(self, value: u32) -> u32 {
        (0x0a00_0000 & !((VALUES << self.shift_v4) - 1)) | value << self.shift_v4
    }

    fn v6(self, value: u32) -> u128 {
        0x2001_0db8_u128 << 96 ^ u128::from(value) << self.shift_v6
    }

    fn entry(self, random: &mut Random) -> Entry {
        let draw = |random: &mut Random| random.below(u64::from(VALUES)) as u32;
        let (a, b) = (draw(random), draw(random));
        let (kind, cut) = (random.below(8), random.below(9) as u32);
        if random.below(2) == 0 {
            let (first, last) = (self.v4(a.min(b)), self.v4(a.max(b)));
            match kind {
                0..4 => Entry::address_v4(first),
                4 => Range::new(first, last).map(Entry::V4).unwrap(),
                _ => {
                    let len = if cut == 8 {
                        a
                    } else {
                        (32 - self.shift_v4 - cut.min(5)).min(32)
                    };
                    Network::holding(first, len as u8).unwrap().into()
                }
            }
        } else {
            let (first, last) = (self.v6(a), self.v6(b));
            let (first, last) = (first.min(last), first.max(last));
            match kind {
                0..4 => Entry::address_v6(first),
                4 => Range::new(first, last).map(Entry::V6).unwrap(),
                _ => {
                    let len = if cut == 8 {
                        a * 4
                    } else {
                        128 - self.shift_v6 - cut.min(5)
                    };
                    Network::holding(first, len as u8).unwrap().into()
                }
            }
        }
    }

    fn keys(self) -> (Vec<u32>, Vec<u128>) {
        let mut v4 = vec![0, u32::MAX];
        let mut v6 = vec![0, u128::MAX];
        for value in 0..VALUES {
            let (a, b) = (self.v4(value), self.v6(value));
            v4.extend([a, a.wrapping_sub(1), a + 1]);
            v6.extend([b, b - 1, b + 1]);
        }
        (v4, v6)
    }
}

/// What a file would give; sometimes written in another way, sometimes twice.
fn file(entries: &BTreeSet<Entry>, random: &mut Random) -> Entries {
    let mut file = Entries::default();
    for entry in entries {
        for _ in 0..=random.below(4) / 3 {
            match *entry {
                Entry::V4(range) if range.first() == range.last() && random.below(4) != 0 => {
                    file.v4.addresses.push(range.first());
                }
                Entry::V4(range) => file.v4.ranges.push(range),
                Entry::V6(range) if range.first() == range.last() && random.below(4) != 0 => {
                    file.v6.addresses.push(range.first());
                }
                Entry::V6(range) => file.v6.ranges.push(range),
            }
        }
    }
    file
}

fn draw_file(space: Space, random: &mut Random) -> BTreeSet<Entry> {
    let count = random.below(if cfg!(miri) { 4 } else { 25 });
    (0..count).map(|_| space.entry(random)).collect()
}

/// Networks elsewhere, so many that a few addresses lie among them rather than in a set of their
/// own.
fn crowd() -> impl Iterator<Item = Entry> {
    let count = if cfg!(miri) { 20 } else { 150 };
    (0..count).flat_map(|index: u32| {
        let v4 = Network::holding(0xac10_0000 + index * 64, 30).unwrap();
        let v6 = Network::holding(u128::from(0x2400_0000 + index) << 96, 48).unwrap();
        [v4.into(), v6.into()]
    })
}

/// A version and what it answered when it was new.
struct Remembered {
    lists: Arc<CompiledLists>,
    answers: Vec<ListMask>,
}

/// A load that goes on, at one stage or another.
enum Stage {
    Begun(Load),
    Compiled(Box<Loaded>),
    Rebuild(Rebuild),
}

struct Going {
    /// Its number in the model; none for a rebuild.
    number: Option<u64>,
    file: BTreeSet<Entry>,
    stage: Stage,
}

struct World {
    seed: u64,
    step: usize,
    random: Random,
    space: Space,
    now: Nanos,
    live: LiveLists,
    model: Model,
    going: Vec<Going>,
    remembered: Vec<Remembered>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let space = Space {
            shift_v4: [0, 6, 13, 14, 22, 26][random.below(6) as usize],
            shift_v6: [0, 3, 30, 62, 100, 110][random.below(6) as usize],
        };
        let lists = [1, 2, 3, 32][random.below(4) as usize];
        let mut files: Vec<_> = (0..lists).map(|_| draw_file(space, &mut random)).collect();
        if random.below(2) == 0 {
            files[0].extend(crowd());
        }
        let given = files
            .iter()
            .map(|entries| file(entries, &mut random))
            .collect();
        let levels: Vec<Level> = Level::here().collect();
        let level = levels[random.below(levels.len() as u64) as usize];
        Self {
            seed,
            step: 0,
            space,
            now: Nanos(1000),
            live: LiveLists::at_level(given, level).unwrap(),
            model: Model::new(files),
            going: Vec::new(),
            remembered: Vec::new(),
            random,
        }
    }

    fn place(&self) -> String {
        format!("seed {} step {} {:?}", self.seed, self.step, self.space)
    }

    fn step(&mut self) {
        self.step += 1;
        match self.random.below(17) {
            0..9 => self.change(),
            9 => self.begin(),
            10 | 11 => self.go_on(),
            12 => self.rebuild(),
            13 => self.now = self.now.after(self.random.below(60)),
            14 => self.expire(),
            15 => self.compact(),
            _ => self.give_up(),
        }
        self.check();
    }

    fn change(&mut self) {
        let lists = self.model.lists.len() as u64;
        let mut changes = Vec::new();
        for _ in 0..=self.random.below(5) {
            let list = self.random.below(lists) as usize;
            let entry = self.space.entry(&mut self.random);
            let mut change = match self.random.below(10) {
                0..3 => Change::add(list, entry),
                3 => Change::withdraw(list, entry),
                4..6 => Change::source_add(list, entry),
                6..8 => Change::source_remove(list, entry),
                _ => Change::remove(list, entry),
            };
            if self.random.below(3) == 0 {
                change = change.until(self.now.after(self.random.below(100)));
            }
            if self.random.below(5) == 0 {
                change = change.comment(&format!("step {}", self.step));
            }
            changes.push(change);
        }
        let before = self.live.version().number;
        let applied = self.live.apply(&changes, self.now).unwrap();
        let model = &mut self.model;
        let wanted: Vec<Outcome> = changes
            .iter()
            .map(|change| model.change(change, self.now))
            .collect();
        assert_eq!(applied.outcomes, wanted, "{} {changes:?}", self.place());
        assert!(applied.version.number <= before + 1);
    }

    fn compact(&mut self) {
        let before = self.live.version().number;
        let done = self.live.compact().unwrap();
        let number = self.live.version().number;
        assert_eq!(done.version.is_some(), number == before + 1);
        assert!(done.version.is_none_or(|version| version.number == number));
    }

    fn begin(&mut self) {
        let list = self.random.below(self.model.lists.len() as u64) as usize;
        let load = self.live.begin_load(list).unwrap();
        self.going.push(Going {
            number: Some(self.model.begin(list)),
            file: draw_file(self.space, &mut self.random),
            stage: Stage::Begun(load),
        });
    }

    fn rebuild(&mut self) {
        let stage = Stage::Rebuild(self.live.begin_rebuild());
        self.going.push(Going {
            number: None,
            file: BTreeSet::new(),
            stage,
        });
    }

    /// Brings one load a stage further.
    fn go_on(&mut self) {
        if self.going.is_empty() {
            return;
        }
        let place = self.random.below(self.going.len() as u64) as usize;
        let mut going = self.going.swap_remove(place);
        going.stage = match going.stage {
            Stage::Begun(load) => {
                let given = file(&going.file, &mut self.random);
                let mut sorted = load.sort(given);
                if self.random.below(2) == 0 {
                    self.live.refresh(&mut sorted);
                }
                Stage::Compiled(Box::new(sorted.compile().unwrap()))
            }
            Stage::Rebuild(rebuild) => Stage::Compiled(Box::new(rebuild.compile().unwrap())),
            Stage::Compiled(loaded) => match self.live.finish_load(*loaded).unwrap() {
                Finished::Again(rebuild) => Stage::Rebuild(rebuild),
                Finished::Published { replaced, .. } => {
                    drop(replaced);
                    if let Some(number) = going.number {
                        assert!(self.model.finish(number, &going.file), "{}", self.place());
                    }
                    return;
                }
                Finished::Superseded => {
                    if let Some(number) = going.number {
                        assert!(!self.model.finish(number, &going.file), "{}", self.place());
                    }
                    return;
                }
            },
        };
        self.going.push(going);
    }

    fn check_listing(&mut self) {
        let index = self.random.below(self.model.lists.len() as u64) as usize;
        let (listing, wanted) = (self.live.listing(index), &self.model.lists[index]);
        let file: BTreeSet<Entry> = listing.file().collect();
        let dynamic: BTreeMap<Entry, Note> = listing.dynamic().collect();
        assert_eq!(file, wanted.file, "{}", self.place());
        assert_eq!(dynamic, wanted.dynamic, "{}", self.place());
        assert_eq!(listing.counts(), self.live.counts(index));
        let entry = self.space.entry(&mut self.random);
        assert_eq!(listing.in_file(entry), wanted.file.contains(&entry));
        assert_eq!(
            self.live.note(index, entry),
            wanted.dynamic.get(&entry).cloned()
        );
    }

    fn give_up(&mut self) {
        if self.random.below(4) == 0
            && let Some(going) = self.going.pop()
            && let Some(number) = going.number
        {
            self.model.loads.remove(&number);
        }
    }

    fn expire(&mut self) {
        let before = self.live.version().number;
        let expired = self.live.expire(self.now).unwrap();
        assert_eq!(expired.is_some(), self.live.version().number != before);
        self.model.expire(self.now);
    }

    fn check(&mut self) {
        let place = self.place();
        let answers = self.answers(self.live.version().lists.as_ref());
        assert_eq!(answers, self.wanted(), "{place}");
        for index in 0..self.model.lists.len() {
            assert_eq!(
                self.live.counts(index),
                self.model.counts(index),
                "{place}, {index}"
            );
        }
        assert_eq!(self.live.next_expiry(), self.model.next_expiry(), "{place}");
        self.check_listing();
        let (v4, v6) = self.space.keys();
        let at = self.random.below(v4.len() as u64) as usize;
        self.check_reasons(v4[at], v6[at]);
        // What was published never changes.
        if let Some(old) = self.remembered.last() {
            assert_eq!(
                self.answers(&old.lists),
                old.answers,
                "{place}, an old version"
            );
        }
        let kept = self.random.below(4) as usize;
        if kept < 3 {
            self.remembered.truncate(kept);
            let lists = Arc::clone(&self.live.version().lists);
            self.remembered.insert(0, Remembered { lists, answers });
        }
    }

    fn check_reasons(&self, v4: u32, v6: u128) {
        let both = [
            (self.live.explain_v4(v4), Key::V4(v4)),
            (self.live.explain_v6(v6), Key::V6(v6)),
        ];
        for (mut reasons, key) in both {
            reasons.sort_by_key(|reason| (reason.list, reason.entry, reason.part));
            assert_eq!(reasons, self.model.explain(key), "{} {key:?}", self.place());
        }
    }

    fn answers(&self, lists: &CompiledLists) -> Vec<ListMask> {
        let (v4, v6) = self.space.keys();
        let mut masks = vec![ListMask::EMPTY; v4.len() + v6.len()];
        lists.lookup_burst_v4(&v4, &mut masks);
        lists.lookup_burst_v6(&v6, &mut masks[v4.len()..]);
        masks
    }

    fn wanted(&self) -> Vec<ListMask> {
        let (v4, v6) = self.space.keys();
        let v4 = v4.into_iter().map(Key::V4);
        let keys = v4.chain(v6.into_iter().map(Key::V6));
        keys.map(|key| self.model.lookup(key)).collect()
    }
}

#[test]
fn random_sequences_agree_with_the_model() {
    let (seeds, steps) = match (cfg!(miri), cfg!(debug_assertions)) {
        (true, _) => (1, 4),
        (false, true) => (60, 120),
        (false, false) => (400, 300),
    };
    let first = std::env::var("SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let first: u64 = first.unwrap_or(1);
    for seed in first..first + seeds {
        let mut world = World::new(seed);
        world.check();
        for _ in 0..steps {
            world.step();
        }
    }
}

fn entries(text: &[&str]) -> Entries {
    let mut entries = Entries::default();
    for entry in text {
        match entry.split_once('/') {
            Some((address, len)) => {
                let address = address.parse::<std::net::Ipv4Addr>().unwrap().to_bits();
                let network = Network::new(address, len.parse().unwrap()).unwrap();
                entries.v4.networks.push(network);
            }
            None => {
                let address = entry.parse::<std::net::Ipv4Addr>().unwrap().to_bits();
                entries.v4.addresses.push(address);
            }
        }
    }
    entries
}

fn entry(text: &str) -> Entry {
    let one = entries(&[text]);
    match one.v4.networks.first() {
        Some(&network) => network.into(),
        None => Entry::address_v4(one.v4.addresses[0]),
    }
}

fn lists(files: &[&[&str]]) -> LiveLists {
    LiveLists::new(files.iter().map(|file| entries(file)).collect()).unwrap()
}

fn mask(live: &LiveLists, address: &str) -> u32 {
    let address = address.parse::<std::net::Ipv4Addr>().unwrap();
    live.version().lists.lookup_v4(address.to_bits()).0
}

const NOW: Nanos = Nanos(5);

#[test]
fn removing_a_network_uncovers_what_lay_beneath() {
    let mut live = lists(&[&["10.0.0.0/8", "10.1.0.0/16", "10.2.0.1"]]);
    live.apply(&[Change::remove(0, entry("10.0.0.0/8"))], NOW)
        .unwrap();
    let found = ["10.0.0.1", "10.1.0.1", "10.2.0.1", "10.2.0.2"].map(|a| mask(&live, a));
    assert_eq!(found, [0, 1, 1, 0]);
}

#[test]
fn an_entry_that_expires_shows_the_file_again() {
    let mut live = lists(&[&["10.0.0.1"]]);
    let change = Change::add(0, entry("10.0.0.1"))
        .until(Nanos(9))
        .comment("seen");
    assert_eq!(
        live.apply(&[change], NOW).unwrap().outcomes,
        [Outcome::AlreadyThere]
    );
    assert_eq!(live.next_expiry(), Some(Nanos(9)));
    assert!(live.expire(Nanos(8)).unwrap().is_none());
    assert!(
        live.expire(Nanos(9)).unwrap().is_none(),
        "the tables stay as they are"
    );
    assert_eq!((live.next_expiry(), live.counts(0).dynamic), (None, 0));
    assert_eq!(mask(&live, "10.0.0.1"), 1);
}

#[test]
fn a_removal_outlasts_the_loads_that_were_begun_before_it() {
    let mut live = lists(&[&["10.0.0.1"]]);
    let early = live.begin_load(0).unwrap();
    let outcome = live
        .apply(&[Change::remove(0, entry("10.0.0.2"))], NOW)
        .unwrap()
        .outcomes;
    assert_eq!(outcome, [Outcome::WasNotThere]);
    let late = live.begin_load(0).unwrap();
    let file = || entries(&["10.0.0.1", "10.0.0.2"]);
    let early = early.compile(file()).unwrap();
    assert!(matches!(
        live.finish_load(early).unwrap(),
        Finished::Published { .. }
    ));
    assert_eq!((mask(&live, "10.0.0.2"), live.counts(0).entries), (0, 1));
    let late = late.compile(file()).unwrap();
    assert!(matches!(
        live.finish_load(late).unwrap(),
        Finished::Published { .. }
    ));
    assert_eq!((mask(&live, "10.0.0.2"), live.counts(0).entries), (1, 2));
}

#[test]
#[cfg_attr(miri, ignore = "minutes of compiling, which others do once")]
fn of_two_loads_neither_is_lost_and_the_later_wins() {
    let mut live = lists(&[&["10.0.0.1"], &["10.0.0.1"]]);
    let one = live.begin_load(0).unwrap();
    let two = live.begin_load(1).unwrap();
    let again = live.begin_load(1).unwrap();
    let add = [Change::add(0, entry("10.9.0.0/16"))];
    live.apply(&add, NOW).unwrap();
    let again = again.compile(entries(&["10.0.0.3"])).unwrap();
    assert!(matches!(
        live.finish_load(again).unwrap(),
        Finished::Published { .. }
    ));
    let two = two.compile(entries(&["10.0.0.2"])).unwrap();
    assert!(matches!(
        live.finish_load(two).unwrap(),
        Finished::Superseded
    ));
    let one = one.compile(entries(&["10.0.0.4"])).unwrap();
    let Finished::Again(one) = live.finish_load(one).unwrap() else {
        panic!("the other list has changed");
    };
    assert!(matches!(
        live.finish_load(one.compile().unwrap()).unwrap(),
        Finished::Published { .. }
    ));
    let found = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.9.9.9"];
    assert_eq!(found.map(|a| mask(&live, a)), [0, 0, 2, 1, 1]);
}

/// The load takes its second snapshot after the removal, and still was begun before it.
/// What a source changes in place is in the file part: held against the next load, undone by a load
/// that was begun later, and by none that was begun before.
#[test]
fn a_source_changes_its_file_part_in_place() {
    let mut live = lists(&[&["10.0.0.1", "10.1.0.0/16", "10.2.0.0/28"]]);
    let early = live.begin_load(0).unwrap();
    let steps = [
        (
            Change::source_add(0, entry("10.0.0.1")),
            Outcome::AlreadyThere,
        ),
        (Change::source_add(0, entry("10.0.0.2")), Outcome::Added),
        (Change::source_add(0, entry("10.3.0.0/28")), Outcome::Added),
        (
            Change::source_remove(0, entry("10.1.0.0/16")),
            Outcome::Removed,
        ),
        (
            Change::source_remove(0, entry("10.1.0.0/16")),
            Outcome::WasNotThere,
        ),
        (Change::add(0, entry("10.2.0.0/28")), Outcome::AlreadyThere),
        (
            Change::source_remove(0, entry("10.2.0.0/28")),
            Outcome::StillThere,
        ),
        // Removed by hand, and given again.
        (Change::remove(0, entry("10.0.0.1")), Outcome::Removed),
        (Change::source_add(0, entry("10.0.0.1")), Outcome::Added),
        // Removed by hand, and the source still has it.
        (Change::remove(0, entry("10.0.0.2")), Outcome::Removed),
        (Change::withdraw(0, entry("10.0.0.2")), Outcome::WasNotThere),
    ];
    for (step, (change, wanted)) in steps.into_iter().enumerate() {
        let outcomes = live.apply(&[change], NOW).unwrap().outcomes;
        assert_eq!(outcomes, [wanted], "step {step}");
    }
    let masks = |live: &LiveLists| {
        let asked = ["10.0.0.1", "10.0.0.2", "10.1.0.1", "10.2.0.5", "10.3.0.5"];
        asked.map(|address| mask(live, address))
    };
    assert_eq!(masks(&live), [1, 0, 0, 1, 1]);
    let counts = live.counts(0);
    assert_eq!((counts.entries, counts.source, counts.dynamic), (3, 3, 1));
    // Against what the source has: one entry goes and one comes.
    let late = live.begin_load(0).unwrap();
    let late = late.sort(entries(&["10.0.0.1", "10.0.0.2", "10.9.0.1"]));
    let told = late.difference();
    let shares = [told.before, told.after, told.added, told.removed].map(|share| share.entries);
    assert_eq!(shares, [3, 3, 1, 1]);
    // The load that was begun before undoes nothing.
    let old = entries(&["10.0.0.1", "10.1.0.0/16", "10.2.0.0/28"]);
    let early = early.compile(old).unwrap();
    assert!(matches!(
        live.finish_load(early),
        Ok(Finished::Published { .. })
    ));
    assert_eq!(masks(&live), [1, 0, 0, 1, 1]);
    let late = late.compile().unwrap();
    assert!(matches!(
        live.finish_load(late),
        Ok(Finished::Published { .. })
    ));
    assert_eq!(masks(&live), [1, 1, 0, 1, 0]);
}

#[test]
#[cfg_attr(miri, ignore = "minutes of compiling, which others do once")]
fn a_removal_outlasts_a_load_that_is_compiled_again() {
    let mut live = lists(&[&[], &[]]);
    let one = live.begin_load(0).unwrap();
    let two = live.begin_load(1).unwrap();
    let gone = ["10.0.0.1", "10.1.0.0/16"];
    let removals = gone.map(|text| Change::remove(0, entry(text)));
    live.apply(&removals, NOW).unwrap();
    let two = two.compile(entries(&[])).unwrap();
    assert!(matches!(
        live.finish_load(two).unwrap(),
        Finished::Published { .. }
    ));
    let one = one
        .compile(entries(&[gone[0], gone[1], "10.0.0.2"]))
        .unwrap();
    let Finished::Again(one) = live.finish_load(one).unwrap() else {
        panic!("the other list was replaced");
    };
    let one = one.compile().unwrap();
    assert!(matches!(
        live.finish_load(one).unwrap(),
        Finished::Published { .. }
    ));
    let found = ["10.0.0.1", "10.1.2.3", "10.0.0.2"].map(|a| mask(&live, a));
    assert_eq!((found, live.counts(0).entries), ([0, 0, 1], 1));
}

#[test]
fn errors_change_nothing() {
    let mut live = lists(&[&["10.0.0.1"]]);
    let good = Change::add(0, entry("10.0.0.2"));
    let error = live.apply(&[good.clone(), Change::remove(1, entry("10.0.0.1"))], NOW);
    let wanted = ChangeError::NoSuchList { list: 1, count: 1 };
    assert_eq!(error.unwrap_err(), wanted);
    assert_eq!(
        wanted.to_string(),
        "there is no list 1; there are 1, counted from 0"
    );
    let error = live.apply(&[good.clone(), good.comment(&"a".repeat(256))], NOW);
    assert_eq!(
        error.unwrap_err(),
        ChangeError::CommentTooLong { bytes: 256 }
    );
    assert_eq!((live.version().number, live.counts(0).entries), (1, 1));
    assert!(live.begin_load(1).is_err());
    let foreign = lists(&[&[]])
        .begin_load(0)
        .unwrap()
        .compile(entries(&[]))
        .unwrap();
    assert_eq!(
        live.finish_load(foreign).unwrap_err(),
        ChangeError::ForeignLoad
    );
    let error = LiveLists::new(vec![Entries::default(); 33]).unwrap_err();
    assert_eq!(error, CompileError::TooManyLists { count: 33 });
}

#[test]
#[cfg(not(miri))]
fn facts_tell_of_the_file_as_compiling_it_would() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let space = Space {
            shift_v4: 8,
            shift_v6: 60,
        };
        let file = file(&draw_file(space, &mut random), &mut random);
        let compiled = CompiledLists::compile(&[&file]).unwrap();
        let mut live = LiveLists::new(vec![Entries::default()]).unwrap();
        let loaded = live.begin_load(0).unwrap().compile(file).unwrap();
        assert_eq!(loaded.facts(), Some(compiled.list(0)), "seed {seed}");
    }
}

/// A batch so large that the tables are built anew.
#[test]
#[cfg(not(miri))]
fn very_many_changes_at_once() {
    let mut live = lists(&[&["10.0.0.1"], &["10.0.0.0/8"]]);
    let address = |index: u32| Entry::address_v4(index.wrapping_mul(0x9e37_79b9));
    let adds: Vec<Change> = (0..20_000)
        .map(|index| Change::add(0, address(index)))
        .collect();
    let applied = live.apply(&adds, NOW).unwrap();
    assert_eq!(
        (applied.version.number, live.counts(0).entries),
        (2, 20_001)
    );
    let removes: Vec<Change> = (0..10_000)
        .map(|index| Change::remove(0, address(index)))
        .collect();
    let version = live.apply(&removes, NOW).unwrap().version;
    for index in 0..20_000 {
        let Entry::V4(range) = address(index) else {
            unreachable!()
        };
        let in_network = u32::from(range.first() >> 24 == 10) << 1;
        let wanted = u32::from(index >= 10_000) | in_network;
        assert_eq!(version.lists.lookup_v4(range.first()).0, wanted, "{index}");
    }
}
