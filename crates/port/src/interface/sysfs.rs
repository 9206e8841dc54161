//! What the kernel shows of an interface under `/sys/class/net`. A mount of another network
//! namespace shows other interfaces, of the same names and numbers perhaps: these are told by
//! address and link as well, and nothing of them is read.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::Interface;
use super::listed::Listed;

/// Where `/proc` and `/sys` are: at the root, or elsewhere in tests.
#[derive(Debug, Clone)]
pub struct Root(PathBuf);

impl Root {
    /// This machine's.
    #[must_use]
    pub fn machine() -> Self {
        Self(PathBuf::from("/"))
    }

    /// What lies under a folder, as in a test.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(super) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.0.join(path)
    }

    /// `None` where it is not there or is another interface's.
    pub(super) fn folder(&self, interface: &Listed) -> Option<Folder> {
        let classes = self.path("sys/class/net");
        let folder = classes.join(OsStr::from_bytes(interface.name.bytes()));
        let folder = Folder(folder, self.clone());
        folder.is_of(interface).then_some(folder)
    }

    /// The interrupts of the device behind an interface; none for most without hardware.
    pub(super) fn interrupts_of(&self, interface: &Interface) -> Vec<Interrupt> {
        let listed = interface.index().and_then(Listed::of).ok();
        let folder = listed.and_then(|listed| self.folder(&listed));
        let interrupts = folder.and_then(|folder| folder.interrupts());
        interrupts.unwrap_or_default()
    }

    fn affinity(&self, interrupt: u32) -> PathBuf {
        self.path(format!("proc/irq/{interrupt}/smp_affinity_list"))
    }

    /// The CPUs that an interrupt may come to.
    pub(super) fn allowed_cpus(&self, interrupt: u32) -> Option<String> {
        line(&self.affinity(interrupt))
    }

    /// Says to which CPUs an interrupt may come.
    pub(super) fn allow_cpus(&self, interrupt: u32, cpus: &str) -> std::io::Result<()> {
        let mut file = fs::OpenOptions::new();
        let mut file = file
            .write(true)
            .truncate(true)
            .open(self.affinity(interrupt))?;
        // One write: the kernel takes each by itself.
        file.write_all(format!("{cpus}\n").as_bytes())
    }
}

/// One interrupt of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupt {
    /// Its number in `/proc/irq`.
    pub number: u32,
    /// Its name in `/proc/interrupts`, as in `virtio2-input.0`; empty where it has none.
    pub name: String,
    /// The CPUs that it reaches, as the kernel lists them (`0-3,8`); empty where it does not say.
    pub cpus: String,
}

/// The folder of one interface.
#[derive(Debug)]
pub(super) struct Folder(PathBuf, Root);

impl Folder {
    fn is_of(&self, interface: &Listed) -> bool {
        let bytes = interface.address.iter().map(|byte| format!("{byte:02x}"));
        let address = bytes.collect::<Vec<_>>().join(":");
        self.number("ifindex") == Some(interface.index)
            && self.number("iflink") == Some(interface.link)
            && self.line("address").unwrap_or_default() == address
    }

    pub(super) fn line(&self, file: &str) -> Option<String> {
        line(&self.0.join(file))
    }

    pub(super) fn number(&self, file: &str) -> Option<u32> {
        self.line(file)?.parse().ok()
    }

    /// Whether no hardware is behind it.
    pub(super) fn is_virtual(&self) -> bool {
        !self.0.join("device").exists()
    }

    /// The device and the one it sits on: a virtio interface has its interrupts from PCI.
    fn devices(&self) -> Vec<PathBuf> {
        let device = fs::canonicalize(self.0.join("device"));
        let device = device.ok();
        let devices = device.iter().flat_map(|device| device.ancestors().take(2));
        devices.map(Path::to_owned).collect()
    }

    /// The memory node nearest to it.
    pub(super) fn numa_node(&self) -> Option<u32> {
        // The kernel writes -1 where it does not know.
        let nodes = self.devices().into_iter();
        let mut nodes = nodes.filter_map(|device| line(&device.join("numa_node")));
        nodes.find_map(|node| node.parse().ok())
    }

    /// The interrupts of the device, by number.
    pub(super) fn interrupts(&self) -> Option<Vec<Interrupt>> {
        let devices = self.devices().into_iter();
        let mut folders = devices.filter_map(|device| fs::read_dir(device.join("msi_irqs")).ok());
        let names = folders.next()?.flatten().map(|entry| entry.file_name());
        let numbers = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
        let mut numbers: Vec<u32> = numbers.collect();
        numbers.sort_unstable();
        let table = fs::read_to_string(self.1.path("proc/interrupts")).unwrap_or_default();
        let interrupt = |number: u32| {
            let name = name_in(&table, number).unwrap_or_default().to_owned();
            let file = format!("proc/irq/{number}/effective_affinity_list");
            let cpus = line(&self.1.path(file)).unwrap_or_default();
            Interrupt { number, name, cpus }
        };
        Some(numbers.into_iter().map(interrupt).collect())
    }
}

/// The name in the last column of an interrupt's row.
fn name_in(table: &str, number: u32) -> Option<&str> {
    let row = table.lines().find_map(|line| {
        let (there, rest) = line.split_once(':')?;
        (there.trim().parse() == Ok(number)).then_some(rest)
    })?;
    row.split_whitespace().last()
}

fn line(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
pub(super) mod made {
    use super::*;

    /// Shows an interface under a root as the kernel would.
    pub(crate) fn show(root: &Path, interface: &Listed) {
        let name = OsStr::from_bytes(interface.name.bytes());
        let folder = root.join("sys/class/net").join(name);
        fs::create_dir_all(&folder).unwrap();
        let bytes = interface.address.iter().map(|byte| format!("{byte:02x}"));
        let address = bytes.collect::<Vec<_>>().join(":");
        let files = [
            ("ifindex", interface.index.to_string()),
            ("iflink", interface.link.to_string()),
            ("address", address),
        ];
        for (file, text) in files {
            fs::write(folder.join(file), format!("{text}\n")).unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::ioctl::InterfaceName;

    fn named(name: &[u8], index: u32, address: &[u8], link: u32) -> Listed {
        Listed {
            index,
            name: InterfaceName::new(name).unwrap(),
            address: address.to_vec(),
            link,
            ..Listed::default()
        }
    }

    /// What a container sees after `nsenter -n`: the host's `/sys`, and interfaces of its own.
    #[test]
    fn an_interface_of_another_namespace_is_not_believed() {
        let (mac, other) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let table = [
            (named(b"eth0", 2, &mac, 9), true),
            (named(b"eth0", 3, &mac, 9), false),
            (named(b"eth0", 2, &mac, 2), false),
            (named(b"eth0", 2, &other, 9), false),
            (named(b"eth0", 2, &[], 9), false),
            (named(b"eth1", 2, &mac, 9), false),
            (named(b"eth0\xff", 2, &mac, 9), false),
            // One without an address, as of a tunnel, by a name that is no text.
            (named(b"t\xff", 4, &[], 4), true),
            (named(b"t\xff", 4, &mac, 4), false),
        ];
        let folder = tempfile::tempdir().unwrap();
        made::show(folder.path(), &named(b"eth0", 2, &mac, 9));
        made::show(folder.path(), &named(b"t\xff", 4, &[], 4));
        let root = Root::at(folder.path());
        for (asked, believed) in table {
            assert_eq!(root.folder(&asked).is_some(), believed, "{asked:?}");
        }
    }
}
