//! Lines over numbers, or over names in their order.

use lab::Value;

use super::bars::{tooltip, trimmed};
use super::scale::Scale;
use super::series::{Point, Series, categories, span};
use super::{Sheet, WIDTH, mark, svg, width_of};
use crate::laboratory::field;
use crate::laboratory::markup::{Attributes, Markup, px};

const HEIGHT: f64 = 400.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 340.0;
const RIGHT: f64 = WIDTH - 24.0;
/// Marks keep this distance from the frame, so that none is cut.
const INSET: f64 = 18.0;
const TICKS: usize = 6;

/// Both axes.
struct Axes {
    left: f64,
    x: Scale,
    y: Scale,
    /// Names in place of numbers.
    names: Option<Vec<Value>>,
}

impl Axes {
    fn new(sheet: &Sheet<'_>) -> Self {
        let (low, high) = span(&sheet.series);
        let y = Scale::of_values(low, high, TICKS, (BOTTOM, TOP));
        let label = |tick: f64| width_of(&sheet.unit.show(tick));
        let left = 16.0 + y.ticks(TICKS).into_iter().map(label).fold(24.0, f64::max);
        let pixels = (left + INSET, RIGHT - INSET);
        let found = categories(&sheet.series);
        let numbers: Option<Vec<u64>> = found.iter().map(number).collect();
        let Some(numbers) = numbers else {
            let last = found.len().saturating_sub(1) as f64;
            let x = Scale::exact(0.0, last, pixels);
            return Self {
                left,
                x,
                y,
                names: Some(found),
            };
        };
        let smallest = numbers.iter().min().copied().unwrap_or(0);
        let largest = numbers.iter().max().copied().unwrap_or(0);
        let x = Scale::exact(smallest as f64, largest as f64, pixels);
        Self {
            left,
            x,
            y,
            names: None,
        }
    }

    fn across(&self, x: &Value) -> f64 {
        match &self.names {
            Some(names) => {
                let place = names.iter().position(|name| name == x);
                self.x.at(place.unwrap_or(0) as f64)
            }
            None => self.x.at(number(x).unwrap_or(0) as f64),
        }
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Word(_) => None,
    }
}

pub(super) fn draw(page: &mut Markup, sheet: &Sheet<'_>) {
    let axes = Axes::new(sheet);
    svg(page, sheet, HEIGHT, |page| {
        horizontal(page, sheet, &axes);
        vertical(page, sheet, &axes);
        // Lines first: no line of one series hides the mark of another.
        for (place, series) in sheet.series.iter().enumerate() {
            page.inside("g", &[("class", &mark::class(place))], |page| {
                line(page, series, &axes);
            });
        }
        for (place, series) in sheet.series.iter().enumerate() {
            page.inside("g", &[("class", &mark::class(place))], |page| {
                for point in &series.points {
                    marks(page, sheet, place, point, &axes);
                }
            });
        }
    });
}

fn horizontal(page: &mut Markup, sheet: &Sheet<'_>, axes: &Axes) {
    for tick in axes.y.ticks(TICKS) {
        let y = px(axes.y.at(tick));
        let path = format!("M{} {y}H{RIGHT}", px(axes.left));
        let class = if y == BOTTOM { "base" } else { "grid" };
        page.empty("path", &[("class", &class), ("d", &path)]);
        let text = sheet.unit.show(tick);
        let text = if tick == 0.0 { "0" } else { trimmed(&text) };
        let (x, y) = (px(axes.left - 8.0), px(y + 4.5));
        page.leaf(
            "text",
            &[("x", &x), ("y", &y), ("text-anchor", &"end")],
            text,
        );
    }
    let log = if axes.y.is_log() {
        " (logarithmic)"
    } else {
        ""
    };
    let text = format!("{}{log}", sheet.unit.name);
    page.leaf("text", &[("class", &"axis"), ("x", &0), ("y", &12)], &text);
}

