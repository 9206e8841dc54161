//! The rows that two runs have in common, judged.

use super::between::Between;
use super::levelled::levelled;
use super::matched::Matched;
use super::recorded::{Recorded, RecordedRow};
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
    /// Matches and judges. With `relative`, each sample is first divided by its round's mean.
    pub(super) fn of(
        base: &'a Recorded,
        new: &'a Recorded,
        between: &Between,
        relative: bool,
    ) -> Self {
        let matched = Matched::of(&base.rows, &new.rows);
        let (bases, news) = samples(&base.rows, &new.rows, &matched, relative);
        let within = base.noise().max(new.noise());
        let of = matched.both.len();
        let pair = |place: usize| {
            let (at, its) = matched.both[place];
            let (base, new) = (&base.rows[at], &new.rows[its]);
            let noise = within.max(between.noise(at));
            let samples = (bases[place].as_slice(), news[place].as_slice());
            Pair {
                base,
                new,
                noise,
                judgement: judge(&base.metric, samples, noise, of),
            }
        };
        Self {
            both: (0..of).map(pair).collect(),
            only_base: matched.only_base.iter().map(|&at| &base.rows[at]).collect(),
            only_new: matched.only_new.iter().map(|&at| &new.rows[at]).collect(),
            footprints_differ: matched.footprints_differ,
        }
    }
}

/// Samples of the rows that both have, of one run and of the other.
pub(super) fn samples(
    base: &[RecordedRow],
    new: &[RecordedRow],
    matched: &Matched,
    relative: bool,
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let rows = matched
        .both
        .iter()
        .map(|&(at, place)| (&base[at], &new[place]));
    let (bases, news): (Vec<_>, Vec<_>) = rows.unzip();
    let taken = |rows: &[&RecordedRow]| match relative {
        true => levelled(rows),
        false => rows.iter().map(|row| row.samples.clone()).collect(),
    };
    (taken(&bases), taken(&news))
}
