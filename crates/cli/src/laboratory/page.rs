//! A run as one page of HTML that needs nothing but a browser: no network, no script.

mod style;
mod table;

#[cfg(test)]
mod gallery;
#[cfg(test)]
mod tests;

use lab::Outcome;

use super::chart;
use super::facts::{Facts, about_noise};
use super::grid::Grid;
use super::markup::Markup;
use super::published;

/// Even if a text slipped through unescaped, a browser would run and load nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";

/// The whole page.
pub(super) fn render(facts: &Facts, outcome: &Outcome) -> String {
    let title = format!("linerate lab: {}", facts.experiment.name);
    document(&title, |page| body(page, facts, outcome))
}

/// A document of this title, and what `fill` puts into it.
pub(super) fn document(title: &str, fill: impl FnOnce(&mut Markup)) -> String {
    let mut page = Markup::default();
    page.own("<!DOCTYPE html>\n");
    page.inside("html", &[("lang", &"en")], |page| {
        head(page, title);
        page.inside("body", &[], |page| page.inside("main", &[], fill));
    });
    page.own("\n");
    page.finish()
}

fn head(page: &mut Markup, title: &str) {
    page.inside("head", &[], |page| {
        page.empty("meta", &[("charset", &"utf-8")]);
        page.empty(
            "meta",
            &[
                ("http-equiv", &"Content-Security-Policy"),
                ("content", &POLICY),
            ],
        );
        let view = "width=device-width, initial-scale=1";
        page.empty("meta", &[("name", &"viewport"), ("content", &view)]);
        page.empty(
            "meta",
            &[("name", &"color-scheme"), ("content", &"light dark")],
        );
        page.leaf("title", &[], title);
        page.inside("style", &[], |page| page.own(style::SHEET));
    });
}

fn body(page: &mut Markup, facts: &Facts, outcome: &Outcome) {
    title(page, facts);
    warnings(page, facts);
    findings(page, outcome);
    page.inside("section", &[("id", &"charts")], |page| {
        for chart in &chart::charts(outcome) {
            chart::draw(page, chart, outcome);
        }
    });
    let grid = Grid::of(outcome);
    page.inside("section", &[("id", &"rows")], |page| {
        page.leaf("h2", &[], "All rows");
        table::draw(page, &grid, outcome);
    });
    let beside = published::sentences(outcome);
    sentences(page, ("published", "Beside published figures"), &beside);
    method(page, outcome, &grid);
    sentences(page, ("skipped", "Left out"), &outcome.skipped);
    machine(page, facts, outcome);
    again(page, facts);
}

fn title(page: &mut Markup, facts: &Facts) {
    page.inside("header", &[], |page| {
        page.leaf("p", &[("class", &"brand")], "linerate laboratory");
        page.leaf("h1", &[], facts.experiment.name);
        page.leaf("p", &[("class", &"sentence")], facts.experiment.sentence);
        let mut parts = vec![facts.conditions.machine.cpu.clone()];
        parts.extend(
            facts
                .date
                .as_deref()
                .and_then(|date| date.get(..10))
                .map(str::to_owned),
        );
        if facts.quick {
            parts.push("a first look (--quick)".to_owned());
        }
        page.leaf("p", &[("class", &"when")], &parts.join(" · "));
    });
}

fn warnings(page: &mut Markup, facts: &Facts) {
    if facts.warnings.is_empty() {
        return;
    }
    let attributes: super::markup::Attributes<'_> =
        &[("id", &"warnings"), ("aria-label", &"Warnings")];
    page.inside("section", attributes, |page| {
        page.leaf("h2", &[], "What spoils these figures");
        list(page, &facts.warnings);
    });
}

/// The first ones at once; charts say more than a wall of sentences does.
fn findings(page: &mut Markup, outcome: &Outcome) {
    const SHOWN: usize = 6;
    let all = &outcome.findings;
    // A single one more takes no more room than saying so.
    let shown = if all.len() <= SHOWN + 1 {
        all.len()
    } else {
        SHOWN
    };
    if all.is_empty() {
        return;
    }
    page.inside("section", &[("id", &"findings")], |page| {
        page.leaf("h2", &[], "What was found");
        list(page, &all[..shown]);
        if shown < all.len() {
            page.inside("details", &[], |page| {
                page.leaf("summary", &[], &format!("{} more", all.len() - shown));
                list(page, &all[shown..]);
            });
        }
    });
}

/// A section of sentences; none where there are none.
pub(super) fn sentences(page: &mut Markup, (id, heading): (&str, &str), sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    page.inside("section", &[("id", &id)], |page| {
        page.leaf("h2", &[], heading);
        list(page, sentences);
    });
}

fn method(page: &mut Markup, outcome: &Outcome, grid: &Grid) {
    let mut lines = outcome.varies.clone();
    if !grid.held.is_empty() {
        lines.push(format!("The same in all rows: {}.", grid.held.join(", ")));
    }
    lines.push(
        "Rounds are interleaved, in a new random order each, after one that is thrown away; each \
         shifts stack and arrays by a random multiple of 64 bytes. Marks and bars show medians, \
         the thin bars across them the quartiles."
            .to_owned(),
    );
    lines.extend(about_noise(outcome));
    if !outcome.published.is_empty() {
        lines.push(
            "Published figures come from another machine: their ratios to the first of their \
             series are held against ours, never the figures."
                .to_owned(),
        );
    }
    sentences(
        page,
        ("method", "What was varied, what held, and how"),
        &lines,
    );
}

fn machine(page: &mut Markup, facts: &Facts, outcome: &Outcome) {
    page.inside("section", &[("id", &"machine")], |page| {
        page.leaf("h2", &[], "Machine and run");
        page.inside("dl", &[], |page| {
            for (name, value) in facts.machine(outcome).into_iter().chain(facts.run(outcome)) {
                page.leaf("dt", &[], name);
                page.leaf("dd", &[], &value);
            }
        });
        page.leaf("p", &[], facts.conditions.about_counters());
    });
}

fn again(page: &mut Markup, facts: &Facts) {
    page.inside("footer", &[], |page| {
        page.leaf("p", &[], "This page is made again by");
        page.inside("pre", &[], |page| page.leaf("code", &[], &facts.command));
    });
}

/// Sentences as a list.
pub(super) fn list(page: &mut Markup, items: &[String]) {
    page.inside("ul", &[], |page| {
        for item in items {
            page.leaf("li", &[], item);
        }
    });
}
