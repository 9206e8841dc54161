//! Maps of the XDP program: memory that it and this process share, through `bpf(2)`.

use std::ffi::c_int;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use super::xdp_bpf::{bpf, bpf_fd, object_name};
use super::xdp_pins::{map_info, open};

const MAP_CREATE: c_int = 0;
const MAP_LOOKUP_ELEM: c_int = 1;
const MAP_UPDATE_ELEM: c_int = 2;
const MAP_DELETE_ELEM: c_int = 3;
const MAP_FREEZE: c_int = 22;

/// Programs may only read it (`BPF_F_RDONLY_PROG`): frozen, its value is a constant to them.
const READ_ONLY_FOR_PROGRAMS: u32 = 1 << 7;
/// This process may map its values (`BPF_F_MMAPABLE`).
const MAPPABLE: u32 = 1 << 10;

/// Kinds of maps that the XDP program uses, as the kernel numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum MapKind {
    Hash = 1,
    Array = 2,
    PerCpuArray = 6,
    Interfaces = 14,
    Sockets = 17,
}

/// What a map has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapShape {
    pub(crate) kind: MapKind,
    pub(crate) key_bytes: usize,
    pub(crate) value_bytes: usize,
    pub(crate) entries: u32,
}

impl MapShape {
    /// Under keys that are 32-bit numbers.
    pub(crate) const fn numbered(kind: MapKind, value_bytes: usize, entries: u32) -> Self {
        Self {
            kind,
            key_bytes: 4,
            value_bytes,
            entries,
        }
    }
}

#[repr(C)]
struct MapCreate {
    map_type: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    map_flags: u32,
    inner_map_fd: u32,
    numa_node: u32,
    map_name: [u8; 16],
}

#[repr(C)]
struct MapElement {
    map_fd: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// A map.
#[derive(Debug)]
pub(crate) struct Map {
    fd: OwnedFd,
    shape: MapShape,
}

impl AsFd for Map {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Map {
    /// The map of a name, where it is of this kind.
    pub(crate) fn pinned(path: &Path, kind: MapKind) -> io::Result<Self> {
        let fd = open(path)?;
        let info = map_info(&fd)?;
        if info.kind != kind as u32 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let shape = MapShape {
            kind,
            key_bytes: info.key_bytes as usize,
            value_bytes: info.value_bytes as usize,
            entries: info.entries,
        };
        Ok(Self { fd, shape })
    }

    pub(crate) fn create(name: &str, shape: MapShape) -> io::Result<Self> {
        Self::create_with(name, shape, 0)
    }

    /// A map whose values this process can map.
    pub(super) fn mappable(name: &str, shape: MapShape) -> io::Result<Self> {
        Self::create_with(name, shape, MAPPABLE)
    }

    /// A map of one value that is a constant to programs.
    pub(crate) fn constant(name: &str, value: &[u8]) -> io::Result<Self> {
        let shape = MapShape::numbered(MapKind::Array, value.len(), 1);
        let map = Self::create_with(name, shape, READ_ONLY_FOR_PROGRAMS)?;
        map.put(&0_u32.to_ne_bytes(), value)?;
        let mut attributes = map.raw_fd() as u32;
        // SAFETY: this command reads the number and no other memory.
        unsafe { bpf(MAP_FREEZE, &mut attributes) }?;
        Ok(map)
    }

    fn create_with(name: &str, shape: MapShape, flags: u32) -> io::Result<Self> {
        let mut attributes = MapCreate {
            map_type: shape.kind as u32,
            key_size: shape.key_bytes as u32,
            value_size: shape.value_bytes as u32,
            max_entries: shape.entries,
            map_flags: flags,
            inner_map_fd: 0,
            numa_node: 0,
            map_name: object_name(name),
        };
        // SAFETY: this command reads the struct and no other memory.
        let fd = unsafe { bpf_fd(MAP_CREATE, &mut attributes) }?;
        Ok(Self { fd, shape })
    }

    pub(crate) fn raw_fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    fn element(&self, key: u64, value: u64) -> MapElement {
        MapElement {
            map_fd: self.raw_fd() as u32,
            pad: 0,
            key,
            value,
            flags: 0,
        }
    }

