//! Waits as programs read them.

use lab::contention::{Report, Row, Source};
use serde::Serialize;

use super::columns::average_ns;
use crate::build::VERSION;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Waits {
    version: &'static str,
    seconds: f64,
    rows: Vec<WaitRow>,
    records: u64,
    lost: u64,
    unfinished: u64,
    own_cost: Cost,
    missing: Vec<String>,
    failure: Option<String>,
}

/// The ten columns, in microseconds; what no source knows is null.
#[derive(Debug, Serialize)]
struct WaitRow {
    source: &'static str,
    max: Option<f64>,
    wait_max: f64,
    total: Option<f64>,
    wait_total: f64,
    count: Option<u64>,
    avg: Option<f64>,
    wait_avg: f64,
    cnt_hold: Option<u64>,
    cnt_lock: u64,
    name: String,
    timed_out: u64,
}

#[derive(Debug, Serialize)]
struct Cost {
    call_off_ns: f64,
    call_on_ns: f64,
    record_ns: f64,
    reading_seconds: f64,
}

impl Waits {
    pub(super) fn new(report: &Report) -> Self {
        Self {
            version: VERSION,
            seconds: report.seconds,
            rows: report.rows.iter().map(WaitRow::new).collect(),
            records: report.records,
            lost: report.lost,
            unfinished: report.unfinished,
            own_cost: Cost {
                call_off_ns: report.cost.off_ns,
                call_on_ns: report.cost.on_ns,
                record_ns: report.cost.of_a_record(),
                reading_seconds: report.reading_seconds,
            },
            missing: report.missing.clone(),
            failure: report.failure.clone(),
        }
    }
}

impl WaitRow {
    fn new(row: &Row) -> Self {
        let micros = |ns: u64| ns as f64 / 1e3;
        Self {
            source: match row.source {
                Source::Kernel => "kernel",
                Source::User => "user",
            },
            max: None,
            wait_max: micros(row.longest_ns),
            total: None,
            wait_total: micros(row.total_ns),
            count: None,
            avg: None,
            wait_avg: micros(average_ns(row)),
            cnt_hold: None,
            cnt_lock: row.waits,
            name: row.name.clone(),
            timed_out: row.timed_out,
        }
    }
}
