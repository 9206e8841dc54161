//! Which rows of two runs belong together.

use std::collections::HashMap;

use lab::Better;

use super::recorded::{Recorded, RecordedRow};
use super::verdict::{Judgement, judge};

/// A row that both runs have.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair<'a> {
    pub(super) base: &'a RecordedRow,
    pub(super) new: &'a RecordedRow,
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
    pub(super) fn of(base: &'a Recorded, new: &'a Recorded, relative: bool) -> Self {
        let (both, only_base, only_new, footprints_differ) = matched(&base.rows, &new.rows);
        let noise = base.noise().max(new.noise());
        let judged = both.iter().map(|&(base, new)| (base, new));
        let judged: Vec<Pair<'a>> = if relative {
            let (bases, news): (Vec<_>, Vec<_>) = judged.unzip();
            let (even_bases, even_news) = (levelled(&bases), levelled(&news));
            let samples = even_bases.iter().zip(&even_news);
            let rows = bases.into_iter().zip(news);
            rows.zip(samples)
                .map(|(rows, samples)| pair(rows, samples, noise))
                .collect()
        } else {
            judged
                .map(|rows| pair(rows, (&rows.0.samples, &rows.1.samples), noise))
                .collect()
        };
        Self {
            both: judged,
            only_base,
            only_new,
            footprints_differ,
        }
    }
}

fn pair<'a>(
    (base, new): (&'a RecordedRow, &'a RecordedRow),
    samples: (&Vec<f64>, &Vec<f64>),
    noise: f64,
) -> Pair<'a> {
    let judgement = judge(&base.metric, samples.0, samples.1, noise);
    Pair {
        base,
        new,
        judgement,
    }
}

type Rows<'a> = Vec<&'a RecordedRow>;
type Matched<'a> = (
    Vec<(&'a RecordedRow, &'a RecordedRow)>,
    Rows<'a>,
    Rows<'a>,
    bool,
);

/// By variant and metric; what is left, by all but the footprint where that is unambiguous.
fn matched<'a>(base: &'a [RecordedRow], new: &'a [RecordedRow]) -> Matched<'a> {
    let news: HashMap<String, usize> = new
        .iter()
        .enumerate()
        .map(|(place, row)| (row.key(), place))
        .collect();
    let mut partner: Vec<Option<usize>> = base
        .iter()
        .map(|row| news.get(&row.key()).copied())
        .collect();
    let mut taken = vec![false; new.len()];
    partner
        .iter()
        .flatten()
        .for_each(|&place| taken[place] = true);
    let mut by_rest: HashMap<String, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (place, row) in base
        .iter()
        .enumerate()
        .filter(|&(place, _)| partner[place].is_none())
    {
        by_rest
            .entry(row.key_without_bytes())
            .or_default()
            .0
            .push(place);
    }
    for (place, row) in new.iter().enumerate().filter(|&(place, _)| !taken[place]) {
        by_rest
            .entry(row.key_without_bytes())
            .or_default()
            .1
            .push(place);
    }
    let mut footprints_differ = false;
    for found in by_rest.values() {
        if let ([ours], [theirs]) = (found.0.as_slice(), found.1.as_slice()) {
            partner[*ours] = Some(*theirs);
            taken[*theirs] = true;
            footprints_differ = true;
        }
    }
    let both = base
        .iter()
        .zip(&partner)
        .filter_map(|(row, at)| Some((row, &new[(*at)?])));
    let alone = base.iter().zip(&partner).filter(|(_, at)| at.is_none());
    let rest = new.iter().zip(&taken).filter(|(_, taken)| !**taken);
    (
        both.collect(),
        alone.map(|(row, _)| row).collect(),
        rest.map(|(row, _)| row).collect(),
        footprints_differ,
    )
}

