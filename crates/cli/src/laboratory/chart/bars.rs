//! Bars lie on their side: names are words, and words are read from left to right.

use lab::Value;

use super::scale::Scale;
use super::series::{Point, categories, span};
use super::{Sheet, WIDTH, mark, svg, width_of};
use crate::laboratory::field;
use crate::laboratory::grid::times;
use crate::laboratory::markup::{Markup, px};
use crate::report::table::clip;

const BAR: f64 = 18.0;
const BAR_GAP: f64 = 4.0;
const GROUP_GAP: f64 = 12.0;
const TOP: f64 = 10.0;
/// Between a bar and its figure.
const GAP: f64 = 10.0;
const BOTTOM: f64 = 46.0;
/// Longest name, in characters; the rest is a tooltip.
const NAME_MAX: usize = 40;
const TICKS: usize = 6;

/// The bars of one name.
struct Group<'a> {
    name: String,
    top: f64,
    bars: Vec<(usize, &'a Point)>,
}

impl Group<'_> {
    fn height(&self) -> f64 {
        self.bars.len() as f64 * (BAR + BAR_GAP) - BAR_GAP
    }
}

pub(super) fn draw(page: &mut Markup, sheet: &Sheet<'_>) {
    let groups = groups(sheet);
    let bottom = groups
        .last()
        .map_or(TOP, |group| group.top + group.height())
        + GROUP_GAP / 2.0;
    let names = groups
        .iter()
        .map(|group| width_of(&group.name))
        .fold(40.0, f64::max);
    let left = names + 12.0;
    let right = right(sheet, left);
    let (_, largest) = span(&sheet.series);
    let scale = Scale::from_zero(largest, TICKS, (left, right));
    svg(page, sheet, bottom + BOTTOM, |page| {
        axis(page, sheet, &scale, bottom, (left, right));
        for group in &groups {
            draw_group(page, sheet, group, &scale, left);
        }
    });
}

/// Where the axis may end, so that the figures behind the bars find room.
fn right(sheet: &Sheet<'_>, left: f64) -> f64 {
    let (_, largest) = span(&sheet.series);
    let unit = Scale::from_zero(largest, TICKS, (0.0, 1.0));
    let points = sheet.series.iter().flat_map(|series| &series.points);
    let limit = |point: &Point| {
        let (figure, ratios) = label(sheet, point);
        let behind = GAP + width_of(&figure) + width_of(&ratios) + 8.0;
        (WIDTH - left - behind) / end(&unit, point).max(1e-9)
    };
    left + points.map(limit).fold(WIDTH - left - 20.0, f64::min)
}

/// The rightmost of all that is drawn for a row.
fn end(scale: &Scale, point: &Point) -> f64 {
    let published = point.published.map_or(0.0, |beside| beside.expected);
    scale.at(point.high.max(point.median).max(published))
}

/// The figure, and both ratios where there is a published one.
fn label(sheet: &Sheet<'_>, point: &Point) -> (String, String) {
    let ratios = point.published.map_or(String::new(), |beside| {
        format!(
            "{} here, {} published",
            times(beside.here),
            times(beside.there)
        )
    });
    (sheet.unit.show(point.median), ratios)
}

fn groups<'a>(sheet: &'a Sheet<'_>) -> Vec<Group<'a>> {
    let mut top = TOP;
    let mut groups = Vec::new();
    for category in categories(&sheet.series) {
        let group = Group {
            name: clip(&name(sheet, &category), NAME_MAX),
            top,
            bars: bars(sheet, &category),
        };
        top += group.height() + GROUP_GAP;
        groups.push(group);
    }
    groups
}

/// A number says what it counts, since no axis does.
fn name(sheet: &Sheet<'_>, category: &Value) -> String {
    field::named(sheet.chart.x, category)
}

fn bars<'a>(sheet: &'a Sheet<'_>, category: &Value) -> Vec<(usize, &'a Point)> {
    let of = |(place, series): (usize, &'a super::Series)| {
        let points = series.points.iter().map(move |point| (place, point));
        points.collect::<Vec<_>>()
    };
    let all = sheet.series.iter().enumerate().flat_map(of);
    all.filter(|(_, point)| point.x == *category).collect()
}

