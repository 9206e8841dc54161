//! An interface made ready for AF_XDP, and left as it was found.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::interface::{Interface, MERGING, Offloads, Stamping, TAKING_TAGS, tells_stamps};
use crate::sys::packet_socket::PacketSocket;
use crate::{Identity, PortError, PortErrorKind, TimeSource, Timestamps};

use super::program::hint;
use super::spec::{Bypass, VlanTags, XdpMode, XdpSpec};
use super::tags::Tags;
use crate::nic_clock::ClockReader;

/// Drivers of what no hardware receives for. Those of hypervisors hand on what neighbours on the
/// same host send (virtio 1.2 section 5.1.6.4: VIRTIO_NET_HDR_F_NEEDS_CSUM).
const NO_HARDWARE: [&str; 6] = ["veth", "virtio_net", "tun", "bridge", "vif", "hv_netvsc"];

/// Bits of what was changed on an interface: promiscuous mode, then each offload that can be.
const PROMISCUOUS: u32 = 1;

fn offloads_by_bit() -> impl Iterator<Item = (u32, &'static str)> {
    let names = MERGING.into_iter().chain(TAKING_TAGS);
    names.enumerate().map(|(place, name)| (2 << place, name))
}

/// The offloads among what was changed.
pub(super) fn changed_offloads(changed: u32) -> Vec<&'static str> {
    let within = offloads_by_bit().filter(|(bit, _)| changed & bit != 0);
    within.map(|(_, name)| name).collect()
}

/// Whether promiscuous mode is among what was changed.
pub(super) fn is_promiscuity_changed(changed: u32) -> bool {
    changed & PROMISCUOUS != 0
}

fn takes_tags(offload: &str) -> bool {
    TAKING_TAGS.contains(&offload)
}

/// Holds the changes: dropping it takes them back. Promiscuous mode is a membership of a socket,
/// which the kernel ends even after `kill -9`.
pub(super) struct Ready {
    interface: Interface,
    vlan: VlanTags,
    mode: XdpMode,
    timestamps: Timestamps,
    state: Mutex<State>,
    /// Whether a bypass outlives this, and needs the interface as it is.
    outlived: AtomicBool,
}

/// What was changed, on the interface of which number.
struct State {
    index: u32,
    offloads: Offloads,
    stamping: Stamping,
    _promiscuous: PacketSocket,
}

impl Ready {
    /// Receives frames for every address, one by one as they were on the wire.
    ///
    /// # Errors
    /// No right to do so; VLAN tags that go on being taken off: without them frames would cross
    /// from one VLAN to another, so that must have been asked for; no timestamps of hardware where
    /// they alone will do.
    pub(super) fn make(
        interface: Interface,
        index: u32,
        spec: &XdpSpec,
    ) -> Result<Self, PortError> {
        let (vlan, mode, timestamps) = (spec.vlan, spec.mode, spec.timestamps);
        let mut state = State::make(&interface, index, vlan)?;
        state.stamping = stamping(&interface, index, mode, timestamps)?;
        Ok(Self {
            interface,
            vlan,
            mode,
            timestamps,
            state: Mutex::new(state),
            outlived: AtomicBool::new(false),
        })
    }

    /// The same, if the interface is gone and another has its name; its number.
    pub(super) fn make_again(&self) -> Result<u32, PortError> {
        let index = self.interface.index().map_err(|error| {
            let sentence = format!("there is no interface {}: {error}", self.interface.name());
            PortError::new(PortErrorKind::Open, sentence)
        })?;
        let mut state = self.lock();
        if state.index != index {
            *state = State::make(&self.interface, index, self.vlan)?;
            // The run goes on, whatever that one has.
            let asked = match self.timestamps {
                Timestamps::Hardware => Timestamps::Auto,
                other => other,
            };
            let stamping = stamping(&self.interface, index, self.mode, asked);
            state.stamping = stamping.unwrap_or_default();
        }
        Ok(index)
    }

    /// Compares the NIC's clock with the kernel's.
    pub(super) fn follow(&self) {
        if self.timestamps.ask() {
            self.lock().stamping.follow();
        }
    }

