//! How a connection comes about, as both roles see it: what to answer to each message. No socket
//! here; who has one feeds it with what came.
//!
//! ```text
//!   leader                         follower
//!     HELLO        ------------>
//!                  <------------   INIT
//!     ACK          ------------>
//!                  <------------   ADD_REGION, with its file
//!     ACK          ------------>
//!                  <------------   ADD_RING, with its interrupt; one after the other
//!     ACK          ------------>
//!                  <------------   CONNECT
//!     CONNECTED    ------------>
//! ```

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use super::link::{Buffers, Direction, QueueLink, Regions};
use super::message::{AddRing, Hello, Init, MODE_ETHERNET, Message, Text, VERSION};
use super::{MemifRole, MemifSpec};
use crate::sys::memif_memory::{
    DESCRIPTOR_BYTES, REGION_BYTES_MAX, RING_HEAD_BYTES, SharedMemory, Unfit,
};
use crate::sys::memif_socket::Interrupt;

/// Regions that a follower may have: VPP has one or two.
pub(super) const REGIONS_MAX: usize = 16;
const NAME: &[u8] = b"linerate";
/// Buffers begin on cache lines.
const LINE_BYTES: u64 = 64;

/// What to do when a message came.
#[derive(Debug)]
pub(super) enum Step {
    /// Say this.
    Say(Message, Option<OwnedFd>),
    /// The connection is there; say this before it is used.
    Up(Option<Message>, Vec<QueueLink>),
}

/// Why a peer is refused, in words for both sides.
pub(super) type Refusal = String;

/// What a leader says first.
pub(super) fn hello(queues: u16, log2_entries: u8) -> Message {
    Message::Hello(Hello {
        name: Text::new(NAME),
        version_min: VERSION,
        version_max: VERSION,
        region_max: REGIONS_MAX as u16 - 1,
        ring_to_follower_max: queues - 1,
        ring_to_leader_max: queues - 1,
        log2_entries_max: log2_entries,
    })
}

/// Whether a follower may have the interface that it names.
pub(super) fn check_init(init: &Init, spec: &MemifSpec) -> Result<(), Refusal> {
    if init.version != VERSION {
        return Err("incompatible memif version".to_owned());
    }
    if init.mode != MODE_ETHERNET {
        return Err("only ethernet mode supported".to_owned());
    }
    if !spec.secret.is_empty() && !same(init.secret.bytes(), spec.secret.as_bytes()) {
        return Err("incorrect secret".to_owned());
    }
    Ok(())
}

/// Compares in a time that does not tell where the difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    let differing = a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b));
    a.len() == b.len() && differing == 0
}

/// A ring that the follower offered.
#[derive(Debug)]
struct Offered {
    ring: AddRing,
    interrupt: Interrupt,
}

/// The leader's part, from the accepted INIT on.
#[derive(Debug)]
pub(super) struct LeaderTalk {
    queues: usize,
    log2_entries_max: u8,
    regions: Vec<Arc<SharedMemory>>,
    /// From the follower, and to it.
    rings: [Vec<Option<Offered>>; 2],
}

impl LeaderTalk {
    pub(super) fn new(queues: u16, log2_entries_max: u8) -> Self {
        let none = || (0..queues).map(|_| None).collect();
        Self {
            queues: usize::from(queues),
            log2_entries_max,
            regions: Vec::new(),
            rings: [none(), none()],
        }
    }

    pub(super) fn take(
        &mut self,
        message: Message,
        file: Option<OwnedFd>,
    ) -> Result<Step, Refusal> {
        match message {
            Message::AddRegion { index, bytes } => self.add_region(index, bytes, file)?,
            Message::AddRing(ring) => self.add_ring(ring, file)?,
            Message::Connect { .. } => {
                let name = Text::new(NAME);
                return Ok(Step::Up(Some(Message::Connected { name }), self.links()?));
            }
            _ => return Err("unexpected message".to_owned()),
        }
        Ok(Step::Say(Message::Ack, None))
    }

