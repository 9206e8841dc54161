//! What machine a figure was measured on.

use std::fs;

use crate::cpu::allowed_cpus;

/// The machine, as a report names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name with family and model where the kernel tells them, since a virtual
    /// machine's name may be of several generations; or `unknown`.
    pub cpu: String,
    /// The kernel's release, or `unknown`.
    pub kernel: String,
    /// How many CPUs this process may run on.
    pub cpus: usize,
    /// Memory that is free for use without swapping, bytes; 0 where the kernel does not say.
    pub memory_available_bytes: u64,
}

impl Machine {
    /// Asks the kernel.
    #[must_use]
    pub fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        Self {
            cpu: processor(&text("/proc/cpuinfo")),
            kernel: kernel(&text("/proc/sys/kernel/osrelease")),
            cpus: allowed_cpus().len(),
            memory_available_bytes: kibibytes(&text("/proc/meminfo"), "MemAvailable"),
        }
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// The first processor of `/proc/cpuinfo`.
fn processor(text: &str) -> String {
    let Some(name) = field(text, "model name") else {
        return unknown();
    };
    match (field(text, "cpu family"), field(text, "model")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
}

fn kernel(release: &str) -> String {
    match release.trim() {
        "" => unknown(),
        release => release.to_owned(),
    }
}

/// The value of the first line `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    let value = fields.find(|field| field.0.trim_end() == name)?.1.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

fn kibibytes(text: &str, name: &str) -> u64 {
    let value = field(text, name).unwrap_or_default();
    let number = value.split_whitespace().next().unwrap_or_default();
    number.parse::<u64>().unwrap_or(0).saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_proc_files() {
        let name = "processor\t: 0\nmodel name\t: A CPU @ 3 GHz\nmodel name\t: other\n";
        assert_eq!(processor(name), "A CPU @ 3 GHz");
        let whole = format!("cpu family\t: 26\nmodel\t\t: 2\n{name}model\t\t: 3\n");
        assert_eq!(processor(&whole), "A CPU @ 3 GHz (family 26, model 2)");
        assert_eq!(processor("model\t\t: 2\n"), "unknown");
        assert_eq!(field("", "model name"), None);
        assert_eq!(
            kibibytes("MemAvailable:   24 kB\n", "MemAvailable"),
            24 * 1024
        );
        assert_eq!(kibibytes("MemAvailable: many\n", "MemAvailable"), 0);
        assert_eq!(kernel("6.1.0-18-amd64\n"), "6.1.0-18-amd64");
        assert_eq!(kernel("\n"), "unknown");
    }

    #[test]
    fn this_machine_has_a_cpu() {
        assert!(Machine::read().cpus >= 1);
    }
}
