//! Questions to route netlink and generic netlink, as bytes; what they mean is known in
//! `interface/attached.rs` and `interface/xdp_support.rs`.

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

fn ask(protocol: c_int, request: &[u8]) -> io::Result<Vec<u8>> {
    let socket = socket(libc::AF_NETLINK, libc::SOCK_RAW, protocol)?;
    let fd = socket.as_raw_fd();
    // SAFETY: the kernel reads the bytes of a slice that is borrowed for this call.
    let sent = unsafe { libc::send(fd, request.as_ptr().cast(), request.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut answer = vec![0; 64 * 1024];
    // SAFETY: the kernel writes at most the length of a buffer that is borrowed for this call.
    let received = unsafe { libc::recv(fd, answer.as_mut_ptr().cast(), answer.len(), 0) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    answer.truncate(received);
    Ok(answer)
}
