//! A request and its response without a socket: bytes out, bytes in.

use std::io::Write;

use traffic::Random;

use super::{ErrorKind, PoolSpec, RequestSpec};
use crate::http::{HttpFault, Method, PATTERN_HEADER, PATTERN_VALUE, ResponseReader, pattern};

/// Where an exchange stands after bytes that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    /// The response is whole; its status may still say that it is an error.
    Whole,
}

/// One exchange after the other on one connection.
#[derive(Debug)]
pub(super) struct Exchange {
    head: Vec<u8>,
    head_sent: usize,
    body_bytes: u64,
    body_sent: u64,
    reader: ResponseReader,
    received: u64,
}

impl Exchange {
    pub(super) fn new(spec: &PoolSpec) -> Self {
        Self {
            head: Vec::new(),
            head_sent: 0,
            body_bytes: 0,
            body_sent: 0,
            reader: ResponseReader::new(spec.check),
            received: 0,
        }
    }

    /// Begins anew with a request; `last` tells the server that the connection ends behind it.
    pub(super) fn begin(&mut self, request: &Request<'_>, random: &mut Random) {
        let Request {
            spec,
            host,
            number,
            last,
        } = *request;
        (self.head_sent, self.body_sent, self.received) = (0, 0, 0);
        self.body_bytes = spec.body_bytes;
        let head = &mut self.head;
        head.clear();
        // Writing to a vector never fails.
        let _ = write!(head, "{} ", spec.method);
        spec.path.write(number, random, head);
        let _ = write!(head, " HTTP/1.1\r\nHost: {host}\r\n");
        for (name, value) in &spec.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let bytes = spec.body_bytes;
        if bytes > 0 || matches!(spec.method.as_str(), "POST" | "PUT" | "PATCH") {
            let _ = write!(head, "Content-Length: {bytes}\r\n");
        }
        if bytes > 0 {
            let _ = write!(head, "{PATTERN_HEADER}: {PATTERN_VALUE}\r\n");
        }
        head.extend_from_slice(if last {
            b"Connection: close\r\n\r\n"
        } else {
            b"\r\n"
        });
        let is_head = spec.method == "HEAD";
        self.reader
            .begin(if is_head { Method::Head } else { Method::Other });
    }

    /// What is to be sent next; of the body at most `body_max` bytes.
    pub(super) fn output(&self, body_max: u64) -> &[u8] {
        if self.head_sent < self.head.len() {
            return &self.head[self.head_sent..];
        }
        let left = (self.body_bytes - self.body_sent).min(body_max);
        pattern::piece(self.body_sent, left.min(pattern::PIECE_MAX as u64) as usize)
    }

    /// Notes that so much of the output went.
    pub(super) fn took(&mut self, len: usize) {
        if self.head_sent < self.head.len() {
            self.head_sent += len;
        } else {
            self.body_sent += len as u64;
        }
    }

    /// Whether the request went whole.
    pub(super) fn is_sent(&self) -> bool {
        self.head_sent == self.head.len() && self.body_sent == self.body_bytes
    }

    pub(super) const fn body_sent(&self) -> u64 {
        self.body_sent
    }

    /// Bytes of the response so far.
    pub(super) const fn received(&self) -> u64 {
        self.received
    }

    pub(super) const fn status(&self) -> u16 {
        self.reader.status()
    }

    /// Whether the connection can carry another request.
    pub(super) fn keeps_alive(&self) -> bool {
        self.reader.keeps_alive() && self.is_sent()
    }

    /// Takes bytes of the response.
    pub(super) fn receive(&mut self, input: &[u8]) -> Result<Progress, ErrorKind> {
        self.received += input.len() as u64;
        let received = self.reader.receive(input).map_err(kind_of)?;
        match received.is_done {
            false => Ok(Progress::More),
            true if received.taken == input.len() => Ok(Progress::Whole),
            true => Err(ErrorKind::WrongLength),
        }
    }

    /// The connection ended.
    pub(super) fn end(&self) -> Result<(), ErrorKind> {
        self.reader.end().map_err(kind_of)
    }
}

/// A request that is to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'s> {
    pub(super) spec: &'s RequestSpec,
    pub(super) host: &'s str,
    pub(super) number: u64,
    pub(super) last: bool,
}

const fn kind_of(fault: HttpFault) -> ErrorKind {
    match fault {
        HttpFault::Cut => ErrorKind::ClosedEarly,
        HttpFault::WrongLength => ErrorKind::WrongLength,
        HttpFault::WrongBytes => ErrorKind::WrongBytes,
        _ => ErrorKind::Malformed,
    }
}
