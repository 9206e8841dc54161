//! Waits as people read them.

use lab::contention::{Report, Row, Source};

use super::columns::average_ns;
use crate::paint::Paint;
use crate::report::number::{count, seconds};
use crate::report::table::{Align, Table, wrap};

/// The table, what its columns leave out, and what it cost.
pub(super) fn render(report: &Report, rows: usize, paint: Paint, width: usize) -> String {
    let mut text = match report.rows.is_empty() {
        true => "  nobody waited for a lock\n".to_owned(),
        false => table(report, rows).render(paint, width),
    };
    text += "\n";
    for sentence in sentences(report, rows) {
        text += &wrap(&sentence, 2, width);
    }
    text
}

fn table(report: &Report, rows: usize) -> Table {
    let mut table = Table::new(&[
        ("max", Align::Right),
        ("wait_max", Align::Right),
        ("total", Align::Right),
        ("wait_total", Align::Right),
        ("count", Align::Right),
        ("avg", Align::Right),
        ("wait_avg", Align::Right),
        ("cnt_hold", Align::Right),
        ("cnt_lock", Align::Right),
        ("name", Align::Left),
    ]);
    for row in report.rows.iter().take(rows) {
        table.row(cells(row));
    }
    table
}

fn cells(row: &Row) -> [String; 10] {
    let unknown = || "-".to_owned();
    let micros = |ns: u64| count(ns.div_ceil(1000));
    [
        unknown(),
        micros(row.longest_ns),
        unknown(),
        micros(row.total_ns),
        unknown(),
        unknown(),
        micros(average_ns(row)),
        unknown(),
        count(row.waits),
        row.name.clone(),
    ]
}

fn sentences(report: &Report, rows: usize) -> Vec<String> {
    let mut said = Vec::new();
    if report.rows.len() > rows {
        said.push(format!(
            "{} further rows: --rows, or --json",
            report.rows.len() - rows
        ));
    }
    said.push(
        "times are microseconds; a dash is what nothing here can know: for how long a lock is held \
         (max, total, avg), how often it is taken (count), and how often others wait for its \
         holder (cnt_hold)"
            .to_owned(),
    );
    if report.rows.iter().any(|row| row.source == Source::User) {
        said.push(
            "a futex is a lock, a condition variable or the end of a thread: threads that wait for \
             work are listed, too"
                .to_owned(),
        );
    }
    said.push(cost(report));
    if report.lost > 0 {
        said.push(format!(
            "{} records were lost, since waits came faster than they could be read: the figures \
             are too small",
            count(report.lost)
        ));
    }
    if report.unfinished > 0 {
        said.push(format!(
            "{} waits had not ended when watching did, and are not counted",
            count(report.unfinished)
        ));
    }
    said.extend(report.missing.iter().cloned());
    said
}

fn cost(report: &Report) -> String {
    let cost = &report.cost;
    let share = cost.of_a_record() * report.records as f64 / 1e9;
    format!(
        "own cost: a call of futex(2) took {:.0} ns without and {:.0} ns with recording, before \
         the run; {} records in {}: about {} of CPU time of those who were watched, and {} to read \
         them",
        cost.off_ns,
        cost.on_ns,
        count(report.records),
        seconds(report.seconds),
        seconds(share),
        seconds(report.reading_seconds)
    )
}
