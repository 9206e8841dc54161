//! The tables: ports, workers, reasons of drops, sets.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::history::{Figure, History};
use super::screen::Sort;
use super::theme::Theme;
use crate::report::number::brief;
use crate::report::table::clip;
use daemon::rpc::answers::{PortFacts, WorkerFacts};

/// Cells of a port's name and of a set's where 80 columns are all there are.
const PORT_NAME: usize = 10;
const SET_NAME: usize = 13;

/// Cells that the rest of a port's line takes, and of a set's.
const BESIDE_PORT: usize = 70;
const BESIDE_SET: usize = 27;

/// Cells of the bar of a worker's busy share.
const BAR: usize = 10;

/// A table as it goes onto the screen: a heading, and a line a row.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    pub(super) heading: String,
    pub(super) lines: Vec<Line<'static>>,
}

/// Rows with what they are sorted by.
struct Sorted<T> {
    rows: Vec<(Figure, T)>,
}

impl<T> Sorted<T> {
    fn new(rows: impl Iterator<Item = (Figure, T)>, sort: Sort) -> Self {
        let mut rows: Vec<_> = rows.collect();
        match sort {
            Sort::Order => {}
            Sort::Total => rows.sort_by_key(|(figure, _)| std::cmp::Reverse(figure.total)),
            Sort::Rate => rows.sort_by(|(a, _), (b, _)| {
                let by_rate = b.rate.total_cmp(&a.rate);
                by_rate.then(b.total.cmp(&a.total))
            }),
        }
        Self { rows }
    }
}

pub(super) fn ports(history: &History, sort: Sort, theme: Theme, width: u16) -> Rows {
    let ports = history.now().map_or(&[][..], |now| &now.ports);
    let names = ports.iter().map(|port| port.port.as_str());
    let cells = name_cells(
        names,
        usize::from(width).saturating_sub(BESIDE_PORT),
        PORT_NAME,
    );
    let heading = format!(
        "{:<cells$} {:<9} {:>8} {:>8} {:>7} {:>6} {:>8} {:>9} {:>7}",
        "PORT", "STATE", "in pps", "in bit/s", "drops/s", "err/s", "out pps", "out bit/s", "err/s"
    );
    let keyed = ports.iter().map(|port| {
        let key = history.port(&port.port, |port| port.in_frames);
        (key, port)
    });
    let rows = Sorted::new(keyed, sort).rows;
    let lines = rows
        .iter()
        .map(|(_, port)| port_line(history, port, theme, cells));
    Rows {
        heading,
        lines: lines.collect(),
    }
}

fn port_line(history: &History, port: &PortFacts, theme: Theme, cells: usize) -> Line<'static> {
    let rate = |count: fn(&PortFacts) -> u64| history.port(&port.port, count).rate;
    let bits = |count: fn(&PortFacts) -> u64| brief(rate(count) * 8.0);
    let state = if port.state == "up" {
        theme.good()
    } else {
        theme.bad()
    };
    let lost = rate(|port| port.in_drops) + rate(|port| port.in_errors);
    Line::from(vec![
        Span::raw(format!("{:<cells$} ", clip(&port.port, cells))),
        Span::styled(format!("{:<9} ", clip(&port.state, 9)), state),
        Span::raw(format!("{:>8} ", brief(rate(|port| port.in_frames)))),
        Span::raw(format!("{:>8} ", bits(|port| port.in_bytes))),
        Span::styled(
            format!(
                "{:>7} {:>6} ",
                brief(rate(|port| port.in_drops)),
                brief(rate(|port| port.in_errors))
            ),
            warn_if(lost > 0.0, theme),
        ),
        Span::raw(format!("{:>8} ", brief(rate(|port| port.out_frames)))),
        Span::raw(format!("{:>9} ", bits(|port| port.out_bytes))),
        Span::styled(
            format!("{:>7}", brief(rate(|port| port.out_errors))),
            warn_if(rate(|port| port.out_errors) > 0.0, theme),
        ),
    ])
}

