//! A network interface of the kernel, seen from the control side: what it is, how it is, and what
//! was changed on it and must be put back.

mod addresses;
mod attached;
mod checksums;
mod claims;
mod counters;
mod counts;
mod departure;
mod found;
mod holder;
mod interrupts;
mod kept_off;
mod link;
mod listed;
mod meter;
mod monitor;
mod name;
mod netlink;
mod offloads;
mod peer;
mod queueing;
mod records;
mod restore;
mod rss;
mod signal;
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
pub(crate) use claims::Claim;
pub use claims::Claims;
pub use counters::{LinkCounts, QueueCounts};
pub(crate) use counts::{Counts, LONGER_STRIDE};
pub use holder::Holder;
pub use interrupts::{InterruptPins, irq_balancer};
pub use link::Link;
pub use meter::{Meter, Reading};
pub use monitor::{DriverDrops, Monitor, View};
pub(crate) use name::OTHER_NAME_BYTES_MAX;
pub use name::name_shown;
pub use offloads::{MERGING, Offloads, TAKING_TAGS};
pub use peer::{CHECKSUMS_TX, CUTTING, SEGMENTING};
pub use queueing::{Queueing, QueueingCounts};
pub use records::{records_folder, records_prefix};
pub use restore::{LeftBehind, Restored, left_behind, restore};
pub use rss::{HashSettings, RssAccess, RssChange};
pub(crate) use signal::{Presence, Signal};
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
use listed::Listed;
use name::{shown, unescaped};

/// Hardware types whose frames begin with an Ethernet header (linux/if_arp.h).
const ETHERNET: [u16; 2] = [libc::ARPHRD_ETHER, libc::ARPHRD_LOOPBACK];

/// An interface by a name of its. It may go and come back; each question is asked anew.
pub struct Interface {
    /// Its own name, whichever it was asked for by.
    name: String,
    /// What it was asked for by.
    asked: String,
    /// Its own name as the kernel takes it.
    kernel_name: InterfaceName,
    control: ControlSocket,
    /// Where one is held on to: its number, or 0 while there is none.
    held: Option<AtomicU32>,
}

impl Interface {
    /// The interface of this name, which need not exist: its own name or another one that it has,
    /// with bytes that are no text as [`name_shown`] writes them.
    ///
    /// # Errors
    /// A name that no interface can have; no socket to ask by.
    pub fn named(asked: &str) -> Result<Self, PortError> {
        let impossible = asked.len() > OTHER_NAME_BYTES_MAX || asked.contains(['\0', ':']);
        if asked.is_empty() || impossible {
            let sentence = format!(
                "no interface can be called `{}`: a name has from 1 to 15 bytes, another name of \
                 it (altname) up to {OTHER_NAME_BYTES_MAX}, and no colon; `ip link` lists those \
                 that are here",
                asked.escape_debug()
            );
            return Err(PortError::new(PortErrorKind::Open, sentence));
        }
        let control = ControlSocket::new().map_err(|error| {
            let sentence = format!("no socket can be made to ask about {asked}: {error}");
            PortError::new(PortErrorKind::Open, sentence)
        })?;
        let here = find(&control, asked).map(|(_, name)| name);
        // One that is not there can be made, by its own name alone.
        let kernel_name = here.or_else(|| InterfaceName::new(asked));
        let name = here.map_or_else(|| asked.to_owned(), |name| shown(name.bytes()));
        Ok(Self {
            name,
            asked: asked.to_owned(),
            kernel_name: kernel_name.unwrap_or_default(),
            control,
            held: None,
        })
    }

    /// The interface of this number.
    pub(crate) fn at(index: u32) -> Option<Self> {
        Self::numbered_by(ControlSocket::new().ok()?, index)
    }

    /// The same, held on to: it stays the interface that has the name now for as long as this is in
    /// the network namespace, whatever it is called by. Sockets do, too. Once it is gone, it is
    /// the next of its name: of the one that it was asked for by, or else of its own.
    pub(crate) fn held(self) -> Self {
        let number = self.index().unwrap_or(0);
        Self {
            held: Some(AtomicU32::new(number)),
            ..self
        }
    }

    /// The same, to be asked by somebody else, who holds on to it, too, where this one does.
    pub(crate) fn again(&self) -> io::Result<Self> {
        let number = |held: &AtomicU32| AtomicU32::new(held.load(Ordering::Relaxed));
        Ok(Self {
            name: self.name.clone(),
            asked: self.asked.clone(),
            kernel_name: self.kernel_name,
            control: self.control.try_clone()?,
            held: self.held.as_ref().map(number),
        })
    }

