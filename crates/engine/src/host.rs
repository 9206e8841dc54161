//! What of this host works for or against a dataplane, beside the processor: idle states, limits of
//! the process, the kernel's own work. Read once, changed nowhere.

use std::fs;
use std::path::Path;

/// What the kernel does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The longest time that any allowed idle state of the first CPU takes to leave, microseconds.
    pub idle_exit_us: Option<u32>,
    /// CPUs that the scheduler leaves alone, as the kernel lists them; empty for none.
    pub isolated_cpus: Option<String>,
    /// Files that this process may have open; `u64::MAX` without a limit.
    pub open_files_max: Option<u64>,
    /// Memory that this process may lock, bytes; `u64::MAX` without a limit.
    pub locked_bytes_max: Option<u64>,
    /// Whether this process may lock memory beyond that (`CAP_IPC_LOCK`).
    pub may_lock: Option<bool>,
    /// Connections that connection tracking knows; 0 where it is not loaded.
    pub tracked_connections: Option<u64>,
    /// Frames that the kernel dropped because a CPU's backlog was full, since the start.
    pub softnet_dropped: Option<u64>,
    /// Times that a CPU had to leave frames for later, since the start.
    pub softnet_squeezed: Option<u64>,
    /// Whether BPF programs are compiled to machine code.
    pub bpf_jit: Option<bool>,
    /// Memory nodes and their CPUs, as the kernel lists them.
    pub nodes: Vec<(u32, String)>,
}

/// `CAP_IPC_LOCK`, linux/capability.h.
const IPC_LOCK: u32 = 14;

impl Host {
    /// Asks the kernel.
    #[must_use]
    pub fn read() -> Self {
        let cpus = Path::new("/sys/devices/system/cpu");
        let limits = text("/proc/self/limits");
        let softnet = text("/proc/net/softnet_stat");
        let softnet = softnet.as_deref();
        Self {
            idle_exit_us: idle_exit_us(&cpus.join("cpu0/cpuidle")),
            isolated_cpus: text("/sys/devices/system/cpu/isolated"),
            open_files_max: limits
                .as_deref()
                .and_then(|text| limit(text, "Max open files")),
            locked_bytes_max: limits
                .as_deref()
                .and_then(|text| limit(text, "Max locked memory")),
            may_lock: text("/proc/self/status").and_then(|text| may_lock(&text)),
            tracked_connections: tracked_connections(),
            softnet_dropped: softnet.and_then(|text| softnet_sum(text, 1)),
            softnet_squeezed: softnet.and_then(|text| softnet_sum(text, 2)),
            bpf_jit: text("/proc/sys/net/core/bpf_jit_enable").map(|text| text != "0"),
            nodes: nodes(Path::new("/sys/devices/system/node")),
        }
    }
}

fn text(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// Of the states that are not switched off, the slowest to leave.
fn idle_exit_us(folder: &Path) -> Option<u32> {
    let states = fs::read_dir(folder).ok()?.flatten();
    let latency = |state: fs::DirEntry| {
        let allowed = text(state.path().join("disable")).is_none_or(|off| off == "0");
        let latency = text(state.path().join("latency"))?.parse().ok()?;
        allowed.then_some(latency)
    };
    states.filter_map(latency).max()
}

/// The soft limit in a line such as `Max open files   1024   4096   files`.
fn limit(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
    match line.split_whitespace().next()? {
        "unlimited" => Some(u64::MAX),
        number => number.parse().ok(),
    }
}

fn may_lock(status: &str) -> Option<bool> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    let capabilities = u64::from_str_radix(line.trim(), 16).ok()?;
    Some(capabilities >> IPC_LOCK & 1 == 1)
}

/// The file is there with the module; without `/proc/sys/net` nothing is known.
fn tracked_connections() -> Option<u64> {
    match text("/proc/sys/net/netfilter/nf_conntrack_count") {
        Some(count) => count.parse().ok(),
        None => Path::new("/proc/sys/net").exists().then_some(0),
    }
}

/// The sum of one column, hexadecimal, over all CPUs.
fn softnet_sum(table: &str, column: usize) -> Option<u64> {
    let value = |line: &str| {
        let word = line.split_whitespace().nth(column)?;
        u64::from_str_radix(word, 16).ok()
    };
    table.lines().map(value).sum()
}

fn nodes(folder: &Path) -> Vec<(u32, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let node = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let number = name.to_str()?.strip_prefix("node")?.parse().ok()?;
        Some((number, text(entry.path().join("cpulist"))?))
    };
    let mut nodes: Vec<_> = entries.filter_map(node).collect();
    nodes.sort_unstable();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_capabilities_and_columns() {
        let limits = "Limit  Soft Limit  Hard Limit  Units\n\
                      Max open files            1024                 524288               files\n\
                      Max locked memory         unlimited            unlimited            bytes\n";
        assert_eq!(limit(limits, "Max open files"), Some(1024));
        assert_eq!(limit(limits, "Max locked memory"), Some(u64::MAX));
        assert_eq!(limit(limits, "Max nothing"), None);
        assert_eq!(may_lock("CapEff:\t0000000000004000\n"), Some(true));
        assert_eq!(may_lock("CapEff:\t0000000000003000\n"), Some(false));
        assert_eq!(may_lock("CapEff:\tmany\n"), None);
        let softnet = "0256e9cb 00000001 0000000d 00000000\n024b9837 00000010 00000003 00000000\n";
        assert_eq!(softnet_sum(softnet, 1), Some(17));
        assert_eq!(softnet_sum(softnet, 2), Some(16));
        assert_eq!(softnet_sum("1 x\n", 1), None);
    }

    #[test]
    fn this_host_answers() {
        let host = Host::read();
        assert!(
            host.open_files_max.is_some_and(|files| files > 0),
            "{host:?}"
        );
    }
}
