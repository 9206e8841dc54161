//! One answer, byte by byte: head, body, and when more of it is due.

use std::fs::File;
use std::io::Write;

use frame::Nanos;

use super::{Order, Page};
use crate::http::{PATTERN_HEADER, PATTERN_VALUE, pattern};

/// Bytes of a chunk.
const CHUNK_BYTES: u64 = 4096;
/// Pieces of a second in which a body with a rate is sent.
const TICK_NANOS: u64 = 10_000_000;

/// How the end of a body is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Plain,
    Chunked,
    /// By the end of the connection: chunks for a client of HTTP/1.0.
    UntilClose,
}

/// What a body is.
#[derive(Debug)]
enum Content {
    Pattern,
    Text(&'static str),
    /// Whoever has the socket sends it.
    Page(Page),
}

/// An answer on its way.
#[derive(Debug)]
pub struct Answer {
    order: Order,
    length: Length,
    /// The client asked for the head alone.
    head_only: bool,
    keep_alive: bool,
    is_1_1: bool,
    content: Content,
    head_sent: bool,
    offset: u64,
    start: Nanos,
    is_done: bool,
}

/// What is left to send of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest<'a> {
    pub(super) file: &'a File,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// What the request says about the way of its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) head_only: bool,
    pub(super) keep_alive: bool,
    pub(super) is_1_1: bool,
}

impl Answer {
    pub(super) fn new(order: Order, asked: Asked, now: Nanos) -> Self {
        let length = match (order.chunked, asked.is_1_1) {
            (false, _) => Length::Plain,
            (true, true) => Length::Chunked,
            (true, false) => Length::UntilClose,
        };
        Self {
            order,
            length,
            head_only: asked.head_only,
            keep_alive: asked.keep_alive && length != Length::UntilClose,
            is_1_1: asked.is_1_1,
            content: Content::Pattern,
            head_sent: false,
            offset: 0,
            start: now.after(order.millis * 1_000_000),
            is_done: false,
        }
    }

    /// An answer whose body is a sentence; the connection ends behind it.
    pub(super) fn sentence(status: u16, text: &'static str, asked: Asked, now: Nanos) -> Self {
        let bytes = text.len() as u64 + 1;
        let order = Order {
            bytes,
            ..Order::of_status(status)
        };
        Self {
            content: Content::Text(text),
            ..Self::new(order, asked, now)
        }
    }

    /// An answer whose body is a file.
    pub(super) fn page(page: Page, asked: Asked, now: Nanos) -> Self {
        let order = Order {
            bytes: page.bytes,
            ..Order::of_status(200)
        };
        Self {
            content: Content::Page(page),
            ..Self::new(order, asked, now)
        }
    }

    /// The rest of a body that is a file, once the head was written.
    pub(super) fn rest(&self) -> Option<Rest<'_>> {
        match &self.content {
            Content::Page(page) if self.head_sent && !self.is_done => Some(Rest {
                file: &page.file,
                offset: self.offset,
                bytes: self.order.bytes - self.offset,
            }),
            _ => None,
        }
    }

    /// So much of the file went.
    pub(super) fn sent(&mut self, bytes: u64) {
        self.offset = self.order.bytes.min(self.offset + bytes);
        self.is_done = self.offset == self.order.bytes;
    }

    pub(super) const fn is_done(&self) -> bool {
        self.is_done
    }

    pub(super) const fn keeps_alive(&self) -> bool {
        self.keep_alive
    }

    /// Appends what is due, until the output holds `limit` bytes or so. Returns when more is due,
    /// where that is later.
    pub(super) fn write(&mut self, now: Nanos, out: &mut Vec<u8>, limit: usize) -> Option<Nanos> {
        if now < self.start {
            return Some(self.start);
        }
        if !self.head_sent {
            self.head_sent = true;
            self.write_head(out);
            self.is_done = self.head_only || (self.order.bytes == 0 && !self.order.chunked);
        }
        if matches!(self.content, Content::Page(_)) {
            return None;
        }
        while !self.is_done && out.len() < limit {
            let due = self.due(now);
            if due == 0 && self.offset < self.order.bytes {
                return Some(now.after(TICK_NANOS));
            }
            self.write_piece(due, out);
        }
        None
    }

    /// Bytes of the body that may go now.
    fn due(&self, now: Nanos) -> u64 {
        let left = self.order.bytes - self.offset;
        let Some(rate) = self.order.rate else {
            return left;
        };
        let passed = u128::from(now.since(self.start)) * u128::from(rate) / 1_000_000_000;
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        passed.saturating_sub(self.offset).min(left)
    }

    fn write_piece(&mut self, due: u64, out: &mut Vec<u8>) {
        let most = match self.length {
            Length::Chunked => CHUNK_BYTES,
            _ => pattern::PIECE_MAX as u64,
        };
        let len = due.min(most) as usize;
        // Writing to a vector never fails.
        if self.length == Length::Chunked && len > 0 {
            let _ = write!(out, "{len:x}\r\n");
        }
        match self.content {
            Content::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                out.push(b'\n');
            }
            _ => out.extend_from_slice(pattern::piece(self.offset, len)),
        }
        self.offset += len as u64;
        if self.length == Length::Chunked && len > 0 {
            out.extend_from_slice(b"\r\n");
        }
        if self.offset == self.order.bytes {
            self.is_done = true;
            if self.length == Length::Chunked {
                out.extend_from_slice(b"0\r\n\r\n");
            }
        }
    }

    fn write_head(&self, out: &mut Vec<u8>) {
        write_status(self.order.status, out);
        let _ = match self.length {
            _ if matches!(self.order.status, 204 | 304) => Ok(()),
            Length::Plain => write!(out, "Content-Length: {}\r\n", self.order.bytes),
            Length::Chunked => write!(out, "Transfer-Encoding: chunked\r\n"),
            Length::UntilClose => Ok(()),
        };
        if self.order.status == 405 {
            // What is allowed must be said (RFC 9110 section 15.5.6).
            out.extend_from_slice(b"Allow: GET, HEAD\r\n");
        }
        let _ = match &self.content {
            Content::Text(_) => write!(out, "Content-Type: text/plain\r\n"),
            Content::Page(page) => write!(out, "Content-Type: {}\r\n", page.content_type),
            Content::Pattern => write!(out, "{PATTERN_HEADER}: {PATTERN_VALUE}\r\n"),
        };
        write_connection(self.keep_alive, self.is_1_1, out);
    }
}

/// The status line.
pub(super) fn write_status(status: u16, out: &mut Vec<u8>) {
    let _ = write!(
        out,
        "HTTP/1.1 {status} {}\r\nServer: linerate\r\n",
        reason(status)
    );
}

/// What becomes of the connection, and the end of the head.
pub(super) fn write_connection(keep_alive: bool, is_1_1: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(match (keep_alive, is_1_1) {
        (true, true) => b"\r\n",
        (true, false) => b"Connection: keep-alive\r\n\r\n",
        (false, _) => b"Connection: close\r\n\r\n",
    });
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