    /// By which times of the NIC are read; `None` where it stamps no frames.
    pub(super) fn clock(&self) -> Option<ClockReader> {
        self.lock().stamping.reader()
    }

    /// Where times come from.
    pub(super) fn time_source(&self) -> TimeSource {
        let spec = format!("xdp:{}", self.interface.name());
        self.lock().stamping.source(&self.interface, &spec)
    }

    /// No program that was attached can ask for times: they are software's, or the port is refused.
    pub(super) fn give_stamps_up(&self, asked: Timestamps) -> Result<(), PortError> {
        let mut state = self.lock();
        if state.stamping.reader().is_some() {
            state.stamping.put_back(&self.interface);
            let spec = format!("xdp:{}", self.interface.name());
            state.stamping = Stamping::untold(&spec, asked, UNASKED)?;
        }
        Ok(())
    }

    /// Whether frames can come from the first on whose checksum their sender left to hardware: no
    /// hardware is in front of the drivers named, nor in front of one that does not say its name.
    pub(super) fn may_leave_checksums(&self) -> bool {
        let driver = self.interface.driver();
        self.mode == XdpMode::Generic
            || driver.map_or(true, |driver| NO_HARDWARE.contains(&&*driver))
    }

    /// The interface itself.
    pub(super) fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The number of the interface that it is now.
    pub(super) fn index(&self) -> std::io::Result<u32> {
        self.interface.index()
    }

    /// Who it is on its link.
    pub(super) fn identity(&self, host_answers: bool) -> Identity {
        Identity::of(&self.interface, host_answers)
    }

    /// Whether frames can pass it now.
    pub(super) fn has_link(&self) -> bool {
        self.interface.link().is_up()
    }

    /// Its MTU now.
    pub(super) fn mtu(&self) -> std::io::Result<u32> {
        self.interface.mtu()
    }

    /// Its receive queues now, where its driver tells.
    pub(super) fn queues(&self) -> Option<u32> {
        self.interface.rx_queues().ok()
    }

    /// What a bypass on the interface changes, beside what runs before changed: the kernel takes
    /// back what only a socket holds.
    pub(super) fn changed(&self, before: u32) -> u32 {
        let state = self.lock();
        let names: Vec<&str> = state.offloads.changed().collect();
        let bits = offloads_by_bit().filter(|(_, name)| names.contains(name));
        let offloads = bits.fold(before, |changed, (bit, _)| changed | bit);
        // Somebody else's, where it is set and no run before did it.
        let set = self.interface.is_set_promiscuous().unwrap_or(false);
        if set {
            offloads
        } else {
            offloads | PROMISCUOUS
        }
    }

    /// A bypass stands: what is changed stays so when this is dropped.
    pub(super) fn outlive(&self, changed: u32) {
        self.outlived.store(true, Ordering::Relaxed);
        self.lock().offloads.hand_over();
        if is_promiscuity_changed(changed) {
            // An interface that is gone is set when it is back.
            let _gone = self.interface.set_promiscuous(true);
        }
    }

