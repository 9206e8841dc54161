//! What the queues of one interface share. Locked when queues are opened or come back, never for
//! a frame.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attached::{AttachError, Attached};
use super::spec::{Fanout, PacketSpec};
use crate::interface::{Interface, MERGING, Offloads, Signal, Stamping, TAKING_TAGS};
use crate::{PortError, PortErrorKind, TimeSource, Timestamps};

/// An Ethernet header, and two VLAN tags.
const HEADERS_BYTES: usize = 14 + 2 * 4;
/// Where the interface does not say: that of plain Ethernet.
const MTU_DEFAULT: u32 = 1500;
/// Drivers that take tags off and call those of 802.1ad tags of 802.1Q, as which they would leave
/// (vmxnet3 on Linux 6.12).
const CONFUSES_TAGS: [&str; 1] = ["vmxnet3"];

/// The interface of a port.
pub(super) struct Shared {
    pub(super) interface: Interface,
    pub(super) signal: Signal,
    /// Whether frames leave by the queueing discipline.
    pub(super) qdisc: bool,
    pub(super) fanout: Fanout,
    timestamps: Timestamps,
    /// The spec without settings.
    short: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The number of the interface the rest is about.
    index: u32,
    offloads: Offloads,
    stamping: Stamping,
    /// The group in which the queues share frames.
    group: Option<u16>,
}

/// What is switched off while a port is open.
pub(super) fn unwanted(interface: &Interface) -> Vec<&'static str> {
    unwanted_of(interface.driver().ok().as_deref())
}

/// Where the driver takes tags off and calls each of them one of 802.1Q, they stay in the frame.
fn unwanted_of(driver: Option<&str>) -> Vec<&'static str> {
    let taking = driver.is_some_and(|driver| CONFUSES_TAGS.contains(&driver));
    let tags = TAKING_TAGS.into_iter().filter(|_| taking);
    MERGING.into_iter().chain(tags).collect()
}

impl Shared {
    pub(super) fn prepare(interface: Interface, spec: &PacketSpec) -> Result<Self, PortError> {
        // A socket is tried first: without the right to one nothing is changed.
        crate::sys::packet_socket::PacketSocket::new().map_err(|error| {
            let remedy = match error.raw_os_error() {
                Some(libc::EPERM | libc::EACCES) => {
                    "; run as root, or give the program CAP_NET_RAW and CAP_NET_ADMIN"
                }
                Some(libc::EAFNOSUPPORT) => "; the kernel is built without CONFIG_PACKET",
                _ => "",
            };
            let name = interface.name();
            let sentence = format!("no packet socket can be opened for {name}: {error}{remedy}");
            PortError::new(PortErrorKind::Open, sentence)
        })?;
        let signal = Signal::default();
        interface
            .mtu()
            .into_iter()
            .for_each(|mtu| signal.saw_mtu(mtu));
        let short = format!("packet:{}", interface.name());
        let stamping = Stamping::begin(&interface, &short, spec.timestamps)?;
        let state = State {
            index: interface.index().unwrap_or(0),
            stamping,
            offloads: Offloads::switch_off(&interface, &unwanted(&interface)),
            group: None,
        };
        Ok(Self {
            interface,
            signal,
            qdisc: spec.qdisc,
            fanout: spec.fanout,
            timestamps: spec.timestamps,
            short,
            state: Mutex::new(state),
        })
    }

    /// The sockets of one queue on the interface as it is now. An interface that was made anew is
    /// made ready first, by the first queue that sees it.
    pub(super) fn attach(&self, shares: bool) -> Result<Attached, AttachError> {
        let index = self.interface.index().map_err(AttachError::Absent)?;
        let mut state = self.lock();
        if state.index != index {
            *state = State {
                index,
                stamping: self.stamp_again(),
                offloads: Offloads::switch_off(&self.interface, &unwanted(&self.interface)),
                group: None,
            };
        }
        let clock = state.stamping.reader();
        let mut attached = Attached::open(index, self.qdisc, self.fanout, clock)?;
        if shares {
            state.group = Some(attached.join(state.group, self.fanout)?);
        }
        attached.begin()?;
        Ok(attached)
    }

    /// On an interface that was made anew: the run goes on, whatever that one has.
    fn stamp_again(&self) -> Stamping {
        let asked = match self.timestamps {
            Timestamps::Hardware => Timestamps::Auto,
            other => other,
        };
        Stamping::begin(&self.interface, &self.short, asked).unwrap_or_default()
    }

    /// Compares the NIC's clock with the kernel's.
    pub(super) fn follow(&self) {
        if self.timestamps.ask() {
            self.lock().stamping.follow();
        }
    }

    /// Where times come from.
    pub(super) fn time_source(&self) -> TimeSource {
        self.lock().stamping.source(&self.interface, &self.short)
    }

    pub(super) fn frame_bytes_max(&self) -> usize {
        self.interface.mtu().unwrap_or(MTU_DEFAULT) as usize + HEADERS_BYTES
    }

    /// Frames of at most so many bytes fit a chunk.
    pub(super) fn has_room(&self, frame_bytes_max: usize) {
        let mtu_max = frame_bytes_max.saturating_sub(HEADERS_BYTES);
        self.signal.takes_mtu(mtu_max as u32);
    }

    /// The names of the offloads that are off because of us.
    pub(super) fn switched_off(&self) -> Vec<String> {
        let state = self.lock();
        state.offloads.changed().map(str::to_owned).collect()
    }

    /// What the user should know before the run.
    pub(super) fn notes(&self, spec: &str) -> Vec<String> {
        let name = self.interface.name();
        let mut notes = Vec::new();
        notes.extend(self.interface.note_on_name("packet"));
        let state = self.lock();
        notes.extend(state.offloads.notes().iter().cloned());
        notes.extend(state.stamping.notes().cloned());
        let stayed = state.offloads.stayed();
        if !stayed.is_empty() {
            let commands = stayed.iter().map(|offload| format!("{offload} off"));
            let commands = commands.collect::<Vec<_>>().join(" ");
            notes.push(format!(
                "{spec}: the kernel goes on merging received frames, and merged ones are left out; \
                 switch it off: ethtool -K {name} {commands}"
            ));
        }
        notes.extend(self.interface.note_on_merging_peer(spec));
        if let Some(master) = self.interface.master() {
            notes.push(format!(
                "{spec}: {master} has it too, so that frames may come out twice; take it away from \
                 there: ip link set dev {name} nomaster"
            ));
        }
        notes.extend(self.interface.link().note(spec, name));
        notes
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.offloads.put_back(&self.interface);
        state.stamping.put_back(&self.interface);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stay_in_frames_of_drivers_that_confuse_them() {
        for (driver, stay) in [
            (Some("vmxnet3"), true),
            (Some("virtio_net"), false),
            (None, false),
        ] {
            let off = unwanted_of(driver);
            let tags = TAKING_TAGS.iter().all(|tag| off.contains(tag));
            assert_eq!(tags, stay, "{driver:?}");
            assert!(MERGING.iter().all(|name| off.contains(name)));
        }
    }
}
