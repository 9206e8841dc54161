//! Whole bursts to a packet socket in one system call.

use std::io;
use std::ptr;

use frame::{BURST_MAX, Frame};
use libc::{iovec, mmsghdr};

use super::packet_socket::PacketSocket;

/// A socket to send by, and room for what `sendmmsg` wants of a burst: 20 KiB.
pub(crate) struct Sender {
    socket: PacketSocket,
    places: Box<[iovec; BURST_MAX]>,
    headers: Box<[mmsghdr; BURST_MAX]>,
}

// SAFETY: every pointer in `headers` and `places` is written anew and used only during `send`.
unsafe impl Send for Sender {}

impl Sender {
    pub(crate) fn new(socket: PacketSocket) -> Self {
        let nowhere = iovec {
            iov_base: ptr::null_mut(),
            iov_len: 0,
        };
        // SAFETY: zero is a value of every field: integers and pointers.
        let empty: mmsghdr = unsafe { std::mem::zeroed() };
        Self {
            socket,
            places: Box::new([nowhere; BURST_MAX]),
            headers: Box::new([empty; BURST_MAX]),
        }
    }

    /// Sends from the front of `frames`, which the kernel copies; how many it took, at least one.
    /// Never waits.
    ///
    /// # Errors
    /// What the first frame met with; none was taken.
    pub(crate) fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        let count = frames.len().min(BURST_MAX);
        let rows = self.headers.iter_mut().zip(self.places.iter_mut());
        for (frame, (header, place)) in frames.iter().zip(rows) {
            place.iov_base = frame.bytes().as_ptr().cast_mut().cast();
            place.iov_len = frame.len();
            header.msg_hdr.msg_iov = place;
            header.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: the first `count` headers lead to as many places, which lead to the bytes of
        // frames that are borrowed during the call; the kernel only reads those.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.raw(),
                self.headers.as_mut_ptr(),
                count as _,
                libc::MSG_DONTWAIT as _,
            )
        };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
}
