//! Results for the terminal.

use lab::no_drop::{GoalFinding, Latency, Percent};

use super::result::{Results, SizeResult, round, verdict};
use crate::paint::Paint;
use crate::report::ledger::{self, LedgerJson};
use crate::report::table::{Align, Table, wrap};

/// The whole of it, no line wider than `width` characters.
pub(super) fn render(results: &Results, paint: Paint, width: usize) -> String {
    let mut text = String::from("\n");
    let head = format!("no-drop rate: {}", results.device);
    text += &wrap(&head, 0, width).replacen("no-drop rate", &paint.bold("no-drop rate"), 1);
    text += &wrap(&method(results), 2, width);
    text.push('\n');
    text += &rates(results).render(paint, width);
    let latencies = latencies(results);
    if let Some(latencies) = latencies {
        text += &format!("\n{}\n", paint.bold(heading_of_latency(results)));
        text += &latencies.render(paint, width);
    }
    for size in &results.sizes {
        text += &ledger_of(size, paint, width);
    }
    let warnings = results.all_warnings();
    if !warnings.is_empty() {
        text += &format!("\n{}\n", paint.bold("What spoils these figures"));
        for warning in &warnings {
            text += &wrap(warning, 2, width);
        }
    }
    text.push('\n');
    text
}

fn ledger_of(size: &SizeResult, paint: Paint, width: usize) -> String {
    let Some(sum) = size.finding.ledger() else {
        return String::new();
    };
    let title = format!(
        "Ledger of all trials of {} bytes that were sent as planned",
        size.size
    );
    let text = ledger::render(&title, &LedgerJson::of(&sum), paint, width);
    if text.is_empty() {
        return text;
    }
    format!("\n{text}")
}

/// How it was searched, in a sentence or two.
pub(super) fn method(results: &Results) -> String {
    let ways = if results.bidirectional {
        "Both directions at once; rates are those of each. "
    } else {
        ""
    };
    format!(
        "{ways}Trials of up to {} s; {} of them judge a rate and {} may lose more; bounds within \
         {} of the rate.",
        results.duration,
        results.confirm,
        Percent(results.exceed),
        Percent(results.precision)
    )
}

fn rates(results: &Results) -> Table {
    let mut table = Table::new(&[
        ("size", Align::Right),
        ("loss", Align::Right),
        ("Mpps", Align::Right),
        ("Gbit/s L1", Align::Right),
        ("of line", Align::Right),
        ("precision", Align::Right),
        ("noise", Align::Right),
        ("trials", Align::Right),
        ("verdict", Align::Left),
    ]);
    for size in &results.sizes {
        for goal in &size.finding.goals {
            table.row(row(size, goal));
        }
    }
    table
}

fn row(size: &SizeResult, goal: &GoalFinding) -> [String; 9] {
    let cells = figures(size, goal);
    [
        size.size.clone(),
        Percent(goal.goal.loss).to_string(),
        cells.mpps,
        cells.gbits,
        cells.of_line,
        cells.precision,
        Percent(round(goal.noise)).to_string(),
        size.finding.trials.len().to_string(),
        verdict(goal).to_owned(),
    ]
}

/// Cells of a rate, for table and page alike.
pub(super) struct Figures {
    pub(super) mpps: String,
    pub(super) gbits: String,
    pub(super) of_line: String,
    pub(super) precision: String,
}

/// What is claimed; of a device that is not stable its bounds, marked as such.
pub(super) fn figures(size: &SizeResult, goal: &GoalFinding) -> Figures {
    let none = || "-".to_owned();
    let Some(rate) = goal.lower.map(|rate| rate as f64) else {
        return Figures {
            mpps: none(),
            gbits: none(),
            of_line: none(),
            precision: none(),
        };
    };
    let mark = if goal.verdict.is_sound() { "" } else { "~" };
    let share = |line: f64| format!("{mark}{:.1} %", rate * 100.0 / line);
    Figures {
        mpps: format!("{mark}{}", mpps(rate)),
        gbits: format!("{mark}{:.3}", size.l1_bits(rate) / 1e9),
        of_line: size.line.map_or_else(none, share),
        precision: goal
            .precision()
            .map_or_else(none, |share| Percent(round(share)).to_string()),
    }
}

/// Five digits, whatever the size.
pub(super) fn mpps(rate: f64) -> String {
    match rate / 1e6 {
        rate if rate >= 10.0 => format!("{rate:.3}"),
        rate if rate >= 1.0 => format!("{rate:.4}"),
        rate => format!("{rate:.6}"),
    }
}

/// What the latency columns hold.
pub(super) fn heading_of_latency(results: &Results) -> &'static str {
    if results.bidirectional && !results.simulated {
        "Latency there and back, median / 99 % in us, at shares of the first rate"
    } else {
        "Latency, median / 99 % in us, at shares of the first rate"
    }
}

fn latencies(results: &Results) -> Option<Table> {
    let shares: Vec<u64> = shares(results);
    if shares.is_empty() {
        return None;
    }
    let names: Vec<String> = shares.iter().map(|share| format!("{share} %")).collect();
    let mut columns = vec![("size", Align::Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for size in &results.sizes {
        table.push(latency_cells(size, &shares));
    }
    Some(table)
}

/// Percent of the rate at which latency was measured anywhere.
pub(super) fn shares(results: &Results) -> Vec<u64> {
    let points = results
        .sizes
        .iter()
        .flat_map(|size| &size.finding.latencies);
    let measured = points.filter(|point| point.latency.is_some());
    let mut shares: Vec<u64> = measured.map(|point| point.percent).collect();
    shares.sort_unstable();
    shares.dedup();
    shares
}

/// The size, and its latency at each share.
pub(super) fn latency_cells(size: &SizeResult, shares: &[u64]) -> Vec<String> {
    let at = |share: &u64| {
        let mut points = size.finding.latencies.iter();
        let point = points.find(|point| point.percent == *share);
        let latency = point.and_then(|point| point.latency);
        latency.map_or("-".to_owned(), |latency| pair(&latency))
    };
    let mut cells = vec![size.size.clone()];
    cells.extend(shares.iter().map(at));
    cells
}

fn pair(latency: &Latency) -> String {
    let micros = |nanos: u64| match nanos as f64 / 1e3 {
        us if us >= 99.95 => format!("{us:.0}"),
        us => format!("{us:.1}"),
    };
    format!("{} / {}", micros(latency.p50), micros(latency.p99))
}
