//! `linerate show dispatch`: settings, then a row for each worker, port and kind.

use daemon::rpc::answers::{Dispatch, DispatchRow};

use super::Looks;
use crate::report::dispatch::{self, Row, Settings};

pub(super) fn render(now: &Dispatch, before: Option<&Dispatch>, looks: Looks) -> String {
    let ports = now.ports.iter();
    let settings = Settings {
        policy: &now.policy,
        ring_limit: now.ring_limit,
        cpus: &now.cpus,
        ports: ports
            .map(|port| (port.port.as_str(), port.policy.as_str(), port.queues))
            .collect(),
    };
    let seconds = before.map_or(0.0, |before| now.seconds - before.seconds);
    let rows = now.rows.iter().map(|row| {
        let last = before.and_then(|before| before.rows.iter().find(|last| is_same(last, row)));
        let mut counts = row.counts.in_order();
        if let Some(last) = last {
            let rate = |now: u64, before: u64| {
                let passed = now.saturating_sub(before) as f64;
                (passed / seconds.max(1e-3)).round() as u64
            };
            counts[5] = rate(row.counts.queued, last.counts.queued);
            counts[6] = rate(row.counts.handled, last.counts.handled);
        }
        Row {
            worker: row.worker,
            port: &row.port,
            kind: &row.kind,
            counts,
        }
    });
    dispatch::render(&settings, rows, looks.paint, looks.width)
}

fn is_same(last: &DispatchRow, row: &DispatchRow) -> bool {
    (last.worker, &last.port, &last.kind) == (row.worker, &row.port, &row.kind)
}
