//! How a worker sleeps: until a frame comes where the kernel can tell it, else for a while.

use std::thread::sleep;
use std::time::Duration;

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
    let place = |wake| PollFd::from_borrowed_fd(wake, PollFlags::IN);
    // An interruption is as good as a frame: the worker looks.
    match attachments {
        // A bridge has two ports, and a sink one.
        [first, second] => match (first.wake(), second.wake()) {
            (Some(first), Some(second)) => {
                let _ = poll(&mut [place(first), place(second)], Some(&POLL));
            }
            _ => sleep(nap),
        },
        [only] => match only.wake() {
            Some(only) => {
                let _ = poll(&mut [place(only)], Some(&POLL));
            }
            None => sleep(nap),
        },
        _ => sleep(nap),
    }
}
