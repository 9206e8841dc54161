//! One connection: lines in, answers and notifications out, each within its time.

use super::buffer::LineBuffer;
use super::error::{ErrorKind, RpcError};
use super::limits::{LINE_BYTES_MAX, Limits, PIPELINED_MAX};
use super::message::{self, BadLine, Request};
use super::methods::{Begun, Services};
use super::noted::{Note, Notes};
use super::streams::Streams;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use serde_json::value::RawValue;
use std::fmt;
use std::io::{self, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes received at once.
const RECEIVED_MAX: usize = 64 << 10;

/// Answers are sent when there are so many bytes of them.
const SENT_MIN: usize = 64 << 10;

/// Who is at the other end, by the kernel's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    pid: i32,
    uid: u32,
    gid: u32,
    is_privileged: bool,
}

impl Peer {
    /// Asks the kernel. That the peer could connect at all, the mode of the socket's file has
    /// decided: the owner, the group, or root.
    pub(super) fn of(socket: &UnixStream) -> io::Result<Self> {
        let credentials = rustix::net::sockopt::socket_peercred(socket)?;
        let uid = credentials.uid.as_raw();
        let own = rustix::process::geteuid().as_raw();
        Ok(Self {
            pid: credentials.pid.as_raw_pid(),
            uid,
            gid: credentials.gid.as_raw(),
            is_privileged: uid == 0 || uid == own,
        })
    }

    /// Root, or the user that the daemon runs as.
    pub(super) fn is_privileged(self) -> bool {
        self.is_privileged
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uid {} gid {} pid {}", self.uid, self.gid, self.pid)
    }
}

/// Why a connection ends.
#[derive(Debug)]
enum End {
    /// The peer closed it, or the daemon stops.
    Closed,
    /// It failed.
    Failed(io::Error),
    /// The peer broke a rule; it is told.
    Broke(RpcError),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// One connection.
pub(super) struct Connection {
    socket: UnixStream,
    peer: Peer,
    limits: Limits,
    services: Arc<Services>,
    buffer: LineBuffer,
    scratch: Vec<u8>,
    /// An open file that came along, for the request that takes one.
    file: Option<OwnedFd>,
    streams: Streams,
    out: Vec<u8>,
    /// When the line that has begun and not ended did begin.
    line_began: Option<Instant>,
    last_heard: Instant,
    tally: Tally,
    notes: Notes,
}

/// What came of the requests of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    answered: u64,
    errors: u64,
}

/// A request whose answer is on its way.
struct Asked {
    /// None for a notification.
    id: Option<Box<RawValue>>,
    wants_answer: bool,
    begun: Begun,
    /// For the log.
    note: Option<Note>,
}

impl From<BadLine<'_>> for Asked {
    fn from(BadLine { id, error }: BadLine<'_>) -> Self {
        Self {
            id: id.map(ToOwned::to_owned),
            wants_answer: true,
            begun: Begun::Done(Err(error)),
            note: None,
        }
    }
}

impl Connection {
    pub(super) fn new(
        socket: UnixStream,
        peer: Peer,
        limits: Limits,
        services: Arc<Services>,
    ) -> Self {
        Self {
            socket,
            peer,
            limits,
            services,
            buffer: LineBuffer::default(),
            scratch: vec![0; RECEIVED_MAX],
            file: None,
            streams: Streams::default(),
            out: Vec::new(),
            line_began: None,
            last_heard: Instant::now(),
            tally: Tally::default(),
            notes: Notes::new(peer),
        }
    }

    /// Serves the peer until it or the daemon has enough.
    pub(super) fn run(mut self) {
        let end = self.serve();
        if let End::Broke(error) = &end {
            message::answer(&mut self.out, None, Err(error.clone()));
            // It may not even be reading.
            let _ = self.send();
        }
        let (peer, Tally { answered, errors }) = (self.peer, self.tally);
        match end {
            // Who ends while something is sent has had enough.
            End::Failed(error) if is_gone(&error) => {
                tracing::debug!(%peer, answered, errors, "control connection closed");
            }
            End::Closed => tracing::debug!(%peer, answered, errors, "control connection closed"),
            End::Failed(error) => {
                tracing::info!(%peer, answered, errors, %error, "control connection failed");
            }
            End::Broke(error) => {
                tracing::warn!(%peer, answered, errors, %error, "control connection was cut off");
            }
        }
    }

    fn serve(&mut self) -> End {
        tracing::debug!(peer = %self.peer, "control connection");
        loop {
            if let Err(end) = self.turn() {
                return end;
            }
        }
    }

    /// Answers what is there, sends what is due, waits.
    fn turn(&mut self) -> Result<(), End> {
        let more = self.answer_lines()?;
        self.streams.take(&mut self.out, Instant::now());
        self.send()?;
        self.notes.tell_due();
        // What waits for its answer is not added to: a peer that asks faster than it is answered
        // fills the kernel's buffer, not ours.
        if !more && self.readable(self.wait())? {
            self.receive()?;
        }
        self.judge_silence()
    }

