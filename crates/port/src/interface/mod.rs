//! A network interface of the kernel, seen from the control side: what it is, how it is, and what
//! was changed on it and must be put back.

mod addresses;
mod attached;
mod checksums;
mod claims;
mod counters;
mod counts;
mod found;
mod holder;
mod interrupts;
mod link;
mod merging_peer;
mod meter;
mod monitor;
mod netlink;
mod offloads;
mod peer;
mod queueing;
mod records;
mod restore;
mod rss;
mod stamping;
mod survey;
mod sysfs;
mod watch;
mod xdp_support;

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

pub use addresses::AddressNews;
pub(crate) use addresses::{LocalAddress, VlanPort, address_news, addresses, vlan_ports};
pub(crate) use attached::programs_on;
pub(crate) use checksums::Finisher;
pub use claims::Claims;
pub use counters::{LinkCounts, QueueCounts};
pub(crate) use counts::Counts;
pub use holder::Holder;
pub use interrupts::{InterruptPins, irq_balancer};
pub use link::Link;
pub use meter::{Meter, Reading};
pub use monitor::{Monitor, View};
pub(crate) use monitor::{Presence, Signal};
pub(crate) use offloads::TAKING_TAGS;
pub use offloads::{MERGING, Offloads};
pub use queueing::{Queueing, QueueingCounts};
pub use records::{records_folder, records_prefix};
pub use restore::{LeftBehind, Restored, left_behind, restore};
pub use rss::{HashSettings, RssAccess, RssChange};
pub(crate) use stamping::Stamping;
pub use survey::{Offload, Program, Survey, names_here};
pub use sysfs::{Interrupt, Root};
pub(crate) use watch::Watch;
pub use xdp_support::XdpSupport;
pub(crate) use xdp_support::tells_stamps;

use crate::sys::ethtool;
pub use crate::sys::ethtool::{
    Channels, Coalescing, Feature, FlowKind, HASH_FUNCTIONS, Pause, RingSizes, Rss,
};
use crate::sys::hardware_stamps::{StampAbilities, StampSettings};
use crate::sys::ioctl::{ControlSocket, InterfaceName};
use crate::{PortError, PortErrorKind};

/// Hardware types whose frames begin with an Ethernet header (linux/if_arp.h).
const ETHERNET: [u16; 2] = [libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK];

/// An interface by its name. It may go and come back; each question is asked anew.
pub struct Interface {
    name: String,
    kernel_name: InterfaceName,
    control: ControlSocket,
    /// Where one is held on to: its number, or 0 while there is none.
    held: Option<AtomicU32>,
}

impl Interface {
    /// The interface of this name, which need not exist.
    ///
    /// # Errors
    /// A name that no interface can have; no socket to ask by.
    pub fn named(name: &str) -> Result<Self, PortError> {
        let kernel_name = InterfaceName::new(name).ok_or_else(|| {
            let sentence = format!(
                "no interface can be called `{}`: a name has from 1 to 15 bytes and no colon; `ip \
                 link` lists those that are here",
                name.escape_debug()
            );
            PortError::new(PortErrorKind::Open, sentence)
        })?;
        let control = ControlSocket::new().map_err(|error| {
            let sentence = format!("no socket can be made to ask about {name}: {error}");
            PortError::new(PortErrorKind::Open, sentence)
        })?;
        Ok(Self {
            name: name.to_owned(),
            kernel_name,
            control,
            held: None,
        })
    }

    /// The same, held on to: it stays the interface that has the name now for as long as this is in
    /// the network namespace, whatever it is called by. Sockets do, too. Once it is gone, it is
    /// the next of its name.
    pub(crate) fn held(self) -> Self {
        let number = self.index().unwrap_or(0);
        Self {
            held: Some(AtomicU32::new(number)),
            ..self
        }
    }

    /// The same, where it must be there and carry Ethernet frames.
    ///
    /// # Errors
    /// It is not there or of another kind.
    pub fn existing(name: &str) -> Result<Self, PortError> {
        let interface = Self::named(name)?;
        let (kind, _) = interface.hardware_address().map_err(|error| {
            let sentence = match error.raw_os_error() {
                Some(libc::ENODEV) => format!(
                    "there is no interface {name} in this network namespace; `ip link` lists those \
                     that are here"
                ),
                _ => format!("interface {name} does not say what it is: {error}"),
            };
            PortError::new(PortErrorKind::Open, sentence)
        })?;
        if !ETHERNET.contains(&kind) {
            let sentence = format!(
                "interface {name} carries no Ethernet frames (hardware type {kind}); choose \
                 another one"
            );
            return Err(PortError::new(PortErrorKind::Open, sentence));
        }
        Ok(interface)
    }

    /// Its name: the first one, where it was renamed since.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is called by now, where that is another name.
    pub(crate) fn new_name(&self) -> Option<String> {
        let now = self.kernel_name();
        let renamed = now != self.kernel_name;
        renamed.then(|| now.text().map(str::to_owned)).flatten()
    }

    /// The name to ask the kernel by.
    pub(crate) fn kernel_name(&self) -> InterfaceName {
        let Some(held) = &self.held else {
            return self.kernel_name;
        };
        let number = held.load(Ordering::Relaxed);
        if number != 0
            && let Ok(name) = self.control.name_of(number)
        {
            return name;
        }
        // Others may see the same at once, and store the same.
        let next = self.control.index(&self.kernel_name).unwrap_or(0);
        held.store(next, Ordering::Relaxed);
        self.kernel_name
    }

    /// What the kernel has made it a part of: a bridge, a bond.
    #[must_use]
    pub fn master(&self) -> Option<String> {
        sysfs::Folder::of(&self.name, self.index().ok()?)?.master()
    }

