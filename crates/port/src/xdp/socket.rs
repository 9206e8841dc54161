//! A socket on one queue of an interface, from nothing to bound: UMEM, rings, mode.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use frame::Region;

use super::mtu::one_piece_mtu_max_on;
use super::program::hint;
use super::spec::{XdpMode, XdpSpec};
use super::umem::{Granted, Umems};
use crate::sys::xdp_chunks::Chunks;
use crate::sys::xdp_rings::{MappedRings, XdpRings};
use crate::sys::xdp_socket::{Binding, XdpSocket};
use crate::{PortError, PortErrorKind};

/// A queue stays busy for a while after its socket was closed (6 to 17 ms were seen), so a bind is
/// tried again: this often, so long apart.
const BUSY_TRIES: u32 = 300;
const BUSY_NAP: Duration = Duration::from_millis(5);

/// Frames a transmit call may send; see [`XdpSocket::set_tx_budget`].
const TX_BUDGET: u32 = 1024;

/// Bytes of frames that the interface may hold before a transmit call is refused: the kernel counts
/// about 800 for the smallest, and by its default 270 frames would be all.
const SEND_BUFFER_BYTES: i32 = 64 << 20;

/// Frame memory, and how it is shown to the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) region: &'static Region,
    pub(super) chunks: Chunks,
    /// The interface has frames that do not fit one piece.
    pub(super) several_needed: bool,
}

/// A bound socket and its rings.
pub(super) struct Bound {
    pub(super) socket: Arc<XdpSocket>,
    pub(super) rings: XdpRings,
    pub(super) granted: Granted,
}

/// A socket to be opened on one queue.
pub(super) struct Attempt<'a> {
    pub(super) spec: &'a XdpSpec,
    pub(super) interface: u32,
    pub(super) queue: u32,
    pub(super) memory: &'a Memory,
    pub(super) umems: &'a Umems,
    /// Whether a busy queue is waited for.
    pub(super) patient: bool,
}

impl Attempt<'_> {
    /// Opens and binds a socket in the best mode that the spec allows and the kernel grants.
    pub(super) fn open(&self) -> Result<Bound, PortError> {
        let wanted: &[bool] = match self.spec.mode {
            XdpMode::Auto => &[true, false],
            XdpMode::ZeroCopy => &[true],
            XdpMode::Copy | XdpMode::Generic => &[false],
        };
        let mut refused = io::Error::from(io::ErrorKind::Other);
        for &zero_copy in wanted {
            for &several in self.pieces(zero_copy) {
                match self.in_mode(Granted { zero_copy, several }) {
                    Ok(bound) => return Ok(bound),
                    Err(error) => refused = error,
                }
            }
        }
        Err(self.refusal(&refused))
    }

    /// Whether frames in several pieces are asked for: alone where the interface has such frames,
    /// else first where that costs nothing. In copy mode they come then even where no chunk holds
    /// them, and can be told from those that found no memory.
    fn pieces(&self, zero_copy: bool) -> &'static [bool] {
        let held = self.memory.chunks.hold_several_pieces();
        match self.memory.several_needed {
            true => &[true],
            false if held || !zero_copy => &[true, false],
            false => &[false],
        }
    }

    /// With the UMEM of an earlier socket of this mode, or else with one of its own.
    fn in_mode(&self, mode: Granted) -> io::Result<Bound> {
        let start = self.memory.region.start_ptr().addr().get();
        if let Some(owner) = self.umems.owner(mode, start)
            && let Ok(bound) = self.patiently(Binding::Shared(owner.as_fd()), mode)
        {
            return Ok(bound);
        }
        let Granted { zero_copy, several } = mode;
        let bound = self.patiently(Binding::Own { zero_copy, several }, mode)?;
        self.umems.add_owner(bound.granted, start, &bound.socket);
        Ok(bound)
    }

    /// Tries again while the queue is busy. A socket that was refused is not used again.
    fn patiently(&self, binding: Binding<'_>, mode: Granted) -> io::Result<Bound> {
        let tries = if self.patient { BUSY_TRIES } else { 1 };
        for _ in 1..tries {
            match self.once(binding, mode) {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => sleep(BUSY_NAP),
                outcome => return outcome,
            }
        }
        self.once(binding, mode)
    }

    fn once(&self, binding: Binding<'_>, mode: Granted) -> io::Result<Bound> {
        let Memory { region, chunks, .. } = *self.memory;
        let socket = XdpSocket::open()?;
        if let Binding::Own { .. } = binding {
            socket.register_umem(region, chunks.registered_bytes)?;
        }
        let shapes = socket.make_rings(self.spec.ring)?;
        let rings = MappedRings::map(&socket, &shapes)?;
        // Kernels that do not know an option work without it.
        let _older_than_6_18 = socket.set_tx_budget(TX_BUDGET);
        let _without_net_admin = socket.set_send_buffer(SEND_BUFFER_BYTES);
        if self.spec.busy_poll_micros != 0 {
            socket.set_busy_poll(self.spec.busy_poll_micros as i32)?;
        }
        socket.bind(self.interface, self.queue, binding)?;
        let granted = Granted {
            zero_copy: socket.has_zero_copy()?,
            ..mode
        };
        // Not before: there are only so many.
        let lender = region.lender().ok_or(io::ErrorKind::QuotaExceeded)?;
        Ok(Bound {
            socket: Arc::new(socket),
            rings: XdpRings::new(rings, lender, chunks, granted.several),
            granted,
        })
    }

    fn refusal(&self, error: &io::Error) -> PortError {
        let (name, queue) = (&self.spec.interface, self.queue);
        if self.memory.several_needed
            && let Some(libc::EINVAL | libc::EOPNOTSUPP) = error.raw_os_error()
        {
            let fits = one_piece_mtu_max_on(name, self.spec.mode);
            let sentence = format!(
                "xdp:{name}: frames of its MTU need several descriptors each, which this kernel \
                 (6.6 has) or its driver does not grant: {error}; `ip link set dev {name} mtu \
                 {fits}` or less makes them fit one, or use packet:{name}"
            );
            return PortError::new(PortErrorKind::Setting, sentence);
        }
        let remedy = match error.raw_os_error() {
            Some(libc::EBUSY) => "; another AF_XDP socket has this queue, stop its program",
            Some(libc::EOPNOTSUPP) if self.spec.mode == XdpMode::ZeroCopy => {
                "; its driver has no zero-copy, leave out mode="
            }
            Some(libc::ENOBUFS | libc::ENOMEM) => {
                "; the memory locked is limited, raise `ulimit -l` or run as root"
            }
            Some(libc::ENETDOWN) => "; it is down, `ip link set dev` it up",
            _ => hint(error),
        };
        PortError::new(
            PortErrorKind::Open,
            format!("xdp:{name}: queue {queue} cannot be had by AF_XDP: {error}{remedy}"),
        )
    }
}
