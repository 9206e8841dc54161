//! The structure of a page, and that no text of a run becomes a tag.

use super::*;
use crate::laboratory::sample;

/// Tags of a page in their order, with class or id; what repeats stands once.
fn skeleton(page: &str) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in page.split('<').skip(1) {
        let inner = tag.split('>').next().unwrap_or_default();
        let name = inner.split([' ', '/']).next().unwrap_or_default();
        if ![
            "section", "h1", "h2", "h3", "figure", "table", "dl", "pre", "header", "footer",
        ]
        .contains(&name)
        {
            continue;
        }
        let id = inner
            .split("id=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        tags.push(id.map_or(name.to_owned(), |id| format!("{name}#{id}")));
    }
    tags
}

/// Every tag that opens is closed, in order.
fn check_balance(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let Some((inner, _)) = tag.split_once('>') else {
            panic!("a tag without an end: {tag}");
        };
        if inner.starts_with('!') || inner.ends_with('/') {
            continue;
        }
        match inner.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "in {page}"),
            None => open.push(inner.split(' ').next().unwrap_or_default()),
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn a_page_has_these_parts_in_this_order() {
    let page = render(&sample::facts(), &sample::outcome());
    check_balance(&page);
    let expect = [
        "header",
        "h1",
        "section#warnings",
        "h2",
        "section#findings",
        "h2",
        "section#charts",
        "figure",
        "h3",
        "figure",
        "h3",
        "section#rows",
        "h2",
        "table",
        "section#method",
        "h2",
        "section#skipped",
        "h2",
        "section#machine",
        "h2",
        "dl",
        "footer",
        "pre",
    ];
    assert_eq!(skeleton(&page), expect);
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"));
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = render(&sample::facts(), &sample::outcome());
    for part in [
        "<script", "<link", "<img", "http:", "https:", "url(", "@import", "src=",
    ] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn charts_have_a_mark_a_row_and_a_hollow_one_a_published_figure() {
    let page = render(&sample::facts(), &sample::outcome());
    let count = |part: &str| page.matches(part).count();
    // Three rows in either chart; three batches and two designs in the legends.
    assert_eq!(count("<rect class=\"bar\""), 3 + 3);
    assert_eq!(count("class=\"dot\""), 3 + 2);
    assert_eq!(count("class=\"published"), 2 * (2 + 1));
    assert_eq!(count("<path class=\"line\""), 2 + 2);
    assert_eq!(count("class=\"strip\""), 3);
    for text in [
        "M frames/s",
        "frames handled together",
        "where the published ratio",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        !page.contains("NaN") && !page.contains("inf"),
        "a place that is no number"
    );
}

/// One batch size alone, as a quick run may have: no line leads anywhere.
#[test]
fn a_line_of_one_point_is_a_bar() {
    let mut outcome = sample::outcome();
    outcome.rows.retain(|row| row.number("batch") == Some(4));
    assert!(!outcome.rows.is_empty());
    let page = render(&sample::facts(), &outcome);
    check_balance(&page);
    assert!(!page.contains("<path class=\"line\"") && page.contains("<rect class=\"bar\""));
}

#[test]
fn fields_of_few_rows_stand_behind_the_results() {
    let mut outcome = sample::outcome();
    let rows = outcome.rows.clone();
    outcome.rows.extend(rows);
    outcome.rows[0]
        .variant
        .push(("or_method", "rolling t1".into()));
    let page = render(&sample::facts(), &outcome);
    check_balance(&page);
    assert!(page.contains(">also</th>") && !page.contains(">or method</th>"));
    assert!(page.contains(">or method rolling t1</td>"));
    let page = render(&sample::facts(), &sample::outcome());
    assert!(!page.contains(">also</th>"));
}

#[test]
fn no_text_becomes_a_tag() {
    let hostile = "<script>alert(\"1\")</script>&'\u{1b}";
    let (mut facts, mut outcome) = (sample::facts(), sample::outcome());
    facts.conditions.machine.cpu = hostile.to_owned();
    facts.conditions.machine.kernel = hostile.to_owned();
    facts.conditions.governor = Some(hostile.to_owned());
    facts.conditions.transparent_huge_pages = Some(hostile.to_owned());
    facts.date = Some(hostile.to_owned());
    facts.commit = Some(hostile);
    facts.command = hostile.to_owned();
    facts.warnings = vec![hostile.to_owned()];
    facts.experiment.name = hostile;
    facts.experiment.sentence = hostile;
    outcome.findings = vec![hostile.to_owned()];
    outcome.varies = vec![hostile.to_owned()];
    outcome.skipped = vec![hostile.to_owned()];
    outcome.published[0].unit = hostile;
    for chart in &mut outcome.charts {
        chart.title = hostile.to_owned();
        chart.caption = hostile.to_owned();
        chart.metric = hostile;
        chart.x = hostile;
        chart.series = vec!["batch"];
    }
    for row in &mut outcome.rows {
        row.metric = hostile;
        row.variant.push((hostile, hostile.into()));
    }
    outcome.rows[0].variant.push(("pages", hostile.into()));
    let page = render(&facts, &outcome);
    check_balance(&page);
    assert!(!page.contains("<script") && !page.contains('\u{1b}'));
    assert!(!page.contains("alert(\"") && !page.contains(")</script>&'"));
    let shown = page
        .matches("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;")
        .count();
    assert!(shown >= 20, "{shown}: a text is missing");
}

#[test]
fn many_findings_are_folded() {
    let (facts, mut outcome) = (sample::facts(), sample::outcome());
    outcome.findings = (0..10).map(|number| format!("finding {number}")).collect();
    let page = render(&facts, &outcome);
    check_balance(&page);
    assert!(page.contains("<summary>4 more</summary>") && page.contains("<li>finding 9</li>"));
}

#[test]
fn a_run_without_rows_and_one_with_a_single_row_have_pages() {
    let (facts, mut outcome) = (sample::facts(), sample::outcome());
    outcome.rows.truncate(1);
    check_balance(&render(&facts, &outcome));
    outcome.charts.clear();
    check_balance(&render(&facts, &outcome));
    check_balance(&render(&facts, &Outcome::default()));
}
