//! The `bpf` system call: programs and links, each of them an owned file descriptor. Maps are in
//! `xdp_maps.rs`, names in the file system in `xdp_pins.rs`.
//!
//! The structs are the parts of `union bpf_attr` (`linux/bpf.h`) that a command reads; the kernel
//! takes what follows as zero.

use std::ffi::{CStr, c_int, c_long};
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const PROG_LOAD: c_int = 5;
const PROG_GET_FD_BY_ID: c_int = 13;
pub(super) const OBJ_GET_INFO_BY_FD: c_int = 15;
const RAW_TRACEPOINT_OPEN: c_int = 17;
const LINK_CREATE: c_int = 28;

const PROG_TYPE_XDP: u32 = 6;
const ATTACH_TYPE_XDP: u32 = 37;
/// What programs at a tracepoint are, and that they are attached in no other way.
const PROG_TYPE_RAW_TRACEPOINT: u32 = 17;
const ATTACH_TYPE_NONE: u32 = 0;
/// The program can handle frames in several pieces (`BPF_F_XDP_HAS_FRAGS`).
const XDP_HAS_FRAGS: u32 = 1 << 5;
/// The program is for one interface and may ask its driver (`BPF_F_XDP_DEV_BOUND_ONLY`).
const XDP_DEVICE_BOUND: u32 = 1 << 6;

/// Bytes of a verifier's complaint.
const LOG_BYTES: usize = 64 * 1024;

/// How a program is attached to an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum AttachMode {
    /// `XDP_FLAGS_SKB_MODE`: behind the driver, on any interface.
    Generic = 1 << 1,
    /// `XDP_FLAGS_DRV_MODE`: in the driver.
    Native = 1 << 2,
}

#[repr(C)]
struct ProgLoad {
    prog_type: u32,
    insn_cnt: u32,
    insns: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log_buf: u64,
    kern_version: u32,
    prog_flags: u32,
    prog_name: [u8; 16],
    prog_ifindex: u32,
    expected_attach_type: u32,
}

#[repr(C)]
struct LinkCreate {
    prog_fd: u32,
    target_ifindex: u32,
    attach_type: u32,
    flags: u32,
}

#[repr(C)]
struct TracepointOpen {
    name: u64,
    prog_fd: u32,
    pad: u32,
}

#[repr(C)]
struct GetFdById {
    id: u32,
    next_id: u32,
    open_flags: u32,
    pad: u32,
}

#[repr(C)]
struct GetInfo {
    bpf_fd: u32,
    info_len: u32,
    info: u64,
}

/// The start of `struct bpf_prog_info`, up to the name.
#[repr(C)]
struct ProgInfo {
    kind: u32,
    id: u32,
    tag: [u8; 8],
    jited_len: u32,
    translated_len: u32,
    jited: u64,
    translated: u64,
    load_time: u64,
    created_by_uid: u32,
    map_ids_count: u32,
    map_ids: u64,
    name: [u8; 16],
}

/// A loaded program.
#[derive(Debug)]
pub(crate) struct Program(OwnedFd);

impl Program {
    /// Loads an XDP program for any interface; where the kernel refuses, its reason comes along.
    pub(crate) fn load(
        name: &str,
        instructions: &[[u8; 8]],
        licence: &CStr,
    ) -> Result<Self, (io::Error, String)> {
        let kind = (PROG_TYPE_XDP, ATTACH_TYPE_XDP);
        Self::load_with(kind, XDP_HAS_FRAGS, 0, name, instructions, licence)
    }

    /// Loads an XDP program for one interface, whose driver it asks about frames. Older kernels
    /// take none of these that handles frames in several pieces.
    pub(crate) fn load_bound(
        interface: u32,
        name: &str,
        instructions: &[[u8; 8]],
        licence: &CStr,
    ) -> Result<Self, (io::Error, String)> {
        let kind = (PROG_TYPE_XDP, ATTACH_TYPE_XDP);
        let load = |flags| Self::load_with(kind, flags, interface, name, instructions, licence);
        load(XDP_DEVICE_BOUND | XDP_HAS_FRAGS).or_else(|_| load(XDP_DEVICE_BOUND))
    }

    /// Loads a program for a tracepoint.
    pub(crate) fn load_watcher(
        name: &str,
        instructions: &[[u8; 8]],
        licence: &CStr,
    ) -> Result<Self, (io::Error, String)> {
        let kind = (PROG_TYPE_RAW_TRACEPOINT, ATTACH_TYPE_NONE);
        Self::load_with(kind, 0, 0, name, instructions, licence)
    }

    fn load_with(
        (kind, attach_type): (u32, u32),
        flags: u32,
        interface: u32,
        name: &str,
        instructions: &[[u8; 8]],
        licence: &CStr,
    ) -> Result<Self, (io::Error, String)> {
        let load = |log: &mut [u8]| {
            let mut attributes = ProgLoad {
                prog_type: kind,
                insn_cnt: instructions.len() as u32,
                insns: instructions.as_ptr().expose_provenance() as u64,
                license: licence.as_ptr().expose_provenance() as u64,
                log_level: u32::from(!log.is_empty()),
                log_size: log.len() as u32,
                log_buf: if log.is_empty() {
                    0
                } else {
                    log.as_mut_ptr().expose_provenance() as u64
                },
                kern_version: 0,
                prog_flags: flags,
                prog_name: object_name(name),
                prog_ifindex: interface,
                expected_attach_type: attach_type,
            };
            // SAFETY: the kernel reads `insn_cnt` instructions and a string that ends in zero, and
            // writes at most `log_size` bytes of log; all are borrowed for this call.
            unsafe { bpf_fd(PROG_LOAD, &mut attributes) }
        };
        // Without a log first: the verifier writes none when all is well, and is faster.
        load(&mut []).map(Self).map_err(|error| {
            let mut log = vec![0; LOG_BYTES];
            let _again = load(&mut log);
            (error, last_line(&log))
        })
    }

