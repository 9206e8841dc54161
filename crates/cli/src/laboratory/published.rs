//! Published figures beside ours: as shapes, since the machines have nothing in common.

use lab::{Outcome, Published, Row};

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
    /// Our ratio, to hold against theirs.
    pub(super) fn ratio_here(&self) -> f64 {
        self.row.samples.median() / self.base.samples.median()
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
