//! Connections that this host asks for.

use std::net::{IpAddr, SocketAddr};

use frame::Nanos;

use super::connection::Connection;
use super::ends::Ends;
use super::{ConnectError, ConnectionId, PORTS, Pair, Tcp, end};

impl Tcp {
    /// Asks for a connection from an own address.
    ///
    /// # Errors
    /// There is no room, no source port is free, or the addresses are not those of hosts.
    pub fn connect(
        &mut self,
        source: IpAddr,
        remote: SocketAddr,
        now: Nanos,
    ) -> Result<ConnectionId, ConnectError> {
        self.connect_by(source, remote, now, |_| true)
    }

    /// [`Tcp::connect`], of those ends alone that `may_be`: of several workers each takes source
    /// ports whose answers it will receive.
    ///
    /// # Errors
    /// As [`Tcp::connect`].
    pub fn connect_by(
        &mut self,
        source: IpAddr,
        remote: SocketAddr,
        now: Nanos,
        may_be: impl Fn(&Pair) -> bool,
    ) -> Result<ConnectionId, ConnectError> {
        let usable = Pair {
            local: end(source, 1),
            remote,
        };
        if !usable.is_usable() {
            return Err(ConnectError::Address);
        }
        if self.slab.len() >= self.settings.connections_max {
            return Err(ConnectError::Full {
                connections: self.slab.len(),
            });
        }
        let pair = self
            .free_pair(source, remote, may_be)
            .ok_or(ConnectError::NoPort { ports: PORTS.len() })?;
        self.counts.opened += 1;
        let birth = self.birth(pair, now);
        let id = self.add(Connection::active(birth));
        Ok(id)
    }

    /// Ends with a source port that is not in use; ports are tried from a secret one on, which
    /// moves with every connection (RFC 6056 section 3.3.3).
    fn free_pair(
        &self,
        source: IpAddr,
        remote: SocketAddr,
        may_be: impl Fn(&Pair) -> bool,
    ) -> Option<Pair> {
        let of_any_port = Pair {
            local: end(source, 0),
            remote,
        };
        let start = self
            .secret
            .hash(2, Ends::from(&of_any_port))
            .wrapping_add(self.counts.opened);
        let count = PORTS.len() as u64;
        let mut pairs = (0..count).map(|at| {
            let port = PORTS.start() + (start.wrapping_add(at) % count) as u16;
            Pair {
                local: end(source, port),
                remote,
            }
        });
        pairs.find(|pair| {
            may_be(pair)
                && !self.index.contains_key(&Ends::from(pair))
                && !self.time_waits.contains(pair)
        })
    }
}
