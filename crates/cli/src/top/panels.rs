//! The tables: ports, workers, reasons of drops, sets, addresses hit most.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::history::{Figure, History};
use super::screen::Sort;
use super::theme::Theme;
use crate::control::counts;
use crate::report::number::{brief, range};
use crate::report::table::clip;
use daemon::rpc::answers::{PortFacts, Side, WorkerFacts};

/// Cells of the name of a port, a reason and a set where 80 columns are all there are, and of an
/// address.
const PORT_NAME: usize = 9;
const REASON: usize = 16;
const SET_NAME: usize = 11;
const ADDRESS: usize = 15;

/// Cells that the rest of such a line takes.
const BESIDE_PORT: usize = 71;
const BESIDE_REASON: usize = 17;
const BESIDE_SET: usize = 34;
const BESIDE_ADDRESS: usize = 53;

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
        "{:<cells$} {:<9} {:>8} {:>8} {:>7} {:>7} {:>8} {:>9} {:>7}",
        "PORT",
        "STATE",
        "in pps",
        "in bit/s",
        "missed",
        "dropped",
        "out pps",
        "out bit/s",
        "dropped"
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
    Line::from(vec![
        Span::raw(format!("{:<cells$} ", clip(&port.port, cells))),
        Span::styled(format!("{:<9} ", clip(&port.state, 9)), state),
        Span::raw(format!("{:>8} ", brief(rate(|port| port.in_frames)))),
        Span::raw(format!("{:>8} ", bits(|port| port.in_bytes))),
        Span::styled(
            format!("{:>7} ", brief(rate(|port| port.missed))),
            warn_if(rate(|port| port.missed) > 0.0, theme),
        ),
        Span::raw(format!("{:>7} ", brief(rate(|port| port.in_dropped)))),
        Span::raw(format!("{:>8} ", brief(rate(|port| port.out_frames)))),
        Span::raw(format!("{:>9} ", bits(|port| port.out_bytes))),
        Span::styled(
            format!("{:>7}", brief(rate(|port| port.out_dropped))),
            warn_if(rate(|port| port.out_dropped) > 0.0, theme),
        ),
    ])
}

pub(super) fn workers(history: &History, sort: Sort, theme: Theme) -> Rows {
    let heading = format!(
        "{:<6} {:>3}  {:<18} {:>9} {:>9} {:>8} {:>8} {:>8}",
        "WORKER", "cpu", "busy", "pps", "ns/frame", "burst", "dropped", "pool"
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

pub(super) fn drops(history: &History, sort: Sort, width: u16) -> Rows {
    let drops = history.now().map_or(&[][..], |now| &now.drops);
    let names = drops.iter().map(|one| one.reason.as_str());
    let room = usize::from(width).saturating_sub(BESIDE_REASON);
    let cells = name_cells(names, room, REASON);
    let heading = format!("{:<cells$} {:>7} {:>8}", "DROPPED", "pps", "total");
    let keyed = drops
        .iter()
        .map(|one| (history.drops(&one.reason), &one.reason));
    let rows = Sorted::new(keyed, sort).rows;
    let lines = rows.iter().map(|(figure, reason)| {
        let (rate, total) = (brief(figure.rate), brief(figure.total as f64));
        let reason = clip(reason, cells);
        Line::raw(format!("{reason:<cells$} {rate:>7} {total:>8}"))
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
        "{:<cells$} {:<6} {:>7} {:>7} {:>10}",
        "SET", "action", "src pps", "dst pps", "would drop"
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
        let would_drop = match counts(set) {
            true => brief(set.would_drop as f64),
            false => "-".to_owned(),
        };
        Line::raw(format!(
            "{name:<cells$} {action:<6} {source:>7} {destination:>7} {would_drop:>10}"
        ))
    });
    Rows {
        heading,
        lines: lines.collect(),
    }
}

/// The addresses hit most, with ranges where workers had to forget.
pub(super) fn talkers(history: &History, width: u16) -> Rows {
    let talkers = history.talkers();
    let addresses: Vec<String> = talkers.iter().map(|hit| hit.address.to_string()).collect();
    let cells = name_cells(
        addresses.iter().map(String::as_str),
        usize::from(width).saturating_sub(BESIDE_ADDRESS),
        ADDRESS,
    );
    let heading = format!(
        "{:<cells$} {:<4} {:>16} {:>18}  {}",
        "HIT MOST", "side", "last minute", "last hour", "sets"
    );
    let lines = addresses.iter().zip(talkers).map(|(address, hit)| {
        let side = match hit.side {
            Side::Source => "src",
            Side::Destination => "dst",
        };
        let minute = range(hit.last_minute, hit.last_minute_error);
        let hour = range(hit.frames, hit.error);
        let (address, sets) = (clip(address, cells), hit.sets.join(", "));
        let line = format!("{address:<cells$} {side:<4} {minute:>16} {hour:>18}  {sets}");
        Line::raw(clip(&line, usize::from(width)))
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
