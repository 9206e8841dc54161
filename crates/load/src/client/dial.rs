//! Connections that are opened.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};

use super::{ErrorKind, Sources, fault};

/// Pairs of address and port that are tried before it is said that none is free.
const TRIES_MAX: u64 = 256;

/// A connection on its way.
pub(super) struct Dialled {
    pub(super) stream: TcpStream,
    pub(super) is_connected: bool,
}

/// Opens a connection, from a client address where there are any. `number` counts their pairs.
pub(super) fn dial(
    server: SocketAddr,
    sources: Option<&Sources>,
    number: &mut u64,
    step: u64,
) -> Result<Dialled, ErrorKind> {
    let Some(sources) = sources else {
        let socket = socket(server).map_err(kind_of)?;
        return begin(socket, server).map_err(kind_of);
    };
    for _ in 0..TRIES_MAX {
        let pair = sources.pair(*number);
        *number = number.wrapping_add(step);
        match bound(server, pair).and_then(|socket| begin(socket, server)) {
            Err(Errno::ADDRINUSE | Errno::ADDRNOTAVAIL) => {}
            other => return other.map_err(kind_of),
        }
    }
    Err(ErrorKind::NoPort)
}

fn socket(server: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = match server {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    // The end of a request in several pieces does not wait for an acknowledgement of the first.
    sockopt::set_tcp_nodelay(&socket, true)?;
    Ok(socket)
}

fn bound(server: SocketAddr, pair: SocketAddr) -> Result<OwnedFd, Errno> {
    let socket = socket(server)?;
    // A port may serve connections to several servers, and again while one lies in TIME_WAIT.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    // Addresses that a route makes local belong to no interface.
    match pair {
        SocketAddr::V4(_) => sockopt::set_ip_freebind(&socket, true)?,
        SocketAddr::V6(_) => sockopt::set_ipv6_freebind(&socket, true)?,
    }
    bind(&socket, &pair)?;
    Ok(socket)
}

fn begin(socket: OwnedFd, server: SocketAddr) -> Result<Dialled, Errno> {
    let is_connected = match connect(&socket, &server) {
        Ok(()) => true,
        Err(Errno::INPROGRESS) => false,
        Err(error) => return Err(error),
    };
    Ok(Dialled {
        stream: TcpStream::from(socket),
        is_connected,
    })
}

/// What the kernel's answer means for a request.
pub(super) fn kind_of_io(error: &io::Error) -> ErrorKind {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref());
    match (tls, Errno::from_io_error(error)) {
        (Some(error), _) => fault::kind_of_tls(error),
        (None, Some(error)) => kind_of(error),
        (None, None) => ErrorKind::Unreachable,
    }
}

fn kind_of(error: Errno) -> ErrorKind {
    match error {
        Errno::CONNREFUSED => ErrorKind::Refused,
        Errno::TIMEDOUT => ErrorKind::Timeout,
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => ErrorKind::Reset,
        Errno::ADDRINUSE | Errno::ADDRNOTAVAIL | Errno::AGAIN => ErrorKind::NoPort,
        Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => ErrorKind::NoFile,
        _ => ErrorKind::Unreachable,
    }
}
