//! Sorted ranges of values, and what they have in common.

use std::collections::BTreeMap;

use super::{Entry, Field, Values};

/// In order, none touching another.
pub(super) fn sorted(mut values: Values) -> Values {
    values.retain(|(first, last)| first <= last);
    values.sort_unstable();
    let mut joined: Values = Vec::with_capacity(values.len());
    for (first, last) in values {
        match joined.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    joined
}

/// What is in both, which are sorted.
fn common(left: &Values, right: &Values) -> Values {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut both = Values::new();
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let (first, last) = (one.0.max(other.0), one.1.min(other.1));
        if first <= last {
            both.push((first, last));
        }
        if one.1 < other.1 {
            left.next();
        } else {
            right.next();
        }
    }
    both
}

/// Whether all of `inner` is in `outer`; both are sorted.
pub(super) fn covers(outer: &Values, inner: &Values) -> bool {
    inner.iter().all(|&(first, last)| {
        let before = outer.partition_point(|range| range.0 <= first);
        before.checked_sub(1).is_some_and(|at| outer[at].1 >= last)
    })
}

/// The conditions of a rule, one a field; `None` when they contradict each other.
pub(super) fn by_field(entry: &Entry) -> Option<BTreeMap<Field, Values>> {
    let mut fields = BTreeMap::new();
    for condition in &entry.conditions {
        let max = condition.field.value_max();
        let values = sorted(condition.values.clone());
        let values = common(&values, &vec![(0, max)]);
        let values = match fields.get(&condition.field) {
            Some(before) => common(before, &values),
            None => values,
        };
        if values.is_empty() {
            return None;
        }
        fields.insert(condition.field, values);
    }
    Some(fields)
}
