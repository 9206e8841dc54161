//! What a host's queries came to, as one JSON object.

use std::collections::BTreeMap;

use plane::host::{Pace, RoleConfig, host_count};
use serde::Serialize;
use traffic::Histogram;

use super::plan::HostSpec;
use super::timings::Timings;
use crate::report::Report;
use crate::report::json::ratio;
use crate::report::number::{count, plural};
use crate::spread::Spread;

/// What became of queries. Field names are a contract.
#[derive(Debug, Serialize)]
pub(super) struct Figures<'a> {
    /// `server` or `client`.
    pub(super) role: &'static str,
    /// Queries that were done whole.
    pub(super) queries: u64,
    /// Those a second, from the start to the last frame.
    pub(super) queries_per_second: f64,
    /// Connections that were begun, by this end or by the other.
    pub(super) begun: u64,
    /// Those that were complete.
    pub(super) established: u64,
    /// Those that were going on at the end.
    pub(super) open: u64,
    /// Those by the state that they were in.
    pub(super) states: BTreeMap<&'static str, u64>,
    /// How long queries took that were done; none of a server, which sees no query begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) times: Option<Times>,
    /// Queries that failed, by cause.
    pub(super) failed: Failures,
    /// Connections in TIME_WAIT at the end.
    pub(super) time_waits: u64,
    /// Own addresses that connections come from; 0 of a server.
    pub(super) sources: u64,
    /// Segments that were sent again.
    pub(super) retransmitted: u64,
    /// The run: frames, ports, and every count of the host under `host`.
    pub(super) run: &'a Report,
}

/// How long queries took, from the first SYN on.
#[derive(Debug, Serialize)]
pub(super) struct Times {
    /// Until the connection was complete.
    pub(super) connect: Distribution,
    /// Until the first byte of the response.
    pub(super) first_byte: Distribution,
    /// Until both ends had closed.
    pub(super) whole: Distribution,
    /// Queries that were done and are not among them: this program did not keep up.
    pub(super) untimed: u64,
}

/// Percentiles, and how many queries took how long.
#[derive(Debug, Serialize)]
pub(super) struct Distribution {
    #[serde(flatten)]
    pub(super) spread: Spread,
    /// The greatest time of each bucket in nanoseconds, and how many queries are in it.
    pub(super) buckets: Vec<(u64, u64)>,
}

impl Distribution {
    fn new(histogram: &Histogram) -> Self {
        Self {
            spread: Spread::new(histogram),
            buckets: histogram.buckets().collect(),
        }
    }
}

/// Queries that failed.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Failures {
    /// The other end refused the connection.
    pub(super) refused: u64,
    /// The other end reset it.
    pub(super) reset: u64,
    /// The other end no longer acknowledged.
    pub(super) timed_out: u64,
    /// It took longer than a query may.
    pub(super) overdue: u64,
    /// The other end sent fewer or more bytes than it should.
    pub(super) wrong_length: u64,
    /// No source port was free.
    pub(super) no_port: u64,
    /// As many connections were open as there may be.
    pub(super) no_room: u64,
}

impl Failures {
    /// All of them, with words for each.
    pub(super) fn causes(&self) -> [(&'static str, u64); 7] {
        [
            ("refused", self.refused),
            ("reset by the other end", self.reset),
            ("no longer acknowledged", self.timed_out),
            ("longer than --timeout", self.overdue),
            ("fewer or more bytes than expected", self.wrong_length),
            ("no source port free", self.no_port),
            ("as many connections as there may be", self.no_room),
        ]
    }

    fn total(&self) -> u64 {
        self.causes().iter().map(|(_, count)| count).sum()
    }
}

impl<'a> Figures<'a> {
    pub(super) fn new(spec: &HostSpec<'_>, run: &'a Report, timings: &Timings) -> Self {
        let of = |name| run.host.get(name).copied().unwrap_or(0);
        let is_paced = matches!(
            spec.role,
            RoleConfig::Client(client) if matches!(client.pace, Pace::Rate(_))
        );
        Self {
            role: match spec.role {
                RoleConfig::Client(_) => "client",
                RoleConfig::Server(_) | RoleConfig::Udp(_) => "server",
            },
            queries: of("queries"),
            queries_per_second: ratio(of("queries") as f64, run.seconds),
            begun: of("begun"),
            established: of("established"),
            open: of("open"),
            states: states(run),
            times: matches!(spec.role, RoleConfig::Client(_)).then(|| Times {
                connect: Distribution::new(&timings.connect),
                first_byte: Distribution::new(&timings.first_byte),
                whole: Distribution::new(&timings.whole),
                untimed: of("untimed"),
            }),
            failed: Failures {
                refused: of("refused"),
                reset: of("reset"),
                timed_out: of("timed_out"),
                overdue: of("overdue"),
                wrong_length: of("wrong_length"),
                no_port: of("no_port"),
                // Whoever keeps connections going waits for room.
                no_room: if is_paced { of("no_room") } else { 0 },
            },
            time_waits: of("time_waits"),
            sources: sources(spec),
            retransmitted: of("retransmitted"),
            run,
        }
    }

    /// Why a client's run is not what it should be. A server answers whatever comes.
    pub(super) fn complaint(&self) -> Option<String> {
        if self.role == "server" {
            return None;
        }
        let failed = self.failed.total();
        if self.failed.no_port != 0 {
            return Some(format!(
                "no source port was free {} times: {} with 28,232 ports each, of which {} are \
                 in TIME_WAIT for 60 s since the client closed first; give more --clients, or let \
                 the server close first",
                count(self.failed.no_port),
                plural(self.sources, "address", "addresses"),
                count(self.time_waits)
            ));
        }
        if failed != 0 {
            return Some(format!(
                "{} failed of {}: see the causes in the report",
                count(failed),
                count(self.begun + self.failed.no_port + self.failed.no_room)
            ));
        }
        match (self.queries, self.begun) {
            (0, 0) => Some(
                "no query began: the server, or the gateway, does not answer ARP or neighbour \
                 discovery; look at the link and at the addresses"
                    .to_owned(),
            ),
            (0, _) => Some("no query was done: let it run longer".to_owned()),
            _ => None,
        }
    }
}

/// Connections at the end by their state, which is part of the names of counts.
fn states(run: &Report) -> BTreeMap<&'static str, u64> {
    let counts = run.host.iter();
    let states = counts.filter_map(|(name, number)| Some((name.strip_prefix("in_")?, *number)));
    states.collect()
}

/// Addresses that a client's connections come from.
fn sources(spec: &HostSpec<'_>) -> u64 {
    let RoleConfig::Client(client) = spec.role else {
        return 0;
    };
    let own = spec.own.iter().map(|one| one.own);
    own.filter(|own| own.first.is_ipv4() == client.server.is_ipv4())
        .map(|own| host_count(&own))
        .fold(0, u64::saturating_add)
}
