//! An interface made ready for AF_XDP, and left as it was found.

use crate::interface::{Interface, Link, MERGING, Offloads};
use crate::sys::packet_socket::PacketSocket;
use crate::{PortError, PortErrorKind};

use super::program::hint;

/// The offload that takes VLAN tags off received frames before XDP sees them.
const TAGS_OFF: &str = "rx-vlan-hw-parse";

/// Holds the changes: dropping it takes them back. Promiscuous mode is a membership of the socket,
/// which the kernel ends even after `kill -9`.
pub(super) struct Ready {
    interface: Interface,
    offloads: Offloads,
    _promiscuous: PacketSocket,
}

impl Ready {
    /// Receives frames for every address, one by one as they were on the wire.
    ///
    /// # Errors
    /// No right to do so; VLAN tags that go on being taken off: without them frames would cross
    /// from one VLAN to another.
    pub(super) fn make(interface: Interface, index: u32) -> Result<Self, PortError> {
        let name = interface.name();
        let failed = |error: std::io::Error| {
            let hint = hint(&error);
            let sentence = format!("xdp:{name} cannot receive every address: {error}{hint}");
            PortError::new(PortErrorKind::Open, sentence)
        };
        let promiscuous = PacketSocket::new().map_err(failed)?;
        promiscuous.be_promiscuous(index).map_err(failed)?;
        let names: Vec<&str> = MERGING.into_iter().chain([TAGS_OFF]).collect();
        let offloads = Offloads::switch_off(&interface, &names);
        let ready = Self {
            interface,
            offloads,
            _promiscuous: promiscuous,
        };
        if ready
            .offloads
            .stayed()
            .iter()
            .any(|stayed| stayed == TAGS_OFF)
        {
            let name = ready.interface.name();
            let sentence = format!(
                "xdp:{name}: its driver takes VLAN tags off before XDP sees them, and frames would \
                 cross VLANs; switch it off with `ethtool -K {name} rxvlan off`, or use packet:{name}"
            );
            return Err(PortError::new(PortErrorKind::Setting, sentence));
        }
        Ok(ready)
    }

    /// What the user should know before the run.
    pub(super) fn notes(&self) -> Vec<String> {
        let name = self.interface.name();
        let mut notes = Vec::new();
        let stayed = self.offloads.stayed();
        if !stayed.is_empty() {
            let off: Vec<String> = stayed
                .iter()
                .map(|offload| format!("{offload} off"))
                .collect();
            notes.push(format!(
                "xdp:{name}: the kernel goes on merging received frames, and merged ones that fit \
                 no chunk are missed; switch it off: ethtool -K {name} {}",
                off.join(" ")
            ));
        }
        match self.interface.link() {
            Link::Up(_) => {}
            link => notes.push(format!(
                "xdp:{name}: the interface is {link}, and frames pass as soon as that changes"
            )),
        }
        notes
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.offloads.put_back(&self.interface);
    }
}
