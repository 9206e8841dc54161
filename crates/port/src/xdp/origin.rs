//! What the sockets of one queue are opened from, at the start and when their interface comes back.

use std::os::fd::AsFd;
use std::sync::Arc;

use super::program::Steering;
use super::ready::Ready;
use super::share;
use super::socket::{self, Bound, Memory};
use super::spec::{XdpMode, XdpSpec};
use super::umem::Umems;
use crate::interface::Signal;
use crate::sys::xdp_bpf::AttachMode;
use crate::{PortError, PortErrorKind};

/// Places in rings of sockets on queues that came later.
const LATE_RING: u32 = 128;

pub(super) struct Origin {
    pub(super) spec: XdpSpec,
    /// The queues of the interface that are this queue's share.
    pub(super) numbers: Vec<u32>,
    /// Where the port has all queues: which of its own this is, and of how many.
    pub(super) all: Option<(u16, usize)>,
    pub(super) signal: Signal,
    pub(super) memory: Memory,
    pub(super) umems: Umems,
    pub(super) steering: Arc<Steering>,
    pub(super) ready: Arc<Ready>,
}

impl Origin {
    /// Opens a socket for each queue of the share and has the program send it its frames.
    pub(super) fn open(&self, interface: u32, patient: bool) -> Result<Vec<Bound>, PortError> {
        self.open_on(&self.spec, interface, &self.numbers, patient)
    }

    fn open_on(
        &self,
        spec: &XdpSpec,
        interface: u32,
        numbers: &[u32],
        patient: bool,
    ) -> Result<Vec<Bound>, PortError> {
        let open = |&number: &u32| {
            let attempt = socket::Attempt {
                spec,
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
        numbers.iter().map(open).collect()
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
    pub(super) fn come_back(&mut self) -> Result<Vec<Bound>, PortError> {
        let interface = self.ready.make_again()?;
        let name = &self.spec.interface;
        if let Some(numbers) = self.numbers_now() {
            self.numbers = numbers;
        }
        if self.numbers.is_empty() {
            let sentence = format!(
                "xdp:{name}: it has fewer queues now than workers want; start the bridge anew"
            );
            return Err(PortError::new(PortErrorKind::Queue, sentence));
        }
        let sockets = self.open(interface, false)?;
        let zero_copy = sockets.iter().any(|bound| bound.zero_copy);
        self.attach(interface, zero_copy)?;
        self.umems.partners().moved(&self.spec.interface, interface);
        Ok(sockets)
    }

    /// The queues of the share as many as there are now, where the port has all.
    fn numbers_now(&self) -> Option<Vec<u32>> {
        let (place, of) = self.all?;
        let count = self.ready.queues()?;
        Some(share(&(0..count), place, of).collect())
    }

    /// Opens sockets on queues that the interface did not have before, while the others go on. The
    /// kernel takes no queue away that has a socket.
    pub(super) fn grow(&mut self) -> Result<Vec<Bound>, PortError> {
        let numbers = self.numbers_now().unwrap_or_default();
        let mut new = numbers;
        new.retain(|number| !self.numbers.contains(number));
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let interface = self.ready.make_again()?;
        // Of a pool that was not made for them: the frames of eight such sockets fit what stands
        // beside the rings that were reckoned with.
        let spec = XdpSpec {
            ring: self.spec.ring.min(LATE_RING),
            ..self.spec.clone()
        };
        let sockets = self.open_on(&spec, interface, &new, false)?;
        self.numbers.extend(new);
        Ok(sockets)
    }
}
