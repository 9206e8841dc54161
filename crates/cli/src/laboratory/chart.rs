//! Charts as SVG: bars for names, lines for numbers, quartiles on every mark, published shapes
//! as hollow ones.

mod bars;
mod lines;
mod mark;
mod scale;
mod series;

use lab::{Chart, ChartKind, Outcome};

use self::series::Series;
use super::markup::Markup;
use super::unit::Unit;

/// Width of every chart; its height follows from what it shows.
const WIDTH: f64 = 1000.0;
/// A character of a label, on average and generously.
const CHARACTER: f64 = 7.4;

/// What a chart needs besides its kind.
struct Sheet<'a> {
    chart: &'a Chart,
    series: Vec<Series>,
    unit: Unit,
}

/// The charts of an outcome; one nobody asked for where it has none.
pub(super) fn charts(outcome: &Outcome) -> Vec<Chart> {
    match outcome.charts.as_slice() {
        [] => series::plain(outcome).into_iter().collect(),
        charts => charts.to_vec(),
    }
}

/// Draws a chart with its title, legend and caption; nothing where no row belongs to it.
pub(super) fn draw(page: &mut Markup, chart: &Chart, outcome: &Outcome) {
    let all = series::series(chart, outcome);
    if all.is_empty() {
        return;
    }
    let (_, largest) = series::span(&all);
    let chart = drawable(chart, &all);
    let sheet = Sheet {
        chart: &chart,
        series: all,
        unit: Unit::of(chart.metric, largest),
    };
    page.inside("figure", &[], |page| {
        page.leaf("h3", &[], &chart.title);
        if !chart.caption.is_empty() {
            page.leaf("figcaption", &[], &chart.caption);
        }
        legend(page, &sheet);
        page.inside("div", &[("class", &"wide")], |page| match chart.kind {
            ChartKind::Bars => bars::draw(page, &sheet),
            ChartKind::Lines => lines::draw(page, &sheet),
        });
    });
}

/// Lines need two places to lead from and to: in a run that has but one of them, as with `--quick`,
/// the figures are bars.
fn drawable(chart: &Chart, all: &[Series]) -> Chart {
    let mut chart = chart.clone();
    if chart.kind == ChartKind::Lines && series::categories(all).len() < 2 {
        chart.kind = ChartKind::Bars;
    }
    chart
}

/// An SVG of this height with what screen readers need.
fn svg(page: &mut Markup, sheet: &Sheet<'_>, height: f64, fill: impl FnOnce(&mut Markup)) {
    let view = format!("0 0 {WIDTH} {height}");
    let attributes: super::markup::Attributes<'_> = &[
        ("viewBox", &view),
        ("role", &"img"),
        ("aria-label", &sheet.chart.title),
    ];
    page.inside("svg", attributes, fill);
}

fn legend(page: &mut Markup, sheet: &Sheet<'_>) {
    let published = sheet.series.iter().flat_map(|series| &series.points);
    let published = published.clone().any(|point| point.published.is_some());
    let named = sheet.series.len() > 1;
    if !named && !published {
        return;
    }
    page.inside("ul", &[("class", &"legend")], |page| {
        for (place, series) in sheet.series.iter().enumerate().filter(|_| named) {
            page.inside("li", &[], |page| {
                mark::swatch(page, place, sheet.chart.kind);
                page.text(&series.name);
            });
        }
        if published {
            page.inside("li", &[], |page| {
                mark::published_swatch(page, sheet.chart.kind);
                page.text("where the published ratio would put it");
            });
        }
    });
}

/// How wide a label is.
fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}
