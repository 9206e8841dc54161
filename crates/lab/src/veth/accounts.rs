//! What the kernel counted: frames by interface, CPU time by CPU.

use std::fs;

use frame::CpuId;

/// Nanoseconds of a tick of `/proc/stat`: 100 a second in the kernel's interface on every machine.
const TICK_NANOS: f64 = 1e7;

/// One interface's frames since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frames {
    pub(super) received: u64,
    /// Transmitted, or refused by the other end.
    pub(super) sent: u64,
}

impl Frames {
    /// As they are now, of an interface in this thread's namespace.
    pub(super) fn of(interface: &str) -> Self {
        Self::in_text(&text("/proc/thread-self/net/dev"), interface).unwrap_or_default()
    }

    /// From the text of `/proc/net/dev`.
    fn in_text(text: &str, interface: &str) -> Option<Self> {
        let row = text.lines().find_map(|line| {
            let (name, row) = line.split_once(':')?;
            (name.trim() == interface).then_some(row)
        })?;
        // Eight received (bytes packets errs drop fifo frame compressed multicast), as many sent.
        let fields: Vec<u64> = row
            .split_whitespace()
            .filter_map(|field| field.parse().ok())
            .collect();
        Some(Self {
            received: *fields.get(1)?,
            sent: fields.get(9)? + fields.get(11)?,
        })
    }
}

/// Nanoseconds that these CPUs were busy since boot, whoever kept them so.
pub(super) fn busy_nanos(cpus: &[CpuId]) -> f64 {
    busy_ticks(&text("/proc/stat"), cpus) as f64 * TICK_NANOS
}

/// user, nice, system, irq and softirq; not idle, iowait or steal, and guests are in user.
fn busy_ticks(text: &str, cpus: &[CpuId]) -> u64 {
    let of = |cpu: &CpuId| {
        let name = format!("cpu{cpu}");
        let row = text
            .lines()
            .find(|line| line.split_whitespace().next() == Some(&name));
        let fields: Vec<u64> = row
            .unwrap_or_default()
            .split_whitespace()
            .skip(1)
            .map(|field| field.parse().unwrap_or(0))
            .collect();
        [0, 1, 2, 5, 6]
            .iter()
            .filter_map(|&place: &usize| fields.get(place))
            .sum::<u64>()
    };
    cpus.iter().map(of).sum()
}

/// Bytes of memory that are free for use.
pub(super) fn memory_available() -> u64 {
    engine::Machine::read().memory_available_bytes
}

/// The most memory that a process has had so far, bytes; `None` when it has ended.
pub(super) fn memory_peak(process: u32) -> Option<u64> {
    peak_in(&text(&format!("/proc/{process}/status")))
}

fn peak_in(text: &str) -> Option<u64> {
    let row = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = row.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEV: &str = "\
Inter-|   Receive                            |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo
  lr1s:   1   2   3   4   5   6   7   8   9   10   11   12   13   14   15   16
 lr11s: 100 200   0   0   0   0   0   0 900 1000    0    7    0    0    0    0
  bad1: 1 2
";

    #[test]
    fn frames_of_an_interface() {
        let frames = |received, sent| Some(Frames { received, sent });
        assert_eq!(Frames::in_text(DEV, "lr1s"), frames(2, 22));
        assert_eq!(Frames::in_text(DEV, "lr11s"), frames(200, 1007));
        for absent in ["lr", "1s", "bad1", ""] {
            assert_eq!(Frames::in_text(DEV, absent), None, "{absent}");
        }
    }

    #[test]
    fn busy_time_of_cpus() {
        let stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 100 50 4 5 70 6 7\ncpu1 10 0 0 1\ncpu10 500\n";
        assert_eq!(busy_ticks(stat, &[CpuId(0)]), 15);
        assert_eq!(busy_ticks(stat, &[CpuId(0), CpuId(1)]), 25);
        assert_eq!(busy_ticks(stat, &[CpuId(10)]), 500);
        assert_eq!(busy_ticks(stat, &[CpuId(7)]), 0);
    }

    #[test]
    fn peak_of_a_process() {
        assert_eq!(peak_in("VmPeak: 9 kB\nVmHWM:\t  12 kB\n"), Some(12 * 1024));
        assert_eq!(peak_in("VmPeak: 9 kB\n"), None);
        assert!(memory_peak(std::process::id()).is_some_and(|bytes| bytes > 1 << 12));
    }
}
