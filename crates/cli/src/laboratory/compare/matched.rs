//! Which rows of two runs belong together.

use std::collections::HashMap;

use super::recorded::RecordedRow;

/// Rows of two runs by their places in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Matched {
    /// Rows that both have.
    pub(super) both: Vec<(usize, usize)>,
    pub(super) only_base: Vec<usize>,
    pub(super) only_new: Vec<usize>,
    /// Whether some belong together but for the memory they take.
    pub(super) footprints_differ: bool,
}

impl Matched {
    /// By variant and metric, without what a run finds out for itself; and what is left, without
    /// its footprint. Either where one row alone of each run is named so: where footprints are
    /// what was varied, they tell rows apart.
    pub(super) fn of(base: &[RecordedRow], new: &[RecordedRow]) -> Self {
        let mut partners: Vec<Option<usize>> = vec![None; base.len()];
        let mut taken = vec![false; new.len()];
        let mut footprints_differ = false;
        for name in [RecordedRow::key, key_without_found, key_without_bytes] {
            let news = singles(new, name);
            for (key, at) in singles(base, name) {
                let Some(&its) = news.get(&key) else { continue };
                if partners[at].is_none() && !taken[its] {
                    partners[at] = Some(its);
                    taken[its] = true;
                    footprints_differ |= base[at].field("bytes") != new[its].field("bytes");
                }
            }
        }
        let both = partners.iter().enumerate();
        Self {
            both: both.filter_map(|(at, &new)| Some((at, new?))).collect(),
            only_base: (0..base.len())
                .filter(|&at| partners[at].is_none())
                .collect(),
            only_new: (0..new.len()).filter(|&at| !taken[at]).collect(),
            footprints_differ,
        }
    }

    /// The place in the other run of each row of `rows`, the number of the base's rows.
    pub(super) fn partners(&self, rows: usize) -> Vec<Option<usize>> {
        let mut partners = vec![None; rows];
        for &(at, its) in &self.both {
            partners[at] = Some(its);
        }
        partners
    }
}

/// What is no part of a row's name since the run found it out: by which methods the limit is the
/// best of many, and at what distance.
fn found(row: &RecordedRow) -> &'static [&'static str] {
    if row.field("or_method").is_some() {
        &["method", "distance", "or_method", "or_distance"]
    } else {
        &["at_distance"]
    }
}

fn key_without_found(row: &RecordedRow) -> String {
    row.key_of(|name| !found(row).contains(&name))
}

/// A table may take other memory in another version.
fn key_without_bytes(row: &RecordedRow) -> String {
    row.key_of(|name| name != "bytes" && !found(row).contains(&name))
}

/// Places of the rows that are the only ones of their names.
fn singles(rows: &[RecordedRow], name: fn(&RecordedRow) -> String) -> HashMap<String, usize> {
    let mut places: HashMap<String, Option<usize>> = HashMap::new();
    for (place, row) in rows.iter().enumerate() {
        let of_name = places.entry(name(row));
        of_name
            .and_modify(|known| *known = None)
            .or_insert(Some(place));
    }
    let single = |(name, place): (String, Option<usize>)| Some((name, place?));
    places.into_iter().filter_map(single).collect()
}

#[cfg(test)]
mod tests {
    use super::super::recorded::Scalar;
    use super::super::recorded::sample::row;
    use super::*;

    fn ones() -> Vec<f64> {
        vec![1.0; 10]
    }

    fn with(entries: u64, bytes: u64, field: &str, word: &str) -> RecordedRow {
        let mut row = row(entries, bytes, ones());
        let value = Scalar::Word(word.to_owned());
        row.variant.0.push((field.to_owned(), value));
        row
    }

    #[test]
    fn a_limit_is_one_whatever_its_best_method_was() {
        let limit = |method, bytes| with(6, bytes, "or_method", method);
        let matched = Matched::of(&[limit("batch t0", 10)], &[limit("rolling t1", 10)]);
        assert_eq!(
            (matched.both, matched.footprints_differ),
            (vec![(0, 0)], false)
        );
        let matched = Matched::of(&[limit("batch t0", 10)], &[limit("rolling t1", 11)]);
        assert!(matched.both.len() == 1 && matched.footprints_differ);
        // The best of each footprint, at the distance that was best.
        let best = |bytes, distance| with(6, bytes, "at_distance", distance);
        let (base, new) = (
            [best(1, "32"), best(2, "64")],
            [best(2, "32"), best(1, "64")],
        );
        let matched = Matched::of(&base, &new);
        assert_eq!(matched.both, [(0, 1), (1, 0)]);
        assert!(!matched.footprints_differ);
    }

    #[test]
    fn methods_that_were_varied_tell_rows_apart() {
        let rows = |other| [with(6, 1, "method", "plain"), with(6, 1, "method", other)];
        let matched = Matched::of(&rows("batch"), &rows("rolling"));
        assert_eq!(matched.both, [(0, 0)]);
        assert_eq!((matched.only_base, matched.only_new), (vec![1], vec![1]));
    }

    #[test]
    fn rows_are_matched_whatever_their_order_and_footprint() {
        let base = [row(1, 10, ones()), row(2, 20, ones()), row(3, 30, ones())];
        let new = [row(4, 40, ones()), row(2, 25, ones()), row(1, 10, ones())];
        let matched = Matched::of(&base, &new);
        assert_eq!(matched.both, [(0, 2), (1, 1)]);
        assert_eq!(matched.partners(3), [Some(2), Some(1), None]);
        assert_eq!((matched.only_base, matched.only_new), (vec![2], vec![0]));
        assert!(matched.footprints_differ);
        // Where the footprint is what was varied it cannot be left out, not of the last one either.
        let base = [row(1, 10, ones()), row(1, 20, ones())];
        let new = [row(1, 10, ones()), row(1, 40, ones())];
        let matched = Matched::of(&base, &new);
        assert_eq!(matched.both, [(0, 0)]);
        assert_eq!((matched.only_base, matched.only_new), (vec![1], vec![1]));
        assert!(!matched.footprints_differ);
    }
}
