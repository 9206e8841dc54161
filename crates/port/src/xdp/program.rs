//! The XDP program on an interface: its maps, how it is attached, what it counted.

use std::ffi::CString;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::btf::Functions;
use super::bypass::Standby;
use super::maps::{Counted, Maps, Room, Settings};
use super::object::Object;
use super::pinned::Found;
use super::tags::Tags;
use super::told::Asked;
use crate::interface::programs_on;
use crate::rights::{Lacking, in_user_namespace};
use crate::sys::xdp_bpf::{AttachMode, Link, Program};
use crate::{PortError, PortErrorKind};

/// The program as `bpf/build.sh` compiles it; `./ci.sh bpf` sees that it does.
pub(super) const OBJECT: &[u8] = include_bytes!("../../../../bpf/xdp.bpf.o");

/// The name that `ip link` and `bpftool` show.
const NAME: &str = "linerate";

/// The program of one interface. Dropping it detaches it.
#[derive(Debug)]
pub(super) struct Steering {
    maps: Arc<Maps>,
    /// What was changed on the interface, as the program's settings say.
    changed: u32,
    /// Whether it forwards to the other interface by itself.
    shortcut: bool,
    /// Where the program outlives the process.
    standby: Option<Standby>,
    /// For any interface; it cannot ask the driver about a frame.
    plain: Plain,
    /// What can is for one interface, and made when it is attached.
    asker: Option<Asker>,
    /// What the interface is to be asked about frames.
    asked: Asked,
    attached: Mutex<Option<Attached>>,
    /// What went wrong on the way, a sentence each.
    troubles: Mutex<Vec<String>>,
}

/// The program as every kernel takes it.
#[derive(Debug)]
struct Plain {
    instructions: Vec<[u8; 8]>,
    licence: CString,
}

/// The program as it is where the kernel has functions to ask the driver by.
#[derive(Debug)]
struct Asker {
    instructions: Vec<[u8; 8]>,
    licence: CString,
    functions: Functions,
}

/// Where the program is.
#[derive(Debug)]
struct Attached {
    interface: u32,
    mode: AttachMode,
    link: Link,
    /// What is told of frames.
    told: Asked,
}

/// A program that is attached: what came of it, and what it is told of frames.
struct Done<T> {
    what: T,
    told: Asked,
}

impl Steering {
    /// Loads the program.
    pub(super) fn load(
        name: &str,
        room: Room,
        settings: Settings,
        standby: Option<Standby>,
    ) -> Result<Self, PortError> {
        let failed = |what: &str, error: &io::Error| {
            let sentence = format!(
                "xdp:{name}: {what} could not be made: {error}{}",
                hint(error)
            );
            PortError::new(PortErrorKind::Open, sentence)
        };
        let maps = Maps::make(room, settings);
        let maps = maps.map_err(|error| failed("a BPF map", &error))?;
        let object = Object::read(OBJECT);
        let object = object.ok_or_else(|| failed("the program", &broken()))?;
        let instructions = object.linked(|name| maps.named(name), |_| None);
        let plain = Plain {
            instructions: instructions.ok_or_else(|| failed("the program", &broken()))?,
            licence: object.licence.clone(),
        };
        // What the kernel refuses is told before anything of the interface is changed.
        plain
            .load()
            .map_err(|(error, said)| failed(&format!("the XDP program ({said})"), &error))?;
        let asker = Asker::link(&object, &maps);
        Ok(Self {
            maps: Arc::new(maps),
            changed: settings.changed,
            shortcut: settings.shortcut,
            standby,
            plain,
            asker,
            asked: settings.asked,
            attached: Mutex::default(),
            troubles: Mutex::default(),
        })
    }

    /// Gives the frames of a queue to a socket, which must be bound: one that is not would swallow
    /// them.
    pub(super) fn steer(&self, queue: u32, socket: BorrowedFd<'_>) -> io::Result<()> {
        self.maps.sockets.set_socket(queue, socket)
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
        let mut attached = lock(&self.attached);
        if attached
            .as_ref()
            .is_some_and(|there| there.interface == interface)
        {
            return Ok(());
        }
        // An interface that was in another namespace meanwhile may be the same one under another
        // number, with the program still on it.
        *attached = None;
        let found = match &self.standby {
            Some(standby) => standby.take(name, interface)?,
            None => None,
        };
        let (done, mode) = match found.map(|found| self.adopt(name, interface, order, tags, found))
        {
            Some(Ok(adopted)) => adopted,
            Some(Err(refused)) => {
                self.note_trouble(format!(
                    "xdp:{name}: the program of the bridge before could not be replaced, so for a \
                     moment the interface was without: {refused}"
                ));
                self.attach_new(name, interface, order, tags)?
            }
            None => self.attach_new(name, interface, order, tags)?,
        };
        *attached = Some(Attached {
            interface,
            mode,
            link: done.what,
            told: done.told,
        });
        Ok(())
    }

