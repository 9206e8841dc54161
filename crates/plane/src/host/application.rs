//! What the connections of a host are for: it answers queries, or asks.

use std::net::IpAddr;

use frame::{Nanos, Producer};
use stack::tcp::{Application, Event, Socket, Tcp};

use super::client::Client;
use super::config::{End, HostConfig, RoleConfig};
use super::counts::QueryCounts;
use super::queries::{Queries, QueryTimes};
use super::share::Flows;
use super::sources::Sources;

/// Overdue queries that are ended in one call.
const ENDED_AT_ONCE: usize = 64;

/// The application of a host.
#[derive(Debug)]
pub(super) struct Role {
    queries: Queries,
    /// None of a server, which others ask, and of a host without TCP.
    client: Option<Client>,
}

impl Role {
    pub(super) fn new(config: &HostConfig, flows: Flows, tcp: &mut Tcp) -> Self {
        match config.role {
            RoleConfig::Server(port) => {
                tcp.listen(port);
                Self {
                    queries: Queries::new(End::Server, config.query.clone()),
                    client: None,
                }
            }
            RoleConfig::Udp(_) => Self {
                queries: Queries::new(End::Server, config.query.clone()),
                client: None,
            },
            RoleConfig::Client(client) => {
                let own = config.ports.iter().flat_map(|port| &port.own).copied();
                let sources = Sources::new(own, client.server.is_ipv4());
                Self {
                    queries: Queries::new(End::Client, config.query.clone()),
                    client: Some(Client::new(client, sources, flows)),
                }
            }
        }
    }

    pub(super) fn counts(&self) -> &QueryCounts {
        &self.queries.counts
    }

    /// Has the times of queries told.
    pub(super) fn tell_times(&mut self, to: Producer<QueryTimes>) {
        self.queries.times = Some(to);
    }

    /// Tells what time it is.
    pub(super) fn at(&mut self, now: Nanos) {
        self.queries.at(now);
    }

    /// Both addresses of the connection that a client would begin next.
    pub(super) fn next_pair(&self) -> Option<(IpAddr, IpAddr)> {
        self.client.as_ref()?.next_pair()
    }

    /// Begins the connections of a client that are due.
    pub(super) fn begin_due(&mut self, tcp: &mut Tcp, now: Nanos) {
        if let Some(client) = &mut self.client {
            client.begin_due(tcp, &mut self.queries, now);
        }
    }

    /// Ends queries that take too long, some of them.
    pub(super) fn end_overdue(&mut self, tcp: &mut Tcp, now: Nanos) {
        for _ in 0..ENDED_AT_ONCE {
            let Some(id) = self.queries.take_overdue(now) else {
                return;
            };
            tcp.act(id, now, self, |socket| socket.abort());
        }
    }
}

impl Application for Role {
    fn on_event(&mut self, socket: &mut Socket<'_>, event: Event<'_>) {
        self.queries.on_event(socket, event);
    }
}
