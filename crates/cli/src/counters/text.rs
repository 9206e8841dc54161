//! Counts as people read them.

use lab::counters::{Report, Target, Threshold, Valued};

use crate::paint::Paint;
use crate::report::number::{count, seconds};
use crate::report::table::{Align, Table, wrap};

/// What is notable, all metrics, interrupts, counts, and what is missing.
pub(super) fn render(target: &Target, report: &Report, paint: Paint, width: usize) -> String {
    let mut text = wrap(
        &format!(
            "{}, {}; CPU: {}",
            described(target),
            seconds(report.seconds),
            report.family.name()
        ),
        2,
        width,
    );
    for valued in report.metrics.iter().filter(|valued| valued.is_notable()) {
        text += &wrap(&sentence(valued), 2, width);
    }
    if !report.metrics.is_empty() {
        text += &format!("\n{}", metrics(report).render(paint, width));
    }
    if !report.counts.is_empty() {
        text += &format!("\n{}", counts(report).render(paint, width));
    }
    text += "\n";
    if let Some(sentence) = interrupts(target, report) {
        text += &wrap(&sentence, 2, width);
    }
    for missing in &report.missing {
        text += &wrap(missing, 2, width);
    }
    text
}

/// What was measured, in a few words.
pub(super) fn described(target: &Target) -> String {
    match target {
        Target::Command(command) => {
            let words: Vec<String> = command
                .iter()
                .map(|word| word.display().to_string())
                .collect();
            words.join(" ")
        }
        Target::Process(process) => format!("process {process}"),
        Target::Cpus(cpus) => {
            let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
            format!("CPU {}", cpus.join(", "))
        }
    }
}

fn sentence(valued: &Valued) -> String {
    let metric = &valued.metric;
    format!(
        "{}: {} {}: {}",
        metric.name,
        digits(valued.value),
        metric.unit,
        metric.sentence
    )
}

fn metrics(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("metric", Align::Left),
        ("value", Align::Right),
        ("", Align::Left),
        ("notable", Align::Left),
        ("formula", Align::Left),
    ]);
    for valued in &report.metrics {
        let metric = &valued.metric;
        let threshold = match metric.threshold {
            Some(Threshold::Above(limit)) => format!("above {}", digits(limit)),
            Some(Threshold::Below(limit)) => format!("below {}", digits(limit)),
            None => String::new(),
        };
        table.row([
            metric.name.to_owned(),
            digits(valued.value),
            metric.unit.to_owned(),
            threshold,
            metric.formula(),
        ]);
    }
    table
}

fn counts(report: &Report) -> Table {
    let mut table = Table::new(&[
        ("event", Align::Left),
        ("count", Align::Right),
        ("counted", Align::Right),
        ("source", Align::Left),
    ]);
    for counted in &report.counts {
        table.row([
            counted.event.name.to_owned(),
            count(counted.value as u64),
            format!("{:.0} %", counted.counted * 100.0),
            counted.event.source.to_owned(),
        ]);
    }
    table
}

/// None where the kernel lists no interrupts.
fn interrupts(target: &Target, report: &Report) -> Option<String> {
    let found = report.interrupts?;
    let whose = match target {
        Target::Cpus(_) => "on these CPUs",
        _ => "on all CPUs, whoever caused them",
    };
    let rate = |number: u64| digits(number as f64 / report.seconds.max(1e-9));
    Some(format!(
        "interrupts a second {whose}: {} of devices and timers, {} between CPUs, of which {} are \
         TLB shootdowns",
        rate(found.devices),
        rate(found.between_cpus),
        rate(found.shootdowns)
    ))
}

/// About three digits: `12,345`, `12.3`, `0.05`.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => count(value.round() as u64),
        size if size >= 10.0 => format!("{value:.1}").replace(".0", ""),
        size if size >= 0.01 || size == 0.0 => {
            let text = format!("{value:.2}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_about_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.001_23, "1.2e-3"),
            (0.05, "0.05"),
            (0.5, "0.5"),
            (1.0, "1"),
            (9.876, "9.88"),
            (10.0, "10"),
            (12.34, "12.3"),
            (99.96, "100"),
            (1234.5, "1,235"),
            (1e9, "1,000,000,000"),
        ] {
            assert_eq!(digits(value), text, "{value}");
        }
    }
}
