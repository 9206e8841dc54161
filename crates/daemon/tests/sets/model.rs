//! Many ask at once, and every version that is published is right.
//!
//! Each of several threads changes a set of its own and keeps, as plain sets, what the set must
//! have after each answer. What workers were given, in order, must be exactly these states.

use crate::world::{Random, config, from, name};
use daemon::sets::{Handle, Keeper, NewEntry, Origin, Publish, Request};
use plane::Ruleset;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use table::live::Entry;
use table::{Entries, Network};

const SETS: usize = 4;
const STEPS: usize = 250;
/// Addresses of a small world: 10.0.0.0/26 of entries of one and of four.
const ADDRESSES: u32 = 64;
const FIRST: u32 = 0x0900_0000;

/// One bit an address.
type State = u64;

/// What each set had in each version.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<[State; SETS]>>>);

impl Publish for Seen {
    fn publish(&mut self, next: Ruleset) -> u64 {
        let mut states = [0; SETS];
        for address in 0..ADDRESSES {
            let mask = next.lists().lookup_v4(FIRST + address);
            for (set, state) in states.iter_mut().enumerate() {
                *state |= State::from(mask.contains(set)) << address;
            }
        }
        let mut all = self.0.lock().expect("no panic");
        all.push(states);
        all.len() as u64
    }

    fn wait_seen(&mut self, _: u64, _: Duration) -> bool {
        true
    }
}

/// A set as a person would keep it: entries are (first, count).
#[derive(Default)]
struct Model {
    file: BTreeSet<(u32, u32)>,
    hand: BTreeSet<(u32, u32)>,
    feed: BTreeSet<(u32, u32)>,
    /// All states it went through; true for those that workers may not have been given.
    history: Vec<(State, bool)>,
}

impl Model {
    fn note(&mut self) {
        self.note_as(false);
    }

    fn note_as(&mut self, may_be_missing: bool) {
        let all = self.file.iter().chain(&self.hand).chain(&self.feed);
        let bits = |&(first, count): &(u32, u32)| ((1 << count) - 1) << first;
        let state = all
            .map(bits)
            .fold(0, |state: State, bits: State| state | bits);
        if self.history.last().is_none_or(|&(last, _)| last != state) {
            self.history.push((state, may_be_missing));
        }
    }

    /// Holds what workers were given against all states.
    fn check(&self, given: &[State]) {
        let mut history = self.history.iter().peekable();
        let mut last = None;
        for &state in given {
            let may_pass = |&&(other, may_be_missing): &&(State, bool)| {
                other != state && (may_be_missing || Some(other) == last)
            };
            while history.next_if(|next| may_pass(next)).is_some() {}
            let next = history.next().map(|&(next, _)| next);
            assert_eq!(next, Some(state), "after {last:x?}");
            last = Some(state);
        }
        let missing =
            |&&(state, may_be_missing): &&(State, bool)| !may_be_missing && Some(state) != last;
        assert_eq!(history.find(missing), None);
    }
}

fn draw(random: &mut Random) -> (u32, u32) {
    let first = random.below(u64::from(ADDRESSES)) as u32;
    if random.below(3) == 0 {
        (first & !3, 4)
    } else {
        (first, 1)
    }
}

fn entry((first, count): (u32, u32)) -> Entry {
    let bits = if count == 4 { 30 } else { 32 };
    Network::new(FIRST + first, bits).expect("aligned").into()
}

fn draws(random: &mut Random) -> Vec<(u32, u32)> {
    (0..=random.below(5)).map(|_| draw(random)).collect()
}

/// One thread's life.
fn change(handle: &Handle, set: usize, mut random: Random) -> Model {
    let mut model = Model::default();
    model.note();
    let set = name(&format!("s{set}"));
    for _ in 0..STEPS {
        let drawn = draws(&mut random);
        let new = |drawn: &(u32, u32)| NewEntry::from(entry(*drawn));
        let entries: Vec<NewEntry> = drawn.iter().map(new).collect();
        let plain: Vec<Entry> = drawn.iter().map(|&drawn| entry(drawn)).collect();
        let set = set.clone();
        let request = match random.below(12) {
            kind @ 0..6 => {
                let (origin, part) = match kind {
                    0..4 => (Origin::Hand, &mut model.hand),
                    _ => (Origin::CrowdSec, &mut model.feed),
                };
                part.extend(&drawn);
                Request::Add {
                    set,
                    entries,
                    origin,
                }
            }
            6 | 7 => {
                for part in [&mut model.file, &mut model.hand, &mut model.feed] {
                    part.retain(|entry| !drawn.contains(entry));
                }
                let (entries, origin) = (plain, Origin::Hand);
                Request::Delete {
                    set,
                    entries,
                    origin,
                }
            }
            8 => {
                model.feed.retain(|entry| !drawn.contains(entry));
                let (entries, origin) = (plain, Origin::CrowdSec);
                Request::Delete {
                    set,
                    entries,
                    origin,
                }
            }
            9 => {
                model.file = drawn.iter().copied().collect();
                load(set, &drawn)
            }
            10 => {
                // The file part goes first, at once or a turn before the other.
                model.file.clear();
                model.note_as(true);
                model.hand.clear();
                model.feed.clear();
                Request::Flush { set }
            }
            _ => {
                expire(handle, &set, &mut model, drawn[0]);
                continue;
            }
        };
        handle.ask(request).expect("done");
        model.note();
    }
    model
}

