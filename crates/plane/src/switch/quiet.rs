//! Ports that a switch leaves out for a while, since a loop was noticed at them.

use std::time::Duration;

use frame::{Nanos, PortId};

use crate::Ports;

/// The quiet ports of one worker. Both directions end: a loop goes on by either.
#[derive(Debug)]
pub(super) struct Quiet {
    ports: Ports,
    /// By port, where it is quiet.
    until: [Nanos; Ports::MAX],
    begun: u64,
}

impl Default for Quiet {
    fn default() -> Self {
        Self {
            ports: Ports::NONE,
            until: [Nanos::ZERO; Ports::MAX],
            begun: 0,
        }
    }
}

impl Quiet {
    /// Leaves a port out for so long, from now on.
    #[cold]
    pub(super) fn begin(&mut self, port: PortId, now: Nanos, lasts: Duration) {
        self.ports = self.ports.with(port);
        self.until[port.index() % Ports::MAX] =
            now.after(u64::try_from(lasts.as_nanos()).unwrap_or(u64::MAX));
        self.begun += 1;
    }

    /// Takes ports up again whose time is over.
    #[inline]
    pub(super) fn end(&mut self, now: Nanos) {
        if self.ports.is_empty() {
            return;
        }
        for port in self.ports.iter() {
            if self.until[port.index() % Ports::MAX] <= now {
                self.ports = self.ports.without(port);
            }
        }
    }

    /// Those that are quiet.
    #[inline]
    pub(super) fn ports(&self) -> Ports {
        self.ports
    }

    /// How often one became quiet.
    pub(super) fn begun(&self) -> u64 {
        self.begun
    }
}
