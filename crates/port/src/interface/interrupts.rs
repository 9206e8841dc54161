//! Interrupts of an interface's queues, put where the user wants them and back again.
//!
//! Which queue an interrupt is of only its name tells, in `/proc/interrupts`, and each driver has
//! its own way: `virtio2-input.0`, `eth0-TxRx-3`, `mlx5_comp2@pci:0000:03:00.0`.

use std::fs;

use super::offloads::{Changes, not_written, record};
use super::records::{Kept, Records};
use super::{Interface, Interrupt, Root};
use crate::PortError;

/// Words in the names of interrupts that are no queue's.
const NO_QUEUE: [&str; 12] = [
    "admin", "aq", "async", "config", "control", "ctrl", "event", "fdir", "lsc", "mgmnt", "misc",
    "ptp",
];

/// The interrupts of one interface that were moved. Dropping it puts them back.
#[derive(Debug)]
pub struct InterruptPins {
    root: Root,
    /// Numbers, and the CPUs they were allowed on.
    found: Vec<(u32, String)>,
    said: Vec<String>,
    notes: Vec<String>,
    record: Option<Kept>,
}

impl InterruptPins {
    /// Moves the interrupt of each queue to the CPU that is wanted for the queue, after what is
    /// there now was written down. What cannot be moved is no error: see
    /// [`InterruptPins::notes`].
    ///
    /// # Errors
    /// A name that no interface can have.
    pub fn pin(
        root: &Root,
        name: &str,
        cpu_of_queue: impl Fn(u32) -> Option<u32>,
    ) -> Result<Self, PortError> {
        let interface = Interface::named(name)?;
        // Ports did so before; where none changes offloads, nobody has.
        let _ = interface.restore();
        Ok(Self::pin_at(
            root,
            &Records::here(),
            &interface,
            cpu_of_queue,
        ))
    }

    fn pin_at(
        root: &Root,
        records: &Records,
        interface: &Interface,
        cpu_of_queue: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let mut pins = Self {
            root: root.clone(),
            found: Vec::new(),
            said: Vec::new(),
            notes: Vec::new(),
            record: None,
        };
        let name = interface.name();
        let wanted = pins.wanted(interface, cpu_of_queue);
        let allowed = |&(number, _, _): &(u32, String, u32)| {
            root.allowed_cpus(number).map(|cpus| (number, cpus))
        };
        let found: Vec<(u32, String)> = wanted.iter().filter_map(allowed).collect();
        if found.is_empty() {
            return pins;
        }
        let changes = Changes {
            interrupts: found.clone(),
            ..Changes::default()
        };
        match record(records, interface, changes) {
            Ok(record) => pins.record = Some(record),
            Err(error) => pins.notes.push(not_written(name, &error)),
        }
        for (number, called, cpu) in wanted {
            let before = found.iter().find(|(there, _)| *there == number);
            let Some((_, before)) = before else { continue };
            match root.allow_cpus(number, &cpu.to_string()) {
                Ok(()) => {
                    let moved = format!("{name}: interrupt {number} ({called}) on CPU {cpu}");
                    pins.said.push(format!("{moved}, was on {before}"));
                    pins.found.push((number, before.clone()));
                }
                Err(error) => pins.notes.push(format!(
                    "{name}: interrupt {number} ({called}) stays on CPU {before}: {error}; its \
                     driver may place it by itself"
                )),
            }
        }
        pins
    }

    /// Number, name and CPU of each interrupt of a queue.
    fn wanted(
        &mut self,
        interface: &Interface,
        cpu_of_queue: impl Fn(u32) -> Option<u32>,
    ) -> Vec<(u32, String, u32)> {
        let name = interface.name();
        let interrupts = self.root.interrupts_of(interface);
        if interrupts.is_empty() {
            self.notes.push(format!(
                "{name} has no interrupts of its own, and none is pinned: the kernel does its work \
                 on the CPU that sends to it"
            ));
            return Vec::new();
        }
        let alone = interrupts.len() == 1;
        let place = |interrupt: Interrupt| {
            // One of the interface's own name is that of its link, unless it has no other.
            let queue = if interrupt.name == name {
                alone.then_some(0)
            } else {
                interrupt.queue()
            };
            Some((interrupt.number, interrupt.name, cpu_of_queue(queue?)?))
        };
        let wanted: Vec<(u32, String, u32)> = interrupts.into_iter().filter_map(place).collect();
        if wanted.is_empty() {
            self.notes.push(format!(
                "{name}: no name of its interrupts in /proc/interrupts tells a queue, and none is \
                 pinned"
            ));
        }
        wanted
    }

    /// What was moved from where to where, a sentence each.
    #[must_use]
    pub fn said(&self) -> &[String] {
        &self.said
    }

    /// What was not moved and why, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Drop for InterruptPins {
    fn drop(&mut self) {
        for (number, cpus) in self.found.drain(..).rev() {
            // Its device is gone, and nobody is there to be told.
            let _ = self.root.allow_cpus(number, &cpus);
        }
        self.record = None;
    }
}

/// Whether a program runs that moves interrupts by its own lights, and its name.
#[must_use]
pub fn irq_balancer(root: &Root) -> Option<String> {
    let processes = fs::read_dir(root.path("proc")).ok()?.flatten();
    let names = processes.filter_map(|process| {
        let is_process = process.file_name().to_str()?.parse::<u32>().is_ok();
        let name = fs::read_to_string(process.path().join("comm")).ok()?;
        is_process.then(|| name.trim().to_owned())
    });
    let mut names = names;
    names.find(|name| name == "irqbalance")
}

