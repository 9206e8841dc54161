//! The class of rate to expect of an interface. What a bridge is granted, its own report says.

use port::interface::{Program, Survey};
use port::{Rights, native_mtu_max};
use serde::Serialize;

use super::interface::is_ethernet;

/// From fast to slow, then what has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Class {
    ZeroCopy,
    Copy,
    Generic,
    Packet,
    Unknown,
    None,
}

impl Class {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ZeroCopy => "zero-copy",
            Self::Copy => "copy",
            Self::Generic => "generic",
            Self::Packet => "packet",
            Self::Unknown => "unknown",
            Self::None => "none",
        }
    }
}

/// A class, and why this one.
#[derive(Debug, Serialize)]
pub(super) struct Rate {
    pub(super) class: Class,
    pub(super) why: &'static str,
}

/// What stands in the way of the faster ones is looked at first.
pub(super) fn expected(survey: &Survey) -> Rate {
    let (class, why) = class(survey);
    Rate { class, why }
}

impl Rate {
    /// What is left of it in a user namespace, whose root never gets the rights that it lacks. What
    /// an ordinary user lacks, root has.
    pub(super) fn within(self, rights: &Rights) -> Self {
        if self.class == Class::None || rights.in_user_namespace != Some(true) {
            return self;
        }
        match (rights.packet_sockets, rights.bpf) {
            (_, true) => self,
            (true, false) => Self {
                class: Class::Packet,
                why: "this user namespace may not use BPF, which xdp: needs",
            },
            (false, false) => Self {
                class: Class::None,
                why: "this user namespace may not open packet sockets here, nor use BPF",
            },
        }
    }
}

fn class(survey: &Survey) -> (Class, &'static str) {
    if !is_ethernet(survey) {
        return (Class::None, "no Ethernet frames");
    }
    let several = survey.xdp.as_ref().is_some_and(|xdp| xdp.several_pieces);
    let largest = native_mtu_max(survey.driver.as_deref(), several);
    if survey.mtu.is_some_and(|mtu| mtu > largest) {
        return (
            Class::Packet,
            "AF_XDP does not carry frames of its MTU there",
        );
    }
    if fixed(survey, "rx-vlan-hw-parse") {
        return (Class::Packet, "VLAN tags are taken off before XDP");
    }
    let mut programs = survey.programs.iter().flatten();
    match programs.find(|program| program.name.as_deref() != Some("linerate")) {
        Some(Program { name: None, .. }) => {
            let why = "an XDP program is on it, and whose it is, root alone is told";
            return (Class::Unknown, why);
        }
        Some(_) => return (Class::Packet, "somebody else's XDP program is on it"),
        None => {}
    }
    // virtio_net refuses a native program while the hypervisor merges and cannot be told to stop.
    if survey.driver.as_deref() == Some("virtio_net") && fixed(survey, "rx-gro-hw") {
        let why = "the driver takes no program while the hypervisor merges frames";
        return (Class::Generic, why);
    }
    match survey.xdp {
        None => (Class::Unknown, "this kernel does not say; Linux 6.3 does"),
        Some(xdp) if xdp.zero_copy => (Class::ZeroCopy, "the driver offers it"),
        Some(xdp) if xdp.native => (Class::Copy, "XDP in the driver, without zero-copy"),
        Some(_) => (Class::Generic, "the driver runs no XDP programs itself"),
    }
}

/// In effect, and nothing can be done about it.
fn fixed(survey: &Survey, name: &str) -> bool {
    let offload = survey
        .offloads
        .as_ref()
        .and_then(|offloads| offloads.get(name));
    offload.is_some_and(|offload| offload.active && !offload.changeable)
}
