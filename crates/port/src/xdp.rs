//! `xdp:IFACE`: a network interface by AF_XDP sockets, one for each of its receive queues.
//!
//! The kernel receives into and sends from the frames of this process (its UMEM is the whole
//! Region), so a frame crosses between two such ports without a copy of ours; whether the driver
//! copies, the mode says. An XDP program (`bpf/xdp.bpf.c`) gives each frame to the socket of its
//! queue. It is attached by a link that nothing pins: the kernel takes it off when the process
//! ends, however it ends. With a bypass the link is pinned, and the program stays.
//!
//! What the kernel does that is not in its documentation was measured and stands where it matters.

mod btf;
mod bypass;
mod custom;
mod diversions;
mod due;
mod gather;
mod local;
mod maps;
mod member;
mod mtu;
mod object;
mod origin;
mod partners;
mod pinned;
mod program;
mod queue;
mod ready;
mod sender;
mod shortcut;
mod socket;
mod spec;
mod spread;
mod standing;
mod tags;
#[cfg(test)]
mod tests;
mod told;
mod umem;
mod witness;

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use frame::{PortId, QueueId, Region};

use bypass::Standby;
pub use custom::{XdpAttachment, XdpMap, XdpMapKind, XdpProgram};
pub use diversions::{Diversion, DiversionKinds, Diversions};
use local::Local;
use maps::{Room, Settings};
pub use mtu::native_mtu_max;
use mtu::xdp_mtu_max;
use origin::Origin;
use partners::Partner;
use program::{Steering, refuse_foreign};
use queue::XdpQueue;
use ready::Ready;
use sender::Senders;
pub use shortcut::{Shortcut, SieveWords};
use socket::Memory;
pub use spec::{Bypass, KeepLocal, Queues, Transmit, Unclaimed, VlanTags, XdpMode, XdpSpec};
pub use standing::{Standing, standing, take_away};
use told::Asked;
pub use umem::Umems;

use crate::interface::{Claim, Interface, MERGING, Meter, Monitor, Signal, TAKING_TAGS};
use crate::port::check_queue;
use crate::sys::xdp_bpf::AttachMode;
use crate::sys::xdp_chunks::{Chunks, KERNEL_HEADROOM_BYTES};
use crate::{Identity, OpenContext, Port, PortError, PortErrorKind, PortQueue, TimeSource};

/// Bytes of a frame beside its packet: the header and two VLAN tags.
const HEADER_BYTES: u32 = 14 + 2 * 4;

/// The kernel writes a frame this far into its chunk, and pools are asked for with the headroom of
/// the engine: the difference makes the frame need a longer chunk.
const HEADROOM_MORE_BYTES: u32 = KERNEL_HEADROOM_BYTES - 128;

/// An interface by AF_XDP.
pub struct XdpPort {
    id: PortId,
    spec: XdpSpec,
    spec_text: String,
    interface: u32,
    mtu: u32,
    /// Queues of the interface that it has: from the first up to, and not with, the last.
    queues: Range<u32>,
    steering: Arc<Steering>,
    ready: Arc<Ready>,
    signal: Signal,
    /// Whether it has all queues, however many they become.
    all: bool,
    local: Option<Local>,
    umems: Umems,
    memory: Option<Memory>,
    /// By queue of ours: given out.
    given: Vec<QueueId>,
    /// Queues given out or to be, that have not begun to receive.
    yet_to_begin: Arc<AtomicUsize>,
    zero_copy: bool,
    /// What sends without socket buffers, once asked for.
    senders: Option<Arc<Senders>>,
    _claim: Claim,
}