    fn attach_new(
        &self,
        name: &str,
        interface: u32,
        order: &[AttachMode],
        tags: &Tags,
    ) -> Result<(Done<Link>, AttachMode), PortError> {
        let mut refused = None;
        for &mode in order {
            let attach = |program: &Program| program.attach(interface, mode);
            match self.attach_in(name, interface, mode, tags, attach) {
                Ok(done) => return Ok((done, mode)),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        refuse_foreign(name, interface, None)?;
        Err(refused.unwrap_or_else(|| cannot_attach(name, AttachMode::Generic, &broken(), "")))
    }

    /// Puts this program in the place of that of the run before, so that no frame meets none.
    /// Where that cannot be, the other one is taken off.
    fn adopt(
        &self,
        name: &str,
        interface: u32,
        order: &[AttachMode],
        tags: &Tags,
        found: Found,
    ) -> Result<(Done<Link>, AttachMode), PortError> {
        let Found { link, mode, .. } = found;
        let update = |program: &Program| link.update(program);
        let updated = if order.contains(&mode) {
            self.attach_in(name, interface, mode, tags, update)
        } else {
            Err(cannot_attach(name, mode, &broken(), "it ran elsewhere"))
        };
        match updated {
            Ok(Done { told, .. }) => {
                self.name(name, &link, mode)?;
                Ok((Done { what: link, told }, mode))
            }
            Err(error) => {
                link.detach()
                    .map_err(|error| cannot_attach(name, mode, &error, ""))?;
                Err(error)
            }
        }
    }

    /// With the functions to ask the driver by where that can be, else without.
    fn attach_in<T>(
        &self,
        name: &str,
        interface: u32,
        mode: AttachMode,
        tags: &Tags,
        attach: impl Fn(&Program) -> io::Result<T>,
    ) -> Result<Done<T>, PortError> {
        let mut refused = None;
        // A program for one interface is taken in the driver only.
        if let (AttachMode::Native, Some(asker)) = (mode, &self.asker) {
            let program = asker.load(interface);
            let attached = program
                .and_then(|program| attach(&program).map_err(|error| (error, String::new())));
            match attached {
                Ok(what) => {
                    let told = self.asked.within(&asker.functions);
                    let reads_tags = asker.functions.tag.is_some();
                    return tags
                        .check(name, mode, reads_tags)
                        .map(|()| Done { what, told });
                }
                Err((error, said)) => refused = Some(cannot_attach(name, mode, &error, &said)),
            }
        }
        tags.check(name, mode, false)
            .map_err(|error| refused.unwrap_or(error))?;
        let attached = self.plain.load();
        let attached =
            attached.and_then(|program| attach(&program).map_err(|error| (error, String::new())));
        let what = attached.map_err(|(error, said)| cannot_attach(name, mode, &error, &said))?;
        let told = Asked::default();
        Ok(Done { what, told })
    }

    /// Puts the program in its own place anew, where it is in the driver: veth gives a program to
    /// the queues that it has then, and of one that comes later all frames go to the host.
    pub(super) fn renew(&self, name: &str, tags: &Tags) -> Result<(), PortError> {
        let attached = lock(&self.attached);
        let Some(there) = attached.as_ref().filter(|a| a.mode == AttachMode::Native) else {
            return Ok(());
        };
        // Another copy: the kernel does nothing for the one that the link has.
        let update = |program: &Program| there.link.update(program);
        self.attach_in(name, there.interface, there.mode, tags, update)?;
        Ok(())
    }

    /// Has the program outlive this process, once it can do without.
    pub(super) fn keep(&self, name: &str) -> Result<(), PortError> {
        match &*lock(&self.attached) {
            Some(attached) => self.name(name, &attached.link, attached.mode),
            None => Ok(()),
        }
    }

    fn name(&self, name: &str, link: &Link, mode: AttachMode) -> Result<(), PortError> {
        let kept = self
            .standby
            .as_ref()
            .map_or(Ok(()), |standby| standby.keep(link, mode, &self.maps));
        kept.map_err(|error| {
            let sentence = format!("xdp:{name}: the bypass cannot be kept: {error}");
            PortError::new(PortErrorKind::Open, sentence)
        })
    }

    /// The bypass, where there is one.
    pub(super) fn standby(&self) -> Option<&Standby> {
        self.standby.as_ref()
    }

    /// Whether it forwards what is surely in no list.
    pub(super) fn has_shortcut(&self) -> bool {
        self.shortcut
    }

    /// What was changed on the interface for the bypass.
    pub(super) fn changed(&self) -> u32 {
        self.changed
    }

    /// Where the program runs, once it is attached.
    pub(super) fn attached(&self) -> Option<AttachMode> {
        lock(&self.attached).as_ref().map(|attached| attached.mode)
    }

    /// What the interface is to be asked about frames.
    pub(super) fn asked(&self) -> Asked {
        self.asked
    }

    /// What the attached program can ask the interface about frames, of what it is to.
    pub(super) fn told(&self) -> Asked {
        let attached = lock(&self.attached);
        attached
            .as_ref()
            .map_or(Asked::default(), |attached| attached.told)
    }

    /// What the program and we share.
    pub(super) fn maps(&self) -> &Arc<Maps> {
        &self.maps
    }

    /// Keeps for the report what went wrong; the same once.
    pub(super) fn note_trouble(&self, sentence: String) {
        let mut troubles = lock(&self.troubles);
        if !troubles.contains(&sentence) {
            troubles.push(sentence);
        }
    }

    /// What went wrong, a sentence each.
    pub(super) fn troubles(&self) -> Vec<String> {
        lock(&self.troubles).clone()
    }

    /// Frames that the program counted; none where it cannot be asked.
    pub(super) fn counted(&self, what: Counted) -> u64 {
        self.maps.counted(what).unwrap_or(0)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Plain {
    /// A copy of its own. A link that it is attached by keeps it.
    fn load(&self) -> Result<Program, (io::Error, String)> {
        Program::load(NAME, &self.instructions, &self.licence)
    }
}

impl Asker {
    /// With what the running kernel has; `None` where that is nothing.
    fn link(object: &Object, maps: &Maps) -> Option<Self> {
        let functions = Functions::of_kernel();
        let number = |name: &str| functions.number(name);
        let instructions = object.linked(|name| maps.named(name), number)?;
        functions.any().then(|| Self {
            instructions,
            licence: object.licence.clone(),
            functions,
        })
    }

    /// For the driver of an interface. The link keeps the program.
    fn load(&self, interface: u32) -> Result<Program, (io::Error, String)> {
        Program::load_bound(interface, NAME, &self.instructions, &self.licence)
    }
}

fn cannot_attach(name: &str, mode: AttachMode, error: &io::Error, said: &str) -> PortError {
    let remedy = match (error.raw_os_error(), mode) {
        (Some(libc::EMFILE | libc::ENFILE), _) => "raise `ulimit -n`",
        (_, AttachMode::Generic) => "use packet: on this interface",
        // veth: each queue that the other end sends by needs one that receives.
        (Some(libc::ENOSPC), AttachMode::Native) => &format!(
            "the other end of a veth pair must not send by more queues than receive here: give \
                 {name} as many, `ethtool -L {name} rx N`"
        ),
        (_, AttachMode::Native) => "mode=generic needs no support of the driver",
    };
    let said = if said.is_empty() {
        String::new()
    } else {
        format!(" ({said})")
    };
    let sentence = format!("xdp:{name}: the program cannot be attached: {error}{said}; {remedy}");
    PortError::new(PortErrorKind::Open, sentence)
}

/// Refuses an interface that has an XDP program, unless it is the one of this number, which a run
/// before left for us.
pub(super) fn refuse_foreign(
    name: &str,
    interface: u32,
    ours: Option<u32>,
) -> Result<(), PortError> {
    let programs = programs_on(interface).map_err(|error| {
        let sentence = format!("xdp:{name}: cannot ask for XDP programs on it: {error}");
        PortError::new(PortErrorKind::Open, sentence)
    })?;
    let foreign = programs.iter().find(|&&(id, _)| Some(id) != ours);
    let Some((id, program)) = foreign else {
        return Ok(());
    };
    let program = match program.as_deref().unwrap_or_default() {
        "" => "(no name)",
        program => program,
    };
    let bypass = if program == NAME {
        format!("; if no bridge runs on it, `linerate bypass off {name}` takes it away")
    } else {
        String::new()
    };
    Err(PortError::new(
        PortErrorKind::Open,
        format!(
            "xdp:{name}: the XDP program {program} (id {id}) is attached to it; stop what runs it, \
             or detach it with `ip link set dev {name} xdp off`, one that a link holds with \
             `bpftool link detach`{bypass}"
        ),
    ))
}

fn broken() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

/// What helps against the usual reason.
pub(super) fn hint(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) if in_user_namespace() == Some(true) => {
            "; root of this user namespace is not the machine's and may not use BPF: run outside \
             of it, or use packet: on this interface"
        }
        Some(libc::EPERM | libc::EACCES) => match Lacking::here() {
            Lacking::Needed => "; run as root, or with CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF",
            Lacking::Perfmon => {
                "; this kernel refuses it without CAP_PERFMON: run as root, or with that \
                 capability too"
            }
            Lacking::Nothing => "; use packet: on this interface",
        },
        Some(libc::EMFILE | libc::ENFILE) => "; raise `ulimit -n`",
        Some(libc::EAFNOSUPPORT | libc::ENOSYS) => {
            "; this kernel has no AF_XDP, use packet: on this interface"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests;
