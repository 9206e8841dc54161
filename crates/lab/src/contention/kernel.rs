//! Names of kernel locks: the function that waits, and the kind of the lock.

use std::fs;

/// What the flags of a contention say (`linux/lock/events`): `LCB_F_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LockKind {
    Spinlock,
    RwlockRead,
    RwlockWrite,
    RwsemRead,
    RwsemWrite,
    RtMutex,
    PercpuRwsem,
    Mutex,
    Semaphore,
}

impl LockKind {
    pub(super) fn of(flags: u64) -> Self {
        let has = |bit: u64| flags & bit != 0;
        let (spin, read, write, rt, percpu, mutex) = (1, 2, 4, 8, 16, 32);
        match () {
            () if has(percpu) => Self::PercpuRwsem,
            () if has(mutex) => Self::Mutex,
            () if has(rt) => Self::RtMutex,
            () if has(spin) && has(read) => Self::RwlockRead,
            () if has(spin) && has(write) => Self::RwlockWrite,
            () if has(spin) => Self::Spinlock,
            () if has(read) => Self::RwsemRead,
            () if has(write) => Self::RwsemWrite,
            () => Self::Semaphore,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Spinlock => "spinlock",
            Self::RwlockRead => "rwlock, read",
            Self::RwlockWrite => "rwlock, write",
            Self::RwsemRead => "rwsem, read",
            Self::RwsemWrite => "rwsem, write",
            Self::RtMutex => "rt mutex",
            Self::PercpuRwsem => "per-CPU rwsem",
            Self::Mutex => "mutex",
            Self::Semaphore => "semaphore",
        }
    }
}

/// Functions that take locks for others, by how their names begin.
const TAKE_LOCKS: [&str; 25] = [
    "queued_",
    "native_queued",
    "__pv_queued",
    "_raw_",
    "__raw_",
    "do_raw_",
    "mutex_",
    "__mutex_",
    "ww_mutex_",
    "__ww_mutex",
    "rt_mutex_",
    "__rt_mutex",
    "rwsem_",
    "down_",
    "down",
    "__down",
    "percpu_down",
    "percpu_rwsem",
    "__percpu_",
    "rwbase_",
    "trace_contention",
    "__traceiter_contention",
    "perf_trace_",
    "perf_tp_event",
    "osq_",
];

/// The kernel's functions by address.
#[derive(Debug, Default)]
pub(super) struct Symbols(Vec<(u64, String)>);

impl Symbols {
    /// Those of the running kernel; none where this user may not know their addresses.
    pub(super) fn read() -> Self {
        Self::of(&fs::read_to_string("/proc/kallsyms").unwrap_or_default())
    }

    /// By a text as `/proc/kallsyms` has it. Addresses of 0 are hidden ones.
    fn of(text: &str) -> Self {
        let functions = text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_function = matches!(words.next()?, "t" | "T" | "w" | "W");
            let name = words.next()?.to_owned();
            (is_function && address != 0).then_some((address, name))
        });
        let mut symbols: Vec<(u64, String)> = functions.collect();
        symbols.sort();
        symbols.dedup_by_key(|(address, _)| *address);
        Self(symbols)
    }

    /// The innermost function that does not take locks for others, by its index.
    pub(super) fn caller(&self, calls: &[u64]) -> Option<usize> {
        let mut known = calls.iter().filter_map(|&call| self.index(call));
        known.find(|&index| {
            let name = self.0[index].1.as_str();
            !TAKE_LOCKS.iter().any(|head| name.starts_with(head))
        })
    }

    fn index(&self, address: u64) -> Option<usize> {
        self.0
            .partition_point(|(start, _)| *start <= address)
            .checked_sub(1)
    }

    pub(super) fn name(&self, symbol: Option<usize>, kind: LockKind) -> String {
        let function = symbol.and_then(|index| self.0.get(index));
        let function = function.map_or("unknown function", |(_, name)| name.as_str());
        format!("{function} [{}]", kind.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ffffffff81000000 T do_fault\nffffffff81000100 t rwsem_down_read_slowpath\n\
                        ffffffff81000180 T down_read\nffffffff81000200 d data\n\
                        ffffffff81000300 T unix_write\t[unix]\n\
                        0000000000000000 T hidden\nx T y\n\n";

    #[test]
    fn the_function_that_waits_is_the_innermost_that_takes_no_locks_for_others() {
        let symbols = Symbols::of(TEXT);
        let base = 0xffff_ffff_8100_0000;
        let name = |calls: &[u64]| symbols.name(symbols.caller(calls), LockKind::RwsemRead);
        for (calls, expected) in [
            (
                &[base + 0x110, base + 0x190, base + 8][..],
                "do_fault [rwsem, read]",
            ),
            (
                &[base + 0x110, base + 0x304, base + 8][..],
                "unix_write [rwsem, read]",
            ),
            (&[base + 0x110][..], "unknown function [rwsem, read]"),
            (&[1][..], "unknown function [rwsem, read]"),
            (&[][..], "unknown function [rwsem, read]"),
        ] {
            assert_eq!(name(calls), expected, "{calls:x?}");
        }
        let hidden = Symbols::of("0000000000000000 T a\n0000000000000000 T b\n");
        assert_eq!(hidden.caller(&[5, base]), None);
    }

    #[test]
    fn kinds_go_by_the_flags() {
        for (flags, expected) in [
            (1, LockKind::Spinlock),
            (3, LockKind::RwlockRead),
            (5, LockKind::RwlockWrite),
            (2, LockKind::RwsemRead),
            (4, LockKind::RwsemWrite),
            (8, LockKind::RtMutex),
            (16 | 2, LockKind::PercpuRwsem),
            (32 | 1, LockKind::Mutex),
            (32, LockKind::Mutex),
            (0, LockKind::Semaphore),
        ] {
            assert_eq!(LockKind::of(flags), expected, "{flags}");
        }
    }
}
