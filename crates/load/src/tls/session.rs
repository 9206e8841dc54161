//! One TLS connection on a socket that does not block.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use rustls::{Connection, HandshakeKind};

/// The state of a connection, beside its socket.
#[derive(Debug)]
pub(crate) struct Session(Box<Connection>);

impl Session {
    pub(super) fn new(connection: Connection) -> Self {
        Self(Box::new(connection))
    }

    /// Goes on with the handshake. `WouldBlock` until it is over, `UnexpectedEof` where the
    /// connection ended within it.
    pub(crate) fn handshake(&mut self, socket: &mut TcpStream) -> io::Result<()> {
        loop {
            self.flush(socket)?;
            if !self.0.is_handshaking() {
                return Ok(());
            }
            if self.take(socket)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Whether the handshake is over and went on with a session of before.
    pub(crate) fn is_resumed(&self) -> Option<bool> {
        let kind = self.0.handshake_kind().filter(|_| !self.0.is_handshaking());
        kind.map(|kind| kind == HandshakeKind::Resumed)
    }

    /// Reads what the peer wrote. 0 is the end that the peer said; `UnexpectedEof` is an end that
    /// it did not say.
    pub(crate) fn read(&mut self, socket: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            self.take(socket)?;
        }
    }

    /// Takes records from the socket: how many bytes; 0 at the end.
    fn take(&mut self, socket: &mut TcpStream) -> io::Result<usize> {
        let taken = self.0.read_tls(socket)?;
        let processed = self.0.process_new_packets();
        // What the protocol itself answers: handshake messages, key updates, alerts. Where the
        // kernel takes no more of it now, the next flush goes on.
        let flushed = self.flush(socket);
        match (processed, flushed) {
            (Err(error), _) => Err(io::Error::new(ErrorKind::InvalidData, error)),
            (Ok(_), Err(error)) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(taken),
        }
    }

    /// Takes bytes to send, as many as there is room for. They have gone after [`Self::flush`].
    pub(crate) fn write(&mut self, socket: &mut TcpStream, bytes: &[u8]) -> io::Result<usize> {
        self.flush(socket)?;
        let len = self.0.writer().write(bytes)?;
        match self.flush(socket) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(len),
        }
    }

    /// Gives the kernel all records that wait.
    pub(crate) fn flush(&mut self, socket: &mut TcpStream) -> io::Result<()> {
        while self.0.wants_write() {
            if self.0.write_tls(socket)? == 0 {
                return Err(ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    /// Says that nothing more will come.
    pub(crate) fn end(&mut self) {
        self.0.send_close_notify();
    }
}
