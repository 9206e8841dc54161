//! One connection of a server without its socket: bytes in, bytes out.

use std::io::Write;
use std::sync::Arc;

use frame::Nanos;

use super::answer::{Asked, Rest, write_connection, write_status};
use super::{Answer, Folder, NoPage, Order};
use crate::http::{Body, HeadReader, HttpFault, Method, RequestHead, pattern};

/// The output is left alone while it holds so much.
const OUTPUT_BYTES: usize = 128 * 1024;

const ORDERS: &str =
    "there are /size/N, /time/MS, /rate/BYTES_PER_S, /status/CODE, /chunked/N, /echo";

/// Where the connection stands.
#[derive(Debug)]
enum Phase {
    /// In the head of a request.
    Head,
    /// In a body that is read, and answered behind it.
    Body(Box<Reading>),
    /// In an answer.
    Answering(Box<Answer>),
    /// Nothing more is read or written.
    Closed,
}

/// A body that is read.
#[derive(Debug)]
struct Reading {
    body: Body,
    offset: u64,
    is_pattern: bool,
    order: Order,
    asked: Asked,
    /// The body goes back in chunks.
    echo_chunks: bool,
}

/// What happened since it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerCounts {
    /// Heads read.
    pub requests: u64,
    /// Answers written whole.
    pub answers: u64,
    /// Requests refused.
    pub refused: u64,
}

/// The connection.
#[derive(Debug)]
pub struct Peer {
    head: HeadReader,
    phase: Phase,
    counts: PeerCounts,
    served: u64,
    /// Requests that this connection serves.
    requests_max: u64,
    /// Files beside what paths say by themselves.
    folder: Option<Arc<Folder>>,
}

impl Peer {
    /// A new connection, which serves at most `requests_max` requests.
    #[must_use]
    pub fn new(requests_max: u64) -> Self {
        Self {
            head: HeadReader::default(),
            phase: Phase::Head,
            counts: PeerCounts::default(),
            served: 0,
            requests_max,
            folder: None,
        }
    }

    /// The same, which serves the files of a folder, too.
    #[must_use]
    pub fn with_folder(self, folder: Option<Arc<Folder>>) -> Self {
        Self { folder, ..self }
    }

