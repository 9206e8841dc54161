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
        let since = |of: fn(&DispatchRow) -> u64| match last {
            Some(last) => {
                let passed = of(row).saturating_sub(of(last)) as f64;
                (passed / seconds.max(1e-3)).round() as u64
            }
            None => of(row),
        };
        Row {
            worker: row.worker,
            port: &row.port,
            kind: &row.kind,
            counts: [
                row.len,
                row.wmark,
                row.dispatched,
                row.hybrid_dispatched,
                row.qdrops,
                since(|row| row.queued),
                since(|row| row.handled),
            ],
        }
    });
    dispatch::render(&settings, rows, looks.paint, looks.width)
}

fn is_same(last: &DispatchRow, row: &DispatchRow) -> bool {
    (last.worker, &last.port, &last.kind) == (row.worker, &row.port, &row.kind)
}
