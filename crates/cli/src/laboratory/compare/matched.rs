//! Which rows of two runs belong together.

use std::collections::HashMap;

use super::recorded::RecordedRow;

/// What a variant takes in memory, which may change between versions.
const FOOTPRINT: [&str; 1] = ["bytes"];
/// And which methods gave the most lines, of a limit that is the best of many.
const FOUND: [&str; 5] = ["bytes", "method", "distance", "or_method", "or_distance"];

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
    /// By variant and metric; what is left, by all but the footprint where that is unambiguous, and
    /// then by all but what a run finds out for itself.
    pub(super) fn of(base: &[RecordedRow], new: &[RecordedRow]) -> Self {
        let news: HashMap<String, usize> = places(new).collect();
        let exact = base.iter().map(|row| news.get(&row.key()).copied());
        let mut partners: Vec<Option<usize>> = exact.collect();
        let mut taken = vec![false; new.len()];
        partners.iter().flatten().for_each(|&at| taken[at] = true);
        let mut footprints_differ = false;
        for without in [&FOOTPRINT[..], &FOUND[..]] {
            let rest = by_rest(base, without, |at| partners[at].is_none());
            let mut news = by_rest(new, without, |at| !taken[at]);
            for (key, ours) in rest {
                let theirs = news.remove(&key).unwrap_or_default();
                if let (&[ours], &[theirs]) = (ours.as_slice(), theirs.as_slice()) {
                    partners[ours] = Some(theirs);
                    taken[theirs] = true;
                    footprints_differ |= base[ours].bytes() != new[theirs].bytes();
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
}

fn places(rows: &[RecordedRow]) -> impl Iterator<Item = (String, usize)> {
    let keys = rows.iter().map(RecordedRow::key);
    keys.zip(0..)
}

/// Places of some rows by all but these fields.
fn by_rest(
    rows: &[RecordedRow],
    without: &[&str],
    is_left: impl Fn(usize) -> bool,
) -> HashMap<String, Vec<usize>> {
    let mut found: HashMap<String, Vec<usize>> = HashMap::new();
    for place in (0..rows.len()).filter(|&place| is_left(place)) {
        let key = rows[place].key_without(without);
        found.entry(key).or_default().push(place);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::recorded::Scalar;
    use super::super::recorded::sample::row;
    use super::*;

    #[test]
    fn a_limit_is_one_whatever_its_best_method_was() {
        let limit = |method: &str, bytes| {
            let mut row = row(6, bytes, vec![1.0; 10]);
            let method = Scalar::Word(method.to_owned());
            row.variant.0.push(("or_method".to_owned(), method));
            row
        };
        let (base, new) = ([limit("batch t0", 10)], [limit("rolling t1", 10)]);
        let matched = Matched::of(&base, &new);
        assert_eq!(
            (matched.both, matched.footprints_differ),
            (vec![(0, 0)], false)
        );
        let matched = Matched::of(&base, &[limit("rolling t1", 11)]);
        assert!(matched.both.len() == 1 && matched.footprints_differ);
        // Where methods are what was varied they tell rows apart.
        let both = [limit("rolling t1", 10), limit("rolling t0", 10)];
        assert!(Matched::of(&base, &both).both.is_empty());
    }

    #[test]
    fn rows_are_matched_whatever_their_order_and_footprint() {
        let ones = || vec![1.0; 10];
        let base = [row(1, 10, ones()), row(2, 20, ones()), row(3, 30, ones())];
        let new = [row(4, 40, ones()), row(2, 25, ones()), row(1, 10, ones())];
        let matched = Matched::of(&base, &new);
        assert_eq!(matched.both, [(0, 2), (1, 1)]);
        assert_eq!((matched.only_base, matched.only_new), (vec![2], vec![0]));
        assert!(matched.footprints_differ);
        // Where the footprint is what was varied it cannot be left out.
        let base = [row(1, 10, ones()), row(1, 20, ones())];
        let new = [row(1, 30, ones()), row(1, 40, ones())];
        let matched = Matched::of(&base, &new);
        assert!(matched.both.is_empty() && !matched.footprints_differ);
        assert_eq!(matched.only_base, [0, 1]);
    }
}