    fn add_region(&mut self, index: u16, bytes: u64, file: Option<OwnedFd>) -> Result<(), Refusal> {
        if usize::from(index) != self.regions.len() || self.regions.len() == REGIONS_MAX {
            return Err("invalid region index".to_owned());
        }
        let file = file.ok_or("missing region file")?;
        let memory = SharedMemory::open(file.as_fd(), bytes).map_err(|unfit| match unfit {
            Unfit::MayShrink => "region is no memory file sealed against shrinking".to_owned(),
            Unfit::Size => "region is smaller than it says, empty or above 4 GiB".to_owned(),
            Unfit::Refused(error) => format!("region cannot be mapped: {error}"),
        })?;
        self.regions.push(Arc::new(memory));
        Ok(())
    }

    fn add_ring(&mut self, ring: AddRing, file: Option<OwnedFd>) -> Result<(), Refusal> {
        if ring.log2_entries > self.log2_entries_max || ring.log2_entries == 0 {
            return Err("invalid ring size".to_owned());
        }
        if ring.private_bytes != 0 {
            return Err("private headers are not supported".to_owned());
        }
        let place = self.rings[usize::from(!ring.to_leader)].get_mut(usize::from(ring.index));
        let place = place.filter(|place| place.is_none());
        let place = place.ok_or("invalid ring index")?;
        let interrupt = Interrupt::of(file.ok_or("missing interrupt file")?);
        *place = Some(Offered { ring, interrupt });
        Ok(())
    }

    /// A link a queue, of the rings that were offered.
    fn links(&mut self) -> Result<Vec<QueueLink>, Refusal> {
        let regions: Regions = std::mem::take(&mut self.regions).into();
        let [to_leader, to_follower] = std::mem::take(&mut self.rings);
        let queues = self.queues;
        let direction = |offered: Option<Offered>| {
            let Offered { ring, interrupt } =
                offered.ok_or_else(|| format!("{queues} rings each way are needed"))?;
            let memory = regions.get(usize::from(ring.region));
            let memory = memory.and_then(|region| region.ring(ring.offset, ring.log2_entries));
            let memory = memory.ok_or("ring outside of its region")?;
            if !memory.has_cookie() {
                return Err("ring without the cookie".to_owned());
            }
            let buffers = Buffers::Described;
            let role = MemifRole::Leader;
            Ok(Direction::new(memory, role, buffers, &regions, interrupt))
        };
        let links = to_leader.into_iter().zip(to_follower).map(|(rx, tx)| {
            let (rx, tx) = (direction(rx)?, direction(tx)?);
            let mut link = QueueLink { rx, tx };
            link.begin();
            Ok(link)
        });
        links.collect()
    }
}

/// The follower's part, from the start.
#[derive(Debug)]
pub(super) struct FollowerTalk {
    terms: Terms,
    /// What is said yet, last first.
    to_say: Vec<(Message, Option<OwnedFd>)>,
    links: Option<Vec<QueueLink>>,
}

/// What a follower asks for.
#[derive(Clone, Debug)]
struct Terms {
    id: u32,
    secret: Text<24>,
    queues: u16,
    log2_entries: u8,
    buffer_bytes: u32,
}

impl FollowerTalk {
    pub(super) fn new(spec: &MemifSpec, queues: u16) -> Self {
        Self {
            terms: Terms {
                id: spec.id,
                secret: Text::new(spec.secret.as_bytes()),
                queues,
                log2_entries: spec.ring.ilog2() as u8,
                buffer_bytes: u32::from(spec.buffer),
            },
            to_say: Vec::new(),
            links: None,
        }
    }

    pub(super) fn take(&mut self, message: Message) -> Result<Step, Refusal> {
        match message {
            Message::Hello(hello) if self.links.is_none() => self.answer(&hello)?,
            Message::Ack => {}
            Message::Connected { .. } if self.to_say.is_empty() => {
                let mut links = self.links.take().ok_or("unexpected message")?;
                links.iter_mut().for_each(QueueLink::begin);
                return Ok(Step::Up(None, links));
            }
            _ => return Err("unexpected message".to_owned()),
        }
        let (message, file) = self.to_say.pop().ok_or("unexpected message")?;
        Ok(Step::Say(message, file))
    }

