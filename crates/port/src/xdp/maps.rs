//! The maps of an XDP program, as `bpf/xdp.bpf.c` declares them.

use std::io;

use super::object::Named;
use crate::sys::xdp_maps::{Map, MapKind, MapShape};

/// Places of the counters.
const COUNTS: u32 = 6;

/// What the program counts, by place.
/// Later versions add places and move none: a program counts for the run after its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Counted {
    /// Came on a queue without a socket.
    Unclaimed = 1,
    /// Dropped, because their VLAN tag could not be put back.
    TagLost = 2,
    /// Left to the host, whose they are.
    Kept = 3,
    /// Forwarded past the worker.
    Bypassed = 4,
    /// Dropped, because no worker and no other interface was there.
    Stranded = 5,
}

/// Addresses of the host that the program can know.
pub(super) const LOCAL_MAX: u32 = 256;

/// Bytes of an address with its VLAN (`struct place`).
pub(super) const PLACE_BYTES: usize = 20;

/// Verdicts of XDP programs.
pub(super) const XDP_DROP: u32 = 1;
pub(super) const XDP_PASS: u32 = 2;

/// What the program is told before it is loaded (`struct settings`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Whether frames of queues without a socket are dropped.
    pub(super) drop_unclaimed: bool,
    /// Whether frames for the host are left to it.
    pub(super) keep_local: bool,
    /// Whether frames that no worker takes go to the other interface.
    pub(super) bypass: bool,
    /// What was changed on the interface and outlives the process.
    pub(super) changed: u32,
}

impl Settings {
    fn bytes(self) -> Vec<u8> {
        let unclaimed = if self.drop_unclaimed {
            XDP_DROP
        } else {
            XDP_PASS
        };
        let words = [
            unclaimed,
            u32::from(self.keep_local),
            u32::from(self.bypass),
            self.changed,
        ];
        words.map(u32::to_ne_bytes).concat()
    }
}

/// Where `changed` is among the bytes of a value.
const CHANGED: std::ops::Range<usize> = 12..16;

/// What the settings of a program that was found say was changed on the interface.
pub(super) fn changed_of(settings: &Map) -> io::Result<u32> {
    let value = settings.get(0)?;
    let bytes = value.get(CHANGED).and_then(|bytes| bytes.try_into().ok());
    let bytes = bytes.ok_or(io::ErrorKind::InvalidData)?;
    Ok(u32::from_ne_bytes(bytes))
}

/// All of them. Some are only named by the instructions of a program that is yet to be made.
#[derive(Debug)]
pub(super) struct Maps {
    pub(super) sockets: Map,
    pub(super) counts: Map,
    pub(super) settings: Map,
    identity: Map,
    local: Map,
    beats: Map,
    pub(super) peer: Map,
}

impl Maps {
    /// With room for queues below `queues_end`.
    pub(super) fn make(queues_end: u32, settings: Settings) -> io::Result<Self> {
        let numbered = |name: &str, kind, bytes, entries| {
            Map::create(name, MapShape::numbered(kind, bytes, entries))
        };
        let places = MapShape {
            kind: MapKind::Hash,
            key_bytes: PLACE_BYTES,
            value_bytes: 4,
            entries: LOCAL_MAX,
        };
        Ok(Self {
            sockets: numbered("sockets", MapKind::Sockets, 4, queues_end)?,
            counts: numbered("counts", MapKind::PerCpuArray, 8, COUNTS)?,
            settings: Map::constant("settings", &settings.bytes())?,
            identity: numbered("identity", MapKind::Array, 8, 1)?,
            local: Map::create("local", places)?,
            beats: numbered("beats", MapKind::Array, 16, queues_end)?,
            peer: numbered("peer", MapKind::Interfaces, 4, 1)?,
        })
    }

    /// What a name in the program stands for.
    pub(super) fn named(&self, name: &str) -> Option<Named> {
        let map = |map: &Map| Some(Named::Map(map.raw_fd()));
        match name {
            "sockets" => map(&self.sockets),
            "counts" => map(&self.counts),
            "local" => map(&self.local),
            "beats" => map(&self.beats),
            "peer" => map(&self.peer),
            "settings" => Some(Named::Value(self.settings.raw_fd())),
            "identity" => Some(Named::Value(self.identity.raw_fd())),
            _ => None,
        }
    }

    /// Frames of one kind.
    pub(super) fn counted(&self, what: Counted) -> io::Result<u64> {
        self.counts.sum(what as u32)
    }

    /// Tells the host's address on this Ethernet.
    pub(super) fn set_mac(&self, mac: [u8; 6]) -> io::Result<()> {
        let mut value = [0; 8];
        value[..6].copy_from_slice(&mac);
        self.identity.put(&[0; 4], &value)
    }

    /// Tells that the worker of a queue was at work at this time of CLOCK_MONOTONIC, nanoseconds; 0
    /// says that it is no more.
    pub(super) fn beat(&self, queue: u32, nanos: u64) -> io::Result<()> {
        // Behind it: that the program has not looked yet.
        self.beats
            .put(&queue.to_ne_bytes(), &u128::from(nanos).to_le_bytes())
    }

    /// Names the other interface.
    pub(super) fn set_peer(&self, interface: u32) -> io::Result<()> {
        self.peer.set(0, interface)
    }

    /// Adds an address of the host, or says of one anew whether it is on this interface.
    pub(super) fn add_local(&self, place: &[u8; PLACE_BYTES], here: bool) -> io::Result<()> {
        self.local.put(place, &u32::from(here).to_ne_bytes())
    }

    /// Takes an address of the host away.
    pub(super) fn remove_local(&self, place: &[u8; PLACE_BYTES]) -> io::Result<()> {
        self.local.remove(place)
    }
}