fn vertical(page: &mut Markup, sheet: &Sheet<'_>, axes: &Axes) {
    let mut values = categories(&sheet.series);
    values.sort_by(|a, b| axes.across(a).total_cmp(&axes.across(b)));
    let texts: Vec<String> = values
        .iter()
        .map(|v| field::tick(sheet.chart.x, v))
        .collect();
    let places: Vec<(f64, f64)> = values
        .iter()
        .zip(&texts)
        .map(|(value, text)| (axes.across(value), width_of(text)))
        .collect();
    let shown = without_overlap(&places);
    for ((text, (x, _)), shown) in texts.iter().zip(&places).zip(shown) {
        let x = px(*x);
        let (class, length) = if shown { ("base", 6.0) } else { ("base", 3.0) };
        let path = format!("M{x} {BOTTOM}v{length}");
        page.empty("path", &[("class", &class), ("d", &path)]);
        if shown {
            let y = px(BOTTOM + 20.0);
            page.leaf(
                "text",
                &[("x", &x), ("y", &y), ("text-anchor", &"middle")],
                text,
            );
        }
    }
    let log = if axes.x.is_log() {
        " (logarithmic)"
    } else {
        ""
    };
    let text = format!("{}{log}", field::axis(sheet.chart.x));
    let (x, y) = (px((axes.left + RIGHT) / 2.0), px(BOTTOM + 46.0));
    let attributes: Attributes<'_> = &[
        ("class", &"axis"),
        ("x", &x),
        ("y", &y),
        ("text-anchor", &"middle"),
    ];
    page.leaf("text", attributes, &text);
}

/// Which labels, given by middle and width, can stand side by side: first and last always, of
/// the others whichever leave room.
fn without_overlap(labels: &[(f64, f64)]) -> Vec<bool> {
    const GAP: f64 = 8.0;
    let Some(&(last, last_width)) = labels.last() else {
        return Vec::new();
    };
    let mut end = f64::NEG_INFINITY;
    let mut shown = vec![false; labels.len()];
    for (place, &(middle, width)) in labels.iter().enumerate() {
        let is_last = place + 1 == labels.len();
        let clear = middle - width / 2.0 >= end + GAP;
        let before_last = middle + width / 2.0 + GAP <= last - last_width / 2.0;
        if clear && (before_last || is_last) {
            shown[place] = true;
            end = middle + width / 2.0;
        }
    }
    shown
}

fn line(page: &mut Markup, series: &Series, axes: &Axes) {
    let mut places: Vec<(f64, f64)> = series
        .points
        .iter()
        .map(|point| (axes.across(&point.x), axes.y.at(point.median)))
        .collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let step = |(place, (x, y)): (usize, &(f64, f64))| {
        let letter = if place == 0 { 'M' } else { 'L' };
        format!("{letter}{} {}", px(*x), px(*y))
    };
    let path: String = places.iter().enumerate().map(step).collect();
    page.empty("path", &[("class", &"line"), ("d", &path)]);
}

fn marks(page: &mut Markup, sheet: &Sheet<'_>, place: usize, point: &Point, axes: &Axes) {
    let (x, y) = (axes.across(&point.x), axes.y.at(point.median));
    page.inside("g", &[], |page| {
        page.leaf("title", &[], &tooltip(sheet, place, point));
        let (low, high) = (axes.y.at(point.low), axes.y.at(point.high));
        if low - high >= 1.0 {
            mark::spread_along(page, x, (low, high));
        }
        mark::dot(page, place, x, y);
        if let Some(published) = point.published {
            mark::published(page, x, axes.y.at(published.expected));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_never_overlap_and_the_ends_are_named() {
        assert_eq!(without_overlap(&[]), Vec::<bool>::new());
        assert_eq!(without_overlap(&[(5.0, 100.0)]), [true]);
        let crowded = [
            (0.0, 30.0),
            (17.0, 30.0),
            (34.0, 30.0),
            (51.0, 30.0),
            (100.0, 30.0),
        ];
        assert_eq!(without_overlap(&crowded), [true, false, false, true, true]);
        let at_the_end = [(0.0, 30.0), (80.0, 30.0), (100.0, 30.0)];
        assert_eq!(without_overlap(&at_the_end), [true, false, true]);
    }
}
