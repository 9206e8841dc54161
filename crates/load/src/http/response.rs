//! Responses as a client reads and checks them.

use httparse::{EMPTY_HEADER, Response, Status};

use super::head::{Framing, HEADERS_MAX, HeadReader};
use super::{Body, HttpFault, Method, pattern};

/// Which bodies are held against the pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BodyCheck {
    /// Those whose header says that they are it.
    #[default]
    Announced,
    /// All of answers without an error, whatever the headers say.
    Always,
    /// None.
    Never,
}

/// Where a response stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Bytes taken of the input.
    pub taken: usize,
    /// The response is whole.
    pub is_done: bool,
}

/// A reader of one response after the other.
#[derive(Debug)]
pub struct ResponseReader {
    head: HeadReader,
    body: Option<Body>,
    method: Method,
    check: BodyCheck,
    checks: bool,
    offset: u64,
    status: u16,
    keep_alive: bool,
}

impl ResponseReader {
    /// A reader that checks these bodies.
    #[must_use]
    pub fn new(check: BodyCheck) -> Self {
        Self {
            head: HeadReader::default(),
            body: None,
            method: Method::Other,
            check,
            checks: false,
            offset: 0,
            status: 0,
            keep_alive: false,
        }
    }

    /// Ready for the response to a request of this method.
    pub fn begin(&mut self, method: Method) {
        self.method = method;
        self.head.clear();
        self.body = None;
        self.offset = 0;
    }

    /// The status of the response, once its head was read.
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Whether the connection can carry another request.
    #[must_use]
    pub fn keeps_alive(&self) -> bool {
        self.keep_alive && !matches!(self.body, Some(Body::UntilClose))
    }

    /// Bytes of the body so far.
    #[must_use]
    pub const fn body_bytes(&self) -> u64 {
        self.offset
    }

    /// Reads on, up to the end of the response.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn receive(&mut self, input: &[u8]) -> Result<Received, HttpFault> {
        let mut taken = 0;
        loop {
            let rest = &input[taken..];
            if self.body.is_none() {
                let (len, whole) = self.head.take(rest)?;
                taken += len;
                if !whole {
                    return Ok(Received {
                        taken,
                        is_done: false,
                    });
                }
                self.read_head()?;
                continue;
            }
            let Some(body) = &mut self.body else { continue };
            if body.is_done() || rest.is_empty() {
                let is_done = body.is_done();
                return Ok(Received { taken, is_done });
            }
            let step = body.step(rest)?;
            taken += step.taken;
            if self.checks && !pattern::is_at(self.offset, step.data) {
                return Err(HttpFault::WrongBytes);
            }
            self.offset += step.data.len() as u64;
        }
    }

    /// The connection ended: whether the response is whole by that.
    ///
    /// # Errors
    /// The head or the body is not whole.
    pub fn end(&self) -> Result<(), HttpFault> {
        match self.body {
            None => Err(HttpFault::Cut),
            Some(Body::UntilClose) => Ok(()),
            Some(body) if body.is_done() => Ok(()),
            Some(_) => Err(HttpFault::WrongLength),
        }
    }

    /// Reads a whole head; an interim response leaves the next to be read.
    fn read_head(&mut self) -> Result<(), HttpFault> {
        let mut headers = [EMPTY_HEADER; HEADERS_MAX];
        let mut response = Response::new(&mut headers);
        match response.parse(self.head.bytes()) {
            Ok(Status::Complete(len)) if len == self.head.bytes().len() => {}
            Err(httparse::Error::TooManyHeaders) => return Err(HttpFault::HeadTooLong),
            _ => return Err(HttpFault::Syntax),
        }
        let (Some(status), Some(minor)) = (response.code, response.version) else {
            return Err(HttpFault::Syntax);
        };
        let framing = Framing::read(response.headers, minor)?;
        match status {
            101 | ..100 | 600.. => return Err(HttpFault::Syntax),
            100..200 => {
                self.head.clear();
                return Ok(());
            }
            _ => {}
        }
        let empty = self.method == Method::Head || matches!(status, 204 | 304);
        self.body = Some(match empty {
            true => Body::EMPTY,
            false => framing.body(Body::UntilClose),
        });
        self.checks = status < 300
            && match self.check {
                BodyCheck::Announced => framing.is_pattern,
                BodyCheck::Always => true,
                BodyCheck::Never => false,
            };
        self.status = status;
        self.keep_alive = framing.persists(minor);
        Ok(())
    }
}
