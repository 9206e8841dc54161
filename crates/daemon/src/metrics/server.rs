//! A small HTTP server for a few pages: bounded in connections, bytes and time.
//!
//! One thread accepts, and each connection has a thread of its own for at most [`LIMIT`]: a scraper
//! that is stuck holds one of [`CONNECTIONS_MAX`] places for that long and nothing else.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use super::request::{Answer, Made, Page, REQUEST_BYTES_MAX, answer, refusal};

/// Most connections at a time; one more is told so and closed.
pub(super) const CONNECTIONS_MAX: usize = 8;
/// Longest that a connection lasts, from its first byte to the last of the answer. Prometheus
/// itself waits 10 s by default.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// How long a connection that was answered may go on sending before it is cut off.
const LINGER: Duration = Duration::from_millis(500);
/// After an error of accept(2) that does not go away by itself, such as too many open files.
const BREATH: Duration = Duration::from_millis(100);

/// Why metrics cannot be served.
#[derive(Debug)]
pub enum ServerError {
    /// The address cannot be listened at.
    Listen(SocketAddr, io::Error),
    /// No thread, or no way to stop one.
    Thread(io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen(address, error) => write!(
                f,
                "metrics cannot be served at {address}: {error}; choose another address (in \
                 [metrics], or by --metrics) or end what listens there"
            ),
            Self::Thread(error) => write!(f, "the metrics server got no thread: {error}"),
        }
    }
}

impl std::error::Error for ServerError {}

/// What makes the pages, at most one call a connection.
pub trait Pages: Send + Sync {
    /// A page as it is now.
    fn make(&self, page: Page) -> Made;
}

/// Serves metrics until it is dropped or stopped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens at `address` (port 0: any free one) and answers with what `pages` makes.
    ///
    /// # Errors
    /// The address cannot be listened at, or there is no thread.
    pub fn start(address: SocketAddr, pages: Arc<dyn Pages>) -> Result<Self, ServerError> {
        let refused = |error| ServerError::Listen(address, error);
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let bound = listener.local_addr().map_err(refused)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|error| ServerError::Thread(error.into()))?;
        let wake = Arc::new(wake);
        let acceptor = Acceptor {
            listener,
            wake: Arc::clone(&wake),
            pages,
            connections: Arc::new(AtomicUsize::new(0)),
        };
        let thread = Builder::new()
            .name("metrics".to_owned())
            .spawn(move || acceptor.run())
            .map_err(ServerError::Thread)?;
        Ok(Self {
            address: bound,
            wake,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening. Connections that are open end by themselves within ten seconds.
    pub fn stop(&mut self) {
        // The counter of an eventfd cannot be full after one write.
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

struct Acceptor {
    listener: TcpListener,
    wake: Arc<OwnedFd>,
    pages: Arc<dyn Pages>,
    connections: Arc<AtomicUsize>,
}

impl Acceptor {
    fn run(&self) {
        while self.wait() {
            match self.listener.accept() {
                Ok((stream, _)) => self.serve(stream),
                // A client that went away before it was accepted, or nothing there after all.
                Err(error) if is_passing(&error) => {}
                Err(_) => std::thread::sleep(BREATH),
            }
        }
    }

    /// Waits for a connection; false when it is time to stop.
    fn wait(&self) -> bool {
        let mut waiting = [
            PollFd::new(&self.listener, PollFlags::IN),
            PollFd::new(&*self.wake, PollFlags::IN),
        ];
        // An interrupted wait finds nothing and comes back.
        let _ = poll(&mut waiting, None);
        waiting[1].revents().is_empty()
    }

    fn serve(&self, stream: TcpStream) {
        let place = Place::take(&self.connections);
        let Some(place) = place else {
            return turn_away(stream);
        };
        let pages = Arc::clone(&self.pages);
        // Without a thread the connection closes, which the scraper sees as a failed scrape.
        let _ = Builder::new()
            .name("metrics-client".to_owned())
            .spawn(move || {
                let _ = converse(stream, &*pages, Instant::now() + LIMIT);
                drop(place);
            });
    }
}

fn is_passing(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted | WouldBlock
    )
}

/// One of the places for connections, given back when dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(taken: &Arc<AtomicUsize>) -> Option<Self> {
        let room = |open: usize| (open < CONNECTIONS_MAX).then_some(open + 1);
        taken
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, room)
            .ok()?;
        Some(Self(Arc::clone(taken)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// What the accepting thread can say without waiting: the socket's buffer is empty and takes it.
fn turn_away(mut stream: TcpStream) {
    let text = refusal("503 Service Unavailable", "too many connections at a time");
    let _ = stream.set_nonblocking(true);
    let _ = stream.write(&text);
    let _ = stream.shutdown(Shutdown::Write);
}

/// Reads a request, answers it and closes, all before `deadline`.
fn converse(mut stream: TcpStream, pages: &dyn Pages, deadline: Instant) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let reply = match read_request(&mut stream, pages, deadline) {
        Ok(reply) => reply,
        Err(error) if is_timeout(&error) => refusal("408 Request Timeout", "too slow"),
        Err(error) => return Err(error),
    };
    write_until(&mut stream, &reply, deadline.max(Instant::now() + LINGER))?;
    stream.shutdown(Shutdown::Write)?;
    linger(&mut stream)
}

fn read_request(
    stream: &mut TcpStream,
    pages: &dyn Pages,
    deadline: Instant,
) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(1024);
    let mut piece = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(deadline)?))?;
        let count = match stream.read(&mut piece) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes.extend_from_slice(&piece[..count]);
        debug_assert!(bytes.len() < REQUEST_BYTES_MAX + piece.len());
        if let Answer::Reply(reply) = answer(&bytes, &mut |page| pages.make(page)) {
            return Ok(reply);
        }
    }
}

/// `write_all` with one deadline for all of it, where a timeout of the socket is one a call.
fn write_until(stream: &mut TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads what the client still sends: closing before would reset the connection, and with it
/// answers that the client has not read yet.
fn linger(stream: &mut TcpStream) -> io::Result<()> {
    let deadline = Instant::now() + LINGER;
    let mut piece = [0; 1024];
    loop {
        stream.set_read_timeout(Some(left(deadline)?))?;
        if stream.read(&mut piece)? == 0 {
            return Ok(());
        }
    }
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    Ok(left)
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}
