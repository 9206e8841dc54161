//! A socket of route netlink.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use netlink_sys::{Socket, SocketAddr};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::RecvFlags;
use rustix::net::sockopt;

/// `NETLINK_ROUTE`.
const ROUTE: isize = 0;
/// Bytes of a datagram at first. The kernel makes answers of up to 32 KiB.
const DATAGRAM_BYTES: usize = 64 << 10;

/// A socket, and room for a datagram.
pub(super) struct Channel {
    socket: Socket,
    port: u32,
    datagram: Vec<u8>,
}

/// What is in a socket.
pub(super) enum Received<'a> {
    /// A datagram of the kernel.
    Datagram(&'a [u8]),
    /// Nothing now.
    Nothing,
    /// The kernel dropped datagrams, or one was longer than the room for it.
    Overrun,
}

impl Channel {
    /// One of the namespace that the calling thread is in.
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(ROUTE)?;
        let port = socket.bind_auto()?.port_number();
        socket.set_non_blocking(true)?;
        Ok(Self {
            socket,
            port,
            datagram: Vec::with_capacity(DATAGRAM_BYTES),
        })
    }

    /// The netlink port number that the kernel gave it.
    pub(super) fn port(&self) -> u32 {
        self.port
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Has the kernel send what happens to a kind of things.
    pub(super) fn join(&self, group: u32) -> io::Result<()> {
        self.socket.add_membership(group)
    }

    /// Makes room for datagrams that wait, beyond the system's limit where that is allowed.
    pub(super) fn reserve(&self, bytes: usize) -> io::Result<()> {
        match sockopt::set_socket_recv_buffer_size_force(&self.socket, bytes) {
            Ok(()) => Ok(()),
            Err(_) => Ok(sockopt::set_socket_recv_buffer_size(&self.socket, bytes)?),
        }
    }

    pub(super) fn send(&self, message: &[u8]) -> io::Result<()> {
        let kernel = SocketAddr::new(0, 0);
        self.socket.send_to(message, &kernel, 0).map(|_| ())
    }

    /// Waits until there is something, no longer than this. True: there is.
    pub(super) fn wait(&self, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn receive(&mut self) -> io::Result<Received<'_>> {
        loop {
            self.datagram.clear();
            let flags = RecvFlags::TRUNC.bits() as i32;
            match self.socket.recv_from(&mut self.datagram, flags) {
                Ok((length, _)) if length > self.datagram.len() => {
                    self.datagram.reserve(length);
                    return Ok(Received::Overrun);
                }
                // Other processes can send too; what they say is nothing to us.
                Ok((_, from)) if from.port_number() != 0 => {}
                Ok(_) => return Ok(Received::Datagram(&self.datagram)),
                Err(error) => return without(&error).ok_or(error),
            }
        }
    }
}

/// What an error means that is none.
fn without(error: &io::Error) -> Option<Received<'static>> {
    match rustix::io::Errno::from_io_error(error)? {
        rustix::io::Errno::NOBUFS => Some(Received::Overrun),
        rustix::io::Errno::AGAIN | rustix::io::Errno::INTR => Some(Received::Nothing),
        _ => None,
    }
}