/// Samples over the geometric mean of their round's: what made all rows of a round slower alike
/// is gone. Rates and costs pull in opposite directions.
fn levelled(rows: &[&RecordedRow]) -> Vec<Vec<f64>> {
    let rounds = rows.iter().map(|row| row.samples.len()).max().unwrap_or(0);
    let direction = |row: &RecordedRow| match Better::of(&row.metric) {
        Some(Better::Higher) => 1.0,
        Some(Better::Lower) => -1.0,
        None => 0.0,
    };
    let mean = |round: usize| {
        let speeds = rows.iter().filter(|row| direction(row) != 0.0);
        let logs: Vec<f64> = speeds
            .filter_map(|row| Some(row.samples.get(round)?.ln() * direction(row)))
            .filter(|log| log.is_finite())
            .collect();
        logs.iter().sum::<f64>() / logs.len().max(1) as f64
    };
    let means: Vec<f64> = (0..rounds).map(mean).collect();
    let level = |row: &&RecordedRow| {
        let samples = row.samples.iter().zip(&means);
        samples
            .map(|(sample, mean)| sample * (-mean * direction(row)).exp())
            .collect()
    };
    rows.iter().map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::super::recorded::{Fields, Scalar};
    use super::super::verdict::Verdict;
    use super::*;

    fn row(entries: u64, bytes: u64, samples: Vec<f64>) -> RecordedRow {
        let fields = [("entries", entries), ("bytes", bytes)];
        RecordedRow {
            variant: Fields(
                fields
                    .map(|(name, value)| (name.to_owned(), Scalar::Number(value)))
                    .into(),
            ),
            metric: "lookups_per_second".to_owned(),
            samples,
        }
    }

    #[test]
    fn rows_are_matched_whatever_their_order_and_footprint() {
        let ones = || vec![1.0; 10];
        let base = [row(1, 10, ones()), row(2, 20, ones()), row(3, 30, ones())];
        let new = [row(4, 40, ones()), row(2, 25, ones()), row(1, 10, ones())];
        let (both, only_base, only_new, differ) = matched(&base, &new);
        assert_eq!(both, [(&base[0], &new[2]), (&base[1], &new[1])]);
        assert_eq!((only_base, only_new), (vec![&base[2]], vec![&new[0]]));
        assert!(differ);
        // Where the footprint is what was varied it cannot be left out.
        let base = [row(1, 10, ones()), row(1, 20, ones())];
        let new = [row(1, 30, ones()), row(1, 40, ones())];
        let (both, only_base, _, differ) = matched(&base, &new);
        assert_eq!((both.len(), only_base.len(), differ), (0, 2, false));
    }

    #[test]
    fn levelled_rounds_forget_the_machine() {
        let drift = [1.0, 2.0, 0.5, 1.5, 3.0, 1.0, 2.5, 0.7, 1.1, 1.9];
        let slow = |speed: f64| drift.map(|drift| speed * drift * 0.6).to_vec();
        let fast = |speed: f64| drift.map(|drift| speed / drift).to_vec();
        let base = [
            row(1, 1, fast(100.0)),
            row(2, 1, fast(50.0)),
            row(3, 1, fast(10.0)),
        ];
        let new = [
            row(1, 1, slow(100.0)),
            row(2, 1, slow(50.0)),
            row(3, 1, slow(5.0)),
        ];
        let level = |rows: &[RecordedRow]| levelled(&rows.iter().collect::<Vec<_>>());
        let (bases, news) = (level(&base), level(&new));
        let verdict = |place: usize| {
            judge("lookups_per_second", &bases[place], &news[place], 0.0)
                .ratio
                .expect("ten")
                .median
        };
        // A third of what one row lost in the mean of three is what the others gain.
        assert!((verdict(2) / verdict(0) - 0.5).abs() < 1e-6);
        assert!((verdict(0) - 2f64.cbrt()).abs() < 1e-6);
        assert_eq!(
            judge("lookups_per_second", &bases[2], &news[2], 0.1).verdict,
            Verdict::Slower
        );
    }
}
