//! Frames that leave without a socket buffer each: the kernel runs a program (`bpf/send.bpf.c`)
//! over frames of its own, which fills them with ours and redirects them to the interface.

use std::io;
use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::HEADER_BYTES;
use super::due::Due;
use super::object::{Named, Object};
use super::program::hint;
use super::witness::Witness;
use crate::interface::{Interface, Link, LinkCounts, XdpSupport};
use crate::sys::private_space::Shelf;
use crate::sys::xdp_batch::{self, Batch};
use crate::sys::xdp_bpf::Program;
use crate::sys::xdp_maps::{Map, MapKind, MapShape};
use crate::{PortError, PortErrorKind};

const OBJECT: &[u8] = include_bytes!("../../../../bpf/send.bpf.o");

/// The name that `bpftool` shows.
const NAME: &str = "linerate_send";

/// The longest frame that a page has room for, with the kernel's headroom and what it keeps there.
const FRAME_BYTES_MAX: usize = xdp_batch::LENGTH_MAX;
/// The largest MTU whose frames, with two VLAN tags, are no longer.
const MTU_MAX: u32 = FRAME_BYTES_MAX as u32 - HEADER_BYTES;

/// Frames after which the kernel takes interrupts that were put off, in which a veth's other end
/// receives them: it has 256 places.
pub(super) const KERNEL_BATCH: u32 = 64;

/// So often, in runs, and after each of as many at first, it is looked at whether the far end has
/// received all of a run's frames when the run ends. Pages of those that it has not are held for a
/// second by a pool that is gone, of which each later run walks over all, so redirection then costs
/// more than socket buffers, and gigabytes of memory.
const LOOKED_AT: u32 = 64;
/// For how many looks at the interface, ten of which are a second, frames leave by sockets then,
/// and after a loss: of those given to the driver together it gives up all behind the first that is
/// too long for the far end, where one that goes by a socket is lost alone.
const REST: u32 = 100;

/// A run that a signal ended is begun again so often.
const TRIES: u32 = 3;

/// Why frames of an interface can never leave by redirection, and what helps.
pub(super) fn obstacle(interface: &Interface, mtu: u32) -> Option<String> {
    let name = interface.name();
    if mtu > MTU_MAX {
        return Some(format!(
            "frames of its MTU of {mtu} are longer than can be redirected; `ip link set dev {name} \
             mtu {MTU_MAX}` or less"
        ));
    }
    // Others send when their hardware is ready, long after the run has ended.
    let driver = interface.driver().unwrap_or_default();
    (driver != "veth").then(|| {
        "only a veth takes redirected frames in a way that is worth it; use another interface"
            .to_owned()
    })
}

/// What the senders of a port have in common.
#[derive(Debug)]
pub(super) struct Senders {
    interface: Interface,
    program: Program,
    interfaces: Map,
    batches: Map,
    _shelf: Shelf,
    _witness: Witness,
    /// The number of the interface.
    index: AtomicU32,
    /// Whether frames go this way now.
    open: AtomicBool,
    /// Looks that are left of a rest.
    rest: AtomicU32,
}

impl Senders {
    /// For so many workers.
    pub(super) fn make(interface: &Interface, workers: u32) -> Result<Self, PortError> {
        let name = interface.name();
        let failed = |(what, error): (String, io::Error)| {
            let sentence = format!(
                "xdp:{name}: frames cannot be sent by redirection: {what}: {error}{}; \
                 transmit=socket does without",
                hint(&error)
            );
            PortError::new(PortErrorKind::Open, sentence)
        };
        let own = interface
            .again()
            .map_err(|error| ("a socket".to_owned(), error));
        own.and_then(|own| Self::try_make(own, workers))
            .map_err(failed)
    }

    /// Or what failed, and how.
    fn try_make(interface: Interface, workers: u32) -> Result<Self, (String, io::Error)> {
        let of = |what: &'static str| move |error| (what.to_owned(), error);
        let interfaces = MapShape::numbered(MapKind::Interfaces, 4, 1);
        let interfaces = Map::create("interfaces", interfaces).map_err(of("a BPF map"))?;
        let batches = xdp_batch::batches(workers).map_err(of("a BPF map"))?;
        let running = xdp_batch::running().map_err(of("a BPF map"))?;
        let program = program(&interfaces, &batches, &running)?;
        let shelf = Shelf::of(&program).map_err(of("a network namespace of its own"))?;
        let witness = Witness::call(&batches, &running);
        let witness = witness.map_err(of("what sees that frames arrive (a tracepoint)"))?;
        Ok(Self {
            interface,
            program,
            interfaces,
            batches,
            _shelf: shelf,
            _witness: witness,
            index: AtomicU32::new(0),
            open: AtomicBool::new(false),
            rest: AtomicU32::new(0),
        })
    }

    /// Looks whether the interface takes redirected frames: those of veth do while somebody at
    /// their far end receives in a way that goes with them.
    pub(super) fn look(&self) {
        let rest = self.rest.load(Ordering::Relaxed);
        if rest != 0 {
            // What a worker stores meanwhile is as good: it rests anew.
            self.rest.store(rest - 1, Ordering::Relaxed);
            return;
        }
        let index = Some(self.interface.link()).filter(|link| link.is_up());
        let index = index.and_then(Link::index);
        let takes = |&index: &u32| XdpSupport::of(index).is_ok_and(|support| support.transmit);
        let Some(index) = index.filter(takes) else {
            self.open.store(false, Ordering::Release);
            return;
        };
        if self.index.load(Ordering::Relaxed) != index {
            if self.interfaces.set(0, index).is_err() {
                self.open.store(false, Ordering::Release);
                return;
            }
            self.index.store(index, Ordering::Relaxed);
        }
        self.open.store(true, Ordering::Release);
    }

