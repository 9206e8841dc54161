//! `packet:IFACE`: any Ethernet interface of the kernel by AF_PACKET sockets, without eBPF.
//!
//! Each queue receives by a ring shared with the kernel (TPACKET_V3) and sends whole bursts by
//! `sendmmsg` past the queueing disciplines, unless `qdisc=on` has them shape and count; several
//! queues share the interface's frames by the hash of the flow. The host's own stack still sees
//! every frame that comes in.
//!
//! `sendmmsg` and not a transmit ring: on veth it sent 64-byte frames 1.2 to 1.3 times as fast (the
//! kernel copies ring frames once more where they change hands within the machine), and a frame is
//! done with when the call returns.

mod attached;
mod queue;
mod receive;
mod shared;
mod spec;

use std::sync::Arc;

use frame::{PortId, QueueId};

use queue::PacketQueue;
use shared::Shared;
pub use spec::{Fanout, PacketSpec, QUEUE_UNTOLD};

use crate::interface::{Claim, Interface, Meter, Monitor};
use crate::port::check_queue;
use crate::{Identity, Port, PortError, PortQueue, TimeSource};

/// The most sockets that can share an interface (`PACKET_FANOUT_MAX` of older kernels).
const QUEUES_MAX: usize = 256;

/// A kernel interface by packet sockets.
pub struct PacketPort {
    id: PortId,
    spec: String,
    queues_max: usize,
    queues: usize,
    shared: Arc<Shared>,
    _claim: Claim,
}

impl PacketPort {
    /// Makes an interface ready: what would merge frames is switched off until the port and all
    /// its queues are dropped.
    ///
    /// # Errors
    /// No such interface, none with Ethernet frames, or no right to open packet sockets.
    pub fn open(spec: &PacketSpec, id: PortId) -> Result<Self, PortError> {
        let interface = Interface::existing(&spec.interface)?.held();
        let resolved = PacketSpec {
            interface: interface.name().to_owned(),
            ..spec.clone()
        };
        Ok(Self {
            id,
            spec: resolved.to_string(),
            queues_max: spec.queues.map_or(QUEUES_MAX, usize::from),
            queues: 0,
            shared: Arc::new(Shared::prepare(interface, spec)?),
            _claim: Claim::default(),
        })
    }

    /// With what tells others that the interface is taken.
    pub(crate) fn claimed(self, claim: Claim) -> Self {
        Self {
            _claim: claim,
            ..self
        }
    }
}

impl Port for PacketPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        &self.spec
    }

    fn mode(&self) -> String {
        let mut mode = "AF_PACKET, TPACKET_V3".to_owned();
        if self.queues > 1 {
            let by = match self.shared.fanout {
                Fanout::Flow => "flow hash",
                Fanout::Queue => "receive queue",
            };
            mode += &format!(", {} queues by {by}", self.queues);
        }
        if self.shared.qdisc {
            mode += ", by the queueing discipline";
        }
        for offload in self.shared.switched_off() {
            mode += &format!(", {offload} off");
        }
        mode
    }

    fn queues_max(&self) -> usize {
        self.queues_max
    }

    fn frame_bytes_max_hint(&self) -> usize {
        self.shared.frame_bytes_max()
    }

    fn mtu(&self) -> Option<u32> {
        self.shared.interface.mtu().ok()
    }

    /// The host's own stack sees every frame, too.
    fn identity(&self) -> Option<Identity> {
        Some(Identity::of(&self.shared.interface, true))
    }

    fn notes(&self) -> Vec<String> {
        self.shared.notes(&self.spec)
    }

    fn attend(&mut self) {
        self.shared.follow();
    }

    fn time_source(&self) -> TimeSource {
        self.shared.time_source()
    }

    /// The number of queues is nothing to sockets that share frames by flow.
    fn monitor(&self) -> Option<Monitor> {
        let off = shared::unwanted(&self.shared.interface);
        Monitor::new(&self.shared.interface, &self.shared.signal, off)
    }

    fn meter(&self) -> Option<Meter> {
        let meter = Meter::new(&self.shared.interface)?;
        Some(match self.shared.qdisc {
            true => meter.with_qdisc(true).with_tap(),
            false => meter,
        })
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(&self.spec, queue, of, self.queues_max)?;
        self.queues = of;
        let shared = Arc::clone(&self.shared);
        let queue = PacketQueue::open(shared, self.id, queue, of > 1, &self.spec)?;
        Ok(Box::new(queue))
    }
}

#[cfg(test)]
mod stamped_tests;
#[cfg(test)]
mod tests;
