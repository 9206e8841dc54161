//! Results as one page of HTML that needs nothing but a browser.

use lab::no_drop::{GoalFinding, Percent};

use super::curves;
use super::result::{Results, SizeResult, round, verdict};
use super::text::{Figures, figures, heading_of_latency, latency_cells, method, mpps, shares};
use crate::build;
use crate::laboratory::chart;
use crate::laboratory::markup::{Attributes, Markup};
use crate::laboratory::page::{document, list, sentences};

/// The whole page.
pub(super) fn render(results: &Results) -> String {
    document("linerate ndr: no-drop rate", |page| {
        title(page, results);
        warnings(page, results);
        page.inside("section", &[("id", &"findings")], |page| {
            page.leaf("h2", &[], "What was found");
            list(page, &found(results));
        });
        rates(page, results);
        latencies(page, results);
        let outcome = curves::outcome(results);
        page.inside("section", &[("id", &"charts")], |page| {
            for chart in &outcome.charts {
                chart::draw(page, chart, &outcome);
            }
        });
        sentences(page, ("method", "How it was searched"), &how(results));
        machine(page, results);
        page.inside("footer", &[], |page| {
            page.leaf("p", &[], "This page is made again by");
            page.inside("pre", &[], |page| page.leaf("code", &[], &results.command));
        });
    })
}

fn title(page: &mut Markup, results: &Results) {
    page.inside("header", &[], |page| {
        page.leaf("p", &[("class", &"brand")], "linerate ndr");
        page.leaf("h1", &[], "No-drop rate");
        page.leaf("p", &[("class", &"sentence")], &results.device);
        let mut parts = vec![results.conditions.machine.cpu.clone()];
        let day = results.date.as_deref().and_then(|date| date.get(..10));
        parts.extend(day.map(str::to_owned));
        page.leaf("p", &[("class", &"when")], &parts.join(" · "));
    });
}

fn warnings(page: &mut Markup, results: &Results) {
    let warnings = results.all_warnings();
    if warnings.is_empty() {
        return;
    }
    let attributes: Attributes<'_> = &[("id", &"warnings"), ("aria-label", &"Warnings")];
    page.inside("section", attributes, |page| {
        page.leaf("h2", &[], "What spoils these figures");
        list(page, &warnings);
    });
}

/// A sentence a goal.
fn found(results: &Results) -> Vec<String> {
    let of = |size: &SizeResult| {
        let goals = size.finding.goals.iter();
        goals.map(|goal| sentence(size, goal)).collect::<Vec<_>>()
    };
    results.sizes.iter().flat_map(of).collect()
}

fn sentence(size: &SizeResult, goal: &GoalFinding) -> String {
    let loss = match goal.goal.loss {
        0.0 => "without loss".to_owned(),
        loss => format!("with a loss of at most {}", Percent(loss)),
    };
    let name = &size.size;
    match goal.lower.filter(|_| goal.verdict.is_sound()) {
        Some(rate) => format!(
            "{name} bytes: {} Mpps {loss}, {:.3} Gbit/s with preamble and gap ({}).",
            mpps(rate as f64),
            size.l1_bits(rate as f64) / 1e9,
            verdict(goal)
        ),
        None => format!(
            "{name} bytes: no rate {loss} is claimed ({}).",
            verdict(goal)
        ),
    }
}

const RATES: [&str; 9] = [
    "size",
    "loss",
    "Mpps",
    "Gbit/s L1",
    "of line",
    "precision",
    "noise",
    "trials",
    "verdict",
];

fn rates(page: &mut Markup, results: &Results) {
    page.inside("section", &[("id", &"rates")], |page| {
        page.leaf("h2", &[], "Rates");
        let rows = results.sizes.iter().flat_map(|size| {
            let goals = size.finding.goals.iter();
            goals.map(move |goal| rate_cells(size, goal))
        });
        let rows: Vec<Vec<String>> = rows.collect();
        table(page, &RATES.map(str::to_owned), &rows);
    });
}

fn rate_cells(size: &SizeResult, goal: &GoalFinding) -> Vec<String> {
    let Figures {
        mpps,
        gbits,
        of_line,
        precision,
    } = figures(size, goal);
    vec![
        size.size.clone(),
        Percent(goal.goal.loss).to_string(),
        mpps,
        gbits,
        of_line,
        precision,
        Percent(round(goal.noise)).to_string(),
        size.finding.trials.len().to_string(),
        verdict(goal).to_owned(),
    ]
}

fn latencies(page: &mut Markup, results: &Results) {
    let shares = shares(results);
    if shares.is_empty() {
        return;
    }
    page.inside("section", &[("id", &"latency")], |page| {
        page.leaf("h2", &[], heading_of_latency(results));
        let mut headings = vec!["size".to_owned()];
        headings.extend(shares.iter().map(|share| format!("{share} %")));
        let sizes = results.sizes.iter();
        let rows: Vec<_> = sizes.map(|size| latency_cells(size, &shares)).collect();
        table(page, &headings, &rows);
    });
}

fn table(page: &mut Markup, headings: &[String], rows: &[Vec<String>]) {
    let class = |place: usize| {
        if headings[place] == "verdict" {
            "words"
        } else {
            "number"
        }
    };
    page.inside("div", &[("class", &"wide")], |page| {
        page.inside("table", &[], |page| {
            page.inside("thead", &[], |page| {
                page.inside("tr", &[], |page| {
                    for (place, heading) in headings.iter().enumerate() {
                        let attributes: Attributes<'_> =
                            &[("scope", &"col"), ("class", &class(place))];
                        page.leaf("th", attributes, heading);
                    }
                });
            });
            page.inside("tbody", &[], |page| {
                for row in rows {
                    page.inside("tr", &[], |page| {
                        for (place, cell) in row.iter().enumerate() {
                            page.leaf("td", &[("class", &class(place))], cell);
                        }
                    });
                }
            });
        });
    });
}

fn how(results: &Results) -> Vec<String> {
    vec![
        "The search is that of RFC 9971 (MLRsearch); the rate without loss is the throughput of \
         RFC 2544."
            .to_owned(),
        method(results),
        "Both bounds were tried once more in turns, and the largest load before and after: a \
         device that does not hold still gets no rate. Figures marked ~ are bounds of such a \
         device, not rates."
            .to_owned(),
        "Noise is how far full trials contradict each other: from the smallest load at which one \
         missed the goal to the largest at which one met it."
            .to_owned(),
    ]
}

fn machine(page: &mut Markup, results: &Results) {
    let machine = &results.conditions.machine;
    let lines = [
        ("processor", machine.cpu.clone()),
        ("CPUs", machine.cpus.to_string()),
        ("kernel", format!("Linux {}", machine.kernel)),
        ("linerate", build::VERSION.to_owned()),
        ("date", results.date.clone().unwrap_or_default()),
        ("seed", results.seed.to_string()),
    ];
    page.inside("section", &[("id", &"machine")], |page| {
        page.leaf("h2", &[], "Machine and run");
        page.inside("dl", &[], |page| {
            for (name, value) in &lines {
                page.leaf("dt", &[], name);
                page.leaf("dd", &[], value);
            }
        });
    });
}
