//! What a server counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeCounters {
    /// Connections taken.
    pub connections: u64,
    /// Connections that are open.
    pub open: u64,
    /// Requests whose head was read.
    pub requests: u64,
    /// Answers that were written whole, with those to what was refused.
    pub answers: u64,
    /// Requests refused as malformed or ambiguous.
    pub refused: u64,
    /// Connections that ended within a request or an answer.
    pub cut: u64,
    /// TLS handshakes that both ends agreed on.
    pub tls: u64,
    /// Those that went on with a session of before.
    pub tls_resumed: u64,
    /// Those that failed, or ended with the connection.
    pub tls_failed: u64,
    /// Bytes received, without what TLS adds.
    pub bytes_in: u64,
    /// Bytes sent, without what TLS adds.
    pub bytes_out: u64,
}

impl ServeCounters {
    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.open += other.open;
        self.requests += other.requests;
        self.answers += other.answers;
        self.refused += other.refused;
        self.cut += other.cut;
        self.tls += other.tls;
        self.tls_resumed += other.tls_resumed;
        self.tls_failed += other.tls_failed;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
    }
}

/// Counters as one worker shows them: it writes them now and then, another thread reads them.
#[derive(Debug, Default)]
pub(super) struct Shown([AtomicU64; 11]);

impl Shown {
    pub(super) fn store(&self, c: &ServeCounters) {
        let values = [
            c.connections,
            c.open,
            c.requests,
            c.answers,
            c.refused,
            c.cut,
            c.bytes_in,
            c.bytes_out,
            c.tls,
            c.tls_resumed,
            c.tls_failed,
        ];
        for (shown, value) in self.0.iter().zip(values) {
            shown.store(value, Ordering::Relaxed);
        }
    }

    pub(super) fn load(&self) -> ServeCounters {
        let at = |index: usize| self.0[index].load(Ordering::Relaxed);
        ServeCounters {
            connections: at(0),
            open: at(1),
            requests: at(2),
            answers: at(3),
            refused: at(4),
            cut: at(5),
            bytes_in: at(6),
            bytes_out: at(7),
            tls: at(8),
            tls_resumed: at(9),
            tls_failed: at(10),
        }
    }
}
