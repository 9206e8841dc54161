//! Making a tap interface (linux/if_tun.h), and one queue of it.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::ioctl::{InterfaceName, NAME_BYTES};

/// `struct ifreq` as `TUNSETIFF` uses it.
#[repr(C, align(8))]
struct Request {
    name: [u8; NAME_BYTES],
    flags: u16,
    rest: [u8; 22],
}

const _: () = assert!(size_of::<Request>() >= size_of::<libc::ifreq>());

/// Ties an open `/dev/net/tun` to the tap of that name, which comes to be with its first queue and
/// goes with its last. Frames are plain Ethernet: nothing stands before them, and with no offload
/// granted the host's stack finishes checksums and segments itself.
pub(crate) fn attach(file: &File, name: &InterfaceName, many_queues: bool) -> io::Result<()> {
    let many = if many_queues {
        libc::IFF_MULTI_QUEUE
    } else {
        0
    };
    let mut request = Request {
        name: name.padded(),
        flags: (libc::IFF_TAP | libc::IFF_NO_PI | many) as u16,
        rest: [0; 22],
    };
    // SAFETY: the kernel reads and writes one `ifreq` there, for which there is room.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
