//! What memory moved, where the kernel tells: the resource control file system, which counts the
//! bytes of each last-level cache on processors that can (Intel MBM, AMD PQoS).

use std::fs;
use std::path::{Path, PathBuf};

const RESCTRL: &str = "/sys/fs/resctrl/mon_data";

/// The counters, one a last-level cache; none where they cannot be read.
pub(super) struct Bandwidth(Vec<PathBuf>);

impl Bandwidth {
    pub(super) fn find() -> Self {
        Self::within(Path::new(RESCTRL))
    }

    fn within(folder: &Path) -> Self {
        let domains = fs::read_dir(folder).into_iter().flatten().flatten();
        let counters = domains.map(|domain| domain.path().join("mbm_total_bytes"));
        Self(counters.filter(|path| bytes(path).is_some()).collect())
    }

    /// Bytes that went between caches and memory since some time, by everybody.
    pub(super) fn read(&self) -> Option<u64> {
        let counted: Option<Vec<u64>> = self.0.iter().map(|path| bytes(path)).collect();
        counted
            .filter(|all| !all.is_empty())
            .map(|all| all.iter().sum())
    }

    /// Bytes since a reading.
    pub(super) fn since(&self, before: Option<u64>) -> Option<f64> {
        Some(self.read()?.saturating_sub(before?) as f64)
    }

    /// Why there is no figure.
    pub(super) fn missing(&self) -> Option<String> {
        self.0.is_empty().then(|| {
            "bytes a second between caches and memory: this processor, or the machine around it, \
             does not tell them, or the file system that does is not mounted (mount -t resctrl \
             resctrl /sys/fs/resctrl)"
                .to_owned()
        })
    }
}

fn bytes(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_all_caches_are_one_sum() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let put = |domain: &str, text: &str| {
            let domain = folder.path().join(domain);
            fs::create_dir_all(&domain).expect("a folder");
            fs::write(domain.join("mbm_total_bytes"), text).expect("a file");
        };
        let none = Bandwidth::within(folder.path());
        assert!(none.missing().is_some() && none.read().is_none());
        put("mon_L3_00", "1000\n");
        put("mon_L3_01", "500\n");
        put("mon_L3_02", "Unavailable\n");
        let found = Bandwidth::within(folder.path());
        let before = found.read();
        assert_eq!((before, found.missing()), (Some(1500), None));
        put("mon_L3_00", "4000\n");
        assert_eq!(found.since(before), Some(3000.0));
        put("mon_L3_01", "Error\n");
        assert_eq!(found.since(before), None);
    }
}
