//! Questions to route netlink and generic netlink, as bytes; what they mean is known in
//! `interface/attached.rs`, `interface/addresses.rs` and `interface/xdp_support.rs`.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

fn socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: no memory of ours is passed.
    let socket = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel gave this descriptor to us just now; nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// Sends one request of route netlink and returns the first datagram of the answer.
pub(crate) fn ask_route_netlink(request: &[u8]) -> io::Result<Vec<u8>> {
    ask(libc::NETLINK_ROUTE, request)
}

/// Sends one request of generic netlink and returns the first datagram of the answer.
pub(crate) fn ask_generic_netlink(request: &[u8]) -> io::Result<Vec<u8>> {
    ask(libc::NETLINK_GENERIC, request)
}

/// Bytes of a datagram that the kernel answers with at most.
const DATAGRAM_BYTES: usize = 64 * 1024;

/// Sends one request of route netlink for everything of a kind, and gives each datagram of the
/// answer to `take` until that says that the answer is over.
pub(crate) fn ask_route_netlink_all(
    request: &[u8],
    mut take: impl FnMut(&[u8]) -> io::Result<bool>,
) -> io::Result<()> {
    let socket = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    send(&socket, request)?;
    while !take(&receive(&socket, 0)?)? {}
    Ok(())
}

/// A socket that route netlink tells of changes.
#[derive(Debug)]
pub(crate) struct RouteNews(OwnedFd);

impl RouteNews {
    /// Of what these groups are told (`RTMGRP_LINK` and others).
    pub(crate) fn of(groups: u32) -> io::Result<Self> {
        let socket = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
        // SAFETY: all-zero bytes are a value of this struct of integers.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as u16;
        address.nl_groups = groups;
        // SAFETY: the kernel reads an address of the length given, which lives on our stack.
        let bound = unsafe {
            libc::bind(
                socket.as_raw_fd(),
                (&raw const address).cast(),
                size_of_val(&address) as libc::socklen_t,
            )
        };
        if bound < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(socket))
    }

    /// Whether anything was told since the last call, also where it was more than the socket could
    /// keep. Never waits.
    pub(crate) fn any(&self) -> bool {
        let mut any = false;
        let all = self.each(|_| any = true);
        any || !all
    }

    /// Gives each datagram that was told since the last call; whether none was lost. Never waits.
    pub(crate) fn each(&self, mut take: impl FnMut(&[u8])) -> bool {
        let mut all = true;
        loop {
            match receive(&self.0, libc::MSG_DONTWAIT) {
                Ok(datagram) => take(&datagram),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return all,
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => all = false,
                // Another error than that some were lost would come again.
                Err(_) => return false,
            }
        }
    }
}

fn ask(protocol: c_int, request: &[u8]) -> io::Result<Vec<u8>> {
    let socket = socket(libc::AF_NETLINK, libc::SOCK_RAW, protocol)?;
    send(&socket, request)?;
    receive(&socket, 0)
}

fn send(socket: &OwnedFd, request: &[u8]) -> io::Result<()> {
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel reads the bytes of a slice that is borrowed for this call.
    let sent = unsafe { libc::send(fd, request.as_ptr().cast(), request.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn receive(socket: &OwnedFd, flags: c_int) -> io::Result<Vec<u8>> {
    let mut answer = vec![0; DATAGRAM_BYTES];
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel writes at most the length of a buffer that is borrowed for this call.
    let received = unsafe { libc::recv(fd, answer.as_mut_ptr().cast(), answer.len(), flags) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    answer.truncate(received);
    Ok(answer)
}