    /// What is known of VLAN tags on the interface that has the name now.
    pub(super) fn tags(&self) -> Tags {
        Tags::of(&self.interface, self.vlan)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was switched off until the end, as the end of a sentence.
    pub(super) fn switched_off(&self) -> String {
        let state = self.lock();
        let changed = state.offloads.changed();
        changed.map(|offload| format!(", {offload} off")).collect()
    }

    /// What the user should know before the run.
    pub(super) fn notes(&self, spec: &XdpSpec) -> Vec<String> {
        let name = self.interface.name();
        let mut notes = Vec::new();
        notes.extend(self.interface.note_on_name("xdp"));
        let state = self.lock();
        notes.extend(state.offloads.notes().iter().cloned());
        notes.extend(state.stamping.notes().cloned());
        let stayed = state.offloads.stayed();
        let stripped = stayed.iter().any(|offload| takes_tags(offload));
        notes.extend(self.tags().note(name, stripped));
        let merging: Vec<&String> = stayed.iter().filter(|name| !takes_tags(name)).collect();
        if !merging.is_empty() {
            let off: Vec<String> = merging
                .iter()
                .map(|offload| format!("{offload} off"))
                .collect();
            notes.push(format!(
                "xdp:{name}: the kernel goes on merging received frames, and merged ones that fit \
                 no chunk are missed; switch it off: ethtool -K {name} {}",
                off.join(" ")
            ));
        }
        // What a worker receives has its checksum finished there; what the kernel forwards by
        // itself has not.
        if spec.shortcut || spec.bypass != Bypass::Off {
            notes.extend(self.interface.checksums_note());
        }
        if spec.mode == XdpMode::Generic {
            // A program in the driver of veth has the other end cut its segments.
            let spec = format!("xdp:{name}");
            notes.extend(self.interface.note_on_merging_peer(&spec));
        }
        if let Some(master) = self.interface.master() {
            notes.push(format!(
                "xdp:{name}: it belongs to {master}, which gets none of its frames meanwhile; take \
                 it away from there: ip link set dev {name} nomaster"
            ));
        }
        notes.extend(self.interface.link().note(&format!("xdp:{name}"), name));
        notes
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let outlived = *self.outlived.get_mut();
        if outlived {
            state.offloads.leave();
        }
        state.offloads.put_back(&self.interface);
        state.stamping.put_back(&self.interface);
    }
}

/// Why a program cannot ask.
const UNASKED: &str = "no program can ask its driver when a frame came, which needs Linux 6.3 \
                       with BTF and a program in the driver";

/// Has the NIC stamp frames, where a program in its driver can be told.
fn stamping(
    interface: &Interface,
    index: u32,
    mode: XdpMode,
    asked: Timestamps,
) -> Result<Stamping, PortError> {
    let spec = format!("xdp:{}", interface.name());
    if mode == XdpMode::Generic {
        return Stamping::untold(&spec, asked, UNASKED);
    }
    if asked.ask() && tells_stamps(index) == Some(false) {
        let why = "its driver does not tell XDP programs when a frame came, which packet: may know";
        return Stamping::untold(&spec, asked, why);
    }
    Stamping::begin(interface, &spec, asked)
}

impl State {
    fn make(interface: &Interface, index: u32, vlan: VlanTags) -> Result<Self, PortError> {
        let name = interface.name();
        let failed = |error: std::io::Error| {
            let hint = hint(&error);
            let sentence = format!("xdp:{name} cannot receive every address: {error}{hint}");
            PortError::new(PortErrorKind::Open, sentence)
        };
        let promiscuous = PacketSocket::new().map_err(failed)?;
        promiscuous.be_promiscuous(index).map_err(failed)?;
        let names: Vec<&str> = MERGING.into_iter().chain(TAKING_TAGS).collect();
        let mut offloads = Offloads::switch_off(interface, &names);
        let stripped = offloads.stayed().iter().any(|stayed| takes_tags(stayed));
        if stripped && vlan == VlanTags::Keep {
            offloads.put_back(interface);
            let sentence = format!(
                "xdp:{name}: its driver takes VLAN tags off before XDP sees them, and frames would \
                 cross VLANs; switch it off with `ethtool -K {name} rxvlan off \
                 rx-vlan-stag-hw-parse off`, use packet:{name}, or, where there are no VLANs, \
                 vlan=ignore"
            );
            return Err(PortError::new(PortErrorKind::Setting, sentence));
        }
        Ok(Self {
            index,
            offloads,
            stamping: Stamping::default(),
            _promiscuous: promiscuous,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_means_the_same_to_the_next_version() {
        let bits: Vec<_> = offloads_by_bit().collect();
        let expected = [
            (0x02, "rx-lro"),
            (0x04, "rx-gro"),
            (0x08, "rx-gro-hw"),
            (0x10, "rx-gro-list"),
            (0x20, "rx-udp-gro-forwarding"),
            (0x40, "rx-vlan-hw-parse"),
            (0x80, "rx-vlan-stag-hw-parse"),
        ];
        assert_eq!(bits, expected);
        assert_eq!(changed_offloads(0x45), ["rx-gro", "rx-vlan-hw-parse"]);
        assert!(is_promiscuity_changed(0x45) && !is_promiscuity_changed(0x44));
        assert!(changed_offloads(1).is_empty());
    }
}
