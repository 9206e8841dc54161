//! Names that the kernel keeps maps and links under in a BPF file system, beyond the process that
//! made them, and what can be done to a link that was found under one.

use std::ffi::{CString, c_int};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::xdp_bpf::{Link, OBJ_GET_INFO_BY_FD, Program, bpf, bpf_fd};

const OBJ_PIN: c_int = 6;
const OBJ_GET: c_int = 7;
const LINK_UPDATE: c_int = 29;
const LINK_DETACH: c_int = 34;

/// What `statfs` says of a BPF file system.
const BPF_FS_MAGIC: u32 = 0xcafe_4a11;

/// `BPF_LINK_TYPE_XDP`.
const LINK_TYPE_XDP: u32 = 6;

#[repr(C)]
struct Object {
    path: u64,
    fd: u32,
    flags: u32,
}

#[repr(C)]
struct LinkUpdate {
    link_fd: u32,
    new_prog_fd: u32,
    flags: u32,
    old_prog_fd: u32,
}

#[repr(C)]
struct GetInfo {
    fd: u32,
    length: u32,
    info: u64,
}

/// The start of `struct bpf_link_info`, up to what XDP links say.
#[repr(C)]
#[derive(Default)]
struct LinkInfo {
    kind: u32,
    id: u32,
    program: u32,
    pad: u32,
    interface: u32,
    more: u32,
}

/// The start of `struct bpf_map_info`.
#[repr(C)]
#[derive(Default)]
pub(super) struct MapInfo {
    pub(super) kind: u32,
    id: u32,
    pub(super) key_bytes: u32,
    pub(super) value_bytes: u32,
    pub(super) entries: u32,
    flags: u32,
}

/// Whether a path lies in a BPF file system.
pub(crate) fn is_bpf_file_system(path: &Path) -> io::Result<bool> {
    let path = c_path(path)?;
    // SAFETY: all-zero bytes are a value of this struct of integers.
    let mut facts: libc::statfs = unsafe { mem::zeroed() };
    // SAFETY: the kernel reads a string that ends in zero and writes one struct on our stack.
    let done = unsafe { libc::statfs(path.as_ptr(), &raw mut facts) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    // The field's type is another on other machines.
    Ok(facts.f_type == BPF_FS_MAGIC.into())
}

/// Keeps an object of the kernel under a name.
pub(crate) fn pin(object: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let path = c_path(path)?;
    let mut attributes = Object {
        path: path.as_ptr().expose_provenance() as u64,
        fd: object.as_raw_fd() as u32,
        flags: 0,
    };
    // SAFETY: the kernel reads a string that ends in zero and is borrowed for this call.
    unsafe { bpf(OBJ_PIN, &mut attributes) }.map(drop)
}

/// The object of a name.
pub(super) fn open(path: &Path) -> io::Result<OwnedFd> {
    let path = c_path(path)?;
    let mut attributes = Object {
        path: path.as_ptr().expose_provenance() as u64,
        fd: 0,
        flags: 0,
    };
    // SAFETY: the kernel reads a string that ends in zero and is borrowed for this call.
    unsafe { bpf_fd(OBJ_GET, &mut attributes) }
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// What the kernel says of an object whose kind the caller knows.
fn ask<T>(fd: &OwnedFd, info: &mut T) -> io::Result<()> {
    let mut attributes = GetInfo {
        fd: fd.as_raw_fd() as u32,
        length: size_of::<T>() as u32,
        info: std::ptr::from_mut(info).expose_provenance() as u64,
    };
    // SAFETY: the kernel writes at most `length` bytes to `info`, which is borrowed for this call,
    // and what it reads there first are no pointers: both structs end before any.
    unsafe { bpf(OBJ_GET_INFO_BY_FD, &mut attributes) }.map(drop)
}

pub(super) fn map_info(fd: &OwnedFd) -> io::Result<MapInfo> {
    let mut info = MapInfo::default();
    ask(fd, &mut info)?;
    Ok(info)
}

/// What an XDP link holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    /// The program's number.
    pub(crate) program: u32,
    /// The interface's number; 0 once it is gone or the link was detached.
    pub(crate) interface: u32,
}

impl Link {
    /// The XDP link of a name.
    pub(crate) fn pinned(path: &Path) -> io::Result<Self> {
        let link = open(path)?;
        let mut info = LinkInfo::default();
        ask(&link, &mut info)?;
        if info.kind != LINK_TYPE_XDP {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Self(link))
    }

    /// What it holds now.
    pub(crate) fn held(&self) -> io::Result<Held> {
        let mut info = LinkInfo::default();
        ask(&self.0, &mut info)?;
        Ok(Held {
            program: info.program,
            interface: info.interface,
        })
    }

    /// Has the interface run another program from now on. No frame meets none.
    pub(crate) fn update(&self, program: &Program) -> io::Result<()> {
        let mut attributes = LinkUpdate {
            link_fd: self.0.as_raw_fd() as u32,
            new_prog_fd: program.as_raw_fd() as u32,
            flags: 0,
            old_prog_fd: 0,
        };
        // SAFETY: this command reads the struct and no other memory.
        unsafe { bpf(LINK_UPDATE, &mut attributes) }.map(drop)
    }

    /// Takes the program off the interface, whoever else holds the link.
    pub(crate) fn detach(&self) -> io::Result<()> {
        let mut attributes = self.0.as_raw_fd() as u32;
        // SAFETY: this command reads the number and no other memory.
        unsafe { bpf(LINK_DETACH, &mut attributes) }.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structs_are_the_kernels() {
        assert_eq!(mem::offset_of!(LinkInfo, interface), 16);
        assert_eq!(mem::offset_of!(MapInfo, entries), 16);
    }

    #[test]
    fn other_file_systems_are_told_from_it() {
        assert!(!is_bpf_file_system(Path::new("/proc")).unwrap());
        assert!(is_bpf_file_system(Path::new("/no/such/folder")).is_err());
        assert!(open(Path::new("/proc/version")).is_err());
    }
}
