//! `perf_event_open(2)`: counters of the kernel and of the CPU, each an owned file descriptor.

use std::ffi::c_ulong;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

/// `PERF_TYPE_HARDWARE`: what the kernel knows an event for on each CPU.
pub(crate) const HARDWARE: u32 = 0;
/// `PERF_TYPE_SOFTWARE`: counted by the kernel itself.
pub(crate) const SOFTWARE: u32 = 1;
/// `PERF_TYPE_TRACEPOINT`: by the number that tracefs has.
const TRACEPOINT: u32 = 2;
/// `PERF_TYPE_RAW`: by the number that the CPU's manual has.
pub(crate) const RAW: u32 = 4;

/// `PERF_ATTR_SIZE_VER5`.
const ATTRIBUTES_BYTES: u32 = 112;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING`.
const FORMAT: u64 = 1 | 2;
const FLAG_DISABLED: u64 = 1;
const FLAG_INHERIT: u64 = 1 << 1;
const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;
const FLAG_ENABLE_ON_EXEC: u64 = 1 << 12;
const FLAG_NO_KERNEL_CALLS: u64 = 1 << 21;
const FLAG_NO_USER_CALLS: u64 = 1 << 22;
/// `PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW`.
const SAMPLE: u64 = 1 << 1 | 1 << 2 | 1 << 5 | 1 << 10;
/// Calls that a record has at most.
const CALLS_MAX: u16 = 24;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: c_ulong = 8;
/// `PERF_EVENT_IOC_ENABLE`.
const ENABLE: c_ulong = 0x2400;
/// `PERF_EVENT_IOC_DISABLE`.
const DISABLE: c_ulong = 0x2401;
/// `PERF_EVENT_IOC_SET_OUTPUT`.
const SET_OUTPUT: c_ulong = 0x2405;

/// `struct perf_event_attr`, as far as [`ATTRIBUTES_BYTES`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clockid: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == ATTRIBUTES_BYTES as usize);

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) kind: u32,
    pub(crate) config: u64,
}

/// Whose events are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Programs that this thread starts, from their first instruction on, and what they start.
    Children,
    /// The same, as far as it happens on one CPU.
    ChildrenOn(u32),
    /// One thread and what it starts.
    Thread(i32),
    /// This thread alone.
    ThisThread,
    /// Everything on one CPU.
    Cpu(u32),
}

impl Scope {
    /// The arguments `pid` and `cpu`, and the flags that go with them.
    fn arguments(self) -> (i32, i32, u64) {
        match self {
            Self::Children => (0, -1, FLAG_INHERIT | FLAG_ENABLE_ON_EXEC),
            Self::ChildrenOn(cpu) => (0, cpu as i32, FLAG_INHERIT | FLAG_ENABLE_ON_EXEC),
            Self::ThisThread => (0, -1, 0),
            Self::Thread(thread) => (thread, -1, FLAG_INHERIT),
            Self::Cpu(cpu) => (-1, cpu as i32, 0),
        }
    }
}

/// What a counter has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) value: u64,
    /// Nanoseconds for which it was wanted.
    pub(crate) enabled_ns: u64,
    /// Nanoseconds for which it counted: less, where counters of the CPU took turns.
    pub(crate) running_ns: u64,
}

/// One counter of the kernel, which begins to count by [`Counter::begin`] or when a program starts.
#[derive(Debug)]
pub(crate) struct Counter(File);

impl Counter {
    /// Without the kernel's part of the work where `user_only`.
    pub(crate) fn open(code: Code, scope: Scope, user_only: bool) -> io::Result<Self> {
        let (pid, cpu, flags) = scope.arguments();
        let exclude = if user_only { FLAG_EXCLUDE_KERNEL } else { 0 };
        let attributes = Attributes {
            kind: code.kind,
            size: ATTRIBUTES_BYTES,
            config: code.config,
            read_format: FORMAT,
            flags: FLAG_DISABLED | flags | exclude,
            ..Attributes::default()
        };
        perf_event_open(&attributes, pid, cpu).map(Self)
    }

    /// Records each time that a tracepoint is passed, with the kernel's calls that lead there where
    /// `calls`.
    pub(crate) fn record(tracepoint: u64, scope: Scope, calls: bool) -> io::Result<Self> {
        let (pid, cpu, flags) = scope.arguments();
        let without = if calls { 0 } else { FLAG_NO_KERNEL_CALLS };
        let attributes = Attributes {
            kind: TRACEPOINT,
            size: ATTRIBUTES_BYTES,
            config: tracepoint,
            sample_period: 1,
            sample_type: SAMPLE,
            flags: FLAG_DISABLED | flags | without | FLAG_NO_USER_CALLS,
            sample_max_stack: CALLS_MAX,
            ..Attributes::default()
        };
        perf_event_open(&attributes, pid, cpu).map(Self)
    }

    /// Has the records go to the ring of another one.
    pub(crate) fn join(&self, other: &Self) -> io::Result<()> {
        self.request(SET_OUTPUT, other.0.as_raw_fd())
    }

    pub(crate) fn begin(&self) -> io::Result<()> {
        self.request(ENABLE, 0)
    }

    pub(crate) fn end(&self) -> io::Result<()> {
        self.request(DISABLE, 0)
    }

    fn request(&self, request: c_ulong, argument: i32) -> io::Result<()> {
        // SAFETY: the descriptor is ours and open; these requests take a number and no memory.
        let done = unsafe { libc::ioctl(self.0.as_raw_fd(), request as _, argument) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    pub(super) fn descriptor(&self) -> i32 {
        self.0.as_raw_fd()
    }

    pub(crate) fn read(&self) -> io::Result<Reading> {
        let mut bytes = [0; 24];
        (&self.0).read_exact(&mut bytes)?;
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_ne_bytes(words[index]);
        Ok(Reading {
            value: word(0),
            enabled_ns: word(1),
            running_ns: word(2),
        })
    }
}

fn perf_event_open(attributes: &Attributes, pid: i32, cpu: i32) -> io::Result<File> {
    // SAFETY: the kernel reads `size` bytes of attributes, which are all of ours, and keeps none.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const *attributes,
            pid,
            cpu,
            -1,
            CLOSE_ON_EXEC,
        )
    };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor for us; nobody else has it.
    Ok(unsafe { File::from_raw_fd(descriptor as i32) })
}
