//! The listening end: accepts within bounds, and gives each connection a thread.

use super::connection::{Connection, Peer};
use super::error::{ErrorKind, RpcError};
use super::facts::{Facts, Sets};
use super::limits::Limits;
use super::message;
use super::methods::Services;
use super::socket::{BindError, Socket};
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Where to listen, and what peers may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// The socket's path; its folder is there.
    pub path: PathBuf,
    /// The group that may connect beside root and the daemon's own user.
    pub group: Option<u32>,
    /// The bounds.
    pub limits: Limits,
}

impl ServerConfig {
    /// This path, the process's own group and the limits as they are by default.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            group: None,
            limits: Limits::default(),
        }
    }
}

/// A control socket that answers. It ends when it is dropped: connections are closed, and their
/// threads waited for.
pub struct Server {
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
}

/// A connection, as the accepting side has it.
struct Guest {
    socket: UnixStream,
    is_privileged: bool,
}

type Guests = Arc<Mutex<HashMap<u64, Guest>>>;

struct Accepting {
    socket: Socket,
    awake: UnixStream,
    limits: Limits,
    services: Arc<Services>,
    guests: Guests,
    threads: Vec<JoinHandle<()>>,
    accepted: u64,
}

impl Server {
    /// Listens, from now on.
    ///
    /// # Errors
    /// [`BindError`]: among others, when another daemon answers there.
    pub fn start(
        config: &ServerConfig,
        sets: Arc<dyn Sets>,
        facts: Arc<dyn Facts>,
    ) -> Result<Self, BindError> {
        let refused = |error| BindError::Refused(config.path.clone(), error);
        let socket = Socket::bind(&config.path, config.group)?;
        socket.listener.set_nonblocking(true).map_err(refused)?;
        let (wake, awake) = UnixStream::pair().map_err(refused)?;
        let accepting = Accepting {
            socket,
            awake,
            limits: config.limits,
            services: Arc::new(Services::new(sets, facts)),
            guests: Guests::default(),
            threads: Vec::new(),
            accepted: 0,
        };
        let thread = Builder::new().name("control".to_owned());
        let thread = thread.spawn(move || accepting.run()).map_err(refused)?;
        tracing::info!(socket = %config.path.display(), "control socket is open");
        Ok(Self {
            wake,
            thread: Some(thread),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ends the accepting thread's poll.
        let _ = self.wake.shutdown(Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            // A panic in it was reported where it happened.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl Accepting {
    fn run(mut self) {
        while self.wait() {
            match self.socket.listener.accept() {
                Ok((socket, _)) => self.admit(socket),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    // No descriptors or memory: those there are go on, and may end.
                    tracing::warn!(%error, "a control connection could not be accepted");
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
            self.threads.retain(|thread| !thread.is_finished());
        }
        self.services.stop();
        for guest in lock(&self.guests).values() {
            let _ = guest.socket.shutdown(Shutdown::Both);
        }
        for thread in self.threads {
            let _ = thread.join();
        }
    }

    /// False when it is time to end.
    fn wait(&self) -> bool {
        let mut waiting = [
            PollFd::new(&self.socket.listener, PollFlags::IN),
            PollFd::new(&self.awake, PollFlags::IN),
        ];
        match poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => waiting[1].revents().is_empty(),
            Err(_) => false,
        }
    }

    fn admit(&mut self, socket: UnixStream) {
        let peer = match Peer::of(&socket) {
            Ok(peer) => peer,
            Err(error) => {
                tracing::warn!(%error, "a control connection without credentials was closed");
                return;
            }
        };
        if let Err(error) = self.room_for(peer) {
            tracing::warn!(%peer, %error, "a control connection was refused");
            turn_away(socket, error);
            return;
        }
        self.accepted += 1;
        let number = self.accepted;
        if let Err(error) = self.serve(number, socket, peer) {
            tracing::warn!(%peer, %error, "a control connection could not be served");
            lock(&self.guests).remove(&number);
        }
    }

    /// The last places are kept for those who could not be locked out otherwise.
    fn room_for(&self, peer: Peer) -> Result<(), RpcError> {
        let guests = lock(&self.guests);
        let others = guests.values().filter(|guest| !guest.is_privileged).count();
        let open = self.limits.connections.saturating_sub(self.limits.reserved);
        let full = guests.len() >= self.limits.connections;
        if full || (!peer.is_privileged() && others >= open) {
            let message = format!(
                "there are {} control connections already: close some",
                guests.len()
            );
            return Err(RpcError::new(ErrorKind::TooMany, message));
        }
        Ok(())
    }

    fn serve(&mut self, number: u64, socket: UnixStream, peer: Peer) -> io::Result<()> {
        // The file of a socket accepted from a listener that does not block, blocks.
        socket.set_nonblocking(true)?;
        let guest = Guest {
            socket: socket.try_clone()?,
            is_privileged: peer.is_privileged(),
        };
        lock(&self.guests).insert(number, guest);
        let guests = Arc::clone(&self.guests);
        let connection = Connection::new(socket, peer, self.limits, Arc::clone(&self.services));
        let thread = Builder::new().name(format!("control-{number}"));
        let thread = thread.spawn(move || {
            connection.run();
            lock(&guests).remove(&number);
        })?;
        self.threads.push(thread);
        Ok(())
    }
}

fn lock(guests: &Guests) -> std::sync::MutexGuard<'_, HashMap<u64, Guest>> {
    // The map is whole after any panic: insert and remove are all that is done to it.
    guests.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says why, if that can be said at once.
fn turn_away(mut socket: UnixStream, error: RpcError) {
    let mut line = Vec::new();
    message::answer(&mut line, None, Err(error));
    let _ = socket.set_nonblocking(true);
    let _ = socket.write_all(&line);
}