    /// The same, where it must be there and carry Ethernet frames.
    ///
    /// # Errors
    /// It is not there or of another kind.
    pub fn existing(name: &str) -> Result<Self, PortError> {
        let interface = Self::named(name)?;
        let (kind, _) = interface.hardware_address().map_err(|error| {
            let sentence = match error.raw_os_error() {
                Some(libc::ENODEV) => interface.absence(),
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

    /// That it is not there, and what else may be meant.
    fn absence(&self) -> String {
        let asked = self.asked.escape_debug();
        // As `ip link` writes the number of the other end, or the name of the one below it.
        let near = self.asked.split_once('@').map(|(name, _)| name);
        let near = near.filter(|name| find(&self.control, name).is_some());
        match near {
            Some(near) => format!(
                "there is no interface {asked} in this network namespace: did you mean {near}? \
                 `ip link` writes behind @ what it belongs to"
            ),
            None => format!(
                "there is no interface {asked} in this network namespace; `ip link` lists those \
                 that are here"
            ),
        }
    }

    /// Its own name: the first one, where it was renamed since.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that it was asked for by, where that is not its own.
    #[must_use]
    pub fn other_name(&self) -> Option<&str> {
        (self.asked != self.name).then_some(&self.asked[..])
    }

    /// A sentence for the start where it was asked for by another name. `driver` is the port's.
    pub(crate) fn note_on_name(&self, driver: &str) -> Option<String> {
        let (asked, name) = (self.other_name()?, &self.name);
        Some(format!(
            "{driver}:{asked}: that is another name of {name}, which the port is called by from \
             here on"
        ))
    }

    /// What it is called by now, where that is another name.
    pub(crate) fn new_name(&self) -> Option<String> {
        let now = self.kernel_name();
        (now != self.kernel_name).then(|| shown(now.bytes()))
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
        let own = || {
            Some((
                self.control.index(&self.kernel_name).ok()?,
                self.kernel_name,
            ))
        };
        let next = find(&self.control, &self.asked).or_else(own);
        // Others may see the same at once, and store the same.
        held.store(next.map_or(0, |(number, _)| number), Ordering::Relaxed);
        next.map_or(self.kernel_name, |(_, name)| name)
    }

    /// What the kernel has made it a part of: a bridge, a bond.
    #[must_use]
    pub fn master(&self) -> Option<String> {
        let master = Listed::of(self.index().ok()?).ok()?.master?;
        Some(Self::at(master)?.name)
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
        Self::numbered_by(self.control.try_clone().ok()?, index)
    }

    fn numbered_by(control: ControlSocket, index: u32) -> Option<Self> {
        let kernel_name = control.name_of(index).ok()?;
        let name = shown(kernel_name.bytes());
        Some(Self {
            asked: name.clone(),
            name,
            kernel_name,
            control,
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

    /// Mbit/s of the hardware behind it; `None` where there is none, or it does not say.
    #[must_use]
    pub fn hardware_speed(&self) -> Option<u32> {
        let (control, name) = (&self.control, self.kernel_name());
        let place = ethtool::place(control, &name).ok()?;
        let speed = ethtool::speed(control, &name).ok()?;
        speed.filter(|_| !place.is_empty())
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

    /// Whether its NIC has a receive hash and hands it on to nobody (`ethtool -K IFACE rxhash
    /// off`).
    #[must_use]
    pub fn hands_on_no_hash(&self) -> bool {
        let features = self.features().unwrap_or_default();
        let hash = features.iter().find(|feature| feature.name == "rx-hashing");
        hash.is_some_and(|hash| hash.changeable && !hash.active)
    }

    /// Asks for one offload to be on or off.
    ///
    /// # Errors
    /// The kernel's own: `EPERM` without `CAP_NET_ADMIN`.
    pub fn set_feature(&self, feature: &Feature, on: bool) -> io::Result<()> {
        ethtool::set_feature(&self.control, &self.kernel_name(), feature, on)
    }

    /// What its NIC can stamp.
    pub(crate) fn stamp_abilities(&self) -> io::Result<StampAbilities> {
        StampAbilities::of(&self.control, &self.kernel_name())
    }

    /// What its NIC is set to stamp.
    pub(crate) fn stamping(&self) -> io::Result<StampSettings> {
        StampSettings::of(&self.control, &self.kernel_name())
    }

    /// Has its NIC stamp; what came of it.
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

    /// As [`Self::link`], and asks the driver too: after a NIC was reset the flags of an interface
    /// say for up to a second that its carrier is still there. The question takes a lock of the
    /// kernel's.
    #[must_use]
    pub fn link_of_driver(&self) -> Link {
        let carrier = || ethtool::carrier(&self.control, &self.kernel_name());
        match self.link() {
            Link::Up(index) if matches!(carrier(), Ok(false)) => Link::NoCarrier(index),
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

/// Number and own name of the interface that has this name, as its own or as another.
fn find(control: &ControlSocket, name: &str) -> Option<(u32, InterfaceName)> {
    let escaped = || number(control, &unescaped(name)?);
    let index = number(control, name.as_bytes()).or_else(escaped)?;
    Some((index, control.name_of(index).ok()?))
}

/// The ioctl knows other names, too, those that fit.
fn number(control: &ControlSocket, name: &[u8]) -> Option<u32> {
    match InterfaceName::new(name) {
        Some(name) => control.index(&name).ok(),
        None => Some(Listed::also_called(name).ok()?.index),
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
