//! Interrupts by `/proc/interrupts`.

use std::fs;

/// Interrupts since some moment, of some CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interrupts {
    /// Those of devices and timers: all that no other CPU sent.
    pub devices: u64,
    /// Those that CPUs sent to each other.
    pub between_cpus: u64,
    /// Of these, requests to forget translations of addresses (TLB shootdowns).
    pub shootdowns: u64,
}

/// Rows that count errors, not interrupts.
const ERRORS: [&str; 2] = ["ERR", "MIS"];
/// Rows of x86 that other CPUs send: to schedule, to call a function, to forget translations.
const BETWEEN: [&str; 3] = ["RES", "CAL", "TLB"];

impl Interrupts {
    /// As the kernel counts them now, on `cpus` or on all; none where it lists none.
    pub(super) fn read(cpus: Option<&[u32]>) -> Option<Self> {
        Self::of(&fs::read_to_string("/proc/interrupts").ok()?, cpus)
    }

    /// By a text as `/proc/interrupts` has it; none without the line that names the CPUs.
    fn of(text: &str, cpus: Option<&[u32]>) -> Option<Self> {
        let mut lines = text.lines();
        let columns: Vec<bool> = lines
            .next()?
            .split_whitespace()
            .map_while(|name| name.strip_prefix("CPU")?.parse::<u32>().ok())
            .map(|cpu| cpus.is_none_or(|cpus| cpus.contains(&cpu)))
            .collect();
        if columns.is_empty() {
            return None;
        }
        let mut found = Self::default();
        for line in lines {
            if let Some((name, counts)) = line.split_once(':') {
                found.add(name.trim(), counts, &columns);
            }
        }
        Some(found)
    }

    /// Adds a row. Numbers beyond the columns belong to the name of the interrupt.
    fn add(&mut self, name: &str, counts: &str, columns: &[bool]) {
        if ERRORS.contains(&name) {
            return;
        }
        let counts = counts
            .split_whitespace()
            .map_while(|count| count.parse::<u64>().ok());
        let wanted = counts.zip(columns).filter(|(_, wanted)| **wanted);
        let sum = wanted.fold(0u64, |sum, (count, _)| sum.saturating_add(count));
        let between = BETWEEN.contains(&name) || name.starts_with("IPI");
        let row = match between {
            true => &mut self.between_cpus,
            false => &mut self.devices,
        };
        *row = row.saturating_add(sum);
        if name == "TLB" {
            self.shootdowns = self.shootdowns.saturating_add(sum);
        }
    }

    /// Those since `before`.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            devices: self.devices.saturating_sub(before.devices),
            between_cpus: self.between_cpus.saturating_sub(before.between_cpus),
            shootdowns: self.shootdowns.saturating_sub(before.shootdowns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "           CPU0       CPU2       \n  24:          1          \
                        5  IO-APIC   5-edge      7 of eth0\nNMI:          0          \
                        0   Non-maskable interrupts\nLOC:         10         \
                        20   Local timer interrupts\nRES:        100        \
                        200   Rescheduling interrupts\nCAL:       1000       \
                        2000   Function call interrupts\nTLB:      10000      \
                        20000   TLB shootdowns\nERR:          9\nMIS:          9\n";

    #[test]
    fn rows_are_told_apart_and_cpus_chosen_by_their_number() {
        for (cpus, devices, between_cpus, shootdowns) in [
            (None, 36, 33_300, 30_000),
            (Some(&[0][..]), 11, 11_100, 10_000),
            (Some(&[2][..]), 25, 22_200, 20_000),
            (Some(&[1][..]), 0, 0, 0),
            (Some(&[0, 2, 9][..]), 36, 33_300, 30_000),
        ] {
            let expected = Interrupts {
                devices,
                between_cpus,
                shootdowns,
            };
            assert_eq!(Interrupts::of(TEXT, cpus), Some(expected), "{cpus:?}");
        }
    }

    #[test]
    fn other_machines_and_broken_texts() {
        let arm = " CPU0 CPU1\n IPI0: 3 4 Rescheduling interrupts\n 11: 1 1 GICv3 27 timer\n";
        let expected = Interrupts {
            devices: 2,
            between_cpus: 7,
            shootdowns: 0,
        };
        assert_eq!(Interrupts::of(arm, None), Some(expected));
        for text in ["", "\n", "cpus\n1: 2\n", "24: 1 2\n"] {
            assert_eq!(Interrupts::of(text, None), None, "{text:?}");
        }
        let most = format!("CPU0\n1: {0}\n2: {0}\n3: x\n4\nTLB:\n", u64::MAX);
        let found = Interrupts::of(&most, None).expect("a line of CPUs");
        assert_eq!((found.devices, found.shootdowns), (u64::MAX, 0));
    }

    #[test]
    fn a_cpu_that_left_takes_its_counts_along() {
        let before = Interrupts {
            devices: 5,
            between_cpus: 5,
            shootdowns: 5,
        };
        let now = Interrupts {
            devices: 7,
            between_cpus: 1,
            shootdowns: 5,
        };
        let expected = Interrupts {
            devices: 2,
            between_cpus: 0,
            shootdowns: 0,
        };
        assert_eq!(now.since(before), expected);
    }
}
