//! What the kernel counted: frames by interface, CPU time by task.

use std::fs;
use std::process::Command;

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

/// The processes and kernel threads whose time a trial is.
#[derive(Default)]
pub(super) struct Tasks {
    processes: Vec<u32>,
    /// CPUs whose interrupts are counted apart from the tasks that they interrupt.
    interrupted: Vec<CpuId>,
}

impl Tasks {
    /// This process, the kernel's threads for interrupts that were put off on these CPUs, and one
    /// more thread of each of these names.
    pub(super) fn of(cpus: &[CpuId], names: &[String]) -> Self {
        let mut processes = vec![std::process::id()];
        let own = cpus.iter().map(|cpu| format!("ksoftirqd/{cpu}"));
        for name in own.chain(names.iter().cloned()) {
            processes.extend(thread_named(&name));
        }
        let apart = ["/proc/config.gz".into(), config_file()];
        let apart = apart.iter().any(|file| counts_interrupts_apart(file));
        Self {
            processes,
            interrupted: if apart { cpus.to_vec() } else { Vec::new() },
        }
    }

    pub(super) fn add(&mut self, process: u32) {
        self.processes.push(process);
    }

    /// Nanoseconds that all of them ran so far, interrupts that they were charged with among them.
    pub(super) fn nanos(&self) -> f64 {
        let own: u64 = self
            .processes
            .iter()
            .map(|&process| run_nanos(process))
            .sum();
        own as f64 + interrupt_ticks(&text("/proc/stat"), &self.interrupted) as f64 * TICK_NANOS
    }
}

/// Nanoseconds that the threads of a process ran so far. The kernel brings those of a thread that
/// runs up to date at every tick, 1 to 10 ms.
fn run_nanos(process: u32) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return 0;
    };
    let nanos = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    threads.flatten().filter_map(nanos).sum()
}

/// A kernel thread whose name begins so, or is so.
pub(super) fn thread_named(name: &str) -> Option<u32> {
    let processes = fs::read_dir("/proc").ok()?;
    processes.flatten().find_map(|process| {
        let number = process.file_name().to_str()?.parse().ok()?;
        let comm = fs::read_to_string(process.path().join("comm")).ok()?;
        let found = comm.trim_end();
        let is_it = found == name || name.ends_with('-') && found.starts_with(name);
        is_it.then_some(number)
    })
}

fn config_file() -> String {
    format!("/boot/config-{}", text("/proc/sys/kernel/osrelease").trim())
}

/// Whether time in interrupts is no time of the task that was interrupted
/// (`CONFIG_IRQ_TIME_ACCOUNTING`).
fn counts_interrupts_apart(config: &str) -> bool {
    let config = Command::new("zcat").args(["-f", config]).output();
    config.is_ok_and(|config| {
        let config = String::from_utf8_lossy(&config.stdout);
        config
            .lines()
            .any(|line| line == "CONFIG_IRQ_TIME_ACCOUNTING=y")
    })
}

/// irq and softirq of these CPUs.
fn interrupt_ticks(text: &str, cpus: &[CpuId]) -> u64 {
    let of = |cpu: &CpuId| {
        let name = format!("cpu{cpu}");
        let row = text
            .lines()
            .find(|line| line.split_whitespace().next() == Some(&name));
        let fields = row.unwrap_or_default().split_whitespace().skip(6).take(2);
        fields
            .filter_map(|field| field.parse::<u64>().ok())
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
    fn interrupts_of_cpus() {
        let stat = "cpu  9 9 9 9 9 9 9 9\ncpu0 1 2 3 100 50 4 5 70 6 7\ncpu1 10 0 0 1\ncpu10 500\n";
        assert_eq!(interrupt_ticks(stat, &[CpuId(0)]), 9);
        assert_eq!(interrupt_ticks(stat, &[CpuId(0), CpuId(1)]), 9);
        assert_eq!(interrupt_ticks(stat, &[CpuId(7)]), 0);
    }

    #[test]
    fn a_process_that_runs_has_run() {
        let own = std::process::id();
        let before = run_nanos(own);
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 50 {
            std::hint::spin_loop();
        }
        let ran = run_nanos(own) - before;
        assert!(ran > 0, "{ran}");
        assert_eq!(run_nanos(u32::MAX), 0);
        assert_eq!(thread_named("no such thread"), None);
    }

    #[test]
    fn peak_of_a_process() {
        assert_eq!(peak_in("VmPeak: 9 kB\nVmHWM:\t  12 kB\n"), Some(12 * 1024));
        assert_eq!(peak_in("VmPeak: 9 kB\n"), None);
        assert!(memory_peak(std::process::id()).is_some_and(|bytes| bytes > 1 << 12));
    }
}
