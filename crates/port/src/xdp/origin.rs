//! What the sockets of one queue are opened from, at the start and when their interface comes back.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use frame::PortId;

use super::mtu::{attach_order, in_several_pieces, native_mtu_max};
use super::program::Steering;
use super::ready::Ready;
use super::share;
use super::socket::{self, Bound, Memory};
use super::spec::{XdpMode, XdpSpec};
use super::umem::Umems;
use crate::interface::Signal;
use crate::{PortError, PortErrorKind, Timestamps};

/// Places in rings of sockets on queues that came later.
const LATE_RING: u32 = 128;

pub(super) struct Origin {
    pub(super) port: PortId,
    pub(super) spec: XdpSpec,
    /// The interface's number when the port was opened.
    pub(super) interface: u32,
    /// Queues of the port that have not begun to receive.
    pub(super) yet_to_begin: Arc<AtomicUsize>,
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
    /// Opens a socket for each queue of the share.
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
            attempt.open()
        };
        numbers.iter().map(open).collect()
    }

    /// Has the program send the frames of each queue of the share to its socket.
    pub(super) fn steer<'a>(
        &self,
        sockets: impl Iterator<Item = BorrowedFd<'a>>,
    ) -> Result<(), PortError> {
        self.steer_to(&self.numbers, sockets)
    }

    fn steer_to<'a>(
        &self,
        numbers: &[u32],
        sockets: impl Iterator<Item = BorrowedFd<'a>>,
    ) -> Result<(), PortError> {
        for (&number, socket) in numbers.iter().zip(sockets) {
            let steered = self.steering.steer(number, socket);
            steered.map_err(|error| {
                let sentence = format!("xdp:{}: queue {number}: {error}", self.spec.interface);
                PortError::new(PortErrorKind::Open, sentence)
            })?;
        }
        Ok(())
    }

    /// A queue of the port can receive; the program is attached with the last of them, so that no
    /// frame comes to sockets without memory.
    pub(super) fn begun(&self, zero_copy: bool) -> Result<(), PortError> {
        if self.yet_to_begin.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.attach(self.interface, zero_copy)?;
            self.check_told()?;
            self.umems.partners().complete()?;
        }
        Ok(())
    }

    /// Attaches the program, once sockets are there to send frames to.
    pub(super) fn attach(&self, interface: u32, zero_copy: bool) -> Result<(), PortError> {
        let name = &self.spec.interface;
        let mode = match self.spec.mode {
            // Bound for the driver already.
            XdpMode::Auto if zero_copy => XdpMode::ZeroCopy,
            mode => mode,
        };
        let driver = self.ready.interface().driver().ok();
        let native = native_mtu_max(driver.as_deref(), in_several_pieces(interface));
        let mtu = self.ready.mtu().unwrap_or(0);
        let order = attach_order(name, mode, mtu, native)?;
        let tags = self.ready.tags();
        self.steering.attach(name, interface, order, &tags)
    }

    /// Whether the program that was attached is told of frames what it must be.
    fn check_told(&self) -> Result<(), PortError> {
        let name = &self.spec.interface;
        if self.spec.rx_hash && !self.steering.told().hash {
            let sentence = format!(
                "xdp:{name}: no program can ask its driver for the receive hash here, which needs \
                 Linux 6.3 with BTF and a program in the driver; leave out rx-hash, or use \
                 packet:{name},fanout=queue"
            );
            return Err(PortError::new(PortErrorKind::Setting, sentence));
        }
        if self.steering.told().stamp {
            return Ok(());
        }
        self.ready.give_stamps_up(self.spec.timestamps)
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
        self.steer(sockets.iter().map(|bound| bound.socket.as_fd()))?;
        let zero_copy = sockets.iter().any(|bound| bound.granted.zero_copy);
        self.attach(interface, zero_copy)?;
        if !self.steering.told().stamp {
            self.ready.give_stamps_up(Timestamps::Auto)?;
        }
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
        self.steer_to(&new, sockets.iter().map(|bound| bound.socket.as_fd()))?;
        self.steering
            .renew(&self.spec.interface, &self.ready.tags())?;
        self.numbers.extend(new);
        Ok(sockets)
    }
}
