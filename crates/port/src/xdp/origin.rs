//! What the sockets of one queue are opened from, at the start and when their interface comes back.

use std::os::fd::AsFd;
use std::sync::Arc;

use super::program::Steering;
use super::ready::Ready;
use super::socket::{self, Bound, Memory};
use super::spec::{XdpMode, XdpSpec};
use super::umem::Umems;
use crate::sys::xdp_bpf::AttachMode;
use crate::{PortError, PortErrorKind};

pub(super) struct Origin {
    pub(super) spec: XdpSpec,
    /// The queues of the interface that are this queue's share.
    pub(super) numbers: Vec<u32>,
    pub(super) memory: Memory,
    pub(super) umems: Umems,
    pub(super) steering: Arc<Steering>,
    pub(super) ready: Arc<Ready>,
}

impl Origin {
    /// Opens a socket for each queue of the share and has the program send it its frames.
    pub(super) fn open(&self, interface: u32, patient: bool) -> Result<Vec<Bound>, PortError> {
        let open = |&number: &u32| {
            let attempt = socket::Attempt {
                spec: &self.spec,
                interface,
                queue: number,
                memory: &self.memory,
                umems: &self.umems,
                patient,
            };
            let bound = attempt.open()?;
            let steered = self.steering.steer(number, bound.socket.as_fd());
            steered.map_err(|error| {
                let sentence = format!("xdp:{}: queue {number}: {error}", self.spec.interface);
                PortError::new(PortErrorKind::Open, sentence)
            })?;
            Ok(bound)
        };
        self.numbers.iter().map(open).collect()
    }

    /// Attaches the program, once sockets are there to send frames to.
    pub(super) fn attach(&self, interface: u32, zero_copy: bool) -> Result<(), PortError> {
        let order: &[AttachMode] = match self.spec.mode {
            XdpMode::Auto if !zero_copy => &[AttachMode::Native, AttachMode::Generic],
            XdpMode::Generic => &[AttachMode::Generic],
            _ => &[AttachMode::Native],
        };
        let name = &self.spec.interface;
        let tags = self.ready.tags();
        self.steering.attach(name, interface, order, &tags)
    }

    /// Opens everything anew on an interface of the same name: it was removed and made again.
    /// Called by a worker, so it does not wait; what fails is tried again later.
    pub(super) fn come_back(&self) -> Result<Vec<Bound>, PortError> {
        let interface = self.ready.make_again()?;
        let sockets = self.open(interface, false)?;
        let zero_copy = sockets.iter().any(|bound| bound.zero_copy);
        self.attach(interface, zero_copy)?;
        self.umems.partners().moved(&self.spec.interface, interface);
        Ok(sockets)
    }
}
