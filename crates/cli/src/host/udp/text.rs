//! The same for people.

use super::figures::{KernelFigures, Latency, UdpFigures};
use crate::paint::Paint;
use crate::report::number::{brief, count, seconds, share};
use crate::report::table::{Align, Table};

/// What became of the datagrams, above the report of the run.
pub(super) fn render(figures: &UdpFigures<'_>, paint: Paint, width: usize) -> String {
    let mut text = format!("\n{}\n", paint.bold("UDP datagrams"));
    text += &columns(figures, paint, width);
    if let (Some(lost), Some(generated)) = (figures.not_back, figures.datagrams.generated) {
        let share = share(lost, generated);
        text += &format!("  not back at the client: {} ({share})\n", count(lost));
    }
    for (cause, number) in figures.faults.causes() {
        if number != 0 {
            text += &format!("  {}: {cause}\n", count(number));
        }
    }
    match &figures.latency {
        Some(latency) => text + "\n" + &times(latency, paint, width),
        None => text,
    }
}

/// One row a place; "-" where this end does not see it.
fn columns(figures: &UdpFigures<'_>, paint: Paint, width: usize) -> String {
    let mut table = Table::new(&[
        ("place", Align::Left),
        ("datagrams", Align::Right),
        ("a second", Align::Right),
    ]);
    let places = figures.datagrams.all().into_iter();
    for ((place, number), (_, each)) in places.zip(figures.per_second.all()) {
        let unseen = || "-".to_owned();
        table.row([
            place.to_owned(),
            number.map_or_else(unseen, count),
            each.map_or_else(unseen, brief),
        ]);
    }
    table.render(paint, width)
}

fn times(latency: &Latency, paint: Paint, width: usize) -> String {
    let heads = ["min", "p50", "p90", "p99", "p99.9", "max"];
    let mut columns = vec![("from sent to back", Align::Left)];
    columns.extend(heads.map(|head| (head, Align::Right)));
    let mut table = Table::new(&columns);
    let values = [
        latency.min_ns,
        latency.p50_ns,
        latency.p90_ns,
        latency.p99_ns,
        latency.p999_ns,
        latency.max_ns,
    ];
    let cells = values.map(|nanos| seconds(nanos as f64 / 1e9));
    table.push(std::iter::once(String::new()).chain(cells).collect());
    table.render(paint, width)
}

/// What the kernel did, below the datagrams.
pub(super) fn kernel(figures: &KernelFigures, paint: Paint) -> String {
    let mut text = format!("\n{}\n", paint.bold("The kernel"));
    for (cause, number) in figures.dropped.causes() {
        text += &format!("  {:>12}  {cause}\n", count(number));
    }
    text + &format!(
        "  {:>12}  context switches of the whole machine, {} a second\n  {:>10.1} %  of the time \
         of all CPUs in softirqs\n",
        count(figures.context_switches),
        brief(figures.context_switches_per_second),
        figures.softirq_share * 100.0,
    )
}
