//! Curves of rate against loss and latency, as rows and charts of the laboratory.

use lab::no_drop::Trial;
use lab::{Chart, ChartKind, Outcome, Row, Samples, Value};

use super::result::{Results, SizeResult};

/// Loads within this share of the rate are drawn once more, by themselves.
const NEAR: f64 = 0.05;

/// Rows and charts of all sizes.
pub(super) fn outcome(results: &Results) -> Outcome {
    let mut rows = Vec::new();
    for size in &results.sizes {
        let name = named(&size.size);
        loss_rows(size, &name, &mut rows);
        latency_rows(size, &name, &mut rows);
    }
    Outcome {
        rows,
        charts: vec![near(), whole(), latency()],
        ..Outcome::default()
    }
}

/// A size as a field: a number where it is one. The others have no more names than fit in memory
/// of a run, and live as long as it.
fn named(size: &str) -> Value {
    match (size.parse::<u64>(), size) {
        (Ok(number), _) => Value::Number(number),
        (_, "imix") => Value::Word("imix"),
        _ => Value::Word(Box::leak(size.to_owned().into_boxed_str())),
    }
}

/// The loss of all trials at a load that were sent as planned.
fn loss_rows(size: &SizeResult, name: &Value, rows: &mut Vec<Row>) {
    let sent = size.finding.trials.iter().filter(|trial| trial.verified);
    let rate = size.finding.goals.first().and_then(|goal| goal.lower);
    let close = |load: u64| {
        let apart = |rate: u64| load.abs_diff(rate) as f64 / rate as f64;
        rate.is_some_and(|rate| apart(rate) <= NEAR)
    };
    for trial in sent {
        let load = trial.plan.load;
        let loss = trial.outcome.loss() * 100.0;
        let all = Point {
            metric: "loss_percent",
            part: "all",
            size: name,
            load,
        };
        push(rows, all, loss);
        if close(load) {
            push(
                rows,
                Point {
                    part: "near",
                    ..all
                },
                loss,
            );
        }
    }
}

/// Latency of the trials that lost nothing to speak of: what is lost has none.
fn latency_rows(size: &SizeResult, name: &Value, rows: &mut Vec<Row>) {
    let goal = size.finding.goals.last().map_or(0.0, |goal| goal.goal.loss);
    let measured = |trial: &&Trial| trial.verified && trial.outcome.loss() <= goal;
    for trial in size.finding.trials.iter().filter(measured) {
        let Some(latency) = trial.outcome.latency else {
            continue;
        };
        for (part, nanos) in [("median", latency.p50), ("99 %", latency.p99)] {
            let point = Point {
                metric: "latency_us",
                part,
                size: name,
                load: trial.plan.load,
            };
            push(rows, point, nanos as f64 / 1e3);
        }
    }
}

/// Which row a sample is of.
#[derive(Clone, Copy)]
struct Point<'a> {
    metric: &'static str,
    part: &'static str,
    size: &'a Value,
    load: u64,
}

/// One more sample of a row that may be there.
fn push(rows: &mut Vec<Row>, point: Point<'_>, sample: f64) {
    let metric = point.metric;
    let variant = vec![
        ("size", point.size.clone()),
        ("part", point.part.into()),
        ("offered", point.load.into()),
    ];
    let same = |row: &&mut Row| row.metric == metric && row.variant == variant;
    if let Some(row) = rows.iter_mut().find(same) {
        row.samples.push(sample);
        return;
    }
    let mut samples = Samples::default();
    samples.push(sample);
    rows.push(Row {
        variant,
        metric,
        samples,
    });
}

fn chart(title: &str, caption: &str, metric: &'static str, part: Option<&'static str>) -> Chart {
    Chart {
        title: title.to_owned(),
        caption: caption.to_owned(),
        kind: ChartKind::Lines,
        metric,
        beside: None,
        x: "offered",
        series: vec!["size", "part"],
        only: part.map(|part| ("part", part.into())).into_iter().collect(),
    }
}

fn near() -> Chart {
    chart(
        "Loss around the rate",
        "Each mark is the median loss of the trials at one load, within 5 % of the rate without \
         loss; bars across it are quartiles. A sharp bend is a device with one limit; trials that \
         scatter are noise.",
        "loss_percent",
        Some("near"),
    )
}

fn whole() -> Chart {
    chart(
        "Loss over all loads",
        "From the smallest to the largest load that was tried.",
        "loss_percent",
        Some("all"),
    )
}

fn latency() -> Chart {
    chart(
        "Latency",
        "Of trials within the loss that was searched for: the median frame, and the slowest of a \
         hundred. It rises where a queue begins to fill.",
        "latency_us",
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_at_one_load_are_samples_of_one_row() {
        let mut rows = Vec::new();
        let (size, other) = (named("64"), named("64-128"));
        for loss in [0.0, 1.0] {
            for size in [&size, &other] {
                let point = Point {
                    metric: "loss_percent",
                    part: "all",
                    size,
                    load: 1000,
                };
                push(&mut rows, point, loss);
            }
        }
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].samples.all(), [0.0, 1.0]);
        assert_eq!(
            (size, named("imix")),
            (Value::Number(64), Value::Word("imix"))
        );
    }
}
