//! A run from start to end: live lines and Ctrl-C.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use load::client::{Books, Interval, LoadReport, LoadRun, RunSpec};
use traffic::Histogram;

use super::metrics::LoadMetrics;
use crate::args::HttpVerdictArgs;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::output::Output;
use crate::report::number::{count, rate, seconds};
use crate::screen::Screen;

const LIVE: Duration = Duration::from_secs(1);
const NAP: Duration = Duration::from_millis(5);

/// What intervals say so far.
#[derive(Default)]
struct Seen {
    /// The newest of each worker and pool.
    books: BTreeMap<(usize, usize), Books>,
    /// Since the last line.
    latency: Histogram,
    answered_before: u64,
}

/// Runs to the end, or until the first Ctrl-C.
pub(super) fn run(
    spec: RunSpec,
    args: &HttpVerdictArgs,
    interrupt: &Interrupt,
    output: Output,
) -> Result<LoadReport, Error> {
    let mut screen = Screen::live(output, LIVE, args.progress.then_some(LIVE));
    let names = spec.pools.iter().map(|pool| pool.name.clone());
    let metrics = Arc::new(LoadMetrics::new(names));
    let address = args.metrics;
    let _server = address.map(|at| metrics.serve(at, output)).transpose()?;
    let run = LoadRun::start(spec).map_err(Error::refused)?;
    let start = Instant::now();
    let mut shown = start;
    let mut seen = Seen::default();
    while !run.is_finished() {
        if interrupt.is_asked() {
            run.stop();
        }
        for interval in run.intervals() {
            metrics.take(&interval);
            seen.take(interval);
        }
        if screen.is_due() {
            screen.show(&seen.line(start.elapsed(), shown.elapsed()));
            shown = Instant::now();
        }
        thread::sleep(NAP);
    }
    screen.clear();
    run.join().map_err(Error::check_failed)
}

impl Seen {
    fn take(&mut self, interval: Interval) {
        self.latency.merge(&interval.latency);
        self.books
            .insert((interval.worker, interval.pool), interval.books);
    }

    fn line(&mut self, since_start: Duration, passed: Duration) -> Vec<String> {
        let mut sum = Books::default();
        self.books.values().for_each(|books| sum.add(books));
        let answered = sum.answered - std::mem::replace(&mut self.answered_before, sum.answered);
        let latency = std::mem::take(&mut self.latency).report();
        let a_second = answered as f64 / passed.as_secs_f64().max(1e-9);
        let mut parts = vec![
            format!("  {:>3.0} s", since_start.as_secs_f64()),
            format!("{} answered", rate(a_second, "req/s")),
        ];
        if latency.count > 0 {
            let time = |nanos: u64| seconds(nanos as f64 / 1e9);
            parts.push(format!(
                "p50 {}  p99 {}",
                time(latency.p50),
                time(latency.p99)
            ));
            parts.push(format!("max {}", time(latency.max)));
        }
        parts.push(format!("{} errors", count(sum.errors_all())));
        parts
    }
}
