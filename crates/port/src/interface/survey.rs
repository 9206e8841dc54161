//! Everything the kernel says of an interface that decides rates and correctness, in one look.

use std::collections::BTreeMap;
use std::io;

use super::listed::Listed;
use super::name::shown;
use super::sysfs::Interrupt;
use super::{
    Channels, Coalescing, FlowKind, Holder, Interface, LeftBehind, Link, Pause, RingSizes, Root,
    Rss, XdpSupport,
};
use crate::PortError;
use crate::sys::ethtool;

/// One offload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offload {
    /// It is in effect.
    pub active: bool,
    /// The driver lets it be changed.
    pub changeable: bool,
}

/// An XDP program on an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The kernel's number for it.
    pub id: u32,
    /// Its name, empty where it has none; `None` where we may not ask, nor see who holds it.
    pub name: Option<String>,
    /// Who holds it; `None` where nobody is found, or we may not look.
    pub holder: Option<Holder>,
}

/// An interface as it is now. What the kernel does not say is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// Its own name.
    pub name: String,
    /// The name that it was asked for by, where that is another one.
    pub other_name: Option<String>,
    /// Whether frames can pass.
    pub link: Link,
    /// Whether `/sys` shows it, and not the interfaces of another network namespace: interrupts,
    /// memory node and kernel threads are seen there alone.
    pub in_sysfs: bool,
    /// `ARPHRD_ETHER` (1), `ARPHRD_LOOPBACK` (772) or another.
    pub hardware_type: Option<u16>,
    /// The driver's name.
    pub driver: Option<String>,
    /// Whether it has no hardware.
    pub is_virtual: Option<bool>,
    /// The longest IP packet, bytes.
    pub mtu: Option<u32>,
    /// Whether it receives frames for every address.
    pub promiscuous: Option<bool>,
    /// Offloads by name.
    pub offloads: Option<BTreeMap<String, Offload>>,
    /// Receive queues.
    pub channels: Option<Channels>,
    /// Sizes of its rings.
    pub rings: Option<RingSizes>,
    /// When it interrupts.
    pub coalescing: Option<Coalescing>,
    /// Pause frames.
    pub pause: Option<Pause>,
    /// How it chooses queues.
    pub rss: Option<Rss>,
    /// What of a frame goes into the hash that chooses: kind of frame, and the letters of ethtool.
    /// Empty where the driver does not say.
    pub hashed: Vec<(&'static str, String)>,
    /// What a killed process left changed on it.
    pub left: Vec<LeftBehind>,
    /// XDP programs on it.
    pub programs: Option<Vec<Program>>,
    /// What its driver can do for XDP.
    pub xdp: Option<XdpSupport>,
    /// The memory node nearest to it.
    pub numa_node: Option<u32>,
    /// Its interrupts, each with its CPUs.
    pub interrupts: Option<Vec<Interrupt>>,
    /// Whether its receptions run in kernel threads of their own.
    pub threaded: Option<bool>,
    /// The other end of a veth pair, where it is in this network namespace too.
    pub peer: Option<String>,
}

