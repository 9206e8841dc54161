//! What a run counts, as Prometheus reads it while the run goes on.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use daemon::metrics::{
    Exposition, LOAD_BYTES, LOAD_CONNECTIONS, LOAD_ERRORS, LOAD_LATENCY, LOAD_REQUESTS, Made, Page,
    Pages, Server, build_info,
};
use load::client::{Books, ErrorKind, Interval};
use traffic::Histogram;

use crate::build;
use crate::error::Error;
use crate::output::Output;

/// Upper bounds of latencies, seconds.
const BOUNDS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5,
    5.0, 10.0,
];

/// Figures of all pools, which the server reads.
pub(super) struct LoadMetrics {
    pools: Mutex<Vec<Pool>>,
}

struct Pool {
    name: String,
    /// The newest of each worker.
    books: BTreeMap<usize, Books>,
    latency: Histogram,
}

impl LoadMetrics {
    /// Nothing is counted yet.
    pub(super) fn new(names: impl Iterator<Item = String>) -> Self {
        let pool = |name| Pool {
            name,
            books: BTreeMap::new(),
            latency: Histogram::new(),
        };
        Self {
            pools: Mutex::new(names.map(pool).collect()),
        }
    }

    /// Serves them until the server is dropped.
    pub(super) fn serve(self: &Arc<Self>, at: SocketAddr, output: Output) -> Result<Server, Error> {
        if !at.ip().is_loopback() {
            output.warn("metrics are open to whoever can connect: let a firewall say who that is");
        }
        let pages: Arc<dyn Pages> = Arc::clone(self) as _;
        let server = Server::start(at, pages).map_err(Error::refused)?;
        output.tell(&format!(
            "metrics are at http://{}/metrics",
            server.address()
        ));
        Ok(server)
    }

    pub(super) fn take(&self, interval: &Interval) {
        if let Some(pool) = self.pools().get_mut(interval.pool) {
            pool.latency.merge(&interval.latency);
            pool.books.insert(interval.worker, interval.books.clone());
        }
    }

    fn pools(&self) -> MutexGuard<'_, Vec<Pool>> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn render(&self) -> String {
        let pools = self.pools();
        let sums: Vec<(&Pool, Books)> = pools.iter().map(|pool| (pool, pool.sum())).collect();
        let mut page = Exposition::new();
        let commit = build::commit().unwrap_or_default();
        build_info(&mut page, build::VERSION, commit);
        requests(&mut page, &sums);
        let mut connections = page.family(LOAD_CONNECTIONS);
        for (pool, books) in &sums {
            connections.add(&[&pool.name], books.connections);
        }
        let mut bytes = page.family(LOAD_BYTES);
        for (pool, books) in &sums {
            bytes
                .add(&[&pool.name, "rx"], books.bytes_in)
                .add(&[&pool.name, "tx"], books.bytes_out);
        }
        let mut latency = page.family(LOAD_LATENCY);
        for pool in pools.iter() {
            let report = pool.latency.report();
            let sum = report.mean * report.count as f64 / 1e9;
            latency.histogram(&[&pool.name], &buckets(&pool.latency), (report.count, sum));
        }
        page.into_text()
    }
}

fn requests(page: &mut Exposition, sums: &[(&Pool, Books)]) {
    let mut requests = page.family(LOAD_REQUESTS);
    for (pool, books) in sums {
        for (event, count) in [
            ("sent", books.sent),
            ("answered", books.answered),
            ("aborted", books.aborted),
            ("left_out", books.omitted),
        ] {
            requests.add(&[&pool.name, event], count);
        }
    }
    let mut errors = page.family(LOAD_ERRORS);
    for (pool, books) in sums {
        for kind in ErrorKind::ALL {
            errors.add(&[&pool.name, kind.name()], books.errors_of(kind));
        }
    }
}

/// How many lie below each bound and above the one before.
fn buckets(latency: &Histogram) -> Vec<(f64, u64)> {
    let mut counts = BOUNDS.map(|bound| (bound, 0));
    for (nanos, count) in latency.buckets() {
        let bound = counts
            .iter_mut()
            .find(|(bound, _)| nanos as f64 <= bound * 1e9);
        if let Some((_, inside)) = bound {
            *inside += count;
        }
    }
    counts.to_vec()
}

impl Pool {
    fn sum(&self) -> Books {
        let mut sum = Books::default();
        self.books.values().for_each(|books| sum.add(books));
        sum
    }
}

impl Pages for LoadMetrics {
    fn make(&self, page: Page) -> Made {
        Made {
            is_well: true,
            text: match page {
                Page::Metrics => self.render(),
                Page::Healthy | Page::Ready => "ok\n".to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_add_up_to_a_page() {
        let metrics = LoadMetrics::new(["a\"b".to_owned()].into_iter());
        for (worker, answered) in [(0, 1), (1, 5), (0, 3)] {
            let mut latency = Histogram::new();
            latency.record(2_000_000);
            latency.record(60_000_000_000);
            metrics.take(&Interval {
                worker,
                pool: 0,
                books: Books {
                    answered,
                    ..Books::default()
                },
                latency,
            });
        }
        let page = metrics.make(Page::Metrics).text;
        for line in [
            r#"linerate_load_requests_total{pool="a\"b",event="answered"} 8"#,
            r#"linerate_load_latency_seconds_bucket{pool="a\"b",le="0.001"} 0"#,
            r#"linerate_load_latency_seconds_bucket{pool="a\"b",le="0.0025"} 3"#,
            r#"linerate_load_latency_seconds_bucket{pool="a\"b",le="10"} 3"#,
            r#"linerate_load_latency_seconds_bucket{pool="a\"b",le="+Inf"} 6"#,
            r#"linerate_load_latency_seconds_count{pool="a\"b"} 6"#,
        ] {
            assert!(page.contains(line), "{line}\n{page}");
        }
    }
}
