//! The XDP program on an interface: its maps, how it is attached, what it counted.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::object::Object;
use super::spec::{Unclaimed, XdpMode};
use crate::interface::programs_on;
use crate::sys::xdp_bpf::{AttachMode, Link, Map, MapKind, Program};
use crate::{PortError, PortErrorKind};

/// The program as `bpf/build.sh` compiles it; `./ci.sh bpf` sees that it does.
pub(super) const OBJECT: &[u8] = include_bytes!("../../../../bpf/xdp.bpf.o");

/// The name that `ip link` and `bpftool` show.
const NAME: &str = "linerate";

/// Places of the counters, as in `bpf/xdp.bpf.c`.
const COUNTS: u32 = 2;
const COUNT_UNCLAIMED: u32 = 1;
/// Verdicts of XDP programs.
const XDP_DROP: u32 = 1;
const XDP_PASS: u32 = 2;

/// The program of one interface. Dropping it detaches it.
#[derive(Debug)]
pub(super) struct Steering {
    sockets: Map,
    counts: Map,
    program: Program,
    attached: Mutex<Option<Attached>>,
}

/// Where the program is.
#[derive(Debug)]
struct Attached {
    interface: u32,
    mode: AttachMode,
    _link: Link,
}

impl Steering {
    /// Loads the program with room for sockets of queues below `queues_end`.
    pub(super) fn load(
        name: &str,
        queues_end: u32,
        unclaimed: Unclaimed,
    ) -> Result<Self, PortError> {
        let failed = |what: &str, error: &io::Error| {
            let sentence = format!(
                "xdp:{name}: {what} could not be made: {error}{}",
                hint(error)
            );
            PortError::new(PortErrorKind::Open, sentence)
        };
        let map = |kind, map: &str, bytes, entries| {
            Map::create(kind, map, bytes, entries).map_err(|error| failed("a BPF map", &error))
        };
        let sockets = map(MapKind::Sockets, "sockets", 4, queues_end)?;
        let settings = map(MapKind::Array, "settings", 4, 1)?;
        let counts = map(MapKind::PerCpuArray, "counts", 8, COUNTS)?;
        let verdict = match unclaimed {
            Unclaimed::Pass => XDP_PASS,
            Unclaimed::Drop => XDP_DROP,
        };
        settings
            .set(0, verdict)
            .map_err(|error| failed("the program's settings", &error))?;
        let object = Object::read(OBJECT);
        let object = object.ok_or_else(|| failed("the program", &broken()))?;
        let instructions = object.linked(|name| match name {
            "sockets" => Some(sockets.raw_fd()),
            "settings" => Some(settings.raw_fd()),
            "counts" => Some(counts.raw_fd()),
            _ => None,
        });
        let instructions = instructions.ok_or_else(|| failed("the program", &broken()))?;
        let program = Program::load(NAME, &instructions, &object.licence)
            .map_err(|(error, said)| failed(&format!("the XDP program ({said})"), &error))?;
        Ok(Self {
            sockets,
            counts,
            program,
            attached: Mutex::default(),
        })
    }

    /// Gives the frames of a queue to a socket, which must be bound: one that is not would swallow
    /// them.
    pub(super) fn steer(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.sockets.set_socket(queue, socket)
    }

    /// Attaches the program as the mode asks for: in the driver, or else, where the mode leaves
    /// the choice and no socket is in zero-copy mode, behind it. Where it is attached already,
    /// nothing changes.
    pub(super) fn attach(
        &self,
        name: &str,
        interface: u32,
        mode: XdpMode,
        zero_copy: bool,
    ) -> Result<(), PortError> {
        let mut attached = self.lock();
        if attached
            .as_ref()
            .is_some_and(|there| there.interface == interface)
        {
            return Ok(());
        }
        let order: &[AttachMode] = match mode {
            XdpMode::Auto if !zero_copy => &[AttachMode::Native, AttachMode::Generic],
            XdpMode::Generic => &[AttachMode::Generic],
            _ => &[AttachMode::Native],
        };
        let mut refused = None;
        for &mode in order {
            match self.program.attach(interface, mode) {
                Ok(link) => {
                    *attached = Some(Attached {
                        interface,
                        mode,
                        _link: link,
                    });
                    return Ok(());
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        refuse_foreign(name, interface)?;
        let error = refused.unwrap_or_else(|| io::ErrorKind::Other.into());
        let remedy = match mode {
            XdpMode::Generic => "; use packet: on this interface",
            _ => "; mode=generic needs no support of the driver",
        };
        let sentence = format!("xdp:{name}: the program cannot be attached: {error}{remedy}");
        Err(PortError::new(PortErrorKind::Open, sentence))
    }

    /// Where the program runs, once it is attached.
    pub(super) fn attached(&self) -> Option<AttachMode> {
        self.lock().as_ref().map(|attached| attached.mode)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Attached>> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frames that came on a queue without a socket.
    pub(super) fn unclaimed(&self) -> io::Result<u64> {
        self.counts.sum(COUNT_UNCLAIMED)
    }
}

/// Refuses an interface that has an XDP program, which would not be ours.
pub(super) fn refuse_foreign(name: &str, interface: u32) -> Result<(), PortError> {
    let programs = programs_on(interface).map_err(|error| {
        let sentence = format!("xdp:{name}: cannot ask for XDP programs on it: {error}");
        PortError::new(PortErrorKind::Open, sentence)
    })?;
    let Some((id, program)) = programs.first() else {
        return Ok(());
    };
    let program = if program.is_empty() {
        "(no name)"
    } else {
        program
    };
    Err(PortError::new(
        PortErrorKind::Open,
        format!(
            "xdp:{name}: the XDP program {program} (id {id}) is attached to it; stop what runs it, \
             or detach it with `ip link set dev {name} xdp off`"
        ),
    ))
}

fn broken() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// What helps against the usual reason.
pub(super) fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "; run as root, or with CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF"
        }
        Some(libc::EAFNOSUPPORT | libc::ENOSYS) => {
            "; this kernel has no AF_XDP, use packet: on this interface"
        }
        _ => "",
    }
}
