//! The XDP program on an interface: its maps, how it is attached, what it counted.

use std::ffi::CString;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::btf::kernel_function;
use super::object::Object;
use super::spec::Unclaimed;
use super::tags::Tags;
use crate::interface::programs_on;
use crate::sys::xdp_bpf::{AttachMode, Link, Map, MapKind, Program};
use crate::{PortError, PortErrorKind};

/// The program as `bpf/build.sh` compiles it; `./ci.sh bpf` sees that it does.
pub(super) const OBJECT: &[u8] = include_bytes!("../../../../bpf/xdp.bpf.o");

/// The kernel's function that the program reads VLAN tags by.
pub(super) const TAG_FUNCTION: &str = "bpf_xdp_metadata_rx_vlan_tag";

/// The name that `ip link` and `bpftool` show.
const NAME: &str = "linerate";

/// Places of the counters, as in `bpf/xdp.bpf.c`.
const COUNTS: u32 = 3;
const COUNT_UNCLAIMED: u32 = 1;
const COUNT_TAG_LOST: u32 = 2;
/// Verdicts of XDP programs.
const XDP_DROP: u32 = 1;
const XDP_PASS: u32 = 2;

/// The program of one interface. Dropping it detaches it.
#[derive(Debug)]
pub(super) struct Steering {
    sockets: Map,
    counts: Map,
    /// Named by the instructions of a program that is yet to be made.
    _settings: Map,
    /// For any interface; it cannot read VLAN tags that lie beside a frame.
    program: Program,
    /// What reads them is for one interface, and made when it is attached.
    tag_reader: Option<TagReader>,
    attached: Mutex<Option<Attached>>,
}

/// The program as it is where the kernel has the function for tags.
#[derive(Debug)]
struct TagReader {
    instructions: Vec<[u8; 8]>,
    licence: CString,
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
        let descriptor = |name: &str| match name {
            "sockets" => Some(sockets.raw_fd()),
            "settings" => Some(settings.raw_fd()),
            "counts" => Some(counts.raw_fd()),
            _ => None,
        };
        let plain = object.linked(descriptor, |_| None);
        let plain = plain.ok_or_else(|| failed("the program", &broken()))?;
        let program = Program::load(NAME, &plain, &object.licence)
            .map_err(|(error, said)| failed(&format!("the XDP program ({said})"), &error))?;
        let tag_reader = kernel_function(TAG_FUNCTION).and_then(|number| {
            Some(TagReader {
                instructions: object.linked(descriptor, |_| Some(number))?,
                licence: object.licence.clone(),
            })
        });
        Ok(Self {
            sockets,
            counts,
            _settings: settings,
            program,
            tag_reader,
            attached: Mutex::default(),
        })
    }

    /// Gives the frames of a queue to a socket, which must be bound: one that is not would swallow
    /// them.
    pub(super) fn steer(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.sockets.set_socket(queue, socket)
    }

    /// Attaches the program in the first of these modes that the interface has and that keeps VLAN
    /// tags. Where it is attached already, nothing changes.
    pub(super) fn attach(
        &self,
        name: &str,
        interface: u32,
        order: &[AttachMode],
        tags: &Tags,
    ) -> Result<(), PortError> {
        let mut attached = self.lock();
        if attached
            .as_ref()
            .is_some_and(|there| there.interface == interface)
        {
            return Ok(());
        }
        // An interface that was in another namespace meanwhile may be the same one under another
        // number, with the program still on it.
        *attached = None;
        let mut refused = None;
        for &mode in order {
            match self.attach_in(name, interface, mode, tags) {
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
        Err(refused.unwrap_or_else(|| cannot_attach(name, AttachMode::Generic, &broken(), "")))
    }

    /// With the function for tags where that can be, else without.
    fn attach_in(
        &self,
        name: &str,
        interface: u32,
        mode: AttachMode,
        tags: &Tags,
    ) -> Result<Link, PortError> {
        let mut refused = None;
        // A program for one interface is taken in the driver only.
        if let (AttachMode::Native, Some(reader)) = (mode, &self.tag_reader) {
            match reader.attach(interface) {
                Ok(link) => return tags.check(name, mode, true).map(|()| link),
                Err((error, said)) => refused = Some(cannot_attach(name, mode, &error, &said)),
            }
        }
        tags.check(name, mode, false)
            .map_err(|error| refused.unwrap_or(error))?;
        let link = self.program.attach(interface, mode);
        link.map_err(|error| cannot_attach(name, mode, &error, ""))
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

    /// Frames that were dropped because their VLAN tag could not be put back.
    pub(super) fn tags_lost(&self) -> io::Result<u64> {
        self.counts.sum(COUNT_TAG_LOST)
    }
}

impl TagReader {
    /// In the driver of an interface. The link keeps the program.
    fn attach(&self, interface: u32) -> Result<Link, (io::Error, String)> {
        Program::load_bound(interface, NAME, &self.instructions, &self.licence)?
            .attach(interface, AttachMode::Native)
            .map_err(|error| (error, String::new()))
    }
}

fn cannot_attach(name: &str, mode: AttachMode, error: &io::Error, said: &str) -> PortError {
    let remedy = match mode {
        AttachMode::Generic => "use packet: on this interface",
        AttachMode::Native => "mode=generic needs no support of the driver",
    };
    let said = if said.is_empty() {
        String::new()
    } else {
        format!(" ({said})")
    };
    let sentence = format!("xdp:{name}: the program cannot be attached: {error}{said}; {remedy}");
    PortError::new(PortErrorKind::Open, sentence)
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
