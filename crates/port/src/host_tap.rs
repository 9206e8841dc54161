//! `tap:NAME`: an interface of the host whose other end is this port. What the host's stack, or a
//! virtual machine, sends by it is received here, and the other way round.
//!
//! The interface is made when it is not there and goes with the last of its queues, however the
//! process ends. Each queue is a file; the kernel shares what it sends over them by flow.

mod queue;
mod spec;

use std::sync::Arc;

use frame::{PortId, QueueId};

use queue::TapQueue;
pub use spec::TapSpec;

use crate::interface::{Claim, Interface, Monitor, Signal};
use crate::port::check_queue;
use crate::{Identity, Port, PortError, PortErrorKind, PortQueue};

/// The most queues a tap of the kernel has (`MAX_TAP_QUEUES`).
const QUEUES_MAX: usize = 256;
/// Ethernet header and two VLAN tags.
const HEADERS_BYTES: usize = 14 + 2 * 4;
/// That of a tap made anew.
const MTU_DEFAULT: u32 = 1500;

/// A tap interface.
pub struct TapPort {
    id: PortId,
    spec: String,
    queues_max: usize,
    queues: usize,
    interface: Arc<Interface>,
    signal: Signal,
    /// The first queue: the interface is there as long as one is.
    first: Option<TapQueue>,
    _claim: Claim,
}

impl TapPort {
    /// Makes the interface, or joins it where somebody made it before, and brings it up.
    ///
    /// # Errors
    /// A name that belongs to an interface of another kind; no right to make one.
    pub fn open(spec: &TapSpec, id: PortId) -> Result<Self, PortError> {
        let interface = Arc::new(Interface::named(&spec.interface)?);
        let (text, signal) = (spec.to_string(), Signal::default());
        let first = TapQueue::open(Arc::clone(&interface), signal.clone(), &text)?;

        Ok(Self {
            id,
            spec: text,
            queues_max: spec.queues.map_or(QUEUES_MAX, usize::from),
            queues: 0,
            interface,
            signal,
            first: Some(first),
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

impl Port for TapPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        &self.spec
    }

    fn mode(&self) -> String {
        match self.queues {
            0 | 1 => "tap".to_owned(),
            many => format!("tap, {many} queues by flow"),
        }
    }

    fn queues_max(&self) -> usize {
        self.queues_max
    }

    fn frame_bytes_max_hint(&self) -> usize {
        self.interface.mtu().unwrap_or(MTU_DEFAULT) as usize + HEADERS_BYTES
    }

    /// The addresses of the interface are the host's, which is at the other end.
    fn identity(&self) -> Option<Identity> {
        Some(Identity::default())
    }

    fn monitor(&self) -> Option<Monitor> {
        Monitor::new(&self.interface, &self.signal, Vec::new()).map(Monitor::of_any_length)
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(&self.spec, queue, of, self.queues_max)?;
        self.queues = of;
        let queue = match (queue.0, self.first.take()) {
            (0, Some(first)) => first,
            (_, first) => {
                self.first = first;
                TapQueue::open(Arc::clone(&self.interface), self.signal.clone(), &self.spec)?
            }
        };
        Ok(Box::new(queue))
    }
}

/// Why a tap could not be opened, for people.
fn refused(spec: &str, error: &std::io::Error) -> PortError {
    let remedy = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => "; run as root, or give the program CAP_NET_ADMIN",
        Some(libc::ENOENT | libc::ENODEV) => {
            "; /dev/net/tun is missing: modprobe tun, or give the container the device"
        }
        Some(libc::EBUSY) => "; another program has it: choose another name",
        Some(libc::EINVAL) => {
            "; an interface of the name is here and is no tap, or has one queue only and it is \
             taken: choose another name"
        }
        _ => "",
    };
    let sentence = format!("{spec} could not be opened: {error}{remedy}");
    PortError::new(PortErrorKind::Open, sentence)
}