impl Survey {
    /// An interface of which nothing is known.
    #[must_use]
    pub fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            other_name: None,
            link: Link::Absent,
            in_sysfs: false,
            hardware_type: None,
            driver: None,
            is_virtual: None,
            mtu: None,
            promiscuous: None,
            offloads: None,
            channels: None,
            rings: None,
            coalescing: None,
            pause: None,
            rss: None,
            hashed: Vec::new(),
            left: Vec::new(),
            programs: None,
            xdp: None,
            numa_node: None,
            interrupts: None,
            threaded: None,
            peer: None,
        }
    }

    /// Asks the kernel; changes nothing. An interface that is not there is
    /// [`Link::Absent`] and all else unknown.
    ///
    /// # Errors
    /// A name that no interface can have; no socket to ask by.
    pub fn of(name: &str) -> Result<Self, PortError> {
        Ok(Self::asking(&Interface::named(name)?))
    }

    /// All interfaces of this network namespace, by their names.
    ///
    /// # Errors
    /// The kernel's own: route netlink is refused.
    pub fn here() -> io::Result<Vec<Self>> {
        let there = Listed::all()?.into_iter();
        let there = there.filter_map(|listed| Some(Self::asking(&Interface::at(listed.index)?)));
        // Some may have gone since they were listed.
        let mut surveys: Vec<Self> = there.filter(|survey| survey.link != Link::Absent).collect();
        surveys.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(surveys)
    }

    fn asking(interface: &Interface) -> Self {
        let mut survey = Self::unknown(interface.name());
        survey.other_name = interface.other_name().map(str::to_owned);
        survey.link = interface.link();
        if let Some(index) = survey.link.index() {
            survey.ask(interface);
            survey.ask_by_index(index);
        }
        survey
    }

    fn ask(&mut self, interface: &Interface) {
        let (socket, name) = (&interface.control, &interface.kernel_name());
        self.hardware_type = interface.hardware_address().ok().map(|(kind, _)| kind);
        self.driver = interface.driver().ok().filter(|driver| !driver.is_empty());
        // A device of hardware says where it is.
        self.is_virtual = ethtool::place(socket, name).ok().map(|at| at.is_empty());
        self.mtu = interface.mtu().ok();
        let offload = |feature: super::Feature| {
            let offload = Offload {
                active: feature.active,
                changeable: feature.changeable,
            };
            (feature.name, offload)
        };
        let features = interface.features().ok();
        self.offloads = features.map(|features| features.into_iter().map(offload).collect());
        self.channels = ethtool::channels(socket, name).ok();
        self.rings = ethtool::rings(socket, name).ok();
        self.coalescing = ethtool::coalescing(socket, name).ok();
        self.pause = ethtool::pause(socket, name).ok();
        self.rss = ethtool::rss(socket, name).ok();
        let kinds = [
            ("tcp4", FlowKind::Tcp4),
            ("udp4", FlowKind::Udp4),
            ("tcp6", FlowKind::Tcp6),
            ("udp6", FlowKind::Udp6),
        ];
        let hashed = kinds.into_iter();
        let hashed = hashed
            .filter_map(|(word, kind)| Some((word, ethtool::hashed(socket, name, kind).ok()?)));
        self.hashed = hashed.collect();
    }

    fn ask_by_index(&mut self, index: u32) {
        let program = |(id, name)| Program {
            id,
            name,
            holder: Holder::of(id),
        };
        self.left = super::left_behind();
        self.left.retain(|left| left.index == index);
        let programs = super::programs_on(index).ok();
        self.programs = programs.map(|programs| programs.into_iter().map(program).collect());
        self.xdp = XdpSupport::of(index).ok();
        let Ok(listed) = Listed::of(index) else {
            return;
        };
        self.promiscuous = listed.promiscuity.map(|times| times != 0);
        if self.driver.as_deref() == Some("veth") {
            self.peer = listed.peer().map(|peer| shown(peer.name.bytes()));
        }
        let Some(folder) = Root::machine().folder(&listed) else {
            return;
        };
        self.in_sysfs = true;
        self.is_virtual = Some(folder.is_virtual());
        self.numa_node = folder.numa_node();
        self.interrupts = folder.interrupts();
        self.threaded = folder.number("threaded").map(|threaded| threaded != 0);
    }
}

/// The names of all interfaces of this network namespace, in alphabetical order.
///
/// # Errors
/// The kernel's own: route netlink is refused.
pub fn names_here() -> io::Result<Vec<String>> {
    let names = Listed::all()?.into_iter();
    let mut names: Vec<String> = names.map(|listed| shown(listed.name.bytes())).collect();
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_surveyed() {
        assert!(names_here().unwrap().iter().any(|name| name == "lo"));
        let survey = Survey::of("lo").unwrap();
        assert_eq!(survey.hardware_type, Some(libc::ARPHRD_LOOPBACK));
        assert!(survey.mtu.is_some() && survey.offloads.is_some());
        assert_eq!(survey.peer, None);
        if let Some(is_virtual) = survey.is_virtual {
            assert!(is_virtual && survey.interrupts.is_none() && survey.numa_node.is_none());
        }
    }

    #[test]
    fn what_is_not_there_is_absent_and_unknown() {
        let survey = Survey::of("absent0").unwrap();
        assert_eq!(survey, Survey::unknown("absent0"));
        let all = Survey::here().unwrap();
        let names: Vec<&str> = all.iter().map(|survey| &survey.name[..]).collect();
        assert_eq!(names, names_here().unwrap());
        assert!(Survey::of("").is_err());
    }

    /// Each answer is one of the kernel's; that they agree does not depend on the machine.
    #[test]
    fn answers_of_this_machines_interfaces_agree() {
        for name in names_here().unwrap() {
            let survey = Survey::of(&name).unwrap();
            if let Some(channels) = survey.channels {
                assert!(channels.rx <= channels.rx_max.max(1), "{survey:?}");
            }
            if let (Some(rss), Some(channels)) = (&survey.rss, survey.channels) {
                let queues = channels.rx.max(1);
                assert!(
                    rss.indirection.iter().all(|&queue| queue < queues),
                    "{survey:?}"
                );
            }
        }
    }
}