    /// The kernel's number for it; a new one when it was removed and made again.
    ///
    /// # Errors
    /// The kernel's own: `ENODEV` where the interface is not there, `EOPNOTSUPP` where it does not
    /// say.
    pub fn index(&self) -> io::Result<u32> {
        self.control.index(&self.kernel_name())
    }

    /// The interface of this number in the network namespace of this one, whatever it is called by
    /// now; `None` where it is gone or in another namespace.
    pub(crate) fn numbered(&self, index: u32) -> Option<Self> {
        let kernel_name = self.control.name_of(index).ok()?;
        Some(Self {
            name: kernel_name.text()?.to_owned(),
            kernel_name,
            control: self.control.try_clone().ok()?,
            held: None,
        })
    }

    /// The longest IP packet, bytes: frames have 14 more, and 4 more for each VLAN tag.
    ///
    /// # Errors
    /// The kernel's own: `ENODEV` where the interface is not there, `EOPNOTSUPP` where it does not
    /// say.
    pub fn mtu(&self) -> io::Result<u32> {
        self.control.mtu(&self.kernel_name())
    }

    /// Hardware type (`ARPHRD_ETHER` is 1) and address.
    ///
    /// # Errors
    /// The kernel's own: `ENODEV` where the interface is not there, `EOPNOTSUPP` where it does not
    /// say.
    pub fn hardware_address(&self) -> io::Result<(u16, [u8; 6])> {
        self.control.hardware_address(&self.kernel_name())
    }

    /// The driver's name.
    ///
    /// # Errors
    /// The kernel's own: `ENODEV` where the interface is not there, `EOPNOTSUPP` where it does not
    /// say.
    pub fn driver(&self) -> io::Result<String> {
        ethtool::driver(&self.control, &self.kernel_name())
    }

    /// The driver's own counters, as `ethtool -S` names them.
    ///
    /// # Errors
    /// The kernel's own: `ENODEV` where the interface is not there, `EOPNOTSUPP` where the driver
    /// has none.
    pub fn driver_counters(&self) -> io::Result<Vec<(String, u64)>> {
        ethtool::statistics(&self.control, &self.kernel_name())
    }

    /// Receive queues in use.
    ///
    /// # Errors
    /// The kernel's own: `ENODEV` where the interface is not there, `EOPNOTSUPP` where it does not
    /// say.
    pub fn rx_queues(&self) -> io::Result<u32> {
        ethtool::rx_queues(&self.control, &self.kernel_name())
    }

    /// The most receive queues that can be set.
    ///
    /// # Errors
    /// The kernel's own: `ENODEV` where the interface is not there, `EOPNOTSUPP` where it does not
    /// say.
    pub fn rx_queues_max(&self) -> io::Result<u32> {
        ethtool::channels(&self.control, &self.kernel_name()).map(|channels| channels.rx_max)
    }

    /// All offloads, as they are now.
    ///
    /// # Errors
    /// The kernel's own: `ENODEV` where the interface is not there, `EOPNOTSUPP` where it does not
    /// say.
    pub fn features(&self) -> io::Result<Vec<Feature>> {
        ethtool::features(&self.control, &self.kernel_name())
    }

    /// Asks for one offload to be on or off.
    ///
    /// # Errors
    /// The kernel's own: `EPERM` without `CAP_NET_ADMIN`.
    pub fn set_feature(&self, feature: &Feature, on: bool) -> io::Result<()> {
        ethtool::set_feature(&self.control, &self.kernel_name(), feature, on)
    }

    /// What its card can stamp.
    pub(crate) fn stamp_abilities(&self) -> io::Result<StampAbilities> {
        StampAbilities::of(&self.control, &self.kernel_name())
    }

    /// What its card is set to stamp.
    pub(crate) fn stamping(&self) -> io::Result<StampSettings> {
        StampSettings::of(&self.control, &self.kernel_name())
    }

    /// Has its card stamp; what came of it.
    pub(crate) fn set_stamping(&self, settings: StampSettings) -> io::Result<StampSettings> {
        settings.set(&self.control, &self.kernel_name())
    }

    /// Whether frames can pass now. Two system calls, four where it is held on to, twice as many
    /// where it seems gone, and no lock of the kernel's: cheap enough to be asked some times a
    /// second.
    #[must_use]
    pub fn link(&self) -> Link {
        let ask = || {
            let flags = self.control.flags(&self.kernel_name());
            Link::from_answers(self.index().ok(), flags.ok())
        };
        // One that is renamed between two questions looks gone, and is there by its new name.
        match ask() {
            Link::Absent => ask(),
            link => link,
        }
    }

    /// Whether somebody set promiscuous mode on the interface itself. Sockets that are members do
    /// not show here.
    pub(crate) fn is_set_promiscuous(&self) -> io::Result<bool> {
        let flags = self.control.flags(&self.kernel_name())?;
        Ok(flags & libc::IFF_PROMISC as u16 != 0)
    }

    /// Sets promiscuous mode on the interface itself, where it outlives every process, or ends it.
    pub(crate) fn set_promiscuous(&self, on: bool) -> io::Result<()> {
        let flags = self.control.flags(&self.kernel_name())?;
        let bit = libc::IFF_PROMISC as u16;
        let flags = if on { flags | bit } else { flags & !bit };
        self.control.set_flags(&self.kernel_name(), flags)
    }

    /// Sets it up, so that frames pass.
    ///
    /// # Errors
    /// The kernel's own: `EPERM` without `CAP_NET_ADMIN`.
    pub fn bring_up(&self) -> io::Result<()> {
        let flags = self.control.flags(&self.kernel_name())?;
        let up = flags | libc::IFF_UP as u16;
        self.control.set_flags(&self.kernel_name(), up)
    }
}

impl fmt::Debug for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interface")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
