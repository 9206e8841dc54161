//! Rules that can never match.

use std::collections::BTreeMap;

use super::ranges::{by_field, covers};
use super::{Entry, Field, Then, Values};

/// Pairs of rules that are compared, at most; later rules are not looked at then.
const PAIRS_MAX: usize = 1 << 28;

/// Why an entry never matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shadow {
    /// Its conditions contradict each other.
    Contradiction,
    /// The entry of this number decides on all packets that it would match.
    Behind(usize),
}

/// Why entries never match, by entry; what several earlier rules match together is not seen.
#[must_use]
pub fn shadows(entries: &[Entry]) -> Vec<Option<Shadow>> {
    let fields: Vec<_> = entries.iter().map(by_field).collect();
    let mut ends: Vec<(usize, &BTreeMap<Field, Values>)> = Vec::new();
    let mut pairs = 0_usize;
    let mut found = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        let Some(own) = &fields[number] else {
            found.push(Some(Shadow::Contradiction));
            continue;
        };
        pairs += ends.len();
        let tried = if pairs > PAIRS_MAX { &[][..] } else { &ends };
        let before = tried.iter().find(|(_, earlier)| contains(earlier, own));
        found.push(before.map(|&(earlier, _)| Shadow::Behind(earlier)));
        if entry.then != Then::Continue && before.is_none() {
            ends.push((number, own));
        }
    }
    found
}

/// Whether all packets of `inner` match `outer`.
fn contains(outer: &BTreeMap<Field, Values>, inner: &BTreeMap<Field, Values>) -> bool {
    outer.iter().all(|(field, values)| {
        let own = inner.get(field);
        own.is_some_and(|own| covers(values, own))
    })
}
