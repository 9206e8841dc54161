//! Results for the terminal.

use lab::no_drop::{LatencyPoint, LoadLimit, Percent, Verdict};

use super::super::result::{round, verdict};
use super::result::Results;
use crate::paint::Paint;
use crate::report::number::{count, seconds};
use crate::report::table::{Align, Table, wrap};

/// The whole of it, no line wider than `width` characters.
pub(super) fn render(results: &Results<'_>, paint: Paint, width: usize) -> String {
    let head = format!(
        "highest rate with {}: {}",
        results.expected().join(","),
        results.url()
    );
    let mut text = String::from("\n");
    text += &wrap(&head, 0, width).replacen("highest rate", &paint.bold("highest rate"), 1);
    text += &wrap(&method(results), 2, width);
    text.push('\n');
    text += &found(results).render(paint, width);
    if !results.finding.latencies.is_empty() {
        let heading = "Latency from when requests were due, at shares of the rate";
        text += &format!("\n{}\n", paint.bold(heading));
        text += &latencies(results).render(paint, width);
    }
    if !results.warnings.is_empty() {
        text += &format!("\n{}\n", paint.bold("What spoils these figures"));
        for warning in &results.warnings {
            text += &wrap(warning, 2, width);
        }
    }
    text.push('\n');
    text
}

/// How it was searched.
fn method(results: &Results<'_>) -> String {
    let args = results.asked.args;
    format!(
        "Open loops of up to {} on {} connections; {} of them judge a rate and {} may miss what \
         is expected; bounds within {} of the rate.",
        seconds(args.search.duration.as_secs_f64()),
        args.http.pool.clients.connections,
        args.search.confirm,
        Percent(args.search.exceed),
        Percent(args.search.precision)
    )
}

fn found(results: &Results<'_>) -> Table {
    let mut table = Table::new(&[
        ("req/s", Align::Right),
        ("missed at", Align::Right),
        ("apart", Align::Right),
        ("noise", Align::Right),
        ("trials", Align::Right),
        ("verdict", Align::Left),
    ]);
    let goal = results.goal();
    // What is not claimed is marked as in the table of frames.
    let mark = if goal.verdict.is_sound() { "" } else { "~" };
    let shown = |rate: Option<u64>| {
        rate.map_or_else(|| "-".to_owned(), |rate| format!("{mark}{}", count(rate)))
    };
    let apart = goal.precision().map(|share| Percent(round(share)));
    table.row([
        shown(goal.lower),
        shown(goal.upper),
        apart.map_or_else(|| "-".to_owned(), |share| share.to_string()),
        Percent(round(goal.noise)).to_string(),
        results.trials.len().to_string(),
        match goal.verdict {
            Verdict::AtLeast(LoadLimit::Sender) => "at least: this client".to_owned(),
            _ => verdict(goal).to_owned(),
        },
    ]);
    table
}

fn latencies(results: &Results<'_>) -> Table {
    let mut columns = vec![("share", Align::Right), ("req/s", Align::Right)];
    columns.extend(["p50", "p90", "p99", "max"].map(|name| (name, Align::Right)));
    columns.push(("", Align::Left));
    let mut table = Table::new(&columns);
    for point in &results.finding.latencies {
        table.row(row(point));
    }
    table
}

fn row(point: &LatencyPoint) -> [String; 7] {
    let time = |nanos: Option<u64>| {
        nanos.map_or_else(|| "-".to_owned(), |nanos| seconds(nanos as f64 / 1e9))
    };
    let latency = point.latency;
    [
        format!("{} %", point.percent),
        count(point.load),
        time(latency.map(|latency| latency.p50)),
        time(latency.map(|latency| latency.p90)),
        time(latency.map(|latency| latency.p99)),
        time(latency.map(|latency| latency.max)),
        match point.loss == 0.0 {
            true => "met".to_owned(),
            false => "missed".to_owned(),
        },
    ]
}
