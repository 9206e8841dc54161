//! What the experiment looks keys up in, and a trial of it.

use std::hint::black_box;
use std::rc::Rc;
use std::time::Duration;

use table::{AddressSetV4, AddressSetV6, CompiledLists, ListMask};

use crate::contest::{Contestant, better_half, rate};
use crate::design::Design;
use crate::key::{Cursor, Key, Stream, drive};
use crate::memory::{Line, Tables};
use crate::places::Placed;
use crate::{Trial, Value};

/// Most keys of a burst: two each of 256 frames.
const KEYS_MAX: usize = 512;

/// Room for the answers of a burst, as a caller has it.
pub(crate) struct Answers {
    found: [bool; KEYS_MAX],
    pub(crate) masks: [ListMask; KEYS_MAX],
}

/// Anything that answers a burst of keys.
pub(crate) trait Set<K: Key> {
    /// At most [`KEYS_MAX`] keys.
    fn lookup(&self, keys: &[K], answers: &mut Answers);

    /// What nearly all of a lookup's reads lie in, where it can be read otherwise too.
    fn lines(&self) -> Option<&[Line]> {
        None
    }

    /// [`Set::lookup`] of all keys in bursts, from a loop of this set's own: as a call through a
    /// pointer each, bursts of 64 had 0.96 of the rate.
    fn lookup_all(&self, keys: &[K], burst: usize, answers: &mut Answers) {
        drive(keys, burst, |keys| self.lookup(keys, answers));
    }
}

impl Set<u32> for AddressSetV4 {
    fn lookup(&self, keys: &[u32], answers: &mut Answers) {
        black_box(self.contains_burst(keys, &mut answers.found));
    }

    fn lines(&self) -> Option<&[Line]> {
        self.lines()
    }
}

impl Set<u128> for AddressSetV6 {
    fn lookup(&self, keys: &[u128], answers: &mut Answers) {
        black_box(self.contains_burst(keys, &mut answers.found));
    }
}

impl Set<u32> for CompiledLists {
    fn lookup(&self, keys: &[u32], answers: &mut Answers) {
        self.lookup_burst_v4(keys, &mut answers.masks);
        black_box(&answers.masks);
    }

    fn lines(&self) -> Option<&[Line]> {
        self.lines_v4()
    }
}

impl Set<u128> for CompiledLists {
    fn lookup(&self, keys: &[u128], answers: &mut Answers) {
        self.lookup_burst_v6(keys, &mut answers.masks);
        black_box(&answers.masks);
    }
}

/// Sets alike, which rounds take in turn.
pub(crate) type Sets<K> = Placed<Box<dyn Set<K>>>;

/// These sets, without their type.
pub(crate) fn boxed<K: Key, S: Set<K> + 'static>(sets: Placed<S>) -> Rc<Sets<K>> {
    Rc::new(sets.map(|set| Box::new(set) as Box<dyn Set<K>>))
}

impl<K: Key> Tables for Sets<K> {
    fn lines(&self, trial: &Trial) -> &[Line] {
        self.of(trial).lines().unwrap_or_default()
    }
}

/// One of our sets, for its limit.
pub(crate) struct Ours {
    pub(crate) facts: Facts,
    pub(crate) tables: Rc<dyn Tables>,
}

impl Ours {
    pub(crate) fn new<K: Key>(facts: &Facts, sets: &Rc<Sets<K>>) -> Self {
        Self {
            facts: facts.clone(),
            tables: Rc::clone(sets) as Rc<dyn Tables>,
        }
    }
}

/// One of the other designs, each driven from a loop of its own as ours are.
pub(crate) struct Other<D>(pub(crate) D);

impl<D: Design> Set<u32> for Other<D> {
    fn lookup(&self, keys: &[u32], answers: &mut Answers) {
        black_box(
            self.0
                .contains_burst(keys, &mut answers.found[..keys.len()]),
        );
    }
}

/// What a row says of the set.
#[derive(Clone)]
pub(crate) struct Facts {
    pub(crate) design: &'static str,
    pub(crate) family: u32,
    /// `addresses`, `networks` or `routes`.
    pub(crate) kind: &'static str,
    pub(crate) entries: usize,
    /// Lists that entries are dealt over.
    pub(crate) lists: Option<usize>,
    pub(crate) bytes: usize,
    /// Of a table of heads.
    pub(crate) heads: Option<usize>,
    /// Where networks come from.
    pub(crate) source: Option<&'static str>,
}

impl Facts {
    /// The fields of a row; `burst` and `stream` where keys are looked up.
    pub(crate) fn variant(
        &self,
        keys: Option<(usize, &'static str)>,
    ) -> Vec<(&'static str, Value)> {
        let mut variant: Vec<(&'static str, Value)> = vec![
            ("design", self.design.into()),
            ("family", self.family.into()),
            ("kind", self.kind.into()),
            ("entries", self.entries.into()),
        ];
        variant.extend(self.lists.map(|lists| ("lists", lists.into())));
        variant.push(("bytes", self.bytes.into()));
        if let Some((burst, stream)) = keys {
            variant.extend([("burst", burst.into()), ("stream", stream.into())]);
        }
        variant.extend(self.heads.map(|heads| ("heads", heads.into())));
        variant.extend(self.source.map(|source| ("source", source.into())));
        variant
    }
}

/// Which keys a row is about.
#[derive(Clone)]
pub(crate) struct Keys<K> {
    /// As the row names it.
    pub(crate) name: &'static str,
    pub(crate) stream: Rc<Stream<K>>,
    /// 1, or 2 where two keys, source and destination, make a frame.
    pub(crate) each: usize,
}

/// Looks a stream up in a set in bursts of `burst`, frames where keys are pairs; the row says
/// `named`, which is smaller where the design does not use the burst.
pub(crate) fn contestant<K: Key>(
    facts: &Facts,
    sets: &Rc<Sets<K>>,
    keys: &Keys<K>,
    (burst, named): (usize, usize),
    wanted: Duration,
) -> Contestant {
    let (sets, keys) = (Rc::clone(sets), keys.clone());
    let variant = facts.variant(Some((named, keys.name)));
    // Eight keys for each line of the set: what the caches can hold is there then.
    let warm = facts.bytes / 8 / keys.each;
    let mut cursor = Cursor::default();
    let mut answers = Box::new(Answers {
        found: [false; KEYS_MAX],
        masks: [ListMask::EMPTY; KEYS_MAX],
    });
    Contestant {
        variant,
        metric: if keys.each == 1 {
            "lookups_per_second"
        } else {
            "pairs_per_second"
        },
        measure: Box::new(move |trial| {
            let lines = size_of_val(keys.stream.keys()).min(64) / size_of::<K>();
            let set = sets.of(trial);
            better_half(|half| {
                // The second half finds in the caches what the first left.
                let warm = if half == 0 { warm } else { 0 };
                rate(wanted / 2, warm, |frames| {
                    let all = keys.stream.keys();
                    let taken = cursor.take(all, frames * keys.each, trial.shift_lines * lines);
                    set.lookup_all(taken, burst * keys.each, &mut answers);
                })
            })
        }),
    }
}