    fn answer(&mut self, hello: &Hello) -> Result<(), Refusal> {
        if !(hello.version_min..=hello.version_max).contains(&VERSION) {
            return Err("incompatible memif version".to_owned());
        }
        let rings_max = hello.ring_to_leader_max.min(hello.ring_to_follower_max);
        let queues = self.terms.queues;
        if u32::from(queues) > u32::from(rings_max) + 1 {
            let most = u32::from(rings_max) + 1;
            return Err(format!(
                "the leader has {most} rings each way, not {queues}"
            ));
        }
        let entries_max = hello.log2_entries_max;
        self.terms.log2_entries = self.terms.log2_entries.min(entries_max).max(1);
        let made = Made::new(&self.terms).map_err(|error| format!("no shared memory: {error}"))?;
        let (name, terms) = (Text::new(NAME), &self.terms);
        let init = Message::Init(Init {
            version: VERSION,
            id: terms.id,
            mode: MODE_ETHERNET,
            secret: terms.secret,
            name,
        });
        self.to_say = made.said;
        self.to_say.insert(0, (init, None));
        self.to_say.push((Message::Connect { name }, None));
        self.to_say.reverse();
        self.links = Some(made.links);
        Ok(())
    }
}

/// The memory of a follower, and what is said of it.
struct Made {
    links: Vec<QueueLink>,
    said: Vec<(Message, Option<OwnedFd>)>,
}

/// Where things lie in a follower's region: rings to the leader, rings from it, then the buffers of
/// each ring in that order, an odd number of cache lines apart, since those an even number apart
/// share few sets of a cache.
#[derive(Clone, Copy, Debug)]
struct Layout {
    queues: u64,
    entries: u64,
    ring_bytes: u64,
    stride_bytes: u64,
}

impl Layout {
    fn new(terms: &Terms) -> Self {
        let entries = 1 << terms.log2_entries;
        let ring_bytes = RING_HEAD_BYTES as u64 + entries * DESCRIPTOR_BYTES as u64;
        let lines = u64::from(terms.buffer_bytes).div_ceil(LINE_BYTES) | 1;
        Self {
            queues: u64::from(terms.queues),
            entries,
            ring_bytes: ring_bytes.next_multiple_of(LINE_BYTES),
            stride_bytes: lines * LINE_BYTES,
        }
    }

    /// The ring of this number, of twice as many as there are queues.
    fn ring(self, number: u64) -> u64 {
        number * self.ring_bytes
    }

    fn buffers(self, number: u64) -> u64 {
        self.ring(2 * self.queues) + number * self.entries * self.stride_bytes
    }

    fn bytes(self) -> u64 {
        self.buffers(2 * self.queues)
    }
}

impl Made {
    fn new(terms: &Terms) -> std::io::Result<Self> {
        let layout = Layout::new(terms);
        if layout.bytes() > REGION_BYTES_MAX {
            let sentence = "rings and buffers are more than 4 GiB; ask for fewer or smaller ones";
            return Err(std::io::Error::other(sentence));
        }
        let (memory, file) = SharedMemory::create(layout.bytes() as usize)?;
        let regions: Regions = [Arc::new(memory)].into();
        let bytes = layout.bytes();
        let mut said = vec![(Message::AddRegion { index: 0, bytes }, Some(file))];
        let mut direction = |number: u64, to_leader: bool, index: u16| {
            let offset = layout.ring(number) as u32;
            let ring = regions[0].ring(offset, terms.log2_entries);
            let ring = ring.ok_or(std::io::ErrorKind::InvalidInput)?;
            ring.initialise();
            let interrupt = Interrupt::new()?;
            let add = AddRing {
                to_leader,
                index,
                region: 0,
                offset,
                log2_entries: terms.log2_entries,
                private_bytes: 0,
            };
            let copy = interrupt.as_fd().try_clone_to_owned()?;
            said.push((Message::AddRing(add), Some(copy)));
            let buffers = Buffers::Own {
                first: layout.buffers(number) as u32,
                stride_bytes: layout.stride_bytes as u32,
                bytes: terms.buffer_bytes,
            };
            let role = MemifRole::Follower;
            std::io::Result::Ok(Direction::new(ring, role, buffers, &regions, interrupt))
        };
        let queues = 0..terms.queues;
        let to_leader = queues
            .clone()
            .map(|index| direction(u64::from(index), true, index));
        let to_leader = to_leader.collect::<std::io::Result<Vec<_>>>()?;
        let first = layout.queues;
        let to_follower = queues.map(|index| direction(first + u64::from(index), false, index));
        let to_follower = to_follower.collect::<std::io::Result<Vec<_>>>()?;
        let both = to_follower.into_iter().zip(to_leader);
        let links = both.map(|(rx, tx)| QueueLink { rx, tx }).collect();
        Ok(Self { links, said })
    }
}
