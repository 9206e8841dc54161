//! A client: which connection begins when, and from where.

use std::net::{IpAddr, SocketAddr};

use frame::Nanos;
use stack::tcp::{ConnectError, Tcp};

use super::config::{ClientConfig, Pace};
use super::queries::Queries;
use super::share::Flows;
use super::sources::Sources;

/// Connections that begin in one call, at most.
const AT_ONCE: u64 = 256;
/// Source addresses that are tried for one connection, at most.
const TRIED_MAX: u64 = 4;
/// How long no port is looked for after none was found, nanoseconds: to look takes long then.
const PAUSE: u64 = 10_000_000;

/// What begins queries.
#[derive(Debug)]
pub(super) struct Client {
    server: SocketAddr,
    pace: Pace,
    sources: Sources,
    /// Those that may begin here: what comes back is received here, too.
    flows: Flows,
    /// When the first could begin.
    since: Option<Nanos>,
    /// Queries that were due so far by the rate, whether they began or not.
    met: u64,
    no_port_until: Nanos,
}

impl Client {
    pub(super) fn new(config: ClientConfig, sources: Sources, flows: Flows) -> Self {
        Self {
            server: config.server,
            pace: flows.pace(config.pace),
            sources,
            flows,
            since: None,
            met: 0,
            no_port_until: Nanos::ZERO,
        }
    }

    /// Both addresses of the connection that would be next.
    pub(super) fn next_pair(&self) -> Option<(IpAddr, IpAddr)> {
        Some((self.sources.peek()?, self.server.ip()))
    }

    /// Begins what is due now, a bounded piece of it.
    pub(super) fn begin_due(&mut self, tcp: &mut Tcp, queries: &mut Queries, now: Nanos) {
        queries.at(now);
        let since = *self.since.get_or_insert(now);
        let due = match self.pace {
            Pace::Connections(count) => count.saturating_sub(queries.live()) as u64,
            Pace::Rate(rate) => {
                let seconds = now.since(since) as f64 / 1e9;
                ((seconds * rate) as u64).saturating_sub(self.met)
            }
        };
        let is_paced = matches!(self.pace, Pace::Rate(_));
        for _ in 0..due.min(AT_ONCE) {
            self.met += 1;
            let has_begun = self.begin(tcp, queries, now);
            // Whoever keeps connections going waits for room; what is due by a rate is not kept.
            if !has_begun && !is_paced {
                return;
            }
        }
    }

    /// Begins one; whether it could.
    fn begin(&mut self, tcp: &mut Tcp, queries: &mut Queries, now: Nanos) -> bool {
        if now < self.no_port_until {
            queries.counts.no_port += u64::from(matches!(self.pace, Pace::Rate(_)));
            return false;
        }
        for _ in 0..self.sources.count().min(TRIED_MAX) {
            let Some(source) = self.sources.peek() else {
                return false;
            };
            self.sources.advance();
            match tcp.connect_by(source, self.server, now, |pair| self.flows.holds(pair)) {
                Ok(id) => {
                    queries.begin(id);
                    return true;
                }
                Err(ConnectError::Full { .. }) => {
                    queries.counts.no_room += 1;
                    return false;
                }
                Err(ConnectError::NoPort { .. } | ConnectError::Address) => {}
            }
        }
        queries.counts.no_port += 1;
        self.no_port_until = now.after(PAUSE);
        false
    }
}
