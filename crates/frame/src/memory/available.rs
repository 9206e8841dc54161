//! How much memory can be touched before the kernel ends a process for it.

use std::fs;

/// Bytes that can be touched, as far as the machine and the control group of this process tell.
/// `None` when neither tells.
pub(super) fn available_bytes() -> Option<u64> {
    if cfg!(miri) {
        return None;
    }
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| meminfo(&text));
    [machine, control_group()].into_iter().flatten().min()
}

/// The line `MemAvailable:   12345 kB`.
fn meminfo(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024)
}

/// What the limit of the control group leaves, counting what the kernel would take back from file
/// caches as free: after a large build the caches fill the group to its limit, and a new mapping
/// still fits. Containers see their own group at the root of the file system; groups further down
/// are not searched.
fn control_group() -> Option<u64> {
    let text = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/memory.{name}")).ok();
    let number = |name: &str| text(name)?.trim().parse::<u64>().ok(); // `max` is no number
    let used = number("current")?.saturating_sub(reclaimable(&text("stat")?));
    Some(number("max")?.saturating_sub(used))
}

/// The bytes of `memory.stat` that are caches.
fn reclaimable(stat: &str) -> u64 {
    const CACHES: [&str; 3] = ["active_file", "inactive_file", "slab_reclaimable"];
    let cache = |line: &str| -> Option<u64> {
        let (name, bytes) = line.split_once(' ')?;
        CACHES.contains(&name).then(|| bytes.parse().ok())?
    };
    stat.lines().filter_map(cache).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meminfo_is_read() {
        let text = "MemTotal:  16 kB\nMemFree: 1 kB\nMemAvailable:    7 kB\nBuffers: 0 kB\n";
        assert_eq!(meminfo(text), Some(7 * 1024));
        assert_eq!(meminfo("MemAvailable: many kB\n"), None);
        assert_eq!(meminfo(""), None);
    }

    #[test]
    fn caches_count_as_free() {
        let stat = "anon 1000\nfile 90\ninactive_file 40\nactive_file 50\nslab_reclaimable 7\n";
        assert_eq!(reclaimable(stat), 97);
        assert_eq!(reclaimable("active_file many\n\n"), 0);
    }

    #[test]
    #[cfg(not(miri))]
    fn this_machine_tells() {
        assert!(available_bytes().is_none_or(|bytes| bytes > 1 << 20));
    }
}
