//! Tracepoints by tracefs: their numbers, and where a record has which field.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where tracefs usually is.
const USUAL: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The tracepoints of waits, as far as this kernel has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tracepoints {
    pub(super) locks: Option<LockPoints>,
    pub(super) futexes: Option<FutexPoints>,
}

/// `lock:contention_begin` and `lock:contention_end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LockPoints {
    pub(super) begin: u64,
    pub(super) begin_lock: Field,
    pub(super) begin_flags: Field,
    pub(super) end: u64,
    pub(super) end_lock: Field,
}

/// `syscalls:sys_enter_futex` and `syscalls:sys_exit_futex`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FutexPoints {
    pub(super) enter: u64,
    pub(super) enter_address: Field,
    pub(super) enter_operation: Field,
    pub(super) exit: u64,
    pub(super) exit_result: Field,
}

/// Where a field lies in the bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

impl Field {
    /// The value of up to 8 bytes; none where the record is too short.
    pub(super) fn of(self, raw: &[u8]) -> Option<u64> {
        let from = raw.get(self.offset..)?.get(..self.bytes)?;
        let mut word = [0; 8];
        word.get_mut(..self.bytes)?.copy_from_slice(from);
        Some(u64::from_ne_bytes(word))
    }
}

impl Tracepoints {
    /// Those of this kernel.
    pub(super) fn find() -> Result<Self, String> {
        let folder = folder()?;
        let found = Self {
            locks: LockPoints::read(&folder),
            futexes: FutexPoints::read(&folder),
        };
        if found.locks.is_none() && found.futexes.is_none() {
            return Err(format!(
                "{} has neither lock:contention_begin (Linux 5.19 and later) nor \
                 syscalls:sys_enter_futex (CONFIG_FTRACE_SYSCALLS): waits cannot be seen with this \
                 kernel",
                folder.display()
            ));
        }
        Ok(found)
    }

    /// What cannot be watched, a sentence each.
    pub(super) fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if self.locks.is_none() {
            missing.push(
                "no kernel locks: this kernel lacks lock:contention_begin (Linux 5.19 and later)",
            );
        }
        if self.futexes.is_none() {
            missing.push(
                "no user locks: this kernel lacks syscalls:sys_enter_futex \
                 (CONFIG_FTRACE_SYSCALLS)",
            );
        }
        missing.into_iter().map(str::to_owned).collect()
    }
}

impl LockPoints {
    fn read(folder: &Path) -> Option<Self> {
        let (begin, end) = ("events/lock/contention_begin", "events/lock/contention_end");
        Some(Self {
            begin: number(folder, begin)?,
            begin_lock: field(folder, begin, "lock_addr")?,
            begin_flags: field(folder, begin, "flags")?,
            end: number(folder, end)?,
            end_lock: field(folder, end, "lock_addr")?,
        })
    }
}

impl FutexPoints {
    fn read(folder: &Path) -> Option<Self> {
        let (enter, exit) = (
            "events/syscalls/sys_enter_futex",
            "events/syscalls/sys_exit_futex",
        );
        Some(Self {
            enter: number(folder, enter)?,
            enter_address: field(folder, enter, "uaddr")?,
            enter_operation: field(folder, enter, "op")?,
            exit: number(folder, exit)?,
            exit_result: field(folder, exit, "ret")?,
        })
    }
}

/// The first folder of tracefs that this user can read.
fn folder() -> Result<PathBuf, String> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut refused = None;
    for folder in mounted(&mounts) {
        match fs::metadata(folder.join("events/header_page")) {
            Ok(_) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refused = Some(folder),
            Err(_) => {}
        }
    }
    Err(match refused {
        Some(folder) => format!(
            "this user may not read {}, where the kernel's tracepoints are: run it as root",
            folder.display()
        ),
        None => "the kernel's tracepoints are not there: mount tracefs ('mount -t tracefs tracefs \
                 /sys/kernel/tracing' as root), or use a kernel with CONFIG_FTRACE"
            .to_owned(),
    })
}

/// The usual folders, and those of a list as `/proc/self/mounts` is.
fn mounted(mounts: &str) -> Vec<PathBuf> {
    let listed = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (folder, kind) = (words.next()?, words.next()?);
        (kind == "tracefs").then(|| PathBuf::from(folder))
    });
    USUAL.into_iter().map(PathBuf::from).chain(listed).collect()
}

fn number(folder: &Path, tracepoint: &str) -> Option<u64> {
    let text = fs::read_to_string(folder.join(tracepoint).join("id")).ok()?;
    text.trim().parse().ok()
}

fn field(folder: &Path, tracepoint: &str, name: &str) -> Option<Field> {
    let format = fs::read_to_string(folder.join(tracepoint).join("format")).ok()?;
    field_of(&format, name)
}

/// By a line `field:TYPE NAME; offset:N; size:N; signed:N;`.
fn field_of(format: &str, name: &str) -> Option<Field> {
    let fields = format
        .lines()
        .filter_map(|line| line.trim().strip_prefix("field:"));
    fields.into_iter().find_map(|field| {
        let mut parts = field.split(';').map(str::trim);
        (parts.next()?.rsplit(' ').next()? == name).then_some(())?;
        let offset = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
        let bytes = parts.next()?.strip_prefix("size:")?.parse().ok()?;
        (1..=8).contains(&bytes).then_some(Field { offset, bytes })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: sys_enter_futex\nID: 7\nformat:\n\tfield:unsigned short \
                          common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\tfield:u32 * \
                          uaddr;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:int \
                          op;\toffset:24;\tsize:8;\tsigned:0;\n\tfield:char \
                          long[16];\toffset:1;\tsize:16;\tsigned:0;\n\tfield:int \
                          broken;\toffset:x;\tsize:8;\n\tfield:\n";

    #[test]
    fn fields_are_found_by_their_names() {
        let found = |offset, bytes| Some(Field { offset, bytes });
        for (name, expected) in [
            ("common_type", found(0, 2)),
            ("uaddr", found(16, 8)),
            ("op", found(24, 8)),
            ("addr", None),
            ("long[16]", None),
            ("broken", None),
            ("", None),
        ] {
            assert_eq!(field_of(FORMAT, name), expected, "{name}");
        }
    }

    #[test]
    fn values_end_where_the_record_does() {
        let raw = [1, 2, 3, 4];
        for (offset, bytes, expected) in [
            (0, 2, Some(0x0201)),
            (2, 2, Some(0x0403)),
            (3, 2, None),
            (9, 1, None),
            (0, 9, None),
        ] {
            assert_eq!(
                Field { offset, bytes }.of(&raw),
                expected,
                "{offset} {bytes}"
            );
        }
    }

    #[test]
    fn tracefs_is_found_wherever_it_is_mounted() {
        let mounts = "proc /proc proc rw 0 0\nnone /mnt/t tracefs rw 0 0\nbroken\n\n";
        let found = mounted(mounts);
        assert_eq!(found.last(), Some(&PathBuf::from("/mnt/t")));
        assert_eq!(found.len(), USUAL.len() + 1);
    }
}
