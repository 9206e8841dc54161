//! Marks: colours and forms of series. Form repeats what colour says, for those who see none.

use lab::ChartKind;

use crate::laboratory::markup::{Markup, px};

/// Colours in the style sheet, `s0` and so on.
const COLOURS: usize = 8;
const RADIUS: f64 = 4.2;

/// The class of the series at this place; dashes tell those apart that share a colour.
pub(super) fn class(place: usize) -> String {
    let dashed = if (place / COLOURS) % 2 == 1 {
        " dashed"
    } else {
        ""
    };
    format!("s{}{dashed}", place % COLOURS)
}

/// The dot of a series: a circle, a square, a triangle or a diamond. Series of one colour have
/// different ones.
pub(super) fn dot(page: &mut Markup, place: usize, x: f64, y: f64) {
    let path = outline((place + place / COLOURS) % 4, x, y, RADIUS);
    page.empty("path", &[("class", &"dot"), ("d", &path)]);
}

/// A hollow diamond in the colour of its series, larger than any dot so that both can be seen in
/// one place.
pub(super) fn published(page: &mut Markup, x: f64, y: f64) {
    page.empty(
        "path",
        &[("class", &"published own"), ("d", &outline(3, x, y, 7.0))],
    );
}

/// A hollow upright box across a bar: narrow, so that a short bar is not hidden.
pub(super) fn published_across(page: &mut Markup, x: f64, y: f64) {
    const HALF: (f64, f64) = (2.5, 11.0);
    let (left, right, up, down) = (
        px(x - HALF.0),
        px(x + HALF.0),
        px(y - HALF.1),
        px(y + HALF.1),
    );
    let path = format!("M{left} {up}H{right}V{down}H{left}Z");
    page.empty("path", &[("class", &"published"), ("d", &path)]);
}

/// A quartile bar along x.
pub(super) fn spread_across(page: &mut Markup, (low, high): (f64, f64), y: f64) {
    let (low, high, up, down) = (px(low), px(high), px(y - 4.0), px(y + 4.0));
    let y = px(y);
    let path = format!("M{low} {up}V{down}M{high} {up}V{down}M{low} {y}H{high}");
    page.empty("path", &[("class", &"spread"), ("d", &path)]);
}

/// A quartile bar along y.
pub(super) fn spread_along(page: &mut Markup, x: f64, (low, high): (f64, f64)) {
    let (low, high, left, right) = (px(low), px(high), px(x - 3.5), px(x + 3.5));
    let x = px(x);
    let path = format!("M{left} {low}H{right}M{left} {high}H{right}M{x} {low}V{high}");
    page.empty("path", &[("class", &"spread"), ("d", &path)]);
}

/// The mark of a series in a legend.
pub(super) fn swatch(page: &mut Markup, place: usize, kind: ChartKind) {
    key(page, &class(place), |page| match kind {
        ChartKind::Bars => page.empty(
            "rect",
            &[
                ("class", &"bar"),
                ("x", &4),
                ("y", &2),
                ("width", &20),
                ("height", &12),
            ],
        ),
        ChartKind::Lines => {
            page.empty("path", &[("class", &"line"), ("d", &"M0 8H28")]);
            dot(page, place, 14.0, 8.0);
        }
    });
}

/// The mark of published shapes in a legend.
pub(super) fn published_swatch(page: &mut Markup, kind: ChartKind) {
    key(page, "", |page| match kind {
        ChartKind::Bars => published_across(page, 14.0, 8.0),
        ChartKind::Lines => published(page, 14.0, 8.0),
    });
}

fn key(page: &mut Markup, class: &str, fill: impl FnOnce(&mut Markup)) {
    let class = format!("key {class}");
    let attributes: crate::laboratory::markup::Attributes<'_> = &[
        ("class", &class.trim_end()),
        ("viewBox", &"0 -4 28 24"),
        ("aria-hidden", &"true"),
    ];
    page.inside("svg", attributes, fill);
}

fn outline(form: usize, x: f64, y: f64, r: f64) -> String {
    let at = |dx: f64, dy: f64| format!("{} {}", px(x + dx * r), px(y + dy * r));
    match form {
        0 => format!(
            "M{}A{r} {r} 0 1 0 {}A{r} {r} 0 1 0 {}Z",
            at(-1.0, 0.0),
            at(1.0, 0.0),
            at(-1.0, 0.0)
        ),
        1 => format!(
            "M{}L{}L{}L{}Z",
            at(-0.9, -0.9),
            at(0.9, -0.9),
            at(0.9, 0.9),
            at(-0.9, 0.9)
        ),
        2 => format!("M{}L{}L{}Z", at(0.0, -1.15), at(1.1, 0.85), at(-1.1, 0.85)),
        _ => format!(
            "M{}L{}L{}L{}Z",
            at(0.0, -1.2),
            at(1.2, 0.0),
            at(0.0, 1.2),
            at(-1.2, 0.0)
        ),
    }
}