    /// What is to be sent of a file, before anything else.
    pub(super) fn rest(&self) -> Option<Rest<'_>> {
        match &self.phase {
            Phase::Answering(answer) => answer.rest(),
            _ => None,
        }
    }

    /// So much of the file went.
    pub(super) fn sent(&mut self, bytes: u64) {
        if let Phase::Answering(answer) = &mut self.phase {
            answer.sent(bytes);
        }
    }

    /// Whether the connection is over, once the output has gone.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// Whether nothing of a request has come.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Head) && self.head.is_empty()
    }

    /// Whether a part of a head has come: bytes that go on for ever are no sign of life.
    #[must_use]
    pub fn is_in_head(&self) -> bool {
        matches!(self.phase, Phase::Head) && !self.head.is_empty()
    }

    /// Whether an answer is on its way, so that silence of the client is no fault of its.
    #[must_use]
    pub const fn is_answering(&self) -> bool {
        matches!(self.phase, Phase::Answering(_))
    }

    /// What was counted since the last call.
    pub fn take_counts(&mut self) -> PeerCounts {
        std::mem::take(&mut self.counts)
    }

    /// Reads on, up to the end of a request: what is behind it is read when its answer has gone.
    /// Returns how many bytes were taken.
    pub fn receive(&mut self, now: Nanos, input: &[u8], out: &mut Vec<u8>) -> usize {
        let mut taken = 0;
        while taken < input.len() && out.len() < OUTPUT_BYTES {
            let rest = &input[taken..];
            let step = match &mut self.phase {
                Phase::Head => self.receive_head(now, rest, out),
                Phase::Body(_) => self.receive_body(now, rest, out),
                Phase::Answering(_) => break,
                Phase::Closed => return input.len(),
            };
            taken += step.unwrap_or_else(|fault| {
                self.refuse(fault, now);
                rest.len()
            });
        }
        taken
    }

    /// Writes what is due of the answer. Returns when more is due, where that is later.
    pub fn transmit(&mut self, now: Nanos, out: &mut Vec<u8>) -> Option<Nanos> {
        let Phase::Answering(answer) = &mut self.phase else {
            return None;
        };
        let later = answer.write(now, out, OUTPUT_BYTES);
        if answer.is_done() {
            let keep_alive = answer.keeps_alive();
            self.finish(keep_alive);
        }
        later
    }

    fn finish(&mut self, keep_alive: bool) {
        self.counts.answers += 1;
        self.head.clear();
        self.phase = if keep_alive {
            Phase::Head
        } else {
            Phase::Closed
        };
    }

    fn refuse(&mut self, fault: HttpFault, now: Nanos) {
        self.counts.refused += 1;
        let asked = Asked {
            head_only: false,
            keep_alive: false,
            is_1_1: true,
        };
        let answer = Answer::sentence(fault.status(), fault.sentence(), asked, now);
        self.phase = Phase::Answering(Box::new(answer));
    }

    fn receive_head(
        &mut self,
        now: Nanos,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<usize, HttpFault> {
        let (taken, whole) = self.head.take(input)?;
        if !whole {
            return Ok(taken);
        }
        let head = RequestHead::parse(self.head.bytes())?;
        self.counts.requests += 1;
        self.served += 1;
        let asked = Asked {
            head_only: head.method == Method::Head,
            keep_alive: head.keep_alive && self.served < self.requests_max,
            is_1_1: head.is_1_1,
        };
        let order = Order::parse(&head.path);
        // With a folder, the path `/` is that of its first page.
        let is_page = self.folder.is_some() && head.path == "/";
        let Some(order) = order.filter(|_| !is_page) else {
            self.begin_page(asked, &head, now);
            return Ok(taken);
        };
        if head.expects_continue && !head.body.is_done() {
            out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        self.begin_body(&head, order, asked, now, out);
        Ok(taken)
    }

    /// A path that is no order. A body behind its request would be read as a request: the
    /// connection ends.
    fn begin_page(&mut self, asked: Asked, head: &RequestHead, now: Nanos) {
        let keep_alive = asked.keep_alive && head.body.is_done();
        let asked = Asked {
            keep_alive,
            ..asked
        };
        let answer = match &self.folder {
            None => Answer::sentence(404, ORDERS, asked, now),
            Some(_) if head.method == Method::Other => {
                Answer::sentence(405, "files are read by GET and HEAD", asked, now)
            }
            Some(folder) => match folder.page(&head.path) {
                Ok(page) => Answer::page(page, asked, now),
                Err(NoPage::Exhausted) => {
                    Answer::sentence(503, "no more files can be open here", asked, now)
                }
                Err(NoPage::Absent) => Answer::sentence(404, "there is no such file", asked, now),
            },
        };
        self.phase = Phase::Answering(Box::new(answer));
    }

    fn begin_body(
        &mut self,
        head: &RequestHead,
        order: Order,
        asked: Asked,
        now: Nanos,
        out: &mut Vec<u8>,
    ) {
        if order.echo && !asked.head_only {
            write_status(order.status, out);
            // Writing to a vector never fails.
            let _ = match head.body {
                Body::Length(length) => write!(out, "Content-Length: {length}\r\n"),
                _ => write!(out, "Transfer-Encoding: chunked\r\n"),
            };
            write_connection(asked.keep_alive, asked.is_1_1, out);
        }
        let mut reading = Reading {
            body: head.body,
            offset: 0,
            is_pattern: head.is_pattern,
            order,
            asked,
            echo_chunks: !matches!(head.body, Body::Length(_)),
        };
        reading.order.echo &= !asked.head_only;
        match head.body.is_done() {
            true => self.answer(&reading, now),
            false => self.phase = Phase::Body(Box::new(reading)),
        }
    }

    fn receive_body(
        &mut self,
        now: Nanos,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<usize, HttpFault> {
        let Phase::Body(reading) = &mut self.phase else {
            return Ok(0);
        };
        let step = match reading.body.step(input) {
            Ok(step) => step,
            // Half of an echo is out: there is no way left to say what is wrong.
            Err(_) if reading.order.echo => {
                self.counts.refused += 1;
                self.phase = Phase::Closed;
                return Ok(input.len());
            }
            Err(fault) => return Err(fault),
        };
        if reading.order.echo {
            echo(step.data, reading.echo_chunks, out);
        } else if reading.is_pattern && !pattern::is_at(reading.offset, step.data) {
            return Err(HttpFault::WrongBytes);
        }
        reading.offset += step.data.len() as u64;
        if reading.body.is_done() {
            let Phase::Body(reading) = std::mem::replace(&mut self.phase, Phase::Head) else {
                return Ok(step.taken);
            };
            if reading.order.echo && reading.echo_chunks {
                out.extend_from_slice(b"0\r\n\r\n");
            }
            self.answer(&reading, now);
        }
        Ok(step.taken)
    }

    /// The request is whole.
    fn answer(&mut self, reading: &Reading, now: Nanos) {
        if reading.order.echo {
            return self.finish(reading.asked.keep_alive);
        }
        let answer = Answer::new(reading.order, reading.asked, now);
        self.phase = Phase::Answering(Box::new(answer));
    }
}

fn echo(data: &[u8], chunked: bool, out: &mut Vec<u8>) {
    if data.is_empty() {
        return;
    }
    if chunked {
        let _ = write!(out, "{:x}\r\n", data.len());
    }
    out.extend_from_slice(data);
    if chunked {
        out.extend_from_slice(b"\r\n");
    }
}

#[cfg(test)]
mod tests;
