//! The maps of an XDP program, as `bpf/xdp.bpf.c` declares them.

use std::io;

use super::diversions::DIVERSIONS_BYTES;
use super::object::Named;
use super::spec::KeepLocal;
use super::told::Asked;
use crate::sys::xdp_maps::{Map, MapKind, MapShape, wait_for_programs};

/// Places of the counters.
const COUNTS: u32 = 7;

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
    /// Forwarded past the worker, because they are surely in no list.
    Shortcut = 6,
}

/// Bytes of a block of a sieve (`struct block`).
const BLOCK_BYTES: usize = 64;
/// Blocks with a bit for each IPv4 network of 24 bits.
const NETWORK_BLOCKS: u32 = (1 << 24) / 512;

/// What the program asks a sieve by (`struct sieve`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SieveValue {
    pub(super) key: [u64; 2],
    /// Of the filter; 0 while all frames are for workers.
    pub(super) blocks: u32,
    pub(super) networks: bool,
    pub(super) ipv6: bool,
    pub(super) bytes_max: u32,
}

impl SieveValue {
    const BYTES: usize = 32;

    fn bytes(self) -> Vec<u8> {
        let flags = [self.networks, self.ipv6].map(u32::from);
        let words = [self.blocks, flags[0], flags[1], self.bytes_max];
        let mut bytes = self.key.map(u64::to_ne_bytes).concat();
        bytes.extend(words.map(u32::to_ne_bytes).concat());
        bytes
    }
}

/// Addresses of the host that the program can know.
pub(super) const LOCAL_MAX: u32 = 256;

/// Bytes of an address with its VLAN (`struct place`).
pub(super) const PLACE_BYTES: usize = 24;

/// Verdicts of XDP programs.
pub(super) const XDP_DROP: u32 = 1;
pub(super) const XDP_PASS: u32 = 2;

/// What the program is told before it is loaded (`struct settings`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    /// Whether frames of queues without a socket are dropped.
    pub(super) drop_unclaimed: bool,
    /// Which frames are left to the host.
    pub(super) keep_local: KeepLocal,
    /// Whether frames that no worker takes go to the other interface.
    pub(super) bypass: bool,
    /// What was changed on the interface and outlives the process.
    pub(super) changed: u32,
    /// Whether frames that are surely in no list go to the other interface.
    pub(super) shortcut: bool,
    /// What the interface is asked about frames for sockets.
    pub(super) asked: Asked,
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
            self.keep_local as u32,
            u32::from(self.bypass),
            self.changed,
            u32::from(self.shortcut),
            self.asked.bits(),
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
    sieve: Map,
    sieve_words: Map,
    sieve_networks: Map,
    diversions: Map,
}

/// How much maps have room for.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Sockets of queues below this one.
    pub(super) queues_end: u32,
    /// Words of a sieve.
    pub(super) sieve_words: usize,
}

impl Maps {
    /// The maps that a program with these settings needs.
    pub(super) fn make(room: Room, settings: Settings) -> io::Result<Self> {
        let Room {
            queues_end,
            sieve_words: words,
        } = room;
        let numbered = |name: &str, kind, bytes, entries| {
            Map::create(name, MapShape::numbered(kind, bytes, entries))
        };
        let places = MapShape {
            kind: MapKind::Hash,
            key_bytes: PLACE_BYTES,
            value_bytes: 4,
            entries: LOCAL_MAX,
        };
        let (words, networks) = match settings.shortcut {
            true => (
                words.div_ceil(BLOCK_BYTES / 8).max(1) as u32,
                NETWORK_BLOCKS,
            ),
            false => (1, 1),
        };
        Ok(Self {
            sockets: numbered("sockets", MapKind::Sockets, 4, queues_end)?,
            counts: numbered("counts", MapKind::PerCpuArray, 8, COUNTS)?,
            settings: Map::constant("settings", &settings.bytes())?,
            identity: numbered("identity", MapKind::Array, 8, 1)?,
            local: Map::create("local", places)?,
            beats: numbered("beats", MapKind::Array, 16, queues_end)?,
            peer: numbered("peer", MapKind::Interfaces, 4, 1)?,
            sieve: numbered("sieve", MapKind::Array, SieveValue::BYTES, 1)?,
            sieve_words: numbered("sieve_words", MapKind::Array, BLOCK_BYTES, words)?,
            sieve_networks: numbered("sieve_networks", MapKind::Array, BLOCK_BYTES, networks)?,
            diversions: numbered("diversions", MapKind::Array, DIVERSIONS_BYTES, 1)?,
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
            "sieve_words" => map(&self.sieve_words),
            "sieve_networks" => map(&self.sieve_networks),
            "sieve" => Some(Named::Value(self.sieve.raw_fd())),
            "settings" => Some(Named::Value(self.settings.raw_fd())),
            "diversions" => Some(Named::Value(self.diversions.raw_fd())),
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

    /// The longest filter there is room for.
    pub(super) fn sieve_words_max(&self) -> usize {
        self.sieve_words.entries() as usize * (BLOCK_BYTES / 8)
    }

    /// Has the program ask by this from now on.
    pub(super) fn put_sieve(&self, value: SieveValue) -> io::Result<()> {
        self.sieve.put(&[0; 4], &value.bytes())
    }

    /// Has the program ask no more; returns when it has ended everywhere.
    pub(super) fn close_sieve(&self) -> io::Result<()> {
        let open = self.sieve.get(0)?[16..20] != [0; 4];
        self.put_sieve(SieveValue::default())?;
        if open {
            wait_for_programs();
        }
        Ok(())
    }

    /// Has the program give workers what these name from now on.
    pub(super) fn put_diversions(&self, bytes: &[u8]) -> io::Result<()> {
        self.diversions.put(&[0; 4], bytes)
    }

    /// Writes the filter.
    pub(super) fn put_sieve_words(&self, words: &[u64]) -> io::Result<()> {
        self.sieve_words.put_words(words)
    }

    /// Writes the bits of IPv4 networks.
    pub(super) fn put_sieve_networks(&self, words: &[u64]) -> io::Result<()> {
        self.sieve_networks.put_words(words)
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
