//! One queue of a tap: a file, a frame a read and a frame a write.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use frame::{Burst, Frame, FramePool};

use super::{HEADERS_BYTES, refused};
use crate::interface::{Counts, Interface, Signal, Watch};
use crate::sys::tun;
use crate::{PortError, PortQueue, PortStatistics, RxState};

const DEVICE: &str = "/dev/net/tun";

pub(super) struct TapQueue {
    interface: Arc<Interface>,
    /// `None` while the interface is away.
    attached: Option<Attached>,
    counts: Counts,
    /// Refusals not yet told to the worker.
    untold: u64,
    watch: Watch,
    signal: Signal,
    /// Changes that the control side told of and that were looked at.
    changes: u32,
}

struct Attached {
    file: File,
    /// The interface's number.
    index: u32,
}

/// What became of one write.
enum Sent {
    Done,
    /// Not now.
    Wait,
    /// Never.
    Never(io::Error),
}

impl TapQueue {
    pub(super) fn open(
        interface: Arc<Interface>,
        signal: Signal,
        spec: &str,
    ) -> Result<Self, PortError> {
        let attached = attach(&interface).map_err(|error| refused(spec, &error))?;
        Ok(Self {
            interface,
            attached: Some(attached),
            counts: Counts::default(),
            untold: 0,
            watch: Watch::default(),
            changes: signal.changes(),
            signal,
        })
    }

    /// Looks after the interface where the control side saw a change.
    #[inline]
    fn heed(&mut self) {
        let changes = self.signal.changes();
        if self.changes != changes {
            self.changes = changes;
            self.look();
        }
    }

    /// A tap that somebody deleted is made again.
    #[cold]
    fn look(&mut self) {
        let index = self.interface.index().ok();
        if let Some(attached) = &self.attached
            && index == Some(attached.index)
        {
            return;
        }
        self.attached = None;
        match attach(&self.interface) {
            Ok(attached) => {
                self.attached = Some(attached);
                self.counts.returns += 1;
                self.watch.succeeded();
            }
            Err(error) => {
                self.counts.failures += 1;
                self.counts.failure = Some(error.to_string());
                self.watch.failed();
            }
        }
    }

    /// Writes frames from the front until one has to wait; how many are done with.
    fn write_front(&mut self, frames: &[Frame]) -> usize {
        let Some(attached) = &self.attached else {
            return 0;
        };
        let mut taken = 0;
        for frame in frames {
            match write(&attached.file, frame) {
                Sent::Done => {
                    self.counts.passed.tx_frames += 1;
                    self.counts.passed.tx_bytes += frame.len() as u64;
                }
                Sent::Wait => {
                    self.watch.hurry();
                    break;
                }
                Sent::Never(error) => {
                    self.counts.refuse(&error);
                    self.untold += 1;
                }
            }
            taken += 1;
        }
        taken
    }
}

/// Opens a queue and brings the interface up.
fn attach(interface: &Interface) -> io::Result<Attached> {
    let open = || {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        options.custom_flags(libc::O_NONBLOCK).open(DEVICE)
    };
    let name = interface.kernel_name();
    let mut file = open()?;
    if let Err(error) = tun::attach(&file, &name, true) {
        // One that was made before with a single queue takes no other kind.
        if error.raw_os_error() != Some(libc::EINVAL) {
            return Err(error);
        }
        file = open()?;
        tun::attach(&file, &name, false)?;
    }
    interface.bring_up()?;
    let index = interface.index()?;
    Ok(Attached { file, index })
}

/// Reads one frame; `Ok(false)` where it is longer than the chunk.
fn read(mut file: &File, frame: &mut Frame) -> io::Result<bool> {
    let capacity = frame.capacity();
    // What does not fit lands here: otherwise the kernel would cut a frame without a word.
    let mut beyond = [0; 1];
    // Cannot fail: it is the frame's capacity.
    let _ = frame.set_len(capacity);
    let mut places = [
        IoSliceMut::new(frame.bytes_mut()),
        IoSliceMut::new(&mut beyond),
    ];
    let bytes = file.read_vectored(&mut places)?;
    Ok(frame.set_len(bytes).is_ok() && bytes <= capacity)
}

fn write(mut file: &File, frame: &Frame) -> Sent {
    loop {
        match file.write(frame.bytes()) {
            Ok(bytes) if bytes == frame.len() => return Sent::Done,
            Ok(_) => return Sent::Never(io::ErrorKind::WriteZero.into()),
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => {}
                // Full; down (EIO); gone (EBADFD).
                Some(
                    libc::EAGAIN
                    | libc::ENOBUFS
                    | libc::ENOMEM
                    | libc::EIO
                    | libc::EBADFD
                    | libc::ENXIO,
                ) => return Sent::Wait,
                _ => return Sent::Never(error),
            },
        }
    }
}

impl PortQueue for TapQueue {
    fn rx_burst(&mut self, pool: &mut FramePool, burst: &mut Burst, max: usize) -> RxState {
        self.heed();
        let before = burst.len();
        let mut empty = None;
        for _ in 0..max.min(burst.room()) {
            let Some(attached) = &self.attached else {
                break;
            };
            let Some(mut frame) = empty.take().or_else(|| pool.alloc()) else {
                break;
            };
            match read(&attached.file, &mut frame) {
                Ok(true) => {
                    self.counts.passed.rx_bytes += frame.len() as u64;
                    empty = burst.push(frame).err();
                }
                Ok(false) => {
                    self.counts.too_long();
                    empty = Some(frame);
                }
                Err(_) => {
                    // Nothing there; or down or gone, which the next look will tell.
                    empty = Some(frame);
                    break;
                }
            }
        }
        if let Some(frame) = empty {
            pool.free(frame);
        }
        let received = (burst.len() - before) as u64;
        self.counts.passed.rx_frames += received;
        if received == 0 && self.watch.in_vain() {
            self.look();
        }
        RxState::Open
    }

    fn begin(&mut self, pool: &mut FramePool) -> Result<(), PortError> {
        if let Some(frame) = pool.alloc() {
            let mtu_max = frame.capacity().saturating_sub(HEADERS_BYTES);
            self.signal.takes_mtu(mtu_max as u32);
            pool.free(frame);
        }
        Ok(())
    }

    fn tx_burst(&mut self, burst: &mut Burst, pool: &mut FramePool) {
        self.heed();
        let taken = self.write_front(burst.frames());
        // A worker that only sends looks nowhere else whether the interface is there.
        if taken == 0 && self.watch.in_vain() {
            self.look();
        }
        if taken == burst.len() {
            pool.free_burst(burst);
        } else {
            burst.drain_front(taken).for_each(|frame| pool.free(frame));
        }
    }

    fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.untold)
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        self.attached.as_ref().map(|attached| attached.file.as_fd())
    }

    fn statistics(&self) -> PortStatistics {
        self.counts.statistics(0)
    }

    fn finish(&mut self) -> Result<Vec<String>, PortError> {
        self.attached = None;
        let name = self.interface.name();
        Ok(self.counts.explained(name, 0, &self.signal))
    }
}
