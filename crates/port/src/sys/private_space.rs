//! A network namespace of our own, in which nothing is but a loopback interface that is down.
//!
//! The kernel calls the programs that are attached somewhere by a jump that it writes anew for each
//! newcomer, and waits for a grace period, some 24 ms, whenever it does (`bpf_dispatcher_xdp`). A
//! program that is only run on demand is a newcomer in each run, unless it is attached, too: here,
//! where no frame ever comes.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use super::xdp_bpf::{AttachMode, Link, Program};

/// Of this thread.
const HERE: &str = "/proc/thread-self/ns/net";
/// The loopback interface is the first of each namespace.
const LOOPBACK: u32 = 1;

/// A program that is attached where no frame comes. Dropping it, or the end of the process, takes
/// the namespace away.
#[derive(Debug)]
pub(crate) struct Shelf {
    _link: Link,
    _space: File,
}

impl Shelf {
    /// Attaches a program there. This thread is in that namespace meanwhile.
    ///
    /// # Errors
    /// No right to make namespaces (CAP_SYS_ADMIN).
    pub(crate) fn of(program: &Program) -> io::Result<Self> {
        let before = File::open(HERE)?;
        // SAFETY: moves this thread alone, and no memory is passed.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let made = File::open(HERE).and_then(|space| {
            let link = program.attach(LOOPBACK, AttachMode::Generic)?;
            Ok(Self {
                _link: link,
                _space: space,
            })
        });
        go_to(before.as_fd())?;
        made
    }
}

fn go_to(space: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no memory is passed; the descriptor is borrowed for this call.
    match unsafe { libc::setns(space.as_raw_fd(), libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