    pub(super) fn raw_fd(&self) -> i32 {
        self.0.as_raw_fd()
    }

    /// Attaches it to an interface until the link is dropped or this process ends.
    pub(crate) fn attach(&self, interface: u32, mode: AttachMode) -> io::Result<Link> {
        let mut attributes = LinkCreate {
            prog_fd: self.0.as_raw_fd() as u32,
            target_ifindex: interface,
            attach_type: ATTACH_TYPE_XDP,
            flags: mode as u32,
        };
        // SAFETY: this command reads the struct and no other memory.
        unsafe { bpf_fd(LINK_CREATE, &mut attributes) }.map(Link)
    }

    /// Runs it at a tracepoint until what is returned is dropped or this process ends.
    pub(crate) fn watch(&self, tracepoint: &CStr) -> io::Result<Tracepoint> {
        let mut attributes = TracepointOpen {
            name: tracepoint.as_ptr().expose_provenance() as u64,
            prog_fd: self.0.as_raw_fd() as u32,
            pad: 0,
        };
        // SAFETY: this command reads the struct and a string that ends in zero, borrowed for this
        // call, and returns a new descriptor.
        let opened = unsafe { bpf_fd(RAW_TRACEPOINT_OPEN, &mut attributes) };
        opened.map(|descriptor| Tracepoint {
            _descriptor: descriptor,
        })
    }

    pub(super) fn as_raw_fd(&self) -> i32 {
        self.0.as_raw_fd()
    }

    /// The name of any program of the machine.
    pub(crate) fn name_of(id: u32) -> io::Result<String> {
        let mut by_id = GetFdById {
            id,
            next_id: 0,
            open_flags: 0,
            pad: 0,
        };
        // SAFETY: this command reads the struct and no other memory.
        let program = unsafe { bpf_fd(PROG_GET_FD_BY_ID, &mut by_id) }?;
        // SAFETY: all-zero bytes are a value of this struct of integers.
        let mut info: ProgInfo = unsafe { mem::zeroed() };
        let mut attributes = GetInfo {
            bpf_fd: program.as_raw_fd() as u32,
            info_len: size_of::<ProgInfo>() as u32,
            info: (&raw mut info).expose_provenance() as u64,
        };
        // SAFETY: the kernel writes at most `info_len` bytes to `info`, which is on our stack; with
        // all lengths in it zero it follows none of its pointers.
        unsafe { bpf(OBJ_GET_INFO_BY_FD, &mut attributes) }?;
        let name: Vec<u8> = info
            .name
            .into_iter()
            .take_while(|&byte| byte != 0)
            .collect();
        Ok(String::from_utf8_lossy(&name).into_owned())
    }
}

/// A program attached to an interface. Unless the link has a name, the kernel detaches it when this
/// is closed, and so also when the process is killed.
#[derive(Debug)]
pub(crate) struct Link(pub(super) OwnedFd);

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A program at a tracepoint: there as long as this is open.
#[derive(Debug)]
pub(crate) struct Tracepoint {
    _descriptor: OwnedFd,
}

/// The end of a log of the verifier, where it says what is wrong.
fn last_line(log: &[u8]) -> String {
    let text: Vec<u8> = log.iter().copied().take_while(|&byte| byte != 0).collect();
    let text = String::from_utf8_lossy(&text);
    let said = |line: &&str| !line.trim().is_empty() && !line.starts_with("processed ");
    text.lines().rfind(said).unwrap_or("").trim().to_owned()
}

/// A name as the kernel keeps it: at most 15 bytes.
pub(super) fn object_name(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (place, byte) in bytes[..15].iter_mut().zip(name.bytes()) {
        *place = byte;
    }
    bytes
}

/// # Safety
/// `T` is what the command reads, and every address in it is valid for what the command does.
pub(super) unsafe fn bpf<T>(command: c_int, attributes: &mut T) -> io::Result<c_long> {
    // SAFETY: the caller's; the struct itself is borrowed for this call and has this size.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command,
            std::ptr::from_mut(attributes),
            size_of::<T>(),
        )
    };
    if returned < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(returned)
    }
}

/// # Safety
/// As for [`bpf`], and the command returns a new file descriptor.
pub(super) unsafe fn bpf_fd<T>(command: c_int, attributes: &mut T) -> io::Result<OwnedFd> {
    // SAFETY: the caller's.
    let fd = unsafe { bpf(command, attributes) }?;
    // SAFETY: the kernel gave this descriptor to us just now; nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as c_int) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_and_logs_end_in_the_reason() {
        assert_eq!(&object_name("linerate")[..9], b"linerate\0");
        assert_eq!(&object_name(&"x".repeat(40)), b"xxxxxxxxxxxxxxx\0");
        let log = b"0: r0 = 1\nR0 is bad\nprocessed 1 insns\n\n\0garbage";
        assert_eq!(last_line(log), "R0 is bad");
        assert_eq!(last_line(b""), "");
    }

    #[test]
    fn structs_are_the_kernels() {
        assert_eq!(mem::offset_of!(ProgInfo, name), 64);
        assert_eq!(mem::offset_of!(ProgLoad, expected_attach_type), 68);
    }
}
