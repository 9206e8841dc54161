//! UDP sockets of the kernel as they are opened.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};

use crate::LoadError;

/// Bytes that wait in a socket for its thread, as far as net.core.rmem_max allows.
pub(super) const RECEIVE_BUFFER: usize = 4 << 20;

/// A socket with an address of its own, which those of other threads share where `shared`.
pub(super) fn open(own: SocketAddr, shared: bool) -> Result<UdpSocket, LoadError> {
    try_open(own, shared).map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::AddrInUse => "end the program that has it, or take another port",
            io::ErrorKind::PermissionDenied => "ports below 1024 need root",
            _ => {
                "'ip address' shows the addresses of this host, and a whole prefix becomes one of \
                  them by 'ip route add local PREFIX dev lo'"
            }
        };
        LoadError::new(format!("no UDP socket at {own}: {error}: {remedy}"))
    })
}

fn try_open(own: SocketAddr, shared: bool) -> io::Result<UdpSocket> {
    let family = match own {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseport(&socket, shared)?;
    sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER)?;
    bind(&socket, &own)?;
    Ok(socket.into())
}
