//! Under which conditions figures were measured, and what spoils them.

use std::fs;
use std::path::Path;

use engine::Machine;

use crate::LoadRecord;

const CPUS: &str = "/sys/devices/system/cpu";
/// CPUs that others may keep busy: the kernel's own threads stay below.
const OTHERS_CPUS_MAX: f64 = 0.1;
/// Steal that makes no difference.
const STEAL_MAX: f64 = 0.005;

/// What a machine is set to, as far as speed depends on it. What the kernel does not say is
/// `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Processor, kernel, CPUs and memory.
    pub machine: Machine,
    /// The frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Whether the processor may clock higher while few cores work.
    pub turbo: Option<bool>,
    /// Hardware threads a core.
    pub threads_per_core: Option<usize>,
    /// The setting of transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Huge pages set aside and free, of any size, bytes.
    pub huge_pages_free_bytes: u64,
    /// Memory nodes.
    pub numa_nodes: usize,
    /// Whether this is a virtual machine.
    pub virtual_machine: bool,
    /// Whether the processor's event counters could be read here.
    pub counters: bool,
}

impl Conditions {
    /// Asks the kernel.
    #[must_use]
    pub fn read() -> Self {
        let cpus = Path::new(CPUS);
        Self {
            machine: Machine::read(),
            governor: line(&cpus.join("cpu0/cpufreq/scaling_governor")),
            turbo: turbo(cpus),
            threads_per_core: line(&cpus.join("cpu0/topology/thread_siblings_list"))
                .map(|list| listed(&list)),
            transparent_huge_pages: line(Path::new("/sys/kernel/mm/transparent_hugepage/enabled"))
                .and_then(|text| chosen(&text)),
            huge_pages_free_bytes: huge_pages(Path::new("/sys/kernel/mm/hugepages")),
            numa_nodes: line(Path::new("/sys/devices/system/node/online"))
                .map_or(1, |list| listed(&list)),
            virtual_machine: fs::read_to_string("/proc/cpuinfo")
                .is_ok_and(|text| text.contains(" hypervisor")),
            counters: counters(Path::new("/sys/bus/event_source/devices")),
        }
    }

    /// What spoils figures measured under these conditions, a sentence each.
    #[must_use]
    pub fn warnings(&self, load: &LoadRecord) -> Vec<String> {
        let mut warnings = of_load(load);
        if let Some(governor) = &self.governor
            && ["powersave", "conservative", "ondemand", "schedutil"].contains(&&**governor)
            && self.turbo != Some(false)
        {
            warnings.push(format!(
                "the CPU frequency governor is {governor}: clocks change during a run \
                 ('cpupower frequency-set -g performance' keeps them up)"
            ));
        }
        if self.transparent_huge_pages.as_deref() == Some("never")
            && self.huge_pages_free_bytes == 0
        {
            warnings.push(
                "there are no huge pages: large tables are 1.5 to 2 times slower without \
                 ('echo madvise > /sys/kernel/mm/transparent_hugepage/enabled')"
                    .to_owned(),
            );
        }
        warnings
    }

    /// In one line: why no hardware counters stand beside the figures.
    #[must_use]
    pub fn about_counters(&self) -> &'static str {
        if self.counters {
            "Hardware counters are there but not read: opening them takes system calls that this \
             program has no safe way to make."
        } else {
            "This machine offers no hardware counters, so cycles and cache misses are not counted."
        }
    }
}