fn axis(
    page: &mut Markup,
    sheet: &Sheet<'_>,
    scale: &Scale,
    bottom: f64,
    (left, right): (f64, f64),
) {
    for tick in scale.ticks(TICKS) {
        let x = px(scale.at(tick));
        let path = format!("M{x} {TOP}V{}", px(bottom));
        page.empty("path", &[("class", &"grid"), ("d", &path)]);
        let text = sheet.unit.show(tick);
        let text = if tick == 0.0 { "0" } else { trimmed(&text) };
        let y = px(bottom + 17.0);
        page.leaf(
            "text",
            &[("x", &x), ("y", &y), ("text-anchor", &"middle")],
            text,
        );
    }
    let (x, y) = (px((left + right) / 2.0), px(bottom + 38.0));
    let attributes: crate::laboratory::markup::Attributes<'_> = &[
        ("class", &"axis"),
        ("x", &x),
        ("y", &y),
        ("text-anchor", &"middle"),
    ];
    page.leaf("text", attributes, &sheet.unit.name);
}

/// Round numbers need no zeros behind the point.
pub(super) fn trimmed(text: &str) -> &str {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.')
}

fn draw_group(page: &mut Markup, sheet: &Sheet<'_>, group: &Group<'_>, scale: &Scale, left: f64) {
    let middle = group.top + group.height() / 2.0;
    let (x, y) = (px(left - 8.0), px(middle + 4.5));
    page.leaf(
        "text",
        &[("class", &"name"), ("x", &x), ("y", &y)],
        &group.name,
    );
    for (row, (place, point)) in group.bars.iter().enumerate() {
        let top = group.top + row as f64 * (BAR + BAR_GAP);
        page.inside("g", &[("class", &mark::class(*place))], |page| {
            bar(page, sheet, *place, point, scale, top);
        });
    }
}

fn bar(page: &mut Markup, sheet: &Sheet<'_>, place: usize, point: &Point, scale: &Scale, top: f64) {
    page.leaf("title", &[], &tooltip(sheet, place, point));
    let (from, to, middle) = (scale.at(0.0), scale.at(point.median), top + BAR / 2.0);
    let width = px((to - from).max(1.0));
    page.empty(
        "rect",
        &[
            ("class", &"bar"),
            ("x", &px(from)),
            ("y", &px(top)),
            ("width", &width),
            ("height", &BAR),
        ],
    );
    let (low, high) = (scale.at(point.low), scale.at(point.high));
    if high - low >= 1.0 {
        mark::spread_across(page, (low, high), middle);
    }
    if let Some(beside) = point.published {
        mark::published_across(page, scale.at(beside.expected), middle);
    }
    let (x, y) = (px(end(scale, point) + GAP), px(middle + 4.5));
    let (figure, ratios) = label(sheet, point);
    page.inside(
        "text",
        &[("class", &"figure"), ("x", &x), ("y", &y)],
        |page| {
            page.text(&figure);
            if !ratios.is_empty() {
                page.leaf("tspan", &[("class", &"axis"), ("dx", &10)], &ratios);
            }
        },
    );
}

/// What a pointer that rests on a mark is told.
pub(super) fn tooltip(sheet: &Sheet<'_>, place: usize, point: &Point) -> String {
    let series = &sheet.series[place].name;
    let x = field::named(sheet.chart.x, &point.x);
    let name = if series.is_empty() {
        x
    } else {
        format!("{x}, {series}")
    };
    let show = |figure| sheet.unit.show(figure);
    let published = point.published.map_or(String::new(), |beside| {
        format!(
            "; the published ratio would make it {}",
            show(beside.expected)
        )
    });
    format!(
        "{name}: {} {} (quartiles {} to {}){published}",
        show(point.median),
        sheet.unit.name,
        show(point.low),
        show(point.high),
    )
}