pub(super) fn workers(history: &History, sort: Sort, theme: Theme) -> Rows {
    let heading = format!(
        "{:<6} {:>3}  {:<18} {:>9} {:>9} {:>8} {:>8} {:>8}",
        "WORKER", "cpu", "busy", "pps", "ns/frame", "burst", "drops/s", "pool"
    );
    let workers = history.now().map_or(&[][..], |now| &now.workers);
    let keyed = workers.iter().map(|worker| {
        let key = history.worker(worker.worker, |worker| worker.busy_ns);
        (key, worker)
    });
    let rows = Sorted::new(keyed, sort).rows;
    let lines = rows
        .iter()
        .map(|(_, worker)| worker_line(history, worker, theme));
    Rows {
        heading,
        lines: lines.collect(),
    }
}

fn worker_line(history: &History, worker: &WorkerFacts, theme: Theme) -> Line<'static> {
    let rate = |count: fn(&WorkerFacts) -> u64| history.worker(worker.worker, count).rate;
    let frames = rate(|worker| worker.frames);
    let busy = (rate(|worker| worker.busy_ns) / 1e9).clamp(0.0, 1.0);
    let filled = (busy * BAR as f64).round() as usize;
    let bar = "█".repeat(filled) + &"░".repeat(BAR - filled);
    let style = if busy > 0.9 {
        theme.warning()
    } else {
        theme.good()
    };
    let free = quotient(worker.pool_free as f64 * 100.0, worker.pool_frames as f64);
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let few = free.is_some_and(|free| free < 10.0);
    Line::from(vec![
        Span::raw(format!("{:<6} {:>3}  ", worker.worker, worker.cpu)),
        Span::styled(bar, style),
        Span::raw(format!(" {:>5.1} % ", busy * 100.0)),
        Span::raw(format!("{:>9} ", brief(frames))),
        Span::raw(format!(
            "{:>9} ",
            number(quotient(rate(|worker| worker.busy_ns), frames), 1)
        )),
        Span::raw(format!(
            "{:>8} ",
            number(quotient(frames, rate(|worker| worker.bursts)), 1)
        )),
        Span::raw(format!("{:>8} ", brief(rate(|worker| worker.drops)))),
        Span::styled(format!("{:>6} %", number(free, 0)), warn_if(few, theme)),
    ])
}

pub(super) fn drops(history: &History, sort: Sort) -> Rows {
    let heading = format!("{:<19} {:>8} {:>8}", "DROPPED", "pps", "total");
    let drops = history.now().map_or(&[][..], |now| &now.drops);
    let keyed = drops
        .iter()
        .map(|one| (history.drops(&one.reason), &one.reason));
    let rows = Sorted::new(keyed, sort).rows;
    let lines = rows.iter().map(|(figure, reason)| {
        let (rate, total) = (brief(figure.rate), brief(figure.total as f64));
        Line::raw(format!("{:<19} {rate:>8} {total:>8}", clip(reason, 19)))
    });
    Rows {
        heading,
        lines: lines.collect(),
    }
}

pub(super) fn sets(history: &History, sort: Sort, width: u16) -> Rows {
    let sets = history.now().map_or(&[][..], |now| &now.sets);
    let names = sets.iter().map(|set| set.set.as_str());
    let cells = name_cells(
        names,
        usize::from(width).saturating_sub(BESIDE_SET),
        SET_NAME,
    );
    let heading = format!(
        "{:<cells$} {:<6} {:>9} {:>9}",
        "SET", "action", "src hit/s", "dst hit/s"
    );
    let keyed = sets.iter().map(|set| {
        let key = history.hits(&set.set, |set| set.source + set.destination);
        (key, set)
    });
    let rows = Sorted::new(keyed, sort).rows;
    let lines = rows.iter().map(|(_, set)| {
        let source = brief(history.hits(&set.set, |set| set.source).rate);
        let destination = brief(history.hits(&set.set, |set| set.destination).rate);
        let (name, action) = (clip(&set.set, cells), set.action.name());
        Line::raw(format!(
            "{name:<cells$} {action:<6} {source:>9} {destination:>9}"
        ))
    });
    Rows {
        heading,
        lines: lines.collect(),
    }
}

/// Cells for names: as many as the longest asks for, where there is room.
fn name_cells<'a>(names: impl Iterator<Item = &'a str>, room: usize, least: usize) -> usize {
    let longest = names.map(|name| name.chars().count()).max();
    longest.unwrap_or(0).min(room).max(least)
}

fn warn_if(doubtful: bool, theme: Theme) -> Style {
    if doubtful {
        theme.warning()
    } else {
        Style::new()
    }
}

fn quotient(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}
