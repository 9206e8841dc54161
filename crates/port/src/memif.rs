//! `memif:SOCKET[,role=leader|follower][,id=N][,queues=N]...`: the shared-memory packet interface
//! of VPP and DPDK, specification 2.0.
//!
//! Two processes meet at a socket: the leader listens, the follower connects and brings the memory,
//! in which rings lead to buffers. From then on frames pass without a system call, copied between
//! buffers and chunks of our pools. A port comes back by itself when its peer does, in whichever
//! order the two are started.
//!
//! A peer is believed nothing. Memory that can shrink is not mapped (touching it would end the
//! process), every index and descriptor is read once and held against its bounds, and a peer that
//! breaks the rules is parted with and told why.
//!
//! | concern | where |
//! | --- | --- |
//! | messages and what to answer | `message.rs`, `talk.rs` |
//! | sockets, who comes and goes | `listener.rs`, `control.rs` |
//! | rings: whose descriptor it is | `ring.rs`, `sys/memif_memory.rs` |
//! | frames in and out | `transfer.rs`, `queue.rs` |

mod control;
mod link;
mod listener;
#[cfg(all(test, loom))]
mod loom_tests;
mod message;
mod queue;
mod ring;
#[cfg(all(test, not(loom)))]
mod ring_tests;
mod shared;
mod spec;
mod talk;
#[cfg(test)]
mod tests;
mod transfer;

use std::sync::Arc;

use frame::{PortId, QueueId};

use control::Control;
pub use listener::Listeners;
use queue::MemifQueue;
use shared::Shared;
pub use spec::{MemifRole, MemifSpec};

use crate::interface::Monitor;
use crate::port::check_queue;
use crate::{Identity, OpenContext, Port, PortError, PortErrorKind, PortQueue};

/// Frames of plain Ethernet with two VLAN tags; longer ones come in several buffers and need a
/// stride that somebody asks for.
const FRAME_BYTES: usize = 1500 + 14 + 2 * 4;

/// One end of a shared-memory interface.
pub struct MemifPort {
    id: PortId,
    spec: String,
    queues_max: usize,
    opened: Vec<bool>,
    shared: Arc<Shared>,
    control: Control,
}

impl MemifPort {
    /// Makes the socket, as leader; looking for the peer begins with the run.
    ///
    /// # Errors
    /// A socket at which another program listens, a path that is something else or cannot be made,
    /// an id that another port of the run leads.
    pub fn open(spec: &MemifSpec, id: PortId, context: &OpenContext) -> Result<Self, PortError> {
        let listener = match spec.role {
            MemifRole::Leader => Some(context.listeners.claim(spec)?),
            MemifRole::Follower => None,
        };
        let shared = Arc::new(Shared::default());
        Ok(Self {
            id,
            spec: spec.to_string(),
            queues_max: usize::from(spec.queues),
            opened: Vec::new(),
            control: Control::new(spec.clone(), listener, Arc::clone(&shared)),
            shared,
        })
    }

    /// Why the last peer went, or none could be agreed with.
    #[must_use]
    pub fn parted(&self) -> Option<&str> {
        self.control.parted()
    }
}

impl Port for MemifPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        &self.spec
    }

    fn mode(&self) -> String {
        let role = self.control.role().name();
        match self.opened.len() {
            0 | 1 => format!("memif {role}"),
            many => format!("memif {role}, {many} queues"),
        }
    }

    fn queues_max(&self) -> usize {
        self.queues_max
    }

    fn frame_bytes_max_hint(&self) -> usize {
        FRAME_BYTES
    }

    fn attend(&mut self) {
        self.control.attend();
    }

    fn identity(&self) -> Option<Identity> {
        Some(Identity::default())
    }

    fn monitor(&self) -> Option<Monitor> {
        Some(Monitor::of_peer(&self.shared.presence))
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(&self.spec, queue, of, self.queues_max)?;
        self.opened.resize(of, false);
        let opened = &mut self.opened[usize::from(queue.0)];
        if std::mem::replace(opened, true) {
            let sentence = format!("queue {queue} of {} was given out before", self.spec);
            return Err(PortError::new(PortErrorKind::Queue, sentence));
        }
        self.control.has_queues(of as u16);
        if self.opened.iter().all(|opened| *opened) {
            // A peer that is there already is found before the run.
            self.control.attend();
        }
        let name = self.spec.split(',').next().unwrap_or(&self.spec).to_owned();
        let shared = Arc::clone(&self.shared);
        Ok(Box::new(MemifQueue::new(shared, name, self.id, queue)))
    }
}
