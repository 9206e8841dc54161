//! What a run is to do.

use std::net::SocketAddr;
use std::time::Duration;

use super::{Arrivals, Sources, Template};
use crate::LoadError;
use crate::http::BodyCheck;
use crate::tls::ClientTls;

/// When a pool sends requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// Each connection as soon as it has its response.
    Closed,
    /// By the clock, whatever the server does.
    Open(Arrivals),
    /// By the clock, but what is due while no connection is free is left out.
    Paced(Arrivals),
}

impl Load {
    /// When requests are due, where that is by the clock.
    #[must_use]
    pub const fn arrivals(&self) -> Option<&Arrivals> {
        match self {
            Self::Closed => None,
            Self::Open(arrivals) | Self::Paced(arrivals) => Some(arrivals),
        }
    }
}

/// One kind of request of a pool.
#[derive(Clone, Debug)]
pub struct RequestSpec {
    /// The method.
    pub method: String,
    /// Path and query.
    pub path: Template,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// Bytes of the body, which is the pattern.
    pub body_bytes: u64,
    /// How often it is chosen, in relation to the others.
    pub weight: u32,
}

/// Clients of one kind.
#[derive(Clone, Debug)]
pub struct PoolSpec {
    /// The name in reports.
    pub name: String,
    /// The server.
    pub address: SocketAddr,
    /// The header `Host`.
    pub host: String,
    /// TLS, where URLs say `https://`.
    pub tls: Option<ClientTls>,
    /// What is asked for; at least one.
    pub requests: Vec<RequestSpec>,
    /// Connections at most.
    pub connections: u32,
    /// When requests are sent.
    pub load: Load,
    /// Requests of one connection; as many as the server likes where there is no number.
    pub requests_each: Option<u64>,
    /// How long a connection pauses between a response and the next request.
    pub think: Duration,
    /// Bytes a second that are read of a response.
    pub read_rate: Option<u64>,
    /// Bytes a second that are sent of a body.
    pub write_rate: Option<u64>,
    /// The connection is closed when so many bytes of a response have come.
    pub abort_after: Option<u64>,
    /// Addresses of the clients; the kernel's choice where there are none.
    pub sources: Option<Sources>,
    /// When it starts, from the beginning of the run.
    pub start: Duration,
    /// When it stops, from the beginning of the run.
    pub stop: Duration,
    /// No further requests after so many.
    pub count: Option<u64>,
    /// How long a response may take.
    pub timeout: Duration,
    /// Which bodies are checked.
    pub check: BodyCheck,
}

/// A run.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The pools.
    pub pools: Vec<PoolSpec>,
    /// Threads.
    pub threads: usize,
    /// Seed of random times, paths and choices.
    pub seed: u64,
}

/// Reads a header, `Name: value`.
///
/// # Errors
/// A sentence for what is none, and for those that this client writes itself.
pub fn header(text: &str) -> Result<(String, String), LoadError> {
    let refuse = |what: &str| LoadError::new(format!("{text}: {what}"));
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| refuse("write Name: value"))?;
    let value = value.trim();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!#$%&'*+^`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(word) || value.bytes().any(|byte| byte < b' ') {
        return Err(refuse("write Name: value, without control characters"));
    }
    let own = ["content-length", "transfer-encoding", "connection", "host"];
    if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Err(refuse("this header is written by linerate itself"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let read = header("X-A: b: c ").expect("a header");
        assert_eq!(read, ("X-A".to_owned(), "b: c".to_owned()));
        for text in [
            "",
            "a",
            ": b",
            "a b: c",
            "a: b\r\nc: d",
            "Content-Length: 5",
            "host: x",
        ] {
            assert!(header(text).is_err(), "{text}");
        }
    }
}