impl XdpPort {
    /// Looks at the interface and loads the program; nothing reaches us yet.
    ///
    /// # Errors
    /// No such interface, queues it does not have, an XDP program of somebody else on it, too few
    /// rights.
    pub fn open(spec: &XdpSpec, id: PortId, context: &OpenContext) -> Result<Self, PortError> {
        let interface = Interface::existing(&spec.interface)?.held();
        let spec = &XdpSpec {
            interface: interface.name().to_owned(),
            ..spec.clone()
        };
        let name = &spec.interface;
        let failed = |error: &io::Error| {
            let hint = program::hint(error);
            let sentence = format!("xdp:{name} cannot be opened: {error}{hint}");
            PortError::new(PortErrorKind::Open, sentence)
        };
        let index = interface.index().map_err(|error| failed(&error))?;
        context.umems.claim(name, index)?;
        let mtu = interface.mtu().map_err(|error| failed(&error))?;
        // Drivers that do not say have one queue.
        let count = interface.rx_queues().unwrap_or(1).max(1);
        let queues = queues(spec, count)?;
        let standby = standby(spec, &queues, count, index)?;
        let left = standby.as_ref().and_then(Standby::program);
        refuse_foreign(name, index, left)?;
        let room = Room {
            // Queues may come; a bypass is for those there are.
            queues_end: match spec.queues {
                Queues::All if standby.is_none() => interface.rx_queues_max().unwrap_or(count),
                _ => queues.end,
            },
            sieve_words: context.sieve_words,
        };
        let ready = Ready::make(interface, index, spec)?;
        let settings = settings(spec, standby.as_ref(), &ready);
        let steering = Steering::load(name, room, settings, standby)?;
        let keeps = spec.keep_local != KeepLocal::Off;
        let local = keeps
            .then(|| Local::start(ready.interface(), Arc::clone(steering.maps())))
            .transpose()?;
        let (steering, ready) = (Arc::new(steering), Arc::new(ready));
        context.umems.partners().join(Partner {
            name: name.clone(),
            index,
            steering: Arc::clone(&steering),
            ready: Arc::clone(&ready),
        });
        let signal = Signal::default();
        signal.saw_mtu(mtu);
        let resolved = XdpSpec {
            queues: Queues::Range(queues.start, queues.end - 1),
            ..spec.clone()
        };
        Ok(Self {
            id,
            spec_text: resolved.to_string(),
            spec: resolved,
            interface: index,
            mtu,
            queues,
            steering,
            ready,
            local,
            signal,
            all: spec.queues == Queues::All,
            umems: context.umems.clone(),
            memory: None,
            given: Vec::new(),
            yet_to_begin: Arc::default(),
            zero_copy: false,
            senders: None,
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

    /// What sends without socket buffers, where that may be: for `of` workers.
    fn senders(&mut self, of: usize) -> Result<Option<Arc<Senders>>, PortError> {
        let (name, interface) = (&self.spec.interface, self.ready.interface());
        let wanted = match self.spec.transmit {
            Transmit::Socket => false,
            Transmit::Auto => sender::obstacle(interface, self.mtu).is_none() && !self.zero_copy,
            Transmit::Redirect => match sender::obstacle(interface, self.mtu) {
                None => true,
                Some(obstacle) => {
                    let sentence = format!("xdp:{name}: {obstacle}, or leave out transmit=");
                    return Err(PortError::new(PortErrorKind::Setting, sentence));
                }
            },
        };
        if !wanted || self.senders.is_some() {
            return Ok(self.senders.clone());
        }
        match Senders::make(interface, of as u32) {
            Ok(senders) => self.senders = Some(Arc::new(senders)),
            Err(error) if self.spec.transmit == Transmit::Redirect => return Err(error),
            // By sockets then, as on kernels before 5.18 or without CAP_SYS_ADMIN or CAP_PERFMON.
            Err(error) => self.steering.note_trouble(error.to_string()),
        }
        Ok(self.senders.clone())
    }
}

/// The queues of the interface that one of ours has: every `of`-th.
fn share(queues: &Range<u32>, queue: u16, of: usize) -> impl Iterator<Item = u32> + use<> {
    queues.clone().skip(usize::from(queue)).step_by(of.max(1))
}

/// The longest frame of an interface, and with it the part of the kernel's headroom that is more
/// than ours.
fn frame_bytes_max_hint(mtu: u32) -> usize {
    mtu.saturating_add(HEADER_BYTES + HEADROOM_MORE_BYTES) as usize
}

/// The queues that the spec asks for, of `count` that there are.
fn queues(spec: &XdpSpec, count: u32) -> Result<Range<u32>, PortError> {
    let name = &spec.interface;
    match spec.queues {
        Queues::All => Ok(0..count),
        Queues::Range(first, last) if last < count => Ok(first..last + 1),
        Queues::Range(..) => Err(PortError::new(
            PortErrorKind::Queue,
            format!(
                "xdp:{name} has no queues={}: it has {count}, numbered from 0; leave queues= out \
                 for all",
                spec.queues
            ),
        )),
    }
}

/// The bypass that the spec asks for.
fn standby(
    spec: &XdpSpec,
    queues: &Range<u32>,
    count: u32,
    index: u32,
) -> Result<Option<Standby>, PortError> {
    let name = &spec.interface;
    let folder = spec.bypass.folder();
    if (folder.is_some() || spec.shortcut) && *queues != (0..count) {
        return Err(PortError::new(
            PortErrorKind::Queue,
            format!(
                "xdp:{name}: frames of queues without a worker would pass by: leave out queues= or \
                 bypass and shortcut"
            ),
        ));
    }
    let claim = |folder| Standby::claim(&format!("xdp:{name}"), folder, index);
    folder.map(claim).transpose()
}

/// What the program is told.
fn settings(spec: &XdpSpec, standby: Option<&Standby>, ready: &Ready) -> Settings {
    Settings {
        drop_unclaimed: spec.unclaimed == Unclaimed::Drop,
        keep_local: spec.keep_local,
        bypass: standby.is_some(),
        changed: standby.map_or(0, |standby| ready.changed(standby.changed)),
        shortcut: spec.shortcut,
        asked: Asked {
            stamp: ready.clock().is_some(),
            hash: spec.rx_hash,
        },
    }
}

/// How chunks of this Region are shown to the kernel, when frames of this MTU fit them; and whether
/// in several pieces only.
fn memory(name: &str, mtu: u32, region: &'static Region) -> Result<Memory, PortError> {
    let refused = |sentence| Err(PortError::new(PortErrorKind::Setting, sentence));
    let Some(stride) = region.stride_bytes() else {
        return refused(format!(
            "xdp:{name}: all frame memory must be of one stride; give every worker the same"
        ));
    };
    let needed = mtu.saturating_add(HEADER_BYTES);
    let least = (needed + KERNEL_HEADROOM_BYTES).next_multiple_of(64);
    match Chunks::of(stride) {
        Some(chunks) if chunks.gathered_bytes_max() >= needed => Ok(Memory {
            region,
            chunks,
            several_needed: chunks.rx_bytes_max() < needed,
        }),
        _ if mtu > xdp_mtu_max(true) => {
            let fits = xdp_mtu_max(true);
            refused(format!(
                "xdp:{name}: frames of its MTU of {mtu} are more than AF_XDP carries; `ip link set \
                 dev {name} mtu {fits}` or less makes them fit"
            ))
        }
        _ => {
            let least = least.max(Chunks::STRIDE_BYTES_MIN);
            refused(format!(
                "xdp:{name}: frames of its MTU of {mtu} do not fit into chunks of {stride} bytes \
                 behind the kernel's {KERNEL_HEADROOM_BYTES}; leave out --stride or give {least} \
                 or more"
            ))
        }
    }
}

impl Port for XdpPort {
    fn id(&self) -> PortId {
        self.id
    }

    fn spec(&self) -> &str {
        &self.spec_text
    }

    /// As the kernel granted it, once all queues are open.
    fn mode(&self) -> String {
        let queues = self.queues.len();
        let plural = if queues == 1 { "queue" } else { "queues" };
        let copies = if self.zero_copy { "zero-copy" } else { "copy" };
        let program = match self.steering.attached() {
            Some(AttachMode::Native) => "program in the driver",
            Some(AttachMode::Generic) => "generic program",
            None => return "AF_XDP, not attached".to_owned(),
        };
        let off = self.ready.switched_off();
        let bypass = match self.steering.standby() {
            None => "",
            Some(standby) if standby.adopts() => ", bypass adopted",
            Some(_) => ", bypass",
        };
        let shortcut = if self.spec.shortcut { ", shortcut" } else { "" };
        let redirects = self
            .senders
            .as_ref()
            .is_some_and(|senders| senders.is_open());
        let sends = if redirects {
            ", sends by redirection"
        } else {
            ""
        };
        format!("AF_XDP {copies}, {program}, {queues} {plural}{sends}{shortcut}{bypass}{off}")
    }

    fn queues_max(&self) -> usize {
        self.queues.len()
    }

    fn frame_bytes_max_hint(&self) -> usize {
        frame_bytes_max_hint(self.mtu)
    }

    fn mtu(&self) -> Option<u32> {
        self.ready.mtu().ok()
    }

    /// What is for the host comes to it where that was asked for.
    fn identity(&self) -> Option<Identity> {
        let keeps = self.spec.keep_local != KeepLocal::Off;
        Some(self.ready.identity(keeps))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.ready.notes(&self.spec);
        if let Some(standby) = self.steering.standby().filter(|standby| standby.adopts()) {
            notes.push(format!(
                "xdp:{}: {} frames passed unfiltered since the bridge before began, and this one \
                 takes over",
                self.spec.interface,
                standby.passed_before()
            ));
        }
        notes
    }

    fn time_source(&self) -> TimeSource {
        self.ready.time_source()
    }

    fn attend(&mut self) {
        self.ready.follow();
        let followed = self.local.as_mut().map_or(Ok(()), Local::follow);
        if let Err(sentence) = followed {
            self.steering.note_trouble(sentence);
        }
        if let Some(senders) = &self.senders {
            senders.look();
        }
        // One of two interfaces that were made anew may lack something yet.
        if let Err(error) = self.umems.partners().complete() {
            self.steering.note_trouble(error.to_string());
        }
    }

    fn shortcut(&self) -> Option<Shortcut> {
        let partners = self.umems.partners();
        Shortcut::of(&self.spec, &self.steering, partners)
    }

    fn diversions(&self) -> Option<Diversions> {
        Diversions::of(&self.spec, &self.steering)
    }

    fn monitor(&self) -> Option<Monitor> {
        let off = MERGING.into_iter().chain(TAKING_TAGS).collect();
        let monitor = Monitor::new(self.ready.interface(), &self.signal, off)?;
        Some(monitor.counting_queues().counting_drops())
    }

    fn meter(&self) -> Option<Meter> {
        let meter = Meter::new(self.ready.interface())?.with_tap();
        let passes_by = self.steering.standby().is_some() || self.spec.shortcut;
        Some(
            meter
                .with_queues(self.queues.clone())
                .with_bypass(passes_by),
        )
    }

    fn prepare(&mut self, region: &'static Region) -> Result<(), PortError> {
        self.umems.partners().pair(&self.spec.interface)?;
        self.memory = Some(memory(&self.spec.interface, self.mtu, region)?);
        Ok(())
    }

    /// Of each socket FILL and RX together, and TX and COMPLETION together, have at most a ring of
    /// frames.
    fn frames_held_max(&self, of: usize) -> u32 {
        let sockets = self.queues.len().div_ceil(of.max(1)) as u32;
        sockets * 2 * self.spec.ring
    }

    fn open_queue(&mut self, queue: QueueId, of: usize) -> Result<Box<dyn PortQueue>, PortError> {
        check_queue(&self.spec_text, queue, of, self.queues_max())?;
        let refused = |what: &str| {
            let sentence = format!("queue {queue} of {} {what}", self.spec_text);
            PortError::new(PortErrorKind::Queue, sentence)
        };
        if self.given.contains(&queue) {
            return Err(refused("was given out before"));
        }
        let Some(memory) = self.memory else {
            return Err(refused("was asked for before frame memory was there"));
        };
        if self.given.is_empty() {
            self.yet_to_begin = Arc::new(AtomicUsize::new(of));
        }
        let origin = Origin {
            port: self.id,
            spec: self.spec.clone(),
            interface: self.interface,
            yet_to_begin: Arc::clone(&self.yet_to_begin),
            numbers: share(&self.queues, queue.0, of).collect(),
            all: self.all.then_some((queue.0, of)),
            signal: self.signal.clone(),
            memory,
            umems: self.umems.clone(),
            steering: Arc::clone(&self.steering),
            ready: Arc::clone(&self.ready),
        };
        let sockets = origin.open(self.interface, true)?;
        self.zero_copy = sockets.iter().any(|bound| bound.granted.zero_copy);
        let senders = self.senders(of)?;
        let sender = senders.and_then(|senders| senders.sender(queue.0).ok());
        self.given.push(queue);
        let several = sockets.iter().all(|bound| bound.granted.several);
        let longest = memory.chunks.frame_bytes_max(several);
        self.signal.takes_mtu(longest.saturating_sub(HEADER_BYTES));
        let speaks = queue.0 == 0;
        let queue = XdpQueue::new(origin, sockets, speaks, self.mtu);
        Ok(Box::new(queue.with_sender(sender)))
    }
}
