//! The rows that two runs have in common, judged.

use lab::Better;

use super::between::Between;
use super::matched::Matched;
use super::recorded::{Recorded, RecordedRow};
use super::side::Side;
use super::verdict::{Judgement, judge};

/// A row that both runs have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair<'a> {
    pub(super) base: &'a RecordedRow,
    pub(super) new: &'a RecordedRow,
    /// The share that a difference must be larger than.
    pub(super) noise: f64,
    pub(super) judgement: Judgement,
}

/// All rows of two runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pairs<'a> {
    pub(super) both: Vec<Pair<'a>>,
    pub(super) only_base: Vec<&'a RecordedRow>,
    pub(super) only_new: Vec<&'a RecordedRow>,
    /// Whether some belong together but for the memory they take.
    pub(super) footprints_differ: bool,
}

impl<'a> Pairs<'a> {
    /// Matches and judges `new` against `base`, whose samples `sides` have in this order.
    pub(super) fn of(
        base: &'a Recorded,
        new: &'a Recorded,
        sides: [&Side<'_>; 2],
        between: &Between,
    ) -> Self {
        let matched = Matched::of(&base.rows, &new.rows);
        let within = base.noise().max(new.noise());
        let judged = matched.both.iter();
        let judged = judged.filter(|&&(at, _)| Better::of(&base.rows[at].metric).is_some());
        let of = judged.count();
        let pair = |&(at, its): &(usize, usize)| {
            let (base, new) = (&base.rows[at], &new.rows[its]);
            let noise = within.max(between.noise(at));
            let samples = sides.map(|side| side.samples(at).unwrap_or_default());
            Pair {
                base,
                new,
                noise,
                judgement: judge(&base.metric, (&samples[0], &samples[1]), noise, of),
            }
        };
        Self {
            both: matched.both.iter().map(pair).collect(),
            only_base: matched.only_base.iter().map(|&at| &base.rows[at]).collect(),
            only_new: matched.only_new.iter().map(|&at| &new.rows[at]).collect(),
            footprints_differ: matched.footprints_differ,
        }
    }
}
