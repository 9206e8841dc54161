//! Published figures beside ours: as shapes, since the machines have nothing in common.

use lab::{Outcome, Published, Ratio, Row};

use super::field;
use super::grid::{times, varies};
use super::unit::digits;

/// One published figure with what it stands beside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    pub(super) published: &'a Published,
    /// Our row for the figure.
    pub(super) row: &'a Row,
    /// Our row for the first figure of its series, which the ratios are taken to.
    pub(super) base: &'a Row,
}

impl Shape<'_> {
    /// Our ratio, to hold against theirs: as in the table, the middle one of those of each round.
    pub(super) fn ratio_here(&self) -> f64 {
        let (ours, base) = (&self.row.samples, &self.base.samples);
        let medians = || ours.median() / base.median();
        Ratio::paired(ours, base).map_or_else(medians, |ratio| ratio.median)
    }

    /// Where our figure would lie if it had their ratio.
    pub(super) fn expected(&self) -> f64 {
        self.base.samples.median() * self.published.ratio
    }
}

/// All published figures that stand beside a row. A series begins with the ratio 1.
pub(super) fn shapes(outcome: &Outcome) -> Vec<Shape<'_>> {
    let mut base = None;
    let mut shapes = Vec::new();
    for published in &outcome.published {
        let Some(row) = outcome.rows.get(published.row) else {
            continue;
        };
        if base.is_none() || (published.ratio - 1.0).abs() < 1e-9 {
            base = Some(row);
        }
        shapes.extend(base.map(|base| Shape {
            published,
            row,
            base,
        }));
    }
    shapes
}

/// The published figure beside the row of this index.
pub(super) fn beside<'a>(shapes: &[Shape<'a>], row: usize) -> Option<Shape<'a>> {
    shapes
        .iter()
        .find(|shape| shape.published.row == row)
        .copied()
}

/// Whether all ratios are to the first row, as the table's own are: then theirs fit beside ours.
pub(super) fn one_series(shapes: &[Shape<'_>], outcome: &Outcome) -> bool {
    let first = outcome.rows.first();
    let to_first = |shape: &Shape<'_>| first.is_some_and(|first| std::ptr::eq(shape.base, first));
    !shapes.is_empty() && shapes.iter().all(to_first)
}

/// A sentence for each published figure that has no place in the table.
pub(super) fn sentences(outcome: &Outcome) -> Vec<String> {
    let shapes = shapes(outcome);
    if one_series(&shapes, outcome) {
        return Vec::new();
    }
    shapes
        .iter()
        .map(|shape| sentence(shape, &outcome.rows))
        .collect()
}

fn sentence(shape: &Shape<'_>, rows: &[Row]) -> String {
    let fields = shape.row.variant.iter();
    let telling = fields.filter(|(name, _)| varies(rows, name));
    let names: Vec<String> = telling
        .map(|(name, value)| field::named(name, value))
        .collect();
    format!(
        "{}: {} here, {} published ({} {})",
        names.join(", "),
        times(shape.ratio_here()),
        times(shape.published.ratio),
        digits(shape.published.figure),
        shape.published.unit,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laboratory::sample;

    #[test]
    fn a_series_of_its_own_is_told_in_sentences() {
        let mut outcome = sample::outcome();
        assert!(sentences(&outcome).is_empty(), "there is room in the table");
        outcome.published[0].row = 1;
        let found = sentences(&outcome);
        assert_eq!(
            found[0],
            "array, batch 4: x 1.00 here, x 1.00 published (3.70 Mpps)"
        );
        assert_eq!(
            found[1],
            "ours, batch 32: x 2.00 here, x 2.08 published (7.70 Mpps)"
        );
        outcome.published[1].row = 99;
        assert_eq!(sentences(&outcome).len(), 1, "a row that is not there");
    }
}
