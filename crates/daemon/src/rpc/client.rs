//! The other end: what the command line speaks to a daemon with.

use super::answers::{Hello, HelloParams, StreamEnd, StreamItem};
use super::buffer::LineBuffer;
use super::client_error::ClientError;
use super::error::{RpcError, WireError};
use super::limits::PROTOCOL;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::VecDeque;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long an answer may take unless it is said otherwise.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// Longest line of a daemon that is believed.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// A connection to a daemon.
///
/// [`Client::call`] asks and waits. To ask without waiting, [`Client::send`] several times and
/// [`Client::wait`] as often: answers come in the order of the requests.
#[derive(Debug)]
pub struct Client {
    path: PathBuf,
    socket: UnixStream,
    buffer: LineBuffer,
    /// Notifications that came while an answer was waited for.
    notifications: VecDeque<String>,
    last_id: u64,
    within: Duration,
    hello: Hello,
}

/// A request sent, to be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Sent(u64);

#[derive(Serialize)]
struct Ask<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a P,
}

/// Any line of the server: an answer has an `id`, a notification a `method`.
#[derive(Deserialize)]
struct Heard<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<&'a str>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<WireError>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Client {
    /// Connects to the daemon that listens at `path` and makes sure that it speaks this protocol.
    ///
    /// # Errors
    /// No daemon listens there, it may not be spoken to, or it speaks another version.
    pub fn connect(path: &Path) -> Result<Self, ClientError> {
        let socket =
            UnixStream::connect(path).map_err(|error| ClientError::connect(path, &error))?;
        let nobody = Hello {
            server: String::new(),
            version: String::new(),
            protocol: PROTOCOL,
            pid: 0,
            line_bytes_max: 0,
            entries_max: 0,
        };
        let mut client = Self {
            path: path.to_owned(),
            socket,
            buffer: LineBuffer::default(),
            notifications: VecDeque::new(),
            last_id: 0,
            within: ANSWER_WITHIN,
            hello: nobody,
        };
        let params = HelloParams {
            protocol: Some(PROTOCOL),
            client: Some(format!("linerate {}", env!("CARGO_PKG_VERSION"))),
        };
        client.hello = client.call("hello", &params)?;
        Ok(client)
    }

    /// How the daemon introduced itself.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// From now on an answer may take this long: for requests that read long lists.
    pub fn allow(&mut self, within: Duration) {
        self.within = within;
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    /// [`ClientError::Refused`] with the daemon's sentence; others when the connection fails.
    pub fn call<P: Serialize, R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &P,
    ) -> Result<R, ClientError> {
        let sent = self.send(method, params)?;
        self.wait(sent)
    }

    /// Asks, and waits for nothing.
    ///
    /// # Errors
    /// The daemon is gone, or takes nothing.
    pub fn send<P: Serialize>(&mut self, method: &str, params: &P) -> Result<Sent, ClientError> {
        let (line, sent) = self.line(method, params)?;
        self.patience(self.within)?;
        let written = self.socket.write_all(&line);
        written.map_err(|error| self.broken(&error))?;
        Ok(sent)
    }

    /// Asks, and sends an open file along, which the daemon reads: by the caller's rights, not by
    /// its own.
    ///
    /// # Errors
    /// As [`Client::send`].
    pub fn send_file<P: Serialize>(
        &mut self,
        method: &str,
        params: &P,
        file: BorrowedFd<'_>,
    ) -> Result<Sent, ClientError> {
        let (line, sent) = self.line(method, params)?;
        self.patience(self.within)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut along = SendAncillaryBuffer::new(&mut space);
        let files = [file];
        along.push(SendAncillaryMessage::ScmRights(&files));
        let first = sendmsg(
            &self.socket,
            &[IoSlice::new(&line)],
            &mut along,
            SendFlags::NOSIGNAL,
        );
        let first = first.map_err(|error| self.broken(&error.into()))?;
        let rest = self.socket.write_all(&line[first..]);
        rest.map_err(|error| self.broken(&error))?;
        Ok(sent)
    }

    /// Waits for the answer of a request; they are waited for in the order they were sent.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn wait<R: DeserializeOwned>(&mut self, sent: Sent) -> Result<R, ClientError> {
        let deadline = Instant::now() + self.within;
        loop {
            let line = self.hear(deadline)?;
            let heard: Heard<'_> =
                serde_json::from_str(&line).map_err(|error| self.garbled(&error))?;
            if heard.method.is_some() {
                self.notifications.push_back(line);
                continue;
            }
            if let Some(error) = heard.error {
                return Err(self.refused(error.into()));
            }
            if heard.id != Some(sent.0) {
                return Err(self.garbled(&"an answer to another request"));
            }
            let result = heard.result.map_or("null", RawValue::get);
            return serde_json::from_str(result).map_err(|error| self.garbled(&error));
        }
    }

    /// The next piece of a stream; none when it has ended. Pieces of other streams are lost.
    ///
    /// # Errors
    /// None came within `within`, the stream broke off, or the connection did.
    pub fn next<R: DeserializeOwned>(
        &mut self,
        stream: u64,
        within: Duration,
    ) -> Result<Option<R>, ClientError> {
        let deadline = Instant::now() + within;
        loop {
            let line = match self.notifications.pop_front() {
                Some(line) => line,
                None => self.hear(deadline)?,
            };
            let heard: Heard<'_> =
                serde_json::from_str(&line).map_err(|error| self.garbled(&error))?;
            let params = heard.params.map_or("null", RawValue::get);
            match heard.method {
                Some("stream.end") => {
                    let end: StreamEnd =
                        serde_json::from_str(params).map_err(|error| self.garbled(&error))?;
                    match end.error {
                        _ if end.stream != stream => {}
                        Some(why) => return Err(ClientError::Stream(why)),
                        None => return Ok(None),
                    }
                }
                Some("stream") => {
                    let item: StreamItem<&RawValue> =
                        serde_json::from_str(params).map_err(|error| self.garbled(&error))?;
                    if item.stream == stream {
                        let item = serde_json::from_str(item.item.get());
                        return item.map(Some).map_err(|error| self.garbled(&error));
                    }
                }
                _ => {}
            }
        }
    }

    fn line<P: Serialize>(
        &mut self,
        method: &str,
        params: &P,
    ) -> Result<(Vec<u8>, Sent), ClientError> {
        self.last_id += 1;
        let ask = Ask {
            jsonrpc: "2.0",
            id: self.last_id,
            method,
            params,
        };
        let mut line = serde_json::to_vec(&ask).map_err(|error| self.garbled(&error))?;
        line.push(b'\n');
        Ok((line, Sent(self.last_id)))
    }

    /// The next line.
    fn hear(&mut self, deadline: Instant) -> Result<String, ClientError> {
        loop {
            if let Some(line) = self.buffer.next_line() {
                let text = String::from_utf8(line.to_vec());
                return text.map_err(|error| self.garbled(&error));
            }
            if self.buffer.pending() > ANSWER_BYTES_MAX {
                return Err(self.garbled(&"a line without end"));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.silent());
            }
            self.patience(left)?;
            let mut bytes = [0; 1 << 16];
            match self.socket.read(&mut bytes) {
                Ok(0) => return Err(self.broken(&ErrorKind::UnexpectedEof.into())),
                Ok(count) => self.buffer.push(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.broken(&error)),
            }
        }
    }

    fn patience(&self, within: Duration) -> Result<(), ClientError> {
        // Zero would mean for ever.
        let within = Some(within.max(Duration::from_millis(1)));
        let set = self.socket.set_read_timeout(within);
        let set = set.and_then(|()| self.socket.set_write_timeout(within));
        set.map_err(|error| self.broken(&error))
    }

    fn broken(&self, error: &std::io::Error) -> ClientError {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => self.silent(),
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                ClientError::Gone(self.path.clone())
            }
            _ => ClientError::Broken(self.path.clone(), error.to_string()),
        }
    }

    fn silent(&self) -> ClientError {
        ClientError::Silent(self.path.clone(), self.within)
    }

    fn garbled(&self, why: &dyn std::fmt::Display) -> ClientError {
        ClientError::Garbled(self.path.clone(), why.to_string())
    }

    fn refused(&self, error: RpcError) -> ClientError {
        match error.kind {
            super::ErrorKind::OtherVersion => {
                ClientError::OtherVersion(self.path.clone(), error.message)
            }
            _ => ClientError::Refused(error),
        }
    }
}
