//! The rows of a run as a table, with every sample as a stroke.

use lab::{Outcome, Row};

use crate::laboratory::grid::{Grid, NO_DIFFERENCE, RATIO};
use crate::laboratory::markup::{Markup, px};
use crate::laboratory::unit::digits;

const STRIP: (f64, f64) = (120.0, 18.0);
/// Longer cells may be broken into lines.
const NOWRAP_MAX: usize = 28;
/// A field is rare that fewer than one row in so many has.
const RARE: usize = 3;

pub(super) fn draw(page: &mut Markup, grid: &Grid, outcome: &Outcome) {
    let is_rare: Vec<bool> = (0..grid.columns.len())
        .map(|at| is_rare(grid, at))
        .collect();
    page.inside("div", &[("class", &"wide")], |page| {
        page.inside("table", &[], |page| {
            page.inside("thead", &[], |page| heading(page, grid, &is_rare));
            page.inside("tbody", &[], |page| {
                for place in 0..outcome.rows.len() {
                    line(page, (grid, &is_rare), outcome, place);
                }
            });
        });
    });
}

/// Whether a column is of a field that few rows have. Their results would be pushed off the page
/// for it: it goes behind them, all such fields in one.
fn is_rare(grid: &Grid, column: usize) -> bool {
    let with = grid.rows.iter().filter(|row| row[column] != "-").count();
    grid.columns[column].is_field && with * RARE < grid.rows.len()
}

/// What a row has in its rare columns: `method rolling t1, distance 64`.
fn rare(grid: &Grid, is_rare: &[bool], place: usize) -> String {
    let cells = grid.columns.iter().zip(&grid.rows[place]).zip(is_rare);
    let rare = cells.filter(|((_, cell), is_rare)| **is_rare && *cell != "-");
    let named = rare.map(|((column, cell), _)| format!("{} {cell}", column.heading));
    named.collect::<Vec<_>>().join(", ")
}

fn heading(page: &mut Markup, grid: &Grid, is_rare: &[bool]) {
    page.inside("tr", &[], |page| {
        let columns = grid.columns.iter().zip(is_rare);
        for (column, _) in columns.filter(|(_, is_rare)| !**is_rare) {
            let class = class(column.words, "");
            page.leaf(
                "th",
                &[("scope", &"col"), ("class", &class)],
                &column.heading,
            );
        }
        page.leaf("th", &[("scope", &"col")], "samples, from 0");
        if is_rare.contains(&true) {
            page.leaf("th", &[("scope", &"col")], "also");
        }
    });
}

fn line(page: &mut Markup, (grid, is_rare): (&Grid, &[bool]), outcome: &Outcome, place: usize) {
    page.inside("tr", &[], |page| {
        let cells = grid.columns.iter().zip(&grid.rows[place]).zip(is_rare);
        for ((column, cell), _) in cells.filter(|(_, is_rare)| !**is_rare) {
            let class = class(column.words, cell);
            match interval(outcome, place).filter(|_| column.heading == RATIO) {
                Some(title) => page.leaf("td", &[("class", &class), ("title", &title)], cell),
                None => page.leaf("td", &[("class", &class)], cell),
            }
        }
        page.inside("td", &[], |page| strip(page, &outcome.rows[place], outcome));
        if is_rare.contains(&true) {
            let rare = rare(grid, is_rare, place);
            page.leaf("td", &[("class", &class(true, &rare))], &rare);
        }
    });
}

/// What a pointer that rests on a ratio is told.
fn interval(outcome: &Outcome, place: usize) -> Option<String> {
    let ratio = outcome.against_first(place)?.ratio?;
    let [median, low, high] = [ratio.median, ratio.low, ratio.high].map(digits);
    Some(format!("x {median}, 95 % interval {low} to {high}"))
}

fn class(words: bool, cell: &str) -> String {
    let mut class = String::from(if words { "words" } else { "number" });
    if [NO_DIFFERENCE, "first", "-"].contains(&cell) {
        class += " quiet";
    }
    if cell.chars().count() > NOWRAP_MAX {
        class += " long";
    }
    class
}

/// A stroke a sample, on the scale that all rows of the metric share.
fn strip(page: &mut Markup, row: &Row, outcome: &Outcome) {
    let (width, height) = STRIP;
    let largest = outcome
        .rows
        .iter()
        .filter(|other| other.metric == row.metric)
        .flat_map(|other| other.samples.all())
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max);
    let at = |sample: f64| px(1.0 + (width - 2.0) * (sample / largest).clamp(0.0, 1.0));
    let stroke = |&sample: &f64| format!("M{} 4V{}", at(sample), height - 4.0);
    let strokes: String = row.samples.all().iter().map(stroke).collect();
    let median = format!("M{} 1V{}", at(row.samples.median()), height - 1.0);
    let view = format!("0 0 {width} {height}");
    let attributes: crate::laboratory::markup::Attributes<'_> = &[
        ("class", &"strip"),
        ("viewBox", &view),
        ("aria-hidden", &"true"),
    ];
    page.inside("svg", attributes, |page| {
        let ground = format!("M0 {}H{width}", height / 2.0);
        page.empty("path", &[("class", &"grid"), ("d", &ground)]);
        page.empty("path", &[("class", &"sample"), ("d", &strokes)]);
        page.empty("path", &[("class", &"median"), ("d", &median)]);
    });
}