fn load(set: daemon::sets::SetName, drawn: &[(u32, u32)]) -> Request {
    let mut entries = Entries::default();
    for &drawn in drawn {
        if let Entry::V4(range) = entry(drawn) {
            entries.v4.ranges.push(range);
        }
    }
    Request::Load {
        set,
        entries,
        source: from("model"),
        origin: Origin::File,
        force: true,
    }
}

/// Adds an entry that goes by itself, and waits until it is gone.
fn expire(handle: &Handle, set: &daemon::sets::SetName, model: &mut Model, drawn: (u32, u32)) {
    // Given anew with a time, what was for good is no longer. On a busy machine the time is over
    // before workers are given anything.
    model.hand.insert(drawn);
    model.note_as(true);
    let new = NewEntry {
        timeout: Some(Duration::from_millis(3)),
        ..NewEntry::from(entry(drawn))
    };
    let add = Request::Add {
        set: set.clone(),
        entries: vec![new],
        origin: Origin::Hand,
    };
    handle.ask(add).expect("added");
    // Where the feed holds it, too, nobody sees when this claim is over.
    std::thread::sleep(Duration::from_millis(10));
    loop {
        let show = Request::Show { set: set.clone() };
        match handle.ask(show).expect("a set") {
            daemon::sets::Reply::Set(facts) if facts.counts.timed == 0 => break,
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    model.hand.remove(&drawn);
    model.note();
}

#[test]
fn every_version_is_a_state_that_was_asked_for() {
    let mut random = Random::seeded();
    let names: Vec<String> = (0..SETS).map(|set| format!("s{set}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let seen = Seen::default();
    let dir = tempfile::tempdir().expect("a folder");
    let journal = daemon::journal::Journal::open(dir.path(), Default::default(), 1);
    let (journal, kept, _) = journal.expect("a journal");
    let restart = daemon::journal::Restart {
        journal: Some(journal),
        kept,
    };
    let to_workers = Box::new(seen.clone());
    let started = Keeper::start(config(&names), restart, to_workers);
    let (handle, keeper) = started.expect("a keeper");
    let threads: Vec<_> = (0..SETS)
        .map(|set| {
            let (handle, random) = (handle.clone(), Random(random.word()));
            std::thread::spawn(move || change(&handle, set, random))
        })
        .collect();
    let models: Vec<Model> = threads
        .into_iter()
        .map(|thread| thread.join().expect("no panic"))
        .collect();
    keeper.stop();
    let seen = seen.0.lock().expect("no panic");
    for (set, model) in models.iter().enumerate() {
        let mut states: Vec<State> = seen.iter().map(|states| states[set]).collect();
        states.dedup();
        println!(
            "set {set}: {} versions of {} states",
            states.len(),
            model.history.len()
        );
        model.check(&states);
    }
    // What was kept is what the dynamic parts had.
    let journal = daemon::journal::Journal::open(dir.path(), Default::default(), 1);
    let (_, kept, _) = journal.expect("a journal");
    for (set, model) in models.iter().enumerate() {
        let wanted: BTreeSet<Entry> = model.hand.union(&model.feed).map(|&e| entry(e)).collect();
        let timed =
            |kept: &Vec<daemon::journal::Kept>| kept.iter().all(|kept| kept.expires_ms.is_some());
        let kept = kept.sets.get(&name(&format!("s{set}")));
        let kept = kept.map(|kept| &kept.entries).into_iter().flatten();
        let kept = kept.filter(|(_, kept)| !timed(kept));
        let kept: BTreeSet<Entry> = kept.map(|(&entry, _)| entry).collect();
        assert_eq!(kept, wanted, "set {set}");
    }
}
