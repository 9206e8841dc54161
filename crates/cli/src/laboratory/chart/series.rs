//! The rows of a chart, by series.

use lab::{Chart, Outcome, Row, Value};

use crate::laboratory::field;
use crate::laboratory::grid::{fields, varies};
use crate::laboratory::published::{Shape, beside, shapes};

/// One row as a mark.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: Value,
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) published: Option<Beside>,
}

/// A published figure beside a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    /// Where the row would lie if it had the published ratio.
    pub(super) expected: f64,
    /// Our ratio and theirs, to the first of the series.
    pub(super) here: f64,
    pub(super) there: f64,
}

impl Beside {
    fn of(shape: &Shape<'_>) -> Self {
        Self {
            expected: shape.expected(),
            here: shape.ratio_here(),
            there: shape.published.ratio,
        }
    }
}

/// Marks of one colour.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    /// Empty where there is but one.
    pub(super) name: String,
    pub(super) points: Vec<Point>,
}

/// The series of a chart in the order in which they first occur.
pub(super) fn series(chart: &Chart, outcome: &Outcome) -> Vec<Series> {
    let shapes = shapes(outcome);
    let chosen: Vec<(usize, &Row)> = outcome
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| belongs(chart, row))
        .collect();
    let names = telling(chart, &chosen);
    let mut all: Vec<Series> = Vec::new();
    for (index, row) in chosen {
        let Some(x) = row.value(chart.x) else {
            continue;
        };
        let point = Point {
            x: x.clone(),
            median: row.samples.median(),
            low: row.samples.low(),
            high: row.samples.high(),
            published: beside(&shapes, index).map(|shape| Beside::of(&shape)),
        };
        let name = match name(&names, row) {
            name if name.is_empty() && row.metric != chart.metric => row.metric.replace('_', " "),
            name => name,
        };
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => all.push(Series {
                name,
                points: vec![point],
            }),
        }
    }
    all
}

/// All categories on the horizontal axis, in the order in which they first occur.
pub(super) fn categories(all: &[Series]) -> Vec<Value> {
    let mut found = Vec::new();
    for point in all.iter().flat_map(|series| &series.points) {
        if !found.contains(&point.x) {
            found.push(point.x.clone());
        }
    }
    found
}

/// Smallest and largest of what is to be drawn, quartiles and published shapes included.
pub(super) fn span(all: &[Series]) -> (f64, f64) {
    let points = all.iter().flat_map(|series| &series.points);
    let figures = points.flat_map(|point| {
        let published = point.published.map(|beside| beside.expected);
        [Some(point.low), Some(point.high), published]
    });
    let finite = figures.flatten().filter(|figure| figure.is_finite());
    finite.fold((f64::INFINITY, 0.0), |(low, high), figure| {
        (low.min(figure), high.max(figure))
    })
}

fn belongs(chart: &Chart, row: &Row) -> bool {
    let own = row.metric == chart.metric;
    let beside = chart.beside == Some(row.metric);
    let only = |(name, value): &(&'static str, Value)| match row.value(name) {
        Some(known) => known == value,
        None => beside,
    };
    (own || beside) && row.samples.median().is_finite() && chart.only.iter().all(only)
}

/// The fields that tell series apart: those of the chart that vary among its rows.
fn telling(chart: &Chart, rows: &[(usize, &Row)]) -> Vec<&'static str> {
    let names = chart.series.iter().copied();
    let tells = |name: &&str| varies(rows.iter().map(|&(_, row)| row), name);
    names.filter(tells).collect()
}

fn name(fields: &[&'static str], row: &Row) -> String {
    let named = |name: &&str| row.value(name).map(|value| field::named(name, value));
    fields
        .iter()
        .filter_map(named)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A chart for an experiment that asks for none: over the first number that takes three values
/// or more, one line for each of whatever else varies; bars where there is no such number.
pub(super) fn plain(outcome: &Outcome) -> Option<Chart> {
    let rows = &outcome.rows;
    let varying: Vec<&'static str> = fields(rows)
        .into_iter()
        .filter(|name| varies(rows, name))
        .collect();
    let number = varying
        .iter()
        .copied()
        .find(|name| numbers(rows, name) >= 3);
    let x = number.or(varying.first().copied())?;
    let others = varying
        .into_iter()
        .filter(|name| *name != x && !follows(rows, x, name));
    Some(Chart {
        title: format!("By {}", field::heading(x)),
        caption: String::new(),
        kind: if number.is_some() {
            lab::ChartKind::Lines
        } else {
            lab::ChartKind::Bars
        },
        metric: rows.first()?.metric,
        beside: None,
        x,
        series: others.collect(),
        only: Vec::new(),
    })
}

/// How many numbers a field takes; 0 if it holds words.
fn numbers(rows: &[Row], name: &str) -> usize {
    let all: Option<Vec<u64>> = rows.iter().map(|row| row.number(name)).collect();
    let mut all = all.unwrap_or_default();
    all.sort_unstable();
    all.dedup();
    all.len()
}

/// Whether a field follows from another, as cache sets do from a stride.
fn follows(rows: &[Row], from: &str, name: &str) -> bool {
    rows.iter().all(|row| {
        let same = rows
            .iter()
            .find(|other| other.value(from) == row.value(from));
        same.is_none_or(|other| other.value(name) == row.value(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laboratory::sample;

    #[test]
    fn rows_are_chosen_and_told_apart() {
        let outcome = sample::outcome();
        let mut chart = outcome.charts[1].clone();
        let all = series(&chart, &outcome);
        let names: Vec<&str> = all.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["array", "ours"]);
        assert_eq!(all[0].points.len(), 2);
        let expected = all[1].points[0].published.expect("published").expected;
        assert!((expected / (4e6 * 7.7 / 3.7) - 1.0).abs() < 1e-9);
        assert!(span(&all).1 >= expected);
        chart.only = vec![("design", "ours".into())];
        let all = series(&chart, &outcome);
        assert_eq!((all.len(), all[0].name.as_str()), (1, ""));
        assert_eq!(categories(&all), [Value::Number(32)]);
    }

    #[test]
    fn rows_of_another_metric_stand_beside() {
        let mut outcome = sample::outcome();
        let mut limit = sample::row("limit", 32, 9e6);
        limit.metric = "lines_per_second";
        limit.variant.retain(|(name, _)| *name == "design");
        outcome.rows.push(limit);
        let mut chart = sample::chart(lab::ChartKind::Bars, "design");
        chart.only = vec![("batch", 32u64.into())];
        let names = |chart: &Chart| -> Vec<String> {
            let all = series(chart, &outcome);
            all.into_iter().map(|series| series.name).collect()
        };
        let alone = names(&chart);
        chart.beside = Some("lines_per_second");
        let beside = names(&chart);
        assert_eq!(beside.len(), alone.len() + 1);
        assert_eq!(beside.last().map(String::as_str), Some("lines per second"));
    }

    #[test]
    fn a_chart_nobody_asked_for() {
        let mut outcome = sample::outcome();
        let chart = plain(&outcome).expect("fields that vary");
        assert_eq!((chart.x, chart.kind), ("batch", lab::ChartKind::Lines));
        assert_eq!(
            chart.series,
            Vec::<&str>::new(),
            "the design follows from the batch"
        );
        outcome.rows.push(sample::row("other", 32, 1e6));
        assert_eq!(plain(&outcome).expect("still").series, ["design"]);
        assert_eq!(plain(&Outcome::default()), None);
    }
}