fn of_load(load: &LoadRecord) -> Vec<String> {
    let mut warnings = Vec::new();
    let spells = [
        ("before", &load.before),
        ("during", &load.during),
        ("after", &load.after),
    ];
    let busiest = spells
        .into_iter()
        .max_by(|a, b| a.1.others_cpus.total_cmp(&b.1.others_cpus));
    if let Some((when, load)) = busiest.filter(|(_, load)| load.others_cpus > OTHERS_CPUS_MAX) {
        warnings.push(format!(
            "other programs kept {:.1} CPUs busy {when} the run: it shows the machine slower \
             than it is, with several threads most of all",
            load.others_cpus
        ));
    }
    if load.during.steal > STEAL_MAX {
        warnings.push(format!(
            "the hypervisor gave {:.1} % of the CPU time to others during the run",
            load.during.steal * 100.0
        ));
    }
    if load.during.throttled > 0 {
        warnings.push(format!(
            "a quota of CPU time stopped this program {} times during the run",
            load.during.throttled
        ));
    }
    warnings
}

fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// `boost` says it on most drivers, `no_turbo` the other way round on Intel's own.
fn turbo(cpus: &Path) -> Option<bool> {
    let boost = line(&cpus.join("cpufreq/boost")).map(|text| text != "0");
    boost.or_else(|| line(&cpus.join("intel_pstate/no_turbo")).map(|text| text == "0"))
}

/// How many a list such as `0-3,8` names; 1 for nonsense.
fn listed(list: &str) -> usize {
    let count = |part: &str| -> Option<usize> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        Some(last.checked_sub(first)? + 1)
    };
    list.trim()
        .split(',')
        .map(count)
        .sum::<Option<usize>>()
        .unwrap_or(1)
}

/// The word in brackets.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Folders are named `hugepages-2048kB`.
fn huge_pages(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    let bytes = |entry: fs::DirEntry| -> Option<u64> {
        let name = entry.file_name();
        let size = name
            .to_str()?
            .strip_prefix("hugepages-")?
            .strip_suffix("kB")?;
        let free = line(&entry.path().join("free_hugepages"))?;
        size.parse::<u64>()
            .ok()?
            .checked_mul(1024)?
            .checked_mul(free.parse().ok()?)
    };
    entries.flatten().filter_map(bytes).sum()
}

/// The processor's own counters stand as `cpu`, or as one `cpu_...` a kind of core.
fn counters(devices: &Path) -> bool {
    let Ok(entries) = fs::read_dir(devices) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name == "cpu" || name.starts_with("cpu_") || name.starts_with("armv")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Load;

    fn quiet() -> Conditions {
        Conditions {
            machine: Machine::read(),
            governor: None,
            turbo: None,
            threads_per_core: Some(1),
            transparent_huge_pages: Some("madvise".to_owned()),
            huge_pages_free_bytes: 0,
            numa_nodes: 1,
            virtual_machine: true,
            counters: false,
        }
    }

    #[test]
    fn lists_and_choices_of_the_kernel() {
        assert_eq!(
            (listed("0"), listed("0-3,8"), listed("x"), listed("3-1")),
            (1, 5, 1, 1)
        );
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always"), None);
    }

    #[test]
    fn a_quiet_machine_gives_no_warning() {
        assert_eq!(
            quiet().warnings(&LoadRecord::default()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn what_spoils_a_run_is_said() {
        let busy = Load {
            others_cpus: 1.53,
            steal: 0.02,
            throttled: 4,
        };
        let load = LoadRecord {
            during: busy,
            ..LoadRecord::default()
        };
        let conditions = Conditions {
            governor: Some("powersave".to_owned()),
            transparent_huge_pages: Some("never".to_owned()),
            ..quiet()
        };
        let warnings = conditions.warnings(&load);
        let parts = [
            "1.5 CPUs busy during",
            "2.0 %",
            "4 times",
            "powersave",
            "no huge pages",
        ];
        assert_eq!(warnings.len(), parts.len(), "{warnings:?}");
        for (warning, part) in warnings.iter().zip(parts) {
            assert!(warning.contains(part), "{warning}");
        }
    }

    #[test]
    fn this_machine_answers() {
        let conditions = Conditions::read();
        assert!(conditions.numa_nodes >= 1 && conditions.machine.cpus >= 1);
        assert!(conditions.about_counters().contains("counters"));
    }
}
