//! The line that shows a host while it runs.

use std::collections::BTreeMap;

use engine::{Running, Snapshot};

use super::timings::Timings;
use crate::report::number::{count, rate, seconds};
use crate::run::Onlooker;

/// What is shown of a host, and kept of it.
#[derive(Default)]
pub(super) struct Live {
    pub(super) timings: Timings,
    queries_before: u64,
    seconds_before: f64,
}

impl Live {
    pub(super) fn new(timings: Timings) -> Self {
        Self {
            timings,
            ..Self::default()
        }
    }

    /// What happened since the last line.
    fn parts(&mut self, seconds_now: f64, counts: &BTreeMap<&str, u64>) -> Vec<String> {
        let of = |name| counts.get(name).copied().unwrap_or(0);
        let queries = of("queries");
        let done = queries - std::mem::replace(&mut self.queries_before, queries);
        let passed = seconds_now - std::mem::replace(&mut self.seconds_before, seconds_now);
        let mut parts = vec![
            format!("  {seconds_now:>3.0} s"),
            rate(done as f64 / passed.max(1e-9), "queries/s"),
            format!("{} open", count(of("open"))),
            format!("{} established", count(of("in_established"))),
            format!("{} sent again", count(of("retransmitted"))),
        ];
        let recent = std::mem::take(&mut self.timings.recent);
        if recent.count() > 0 {
            let time = |share| seconds(recent.quantile(share) as f64 / 1e9);
            parts.push(format!("p50 {}  p99 {}", time(0.5), time(0.99)));
        }
        parts
    }
}

impl Onlooker for Live {
    fn look(&mut self) -> Vec<String> {
        self.timings.take();
        Vec::new()
    }

    fn line(&mut self, now: &Snapshot, running: &Running) -> Vec<String> {
        let node = running.status().node;
        let counts = node.iter().map(|one| (one.name, one.count)).collect();
        self.parts(now.seconds, &counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_what_happened_since_the_one_before() {
        let mut live = Live::default();
        let counts = |queries, open| {
            BTreeMap::from([
                ("queries", queries),
                ("open", open),
                ("in_established", 7),
                ("retransmitted", 2),
            ])
        };
        live.timings.recent.record(1_000_000);
        for (second, queries, open, shown) in [
            (
                1.0,
                500,
                10,
                "1 s|500 queries/s|10 open|7 established|2 sent again|p50 1.0 ms  p99 1.0 ms",
            ),
            (
                3.0,
                1500,
                1000,
                "3 s|500 queries/s|1,000 open|7 established|2 sent again",
            ),
        ] {
            let parts = live.parts(second, &counts(queries, open));
            assert_eq!(parts.join("|").trim(), shown);
        }
    }
}
