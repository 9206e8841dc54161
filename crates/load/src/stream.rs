//! A connection, with or without TLS.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

use crate::tls::Session;

/// A socket that does not block, and what TLS needs beside it.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: TcpStream,
    session: Option<Session>,
}

impl Stream {
    pub(crate) const fn new(socket: TcpStream, session: Option<Session>) -> Self {
        Self { socket, session }
    }

    /// Goes on with the handshake, where there is one: `WouldBlock` until it is over.
    pub(crate) fn handshake(&mut self) -> io::Result<()> {
        match &mut self.session {
            Some(session) => session.handshake(&mut self.socket),
            None => Ok(()),
        }
    }

    pub(crate) const fn has_tls(&self) -> bool {
        self.session.is_some()
    }

    /// Whether a handshake is over and went on with a session of before.
    pub(crate) fn is_resumed(&self) -> Option<bool> {
        self.session.as_ref().and_then(Session::is_resumed)
    }

    /// Whether a read of `len` bytes of at most `most` took all there was. Records may hold more
    /// than the kernel still has, so under TLS only `WouldBlock` says so.
    pub(crate) const fn is_drained(&self, len: usize, most: usize) -> bool {
        len < most && self.session.is_none()
    }

    /// Has the kernel send a piece of a file, which takes no TLS; how much it took.
    pub(crate) fn send_file(&self, file: &File, mut offset: u64, len: usize) -> io::Result<usize> {
        let sent = rustix::fs::sendfile(&self.socket, file, Some(&mut offset), len);
        Ok(sent?)
    }

    /// The error of an attempt to connect.
    pub(crate) fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// Says the end of TLS without a wait: a peer whose buffers are full does not hear of it.
    pub(crate) fn say_end(&mut self) {
        if let Some(session) = &mut self.session {
            session.end();
            let _best_effort = session.flush(&mut self.socket);
        }
    }

    /// Sends no more: `WouldBlock` where the end of TLS has to wait.
    pub(crate) fn shutdown(&mut self) -> io::Result<()> {
        if let Some(session) = &mut self.session {
            session.end();
            session.flush(&mut self.socket)?;
        }
        self.socket.shutdown(Shutdown::Write)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.session {
            Some(session) => session.read(&mut self.socket, buffer),
            None => self.socket.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.session {
            Some(session) => session.write(&mut self.socket, bytes),
            None => self.socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.session {
            Some(session) => session.flush(&mut self.socket),
            None => Ok(()),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