    /// Answers whole lines, at most [`PIPELINED_MAX`]; whether there are more.
    fn answer_lines(&mut self) -> Result<bool, End> {
        let mut asked = Vec::new();
        let (mut more, mut begins_anew) = (false, false);
        while let Some(line) = self.buffer.next_line() {
            begins_anew = true;
            match Request::parse(line) {
                Ok(request) => {
                    if !Services::is_queued(&request.method) {
                        // What came before is done before what sees or replaces it begins.
                        self.tally
                            .settle(asked.drain(..), &mut self.notes, &mut self.out);
                    }
                    let begun = self
                        .services
                        .begin(&request, &mut self.file, &mut self.streams);
                    asked.push(Asked {
                        id: request.id.map(ToOwned::to_owned),
                        wants_answer: request.id.is_some(),
                        note: Note::of(&request),
                        begun,
                    });
                }
                Err(bad) => asked.push(bad.into()),
            }
            if asked.len() == PIPELINED_MAX || self.out.len() > SENT_MIN {
                more = true;
                break;
            }
        }
        self.tally
            .settle(asked.drain(..), &mut self.notes, &mut self.out);
        match self.buffer.pending() {
            0 => self.line_began = None,
            _ if more || begins_anew => self.line_began = Some(Instant::now()),
            _ => drop(self.line_began.get_or_insert_with(Instant::now)),
        }
        if self.buffer.pending() > LINE_BYTES_MAX && !more {
            let message = format!(
                "a line of more than {LINE_BYTES_MAX} bytes: send several requests; closing"
            );
            return Err(End::Broke(RpcError::new(ErrorKind::Parse, message)));
        }
        Ok(more)
    }

    /// How long there is nothing to do but listen.
    fn wait(&self) -> Duration {
        let now = Instant::now();
        let limit = match self.line_began {
            Some(began) => (began + self.limits.line).saturating_duration_since(now),
            None => (self.last_heard + self.limits.silence).saturating_duration_since(now),
        };
        let due = [self.streams.next_due(), self.notes.due()];
        let waits = due.into_iter().flatten();
        let waits = waits.map(|due| due.saturating_duration_since(now));
        waits.fold(limit, Duration::min)
    }

    fn judge_silence(&mut self) -> Result<(), End> {
        let now = Instant::now();
        let late = |since: Instant, limit| now.saturating_duration_since(since) >= limit;
        if self
            .line_began
            .is_some_and(|began| late(began, self.limits.line))
        {
            let message = "a line was begun and not ended in time; closing";
            return Err(End::Broke(RpcError::new(ErrorKind::Parse, message)));
        }
        if self.streams.is_empty() && late(self.last_heard, self.limits.silence) {
            let message = "nothing was asked for too long; closing";
            return Err(End::Broke(RpcError::new(ErrorKind::Busy, message)));
        }
        Ok(())
    }

    fn readable(&self, wait: Duration) -> Result<bool, End> {
        let mut waiting = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut waiting, Some(&timespec(wait))) {
            Ok(count) => Ok(count != 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(End::Failed(error.into())),
        }
    }

    fn receive(&mut self) -> Result<(), End> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut along = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(&mut self.scratch)];
        // What does not fit into the space is closed by the kernel.
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let received = match recvmsg(&self.socket, &mut into, &mut along, flags) {
            Ok(received) => received.bytes,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(error) => return Err(End::Failed(error.into())),
        };
        for message in along.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.file = files.last();
            }
        }
        if received == 0 {
            return Err(End::Closed);
        }
        self.last_heard = Instant::now();
        self.buffer.push(&self.scratch[..received]);
        Ok(())
    }

    /// Sends all of `out`, or gives up on a peer that does not read.
    fn send(&mut self) -> Result<(), End> {
        let deadline = Instant::now() + self.limits.unread;
        let mut sent = 0;
        while sent < self.out.len() {
            match self.socket.write(&self.out[sent..]) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait_writable(deadline)?;
                }
                Err(error) => return Err(End::Failed(error)),
            }
        }
        if !self.out.is_empty() {
            self.last_heard = Instant::now();
        }
        self.out.clear();
        self.out.shrink_to(SENT_MIN);
        Ok(())
    }

    fn wait_writable(&self, deadline: Instant) -> Result<(), End> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(End::Failed(io::ErrorKind::TimedOut.into()));
        }
        let mut waiting = [PollFd::new(&self.socket, PollFlags::OUT)];
        match poll(&mut waiting, Some(&timespec(left))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(End::Failed(error.into())),
        }
    }
}

impl Tally {
    /// Waits for the answers, in order, and appends them to `out`.
    fn settle(&mut self, asked: impl Iterator<Item = Asked>, notes: &mut Notes, out: &mut Vec<u8>) {
        for Asked {
            id,
            wants_answer,
            begun,
            note,
        } in asked
        {
            let result = begun.wait();
            if let Some(note) = note {
                notes.add(note, result.as_ref().err());
            }
            self.answered += 1;
            self.errors += u64::from(result.is_err());
            if wants_answer {
                message::answer(out, id.as_deref(), result.as_deref().map_err(Clone::clone));
            }
        }
    }
}

/// The other end was closed.
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset)
}

fn timespec(duration: Duration) -> Timespec {
    // Rounded up: a wait that ends a moment early would be begun again at once.
    let nanos = duration.subsec_nanos().div_ceil(1_000_000) * 1_000_000;
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
            + i64::from(nanos / 1_000_000_000),
        tv_nsec: i64::from(nanos % 1_000_000_000),
    }
}
