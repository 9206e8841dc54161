//! Which NUMA nodes there are.

use std::{fs, path::Path};

use crate::ids::{CpuId, NodeId};

/// The NUMA nodes that are online, ascending; node 0 alone where the kernel knows of none.
#[must_use]
pub fn nodes_online() -> Vec<NodeId> {
    if cfg!(miri) {
        return vec![NodeId(0)];
    }
    let text = fs::read_to_string("/sys/devices/system/node/online").unwrap_or_default();
    let nodes = parse_list(&text).unwrap_or_default();
    if nodes.is_empty() {
        vec![NodeId(0)]
    } else {
        nodes.into_iter().map(NodeId).collect()
    }
}

/// The NUMA node a CPU belongs to; `None` where the kernel does not say.
#[must_use]
pub fn node_of_cpu(cpu: CpuId) -> Option<NodeId> {
    if cfg!(miri) {
        return None;
    }
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
    nodes_online()
        .into_iter()
        .find(|node| Path::new(&format!("{folder}/node{node}")).exists())
}

/// Numbers and ranges of numbers as the kernel lists them: `0-3,8`. `None` when it is no such list.
fn parse_list(text: &str) -> Option<Vec<u16>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.parse::<u16>().ok()?..=last.parse::<u16>().ok()?);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_lists() {
        assert_eq!(parse_list("0\n"), Some(vec![0]));
        assert_eq!(parse_list("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(parse_list("\n"), Some(vec![]));
        assert_eq!(parse_list("0-x"), None);
    }

    #[test]
    fn there_is_always_a_node() {
        assert!(!nodes_online().is_empty());
        assert_eq!(node_of_cpu(CpuId(u16::MAX)), None);
    }
}
