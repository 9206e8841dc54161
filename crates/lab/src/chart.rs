//! What a page should draw: which rows, over what, in which colours. How it is drawn is the
//! page's business.

use crate::Value;

/// The form of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// A bar a row, for variants that are names.
    Bars,
    /// A line a series over a numeric axis; the axis is logarithmic where the values span more
    /// than a factor of 16.
    Lines,
}

/// One chart of an experiment's page.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows, in a few words.
    pub title: String,
    /// What a reader should see in it, a sentence or two.
    pub caption: String,
    /// Its form.
    pub kind: ChartKind,
    /// The metric on the vertical axis; rows of others are left out.
    pub metric: &'static str,
    /// Rows of this metric are drawn beside them, to hold them against; a field that they do not
    /// have leaves none of them out.
    pub beside: Option<&'static str>,
    /// The variant's field on the horizontal axis.
    pub x: &'static str,
    /// The fields that tell series apart; may be empty.
    pub series: Vec<&'static str>,
    /// Only rows whose variant has these values.
    pub only: Vec<(&'static str, Value)>,
}
