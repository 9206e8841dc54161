//! The sockets of one queue, as long as its interface stays the same one.

use std::io;

use super::spec::Fanout;
use crate::nic_clock::ClockReader;
use crate::sys::packet_ring::{BlockRing, RingSize};
use crate::sys::packet_send::Sender;
use crate::sys::packet_socket::{EVERY_PROTOCOL, NO_PROTOCOL, OWN_MARK, PacketSocket};

/// 8 MiB a queue: at 1 Mpps of 64-byte frames (176 bytes each in the ring) some 45 ms, more than
/// the longest stall seen on virtual machines (28 ms). A block holds a merged frame of 64 KiB.
const RING: RingSize = RingSize {
    block_bytes: 256 << 10,
    blocks: 32,
    retire_ms: 1,
};

/// Bytes that may be under way in the driver: a thousand full frames and their bookkeeping.
const SEND_ROOM_BYTES: i32 = 4 << 20;

/// Why a queue cannot have its sockets.
#[derive(Debug)]
pub(super) enum AttachError {
    /// The interface is not there.
    Absent(io::Error),
    /// One step failed: what, and how.
    Step(&'static str, io::Error),
}

/// Sockets on the interface with number `index`.
pub(super) struct Attached {
    pub(super) index: u32,
    pub(super) ring: BlockRing,
    pub(super) sender: Sender,
    /// The kernel shows frames that leave, too: they are left out one by one.
    pub(super) sees_outgoing: bool,
    /// Frames taken out of the ring, whatever became of them.
    pub(super) taken: u64,
    /// By which times of the NIC are read; `None` where it stamps no frames.
    pub(super) clock: Option<ClockReader>,
}

fn step(what: &'static str) -> impl Fn(io::Error) -> AttachError {
    move |error| AttachError::Step(what, error)
}

impl Attached {
    /// Opens both sockets; nothing comes in before [`Attached::begin`].
    pub(super) fn open(
        index: u32,
        qdisc: bool,
        fanout: Fanout,
        clock: Option<ClockReader>,
    ) -> Result<Self, AttachError> {
        let receiver = PacketSocket::new().map_err(step("open a packet socket"))?;
        // Linux before 4.20 does not know the option.
        let sees_outgoing = receiver.ignore_outgoing().is_err();
        receiver
            .ask_for_offloads()
            .map_err(step("ask for offload records"))?;
        if clock.is_some() {
            receiver
                .take_nic_times()
                .map_err(step("ask for times of the NIC"))?;
        }
        receiver.keep_out().map_err(step("set a filter"))?;
        let ring = BlockRing::new(receiver, RING, fanout == Fanout::Queue);
        let ring = ring.map_err(step("make a receive ring"))?;
        let receiver = ring.socket();
        receiver
            .bind(index, EVERY_PROTOCOL)
            .map_err(step("bind a packet socket"))?;
        receiver
            .be_promiscuous(index)
            .map_err(step("receive frames for every address"))?;
        let sender = PacketSocket::new().map_err(step("open a packet socket"))?;
        if qdisc {
            // Frames that go past it nobody else sees: these must be told from the host's.
            sender.mark(OWN_MARK).map_err(step("mark what it sends"))?;
        } else {
            // For speed alone.
            let _ = sender.bypass_qdisc();
        }
        // For speed alone.
        let _ = sender.send_room(SEND_ROOM_BYTES);
        sender
            .bind(index, NO_PROTOCOL)
            .map_err(step("bind a packet socket"))?;
        Ok(Self {
            index,
            ring,
            sender: Sender::new(sender),
            sees_outgoing,
            taken: 0,
            clock,
        })
    }

    /// Shares frames with the group, or with a new one; its number.
    pub(super) fn join(&mut self, group: Option<u16>, fanout: Fanout) -> Result<u16, AttachError> {
        let by = match fanout {
            Fanout::Flow => libc::PACKET_FANOUT_HASH,
            Fanout::Queue => libc::PACKET_FANOUT_QM,
        };
        let socket = self.ring.socket();
        socket.fan_out(group, by).map_err(step("share frames"))
    }

    /// Whether the interface that the sockets were opened on is there still.
    pub(super) fn is_bound(&self) -> bool {
        self.ring.socket().bound_to() == Some(self.index)
    }

    /// Lets frames in.
    pub(super) fn begin(&mut self) -> Result<(), AttachError> {
        let socket = self.ring.socket();
        socket.let_in().map_err(step("take the filter away"))
    }
}