    /// The far end receives elsewhere and later: frames leave by sockets for a while.
    fn rest(&self) {
        self.rest.store(REST, Ordering::Relaxed);
        self.open.store(false, Ordering::Release);
    }

    /// Frames that the far end has received, as far as that can be known.
    fn received(&self) -> Option<u64> {
        let counts = LinkCounts::of(self.index.load(Ordering::Relaxed));
        counts.ok().map(|counts| counts.tx_packets)
    }

    /// Whether frames go this way now.
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// The sender of a worker: of the port's queue of this number, once.
    pub(super) fn sender(self: &Arc<Self>, queue: u16) -> io::Result<Sender> {
        Ok(Sender {
            batch: Batch::map(&self.batches, u32::from(queue))?,
            senders: Arc::clone(self),
            queue: u32::from(queue),
            bytes: 0,
            due: Due::default(),
            runs: 0,
        })
    }
}

/// The program that sends.
fn program(interfaces: &Map, batches: &Map, running: &Map) -> Result<Program, (String, io::Error)> {
    let broken = || ("the program".to_owned(), io::ErrorKind::InvalidData.into());
    let named = |name: &str| match name {
        "interfaces" => Some(Named::Map(interfaces.raw_fd())),
        "batches" => Some(Named::Map(batches.raw_fd())),
        "running" => Some(Named::Map(running.raw_fd())),
        _ => None,
    };
    let object = Object::read(OBJECT).ok_or_else(broken)?;
    let linked = object.linked(named, |_| None).ok_or_else(broken)?;
    Program::load(NAME, &linked, &object.licence)
        .map_err(|(error, said)| (format!("the program ({said})"), error))
}

/// What was sent, what was given up for want of an interface, and what was lost behind the
/// redirection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) frames: u64,
    pub(super) bytes: u64,
    pub(super) given_up: u64,
    pub(super) lost: u64,
}

impl AddAssign for Sent {
    fn add_assign(&mut self, other: Self) {
        self.frames += other.frames;
        self.bytes += other.bytes;
        self.given_up += other.given_up;
        self.lost += other.lost;
    }
}

/// The frames of one worker on their way to the interface.
#[derive(Debug)]
pub(super) struct Sender {
    senders: Arc<Senders>,
    queue: u32,
    batch: Batch,
    /// Of the frames in the batch.
    bytes: u64,
    due: Due,
    runs: u32,
}

impl Sender {
    /// Whether the interface takes frames this way now.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.senders.is_open()
    }

    /// The way was taken up anew.
    pub(super) fn begin(&mut self) {
        self.runs = 0;
    }

    /// Looks whether it does.
    pub(super) fn look(&self) {
        self.senders.look();
    }

    /// Frames taken and not sent yet.
    pub(super) fn held(&self) -> u32 {
        self.batch.frames()
    }

    /// Takes a frame of a length that the interface carries; false where there is no room.
    #[inline]
    pub(super) fn push(&mut self, frame: &[u8]) -> bool {
        let taken = self.batch.push(frame);
        if taken {
            self.bytes += frame.len() as u64;
            self.due.came();
        }
        taken
    }

    /// A turn of the worker is over: sends what was taken, unless more is likely to come at once.
    #[inline]
    pub(super) fn turn(&mut self) -> Option<Sent> {
        self.due.at_turn(self.held()).then(|| self.send())
    }

    /// The worker flushes, which it does several times a turn: sends what is enough for a run, or
    /// what no turn has come for.
    #[inline]
    pub(super) fn flush(&mut self) -> Option<Sent> {
        self.due.at_flush(self.held()).then(|| self.send())
    }

    /// Sends what was taken.
    #[cold]
    #[inline(never)]
    pub(super) fn send(&mut self) -> Sent {
        let (frames, bytes) = (self.held(), self.bytes);
        let looked_at = self.runs < LOOKED_AT || self.runs.is_multiple_of(LOOKED_AT);
        self.runs = self.runs.saturating_add(1);
        let before = looked_at.then(|| self.senders.received()).flatten();
        self.batch.show();
        for _ in 0..TRIES {
            if self.run().is_ok() || !self.batch.handed().left {
                break;
            }
        }
        let handed = self.batch.handed();
        let (left, left_bytes) = if handed.left {
            self.batch.left()
        } else {
            (0, 0)
        };
        self.batch.clear();
        self.bytes = 0;
        self.due.left();
        let given_up = left + handed.stranded;
        let gone = frames.saturating_sub(given_up + handed.lost);
        let after = before.and_then(|_| self.senders.received());
        let received = before
            .zip(after)
            .map(|(before, now)| now.wrapping_sub(before));
        let late = received.is_some_and(|received| received < u64::from(gone));
        if late || handed.lost != 0 {
            self.senders.rest();
        }
        let missing = left_bytes + u64::from(handed.stranded_bytes + handed.lost_bytes);
        Sent {
            frames: u64::from(gone),
            bytes: bytes.saturating_sub(missing),
            given_up: u64::from(given_up),
            lost: u64::from(handed.lost),
        }
    }

    fn run(&self) -> io::Result<()> {
        const EMPTY: [u8; FRAME_BYTES_MAX] = [0; FRAME_BYTES_MAX];
        let index = self.senders.index.load(Ordering::Relaxed);
        let frame = &EMPTY[..self.batch.first_length()];
        // One would be no reason for the kernel to take it for a run of many.
        let frames = self.held().max(2);
        let from = (index, self.queue);
        self.senders
            .program
            .run_as(frame, frames, KERNEL_BATCH, from)
    }
}