    /// Writes the entry of `key`, bytes as the kernel has them.
    pub(crate) fn put(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        let lengths = (self.shape.key_bytes, self.shape.value_bytes);
        if (key.len(), value.len()) != lengths || self.shape.kind == MapKind::PerCpuArray {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut attributes = self.element(
            key.as_ptr().expose_provenance() as u64,
            value.as_ptr().expose_provenance() as u64,
        );
        // SAFETY: the kernel reads a key and a value of the map's lengths, which the slices have,
        // as checked.
        unsafe { bpf(MAP_UPDATE_ELEM, &mut attributes) }.map(drop)
    }

    /// Writes the entry of a number. The value is a 32-bit number: a socket, an interface.
    pub(crate) fn set(&self, key: u32, value: u32) -> io::Result<()> {
        self.put(&key.to_ne_bytes(), &value.to_ne_bytes())
    }

    /// The value under a number.
    pub(crate) fn get(&self, key: u32) -> io::Result<Vec<u8>> {
        let plain = !matches!(self.shape.kind, MapKind::PerCpuArray | MapKind::Sockets);
        if self.shape.key_bytes != size_of::<u32>() || !plain {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut value = vec![0; self.shape.value_bytes];
        let mut attributes = self.element(
            (&raw const key).expose_provenance() as u64,
            value.as_mut_ptr().expose_provenance() as u64,
        );
        // SAFETY: the kernel reads four bytes of key and writes a value of the map's length, for
        // which `value` has room; of such maps there is one value, not one a CPU.
        unsafe { bpf(MAP_LOOKUP_ELEM, &mut attributes) }?;
        Ok(value)
    }

    /// Whether keys and values are 32-bit numbers.
    pub(super) fn is_numbers(&self) -> bool {
        let one_of_each = !matches!(self.shape.kind, MapKind::PerCpuArray);
        one_of_each && (self.shape.key_bytes, self.shape.value_bytes) == (4, 4)
    }

    /// Whether it is an array of values of so many bytes.
    pub(super) fn has_entries_of(&self, bytes: usize) -> bool {
        self.shape.kind == MapKind::Array && self.shape.value_bytes == bytes
    }

    /// Words of an entry of an array whose entries are whole words.
    pub(super) fn words_an_entry(&self) -> Option<usize> {
        let bytes = self.shape.value_bytes;
        let whole = self.shape.kind == MapKind::Array && bytes != 0 && bytes.is_multiple_of(8);
        whole.then_some(bytes / 8)
    }

    /// How many entries it has room for.
    pub(crate) fn entries(&self) -> u32 {
        self.shape.entries
    }

    /// Takes the entry of `key` away.
    pub(crate) fn remove(&self, key: &[u8]) -> io::Result<()> {
        if key.len() != self.shape.key_bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut attributes = self.element(key.as_ptr().expose_provenance() as u64, 0);
        // SAFETY: the kernel reads a key of the map's length, which the slice has, as checked.
        unsafe { bpf(MAP_DELETE_ELEM, &mut attributes) }.map(drop)
    }

    /// Puts a socket in the place of a queue.
    pub(crate) fn set_socket(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.set(queue, socket.as_raw_fd() as u32)
    }

    /// The sum of a per-CPU counter over all CPUs.
    pub(crate) fn sum(&self, key: u32) -> io::Result<u64> {
        let counters = MapShape::numbered(MapKind::PerCpuArray, 8, self.shape.entries);
        if self.shape != counters {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut values = vec![0_u64; cpus_possible()?];
        let mut attributes = self.element(
            (&raw const key).expose_provenance() as u64,
            values.as_mut_ptr().expose_provenance() as u64,
        );
        // SAFETY: the kernel reads four bytes of key and writes eight bytes for each possible
        // CPU, for which `values` has room.
        unsafe { bpf(MAP_LOOKUP_ELEM, &mut attributes) }?;
        Ok(values.into_iter().sum())
    }
}

/// Where the kernel refuses to tell (`nohz_full`): programs run for microseconds, and a CPU that a
/// hypervisor holds back is seldom away for a tenth of this.
const REFUSED_WAIT: Duration = Duration::from_millis(200);

/// Returns when every program that ran when this was called has ended: what it read before, nobody
/// acts on any more. Takes some milliseconds.
pub(crate) fn wait_for_programs() {
    /// `MEMBARRIER_CMD_GLOBAL`: the kernel waits for a grace period, and programs run in sections
    /// that it waits for.
    const GLOBAL: c_int = 1;
    // SAFETY: this system call has three numbers and touches no memory.
    if unsafe { libc::syscall(libc::SYS_membarrier, GLOBAL, 0, 0) } != 0 {
        sleep(REFUSED_WAIT);
    }
}

/// How many CPUs the kernel keeps per-CPU values for.
fn cpus_possible() -> io::Result<usize> {
    let list = fs::read_to_string("/sys/devices/system/cpu/possible")?;
    let last = list.trim().rsplit(['-', ',']).next();
    let last: Option<usize> = last.and_then(|last| last.parse().ok());
    last.map(|last| last + 1)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_struct_is_the_kernels() {
        assert_eq!(size_of::<MapCreate>(), 44);
        assert!(cpus_possible().is_ok_and(|cpus| cpus > 0));
    }

    #[test]
    fn only_bytes_of_the_right_length_are_written() {
        let shape = MapShape {
            kind: MapKind::Hash,
            key_bytes: 20,
            value_bytes: 4,
            entries: 2,
        };
        let Ok(map) = Map::create("test", shape) else {
            println!("skipped: no right to make BPF maps");
            return;
        };
        assert!(map.put(&[1; 20], &[0; 4]).is_ok());
        for (key, value) in [(19, 4), (21, 4), (20, 3), (20, 8)] {
            assert!(map.put(&vec![1; key], &vec![0; value]).is_err());
        }
        assert!(map.sum(0).is_err() && map.remove(&[1; 4]).is_err());
        assert!(map.remove(&[1; 20]).is_ok() && map.remove(&[1; 20]).is_err());
        let constant = Map::constant("test", &[1; 16]).unwrap();
        let refused = constant.put(&[0; 4], &[2; 16]).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EPERM));
    }
}
