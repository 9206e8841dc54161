//! How a worker sleeps: until a frame comes where the kernel can tell it, else for a while.

use std::os::fd::BorrowedFd;
use std::thread::sleep;
use std::time::Duration;

use plane::Ports;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::attachment::Attachment;

/// The longest sleep in poll: after it the worker looks at what no descriptor tells, lists and the
/// end of the run. Between two packet sockets that nothing came by, sleeps of 100 us took 16 % of a
/// CPU of a virtual machine and this takes 4 %; a ping took 1.9 ms and takes 1.1.
const POLL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 4_000_000,
};

/// Sleeps until one of the queues has something, for 4 ms at most, where every frame that
/// can come to this worker comes by a queue that tells; for `nap` elsewhere.
pub(crate) fn doze(attachments: &[Attachment], nap: Duration) {
    let mut wakes = attachments.iter().map(Attachment::wake);
    let all_tell = attachments.iter().all(|own| own.wake().is_some());
    let Some(Some(first)) = wakes
        .next()
        .filter(|_| all_tell && attachments.len() <= Ports::MAX)
    else {
        sleep(nap);
        return;
    };
    // A worker allocates nothing: unused slots repeat the first port, and poll is not given them.
    let mut fds: [PollFd<'_>; Ports::MAX] = std::array::from_fn(|_| wait_for(first));
    for (fd, wake) in fds[1..].iter_mut().zip(wakes.flatten()) {
        *fd = wait_for(wake);
    }
    // An interruption is as good as a frame: the worker looks.
    let _ = poll(&mut fds[..attachments.len()], Some(&POLL));
}

fn wait_for(wake: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(wake, PollFlags::IN)
}
