//! Raising interrupts of a peer without ever waiting for it.
//!
//! `write` on an eventfd waits when its counter is full, unless the file says otherwise, and both
//! belong to the peer as well: it could hold a worker for ever. The kernel itself raises an eventfd
//! without waiting when an asynchronous read is done (`IOCB_FLAG_RESFD` of io_submit(2)), and says
//! before whether it is an eventfd at all; so a read of nothing raises it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_long, c_ulong};

use super::memif_socket::Interrupt;

/// Reads under way and not yet taken note of.
const READS_MAX: u32 = 64;
const FLAG_RESULT_FD: u32 = 1;
const COMMAND_READ: u16 = 0;

/// `struct iocb` of linux/aio_abi.h for little-endian machines; on others `key` and `flags` change
/// places, and both are 0.
#[repr(C)]
#[derive(Default)]
struct Request {
    data: u64,
    key: u32,
    flags_rw: u32,
    command: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    result_fd: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    words: [u64; 4],
}

const _: () = assert!(size_of::<Request>() == 64 && size_of::<Event>() == 32);

/// What raises interrupts.
#[derive(Debug)]
pub(crate) struct Bell {
    context: c_ulong,
    nothing: OwnedFd,
    under_way: u32,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the path ends with 0.
        let fd = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was made just now and is nobody else's.
        let nothing = unsafe { OwnedFd::from_raw_fd(fd) };
        let mut context: c_ulong = 0;
        // SAFETY: the kernel writes one number.
        let made = unsafe {
            libc::syscall(
                libc::SYS_io_setup,
                c_long::from(READS_MAX),
                &raw mut context,
            )
        };
        if made != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            context,
            nothing,
            under_way: 0,
        })
    }

    /// Raises an interrupt; `false` where the kernel does not take the descriptor for one.
    #[cold]
    pub(crate) fn ring(&mut self, interrupt: &Interrupt) -> bool {
        if self.under_way == READS_MAX {
            self.take_note();
        }
        let mut byte = 0_u8;
        let mut request = Request {
            command: COMMAND_READ,
            descriptor: self.nothing.as_raw_fd() as u32,
            buffer: (&raw mut byte).addr() as u64,
            bytes: 1,
            flags: FLAG_RESULT_FD,
            result_fd: interrupt.as_fd().as_raw_fd() as u32,
            ..Request::default()
        };
        let mut requests = [&raw mut request];
        // SAFETY: the kernel reads one request. A read of /dev/null is done when the call returns
        // and writes nothing.
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_submit,
                self.context,
                1 as c_long,
                requests.as_mut_ptr(),
            )
        };
        self.under_way += u32::from(taken == 1);
        taken == 1
    }

    fn take_note(&mut self) {
        let mut events = [Event::default(); READS_MAX as usize];
        let no_time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel writes at most so many events as there is room for.
        unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                0 as c_long,
                c_long::from(READS_MAX),
                events.as_mut_ptr(),
                &raw const no_time,
            )
        };
        self.under_way = 0;
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // SAFETY: the context is this value's; no read is under way.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