impl Interrupt {
    /// The queue that it is of, as far as its name tells.
    #[must_use]
    pub fn queue(&self) -> Option<u32> {
        queue_of(&self.name)
    }
}

/// The number at the end of a queue's interrupt.
fn queue_of(name: &str) -> Option<u32> {
    let name = name.split('@').next()?;
    let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let words = stem.split(|letter: char| !letter.is_ascii_alphanumeric());
    let lower = words.map(str::to_ascii_lowercase);
    if lower.into_iter().any(|word| NO_QUEUE.contains(&&word[..])) {
        return None;
    }
    name[stem.len()..].parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::listed::Listed;
    use super::super::sysfs::made::show;
    use super::*;

    const TABLE: &str = "            CPU0       CPU1\n \
        37:  0  0  PCI-MSIX-0000:00:03.0   0-edge      virtio2-config\n \
        38:  0  2808  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n \
        39:  2107  0  PCI-MSIX-0000:00:03.0   2-edge      virtio2-output.0\n \
        40:  0  7  PCI-MSIX-0000:00:03.0   3-edge      virtio2-input.1\n\
        NMI:  0  0   Non-maskable interrupts\n";

    /// A machine on which the loopback has four interrupts, one of them not a queue's.
    fn machine(folder: &Path) -> (Root, Interface) {
        let interface = Interface::named("lo").unwrap();
        let write = |path: String, text: &str| {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        show(folder, &Listed::of(interface.index().unwrap()).unwrap());
        write("proc/interrupts".to_owned(), TABLE);
        for number in 37..=40 {
            write(
                format!("sys/class/net/lo/device/msi_irqs/{number}"),
                "msix\n",
            );
            write(format!("proc/irq/{number}/smp_affinity_list"), "0-1\n");
        }
        (Root::at(folder), interface)
    }

    fn affinities(folder: &Path) -> Vec<String> {
        let read = |number| {
            let file = folder.join(format!("proc/irq/{number}/smp_affinity_list"));
            fs::read_to_string(file).unwrap().trim().to_owned()
        };
        (37..=40).map(read).collect()
    }

    #[test]
    fn each_queues_interrupt_is_moved_and_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let (root, interface) = machine(folder.path());
        let records = Records::at(&folder.path().join("state"));
        let cpu = |queue| Some([5, 3][queue as usize]);
        let pins = InterruptPins::pin_at(&root, &records, &interface, cpu);
        assert_eq!(affinities(folder.path()), ["0-1", "5", "5", "3"]);
        assert_eq!(pins.said().len(), 3, "{pins:?}");
        let first = "lo: interrupt 38 (virtio2-input.0) on CPU 5, was on 0-1";
        assert_eq!(pins.said()[0], first);
        let state = || fs::read_dir(folder.path().join("state")).unwrap().count();
        assert_eq!(state(), 1, "written down");
        drop(pins);
        assert_eq!(affinities(folder.path()), ["0-1"; 4]);
        assert_eq!(state(), 0);
    }

    #[test]
    fn what_cannot_be_moved_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let (root, interface) = machine(folder.path());
        let records = Records::at(&folder.path().join("state"));
        let pin = |root: &Root| InterruptPins::pin_at(root, &records, &interface, |_| Some(0));
        let file = folder.path().join("proc/irq/38/smp_affinity_list");
        fs::remove_file(&file).unwrap();
        assert_eq!(pin(&root).said().len(), 2, "one cannot be read");
        fs::write(folder.path().join("proc/interrupts"), "").unwrap();
        assert!(pin(&root).notes()[0].contains("tells a queue"));
        let nothing = pin(&Root::at(&folder.path().join("nowhere")));
        assert!(nothing.notes()[0].contains("lo has no interrupts of its own"));
    }

    #[test]
    fn queues_by_their_names() {
        for (name, queue) in [
            ("virtio2-input.0", Some(0)),
            ("virtio2-output.11", Some(11)),
            ("eth0-TxRx-3", Some(3)),
            ("i40e-enp3s0f0-TxRx-12", Some(12)),
            ("mlx5_comp2@pci:0000:03:00.0", Some(2)),
            ("eth0-Tx-Rx-7", Some(7)),
            ("mlx5_async0@pci:0000:03:00.0", None),
            ("virtio2-config", None),
            ("ena-mgmnt@pci:0000:00:05.0", None),
            ("ice-eth0-ctrl0", None),
            ("iavf-0000:3b:02.0:mbx", None),
            ("", None),
        ] {
            assert_eq!(queue_of(name), queue, "{name}");
        }
    }

    #[test]
    fn irqbalance_is_seen_among_processes() {
        let folder = tempfile::tempdir().unwrap();
        let process = folder.path().join("proc/42");
        fs::create_dir_all(&process).unwrap();
        fs::write(process.join("comm"), "bash\n").unwrap();
        assert_eq!(irq_balancer(&Root::at(folder.path())), None);
        fs::write(process.join("comm"), "irqbalance\n").unwrap();
        let seen = irq_balancer(&Root::at(folder.path()));
        assert_eq!(seen.as_deref(), Some("irqbalance"));
    }
}
