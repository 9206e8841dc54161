//! How frames got to the worker that decides on them, for people: of a run that ended, and of one
//! that goes on.

use super::number::count;
use super::table::{Align, Table, wrap};
use crate::paint::Paint;

/// What was chosen, and what holds for each port: its name, policy and queues.
pub(crate) struct Settings<'a> {
    pub(crate) policy: &'a str,
    pub(crate) ring_limit: u64,
    /// By worker.
    pub(crate) cpus: &'a [u32],
    pub(crate) ports: Vec<(&'a str, &'a str, u64)>,
}

/// Frames for one worker, of one port and kind.
pub(crate) struct Row<'a> {
    pub(crate) worker: u32,
    pub(crate) port: &'a str,
    pub(crate) kind: &'a str,
    /// In the order of [`COUNTS`].
    pub(crate) counts: [u64; COUNTS.len()],
}

/// The columns of FreeBSD's `netstat -Q`.
pub(crate) const COUNTS: [&str; 7] = [
    "Len", "WMark", "Disp'd", "HDisp'd", "QDrops", "Queued", "Handled",
];

/// Settings and rows, no line wider than `width` characters.
pub(crate) fn render<'a>(
    settings: &Settings<'_>,
    rows: impl Iterator<Item = Row<'a>>,
    paint: Paint,
    width: usize,
) -> String {
    let cpus: Vec<String> = settings.cpus.iter().map(ToString::to_string).collect();
    let facts = format!(
        "workers {} bound to CPU {}, policy {}, ring limit {} frames",
        cpus.len(),
        cpus.join(","),
        settings.policy,
        count(settings.ring_limit)
    );
    let mut text = wrap(&facts, 2, width);
    for (port, policy, queues) in &settings.ports {
        let plural = if *queues == 1 { "queue" } else { "queues" };
        text += &wrap(&format!("{port}: {policy}, {queues} {plural}"), 2, width);
    }
    let mut columns = vec![
        ("worker", Align::Right),
        ("port", Align::Left),
        ("kind", Align::Left),
    ];
    columns.extend(COUNTS.map(|name| (name, Align::Right)));
    let mut table = Table::new(&columns);
    for row in rows {
        let mut cells = vec![
            row.worker.to_string(),
            row.port.to_owned(),
            row.kind.to_owned(),
        ];
        cells.extend(row.counts.map(count));
        table.push(cells);
    }
    text + &table.render(paint, width)
}
