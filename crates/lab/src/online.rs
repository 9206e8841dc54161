//! CPUs that are online.

use std::fs;

/// CPUs that are online, as `/proc/stat` has them; none where it cannot be read.
pub(crate) fn online() -> Vec<u32> {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names
        .filter_map(|name| name.strip_prefix("cpu")?.parse().ok())
        .collect()
}
