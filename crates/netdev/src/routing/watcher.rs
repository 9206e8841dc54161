//! A mirror with a socket: what there is, and every change.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::mirror::Mirror;
use super::socket::{Channel, Received};
use super::{Change, TableChoice};

/// `RTNLGRP_LINK`, `_NEIGH`, `_IPV4_IFADDR`, `_IPV4_ROUTE`, `_IPV6_IFADDR`, `_IPV6_ROUTE`.
const GROUPS: [u32; 6] = [1, 3, 5, 7, 9, 11];
/// `RTNLGRP_NEXTHOP`, since Linux 5.3.
const NEXT_HOP_GROUP: u32 = 32;
/// A listing that brought nothing for so long is asked for again.
const SILENCE_MAX: Duration = Duration::from_secs(1);
/// Datagrams that are read in one call at most.
const DATAGRAMS_MAX: usize = 256;

/// How a namespace is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which routes are mirrored.
    pub tables: TableChoice,
    /// Bytes of messages that may wait in the kernel. When there are more, all is listed anew.
    pub buffer_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tables: TableChoice::All,
            buffer_bytes: 16 << 20,
        }
    }
}

/// The mirror of the network namespace that the thread was in which opened it.
pub struct Watcher {
    channel: Channel,
    mirror: Mirror,
    /// When a part of an answer came last, or was asked for.
    answered: Instant,
}

impl Watcher {
    /// Begins to watch. The mirror is empty at first, and filled by [`Watcher::poll`].
    ///
    /// # Errors
    /// The kernel's, where it gives no socket.
    pub fn open(options: &Options) -> io::Result<Self> {
        let channel = Channel::open()?;
        channel.reserve(options.buffer_bytes)?;
        for group in GROUPS {
            channel.join(group)?;
        }
        // Kernels without next-hop objects have no changes of them either.
        let _absent = channel.join(NEXT_HOP_GROUP);
        Ok(Self {
            mirror: Mirror::new(channel.port(), options.tables),
            channel,
            answered: Instant::now(),
        })
    }

    /// Becomes readable when there is something to do for [`Watcher::poll`].
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.channel.fd()
    }

    /// What is known.
    #[must_use]
    pub fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    /// Waits for the kernel, no longer than this, and takes in what it says. What that changed is
    /// added to `changes`, in order; something may be named twice.
    ///
    /// Before the first listings are done, [`Mirror::is_complete`] is false. Whoever waits on
    /// [`Watcher::fd`] calls this once before, and while the mirror is not complete at least once a
    /// second.
    ///
    /// # Errors
    /// The kernel's, where the socket cannot be used.
    pub fn poll(&mut self, timeout: Duration, changes: &mut Vec<Change>) -> io::Result<()> {
        self.request()?;
        if !self.channel.wait(timeout)? {
            return self.request_again();
        }
        for _ in 0..DATAGRAMS_MAX {
            match self.channel.receive()? {
                Received::Nothing => return self.request_again(),
                Received::Overrun => self.mirror.overrun(),
                Received::Datagram(datagram) => {
                    let is_answer = self.mirror.receive(datagram, changes);
                    if is_answer {
                        self.answered = Instant::now();
                    }
                }
            }
            self.request()?;
        }
        Ok(())
    }

    /// Polls until the mirror is complete, no longer than this.
    ///
    /// # Errors
    /// As [`Watcher::poll`]; `TimedOut` where the time was too short.
    pub fn complete(&mut self, timeout: Duration, changes: &mut Vec<Change>) -> io::Result<()> {
        let end = Instant::now() + timeout;
        while !self.mirror.is_complete() {
            let rest = end.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.poll(rest.min(SILENCE_MAX), changes)?;
        }
        Ok(())
    }

    fn request(&mut self) -> io::Result<()> {
        let Some(request) = self.mirror.request() else {
            return Ok(());
        };
        self.answered = Instant::now();
        self.channel.send(&request)
    }

    /// Where nothing waits, and an answer should have come.
    fn request_again(&mut self) -> io::Result<()> {
        if self.answered.elapsed() < SILENCE_MAX {
            return Ok(());
        }
        let Some(request) = self.mirror.repeated_request() else {
            return Ok(());
        };
        self.answered = Instant::now();
        self.channel.send(&request)
    }
}

impl AsFd for Watcher {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Watcher");
        shown.field("mirror", &self.mirror).finish_non_exhaustive()
    }
}
