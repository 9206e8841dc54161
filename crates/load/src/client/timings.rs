//! How long each phase of a request took.

use traffic::Histogram;

/// Histograms of one pool, ns.
#[derive(Clone, Default)]
pub struct Timings {
    /// From the time a request was due until it had a connection.
    pub wait: Histogram,
    /// From opening a connection until it stood.
    pub connect: Histogram,
    /// From then until both ends had agreed on TLS.
    pub tls: Histogram,
    /// From the first byte of the request to the last that the kernel took.
    pub send: Histogram,
    /// From the first byte of the request to the first of the response.
    pub first_byte: Histogram,
    /// From the time a request got a connection to the last byte of the response: what a closed
    /// loop calls latency.
    pub service: Histogram,
    /// From the time a request was due to the last byte of the response.
    pub latency: Histogram,
    /// How long requests would have waited at least that a closed loop with a rate left out.
    pub hidden: Histogram,
    /// How late requests were for which a connection was idle: the lateness of this client.
    pub own_delay: Histogram,
}

impl Timings {
    /// Adds another's.
    pub fn merge(&mut self, other: &Self) {
        self.wait.merge(&other.wait);
        self.connect.merge(&other.connect);
        self.tls.merge(&other.tls);
        self.send.merge(&other.send);
        self.first_byte.merge(&other.first_byte);
        self.service.merge(&other.service);
        self.latency.merge(&other.latency);
        self.hidden.merge(&other.hidden);
        self.own_delay.merge(&other.own_delay);
    }
}
