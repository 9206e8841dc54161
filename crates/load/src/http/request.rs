//! Requests as a server reads them.

use httparse::{EMPTY_HEADER, Request, Status};

use super::head::{Framing, HEADERS_MAX};
use super::{Body, HttpFault};

/// Methods that make a difference here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The answer has no body.
    Head,
    /// The answer is what the path names.
    Get,
    /// Any other that is a word, but `CONNECT`.
    Other,
}

/// The head of a request.
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The path, without a query.
    pub path: String,
    /// The body that follows.
    pub body: Body,
    /// Whether the connection serves another request.
    pub keep_alive: bool,
    /// HTTP/1.1, not 1.0.
    pub is_1_1: bool,
    /// The client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
    /// The body is the pattern.
    pub is_pattern: bool,
}

impl RequestHead {
    /// Reads a whole head, with the empty line at its end.
    ///
    /// # Errors
    /// Whatever two readers could read differently.
    pub fn parse(head: &[u8]) -> Result<Self, HttpFault> {
        let mut headers = [EMPTY_HEADER; HEADERS_MAX];
        let mut request = Request::new(&mut headers);
        match request.parse(head) {
            Ok(Status::Complete(len)) if len == head.len() => {}
            Err(httparse::Error::TooManyHeaders) => return Err(HttpFault::HeadTooLong),
            _ => return Err(HttpFault::Syntax),
        }
        let (Some(method), Some(target), Some(minor)) =
            (request.method, request.path, request.version)
        else {
            return Err(HttpFault::Syntax);
        };
        let framing = Framing::read(request.headers, minor)?;
        if framing.hosts > 1 || (minor == 1 && framing.hosts == 0) {
            return Err(HttpFault::BadHost);
        }
        let path = path_of(method, target).ok_or(HttpFault::BadTarget)?;
        Ok(Self {
            method: match method {
                "HEAD" => Method::Head,
                "GET" => Method::Get,
                _ => Method::Other,
            },
            path: path.to_owned(),
            body: framing.body(Body::EMPTY),
            keep_alive: framing.persists(minor),
            is_1_1: minor == 1,
            expects_continue: framing.expects_continue && minor == 1,
            is_pattern: framing.is_pattern,
        })
    }
}

/// The path of `/path?query`, of `http://host/path` and of `*`.
fn path_of<'t>(method: &str, target: &'t str) -> Option<&'t str> {
    let path = match target {
        _ if method == "CONNECT" => return None,
        "*" if method == "OPTIONS" => "/",
        _ if target.starts_with('/') => target,
        _ => {
            let (_, rest) = target.split_once("://")?;
            &rest[rest.find('/')?..]
        }
    };
    path.split(['?', '#']).next()
}
