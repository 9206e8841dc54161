//! The rows as a table of text, for terminal and page alike.

use lab::{Outcome, Row, Value};

use super::field;
use super::published::{Shape, beside, one_series, shapes};
use super::unit::{Unit, digits};

/// The column that holds each row against the first.
pub(super) const RATIO: &str = "ratio to first";
/// Its cell where there is nothing to tell.
pub(super) const NO_DIFFERENCE: &str = "no difference";

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) heading: String,
    /// Words stand left, numbers right.
    pub(super) words: bool,
    /// A field of the variants; these come first.
    pub(super) is_field: bool,
}

/// Columns and cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Grid {
    pub(super) columns: Vec<Column>,
    /// One a row of the outcome, in its order.
    pub(super) rows: Vec<Vec<String>>,
    /// Fields that are the same in all rows, in place of a column each.
    pub(super) held: Vec<String>,
}

impl Grid {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let rows = &outcome.rows;
        let mut grid = Self {
            rows: vec![Vec::new(); rows.len()],
            ..Self::default()
        };
        for name in fields(rows) {
            if varies(rows, name) {
                grid.field(name, rows);
            } else if let Some(value) = rows[0].value(name) {
                grid.held.push(held(name, value));
            }
        }
        grid.figures(rows);
        if rows.len() > 1 {
            grid.ratios(outcome);
        }
        let shapes = shapes(outcome);
        if one_series(&shapes, outcome) {
            grid.published(&shapes);
        }
        grid
    }

    fn column(&mut self, heading: &str, words: bool, cells: impl IntoIterator<Item = String>) {
        self.columns.push(Column {
            heading: heading.to_owned(),
            words,
            is_field: false,
        });
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }

    fn field(&mut self, name: &str, rows: &[Row]) {
        let words = rows
            .iter()
            .any(|row| matches!(row.value(name), Some(Value::Word(_))));
        let cell = |row: &Row| {
            row.value(name)
                .map_or("-".to_owned(), |v| field::cell(name, v))
        };
        self.column(&field::heading(name), words, rows.iter().map(cell));
        if let Some(column) = self.columns.last_mut() {
            column.is_field = true;
        }
    }

    fn figures(&mut self, rows: &[Row]) {
        let units: Vec<Unit> = rows
            .iter()
            .map(|row| Unit::of_rows(row.metric, rows))
            .collect();
        let one = units.windows(2).all(|pair| pair[0] == pair[1]);
        let heading = match units.first() {
            Some(unit) if one => unit.name.as_str(),
            _ => "median",
        };
        let all = || rows.iter().zip(&units);
        self.column(
            heading,
            false,
            all().map(|(row, unit)| unit.show(row.samples.median())),
        );
        if !one {
            self.column("unit", true, units.iter().map(|unit| unit.name.clone()));
        }
        let quartiles = |(row, unit): (&Row, &Unit)| {
            let (low, high) = (row.samples.low(), row.samples.high());
            format!("{} to {}", unit.show(low), unit.show(high))
        };
        self.column("quartiles", true, all().map(quartiles));
    }

    /// Each row against the first of its metric.
    fn ratios(&mut self, outcome: &Outcome) {
        let cell = |row| match outcome.against_first(row) {
            None => "first".to_owned(),
            Some(against) if against.differs => times(against.median),
            Some(_) => NO_DIFFERENCE.to_owned(),
        };
        self.column(RATIO, true, (0..outcome.rows.len()).map(cell));
    }

    fn published(&mut self, shapes: &[Shape<'_>]) {
        let rows = self.rows.len();
        let cells = |show: fn(&Shape<'_>) -> String| {
            let cell = |row| beside(shapes, row).map_or("-".to_owned(), |shape| show(&shape));
            (0..rows).map(cell).collect::<Vec<_>>()
        };
        self.column("ratio there", false, cells(|s| times(s.published.ratio)));
        let figure = cells(|s| format!("{} {}", digits(s.published.figure), s.published.unit));
        self.column("published", false, figure);
    }
}

/// `x 2.05`.
pub(super) fn times(ratio: f64) -> String {
    format!("x {}", digits(ratio))
}

/// Names of all fields, in the order in which they first occur.
pub(super) fn fields(rows: &[Row]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for &(name, _) in rows.iter().flat_map(|row| &row.variant) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Whether two of the rows differ in this field.
pub(super) fn varies<'a>(rows: impl IntoIterator<Item = &'a Row>, name: &str) -> bool {
    let mut values = rows.into_iter().map(|row| row.value(name));
    let first = values.next();
    values.any(|value| Some(value) != first)
}

fn held(name: &str, value: &Value) -> String {
    format!("{} {}", field::heading(name), field::cell(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laboratory::sample;

    #[test]
    fn fields_that_do_not_vary_take_no_column() {
        let grid = Grid::of(&sample::outcome());
        let headings: Vec<&str> = grid.columns.iter().map(|c| c.heading.as_str()).collect();
        let expect = [
            "design",
            "batch",
            "M frames/s",
            "quartiles",
            "ratio to first",
            "ratio there",
            "published",
        ];
        assert_eq!(headings, expect);
        assert_eq!(grid.held, ["entries 6,000,000"]);
        assert!(grid.rows.iter().all(|row| row.len() == expect.len()));
        assert_eq!(grid.rows[0][4], "first");
        assert_eq!(grid.rows[1][4], NO_DIFFERENCE);
        assert_eq!(grid.rows[2][4..], ["x 2.00", "x 2.08", "7.70 Mpps"]);
    }

    #[test]
    fn an_outcome_without_rows_has_no_columns_to_break() {
        let grid = Grid::of(&Outcome::default());
        assert!(grid.rows.is_empty());
    }
}
