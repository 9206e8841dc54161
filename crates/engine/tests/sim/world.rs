//! What is true outside of the switch: where stations are, what is on the wires, what time it is;
//! and what the switch was asked for, so that what leaves can be held against it.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use frame::{Nanos, PortId};
use plane::Ports;
use wire::emit::{Ipv4, Network, Recipe, Transport};

use crate::model::Model;
use crate::random::Random;
use crate::shape::{STATIONS, Shape};

/// Bytes of a frame, and where its flow and its number in it stand.
pub(crate) const LEN: usize = 108;
const FLOW_AT: usize = LEN - 12;
const NUMBER_AT: usize = LEN - 8;

/// Where a frame goes; [`STATIONS`] and beyond are no station.
const TO_ALL: usize = STATIONS;
const TO_RESERVED: usize = STATIONS + 1;
const TO_NOBODY: usize = STATIONS + 2;
const TARGETS: usize = STATIONS + 3;

/// A frame that came in: its flow, and its number in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Name {
    pub(crate) flow: u32,
    pub(crate) number: u64,
}

pub(crate) struct World {
    pub(crate) shape: Shape,
    pub(crate) random: Random,
    pub(crate) now: Nanos,
    pub(crate) step: usize,
    /// Nothing is under way any more from here on.
    pub(crate) closes: bool,
    pub(crate) model: Model,
    /// Whether a port is down, by port.
    pub(crate) down: Vec<bool>,
    /// The port of each station.
    homes: Vec<usize>,
    numbers: HashMap<u32, u64>,
    /// Where frames are still to leave.
    due: HashMap<Name, Ports>,
    /// What left last, by flow and port.
    left: HashMap<(u32, u8), u64>,
    pub(crate) sent: u64,
    trace: DefaultHasher,
}

/// Shared by all that one thread simulates.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub(crate) fn new(shape: Shape) -> Self {
        let mut random = Random::new(shape.seed ^ 0x5157_4943_4800);
        let ports = shape.ports.len();
        Self(Arc::new(Mutex::new(World {
            now: Nanos(shape.begin),
            step: 0,
            closes: false,
            model: Model::new(&shape),
            down: vec![false; ports],
            homes: (0..STATIONS).map(|_| random.below(ports)).collect(),
            numbers: HashMap::new(),
            due: HashMap::new(),
            left: HashMap::new(),
            sent: 0,
            trace: DefaultHasher::new(),
            random,
            shape,
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl World {
    /// Takes note of something, so that two runs of a seed can be compared.
    pub(crate) fn trace(&mut self, event: impl Hash) {
        event.hash(&mut self.trace);
    }

    pub(crate) fn traced(&self) -> u64 {
        self.trace.finish()
    }

    /// A station goes to another port.
    pub(crate) fn move_station(&mut self) {
        let station = self.random.below(STATIONS);
        self.homes[station] = self.random.below(self.shape.ports.len());
    }

    /// A frame of some station behind `port` that comes by `queue`, its number not yet written;
    /// none where no station is there.
    pub(crate) fn draw_frame(&mut self, port: usize, queue: usize) -> Option<[u8; LEN]> {
        let queues = self.shape.ports[port].queues;
        for _ in 0..20 {
            let from = self.random.below(STATIONS);
            let to = self.random.below(TARGETS);
            if self.homes[from] == port && (from * TARGETS + to) % queues == queue {
                return Some(frame_of(port, from, to));
            }
        }
        None
    }

    /// Writes into a frame which of its flow it is.
    pub(crate) fn number(&mut self, bytes: &mut [u8]) {
        let next = self.numbers.entry(name_of(bytes).flow).or_default();
        bytes[NUMBER_AT..].copy_from_slice(&next.to_be_bytes());
        *next += 1;
    }

    /// The switch decided that a frame leaves by these ports.
    pub(crate) fn promise(&mut self, name: Name, ports: Ports) {
        self.trace((name, ports.iter().map(|port| port.0).collect::<Vec<_>>()));
        let before = self.due.insert(name, ports);
        assert!(before.is_none(), "{name:?} was decided on twice");
    }

    /// A frame is given to a port.
    pub(crate) fn leaves(&mut self, port: PortId, bytes: &[u8]) {
        let name = name_of(bytes);
        self.trace((port.0, name));
        self.sent += 1;
        let due = self.due.get_mut(&name);
        let due = due.unwrap_or_else(|| panic!("{name:?} leaves by {port} undecided"));
        assert!(due.contains(port), "{name:?} leaves by {port}, not {due:?}");
        *due = due.without(port);
        let last = self.left.insert((name.flow, port.0), name.number);
        assert!(
            last.is_none_or(|last| last < name.number),
            "{name:?} leaves by {port} behind {last:?}"
        );
    }

    /// Frames that should have left and did not, copies each for one.
    pub(crate) fn not_left(&self) -> u64 {
        self.due
            .values()
            .map(|ports| ports.iter().count() as u64)
            .sum()
    }
}

pub(crate) fn name_of(bytes: &[u8]) -> Name {
    let flow = bytes[FLOW_AT..NUMBER_AT].try_into().expect("four bytes");
    let number = bytes[NUMBER_AT..LEN].try_into().expect("eight bytes");
    Name {
        flow: u32::from_be_bytes(flow),
        number: u64::from_be_bytes(number),
    }
}

/// The source address of a station's packets.
pub(crate) fn address(station: usize) -> u32 {
    0x0a00_0000 + station as u32
}

fn mac(target: usize) -> [u8; 6] {
    match target {
        TO_ALL => [0xFF; 6],
        TO_RESERVED => [1, 0x80, 0xC2, 0, 0, 3],
        TO_NOBODY => [2, 0, 0, 0, 9, 9],
        station => [2, 0, 0, 0, 0, station as u8],
    }
}

fn frame_of(port: usize, from: usize, to: usize) -> [u8; LEN] {
    let ip = Ipv4 {
        src: address(from),
        dst: address(to),
        ..Ipv4::default()
    };
    let udp = Transport::Udp {
        src_port: 1000,
        dst_port: 2000,
    };
    let recipe = Recipe {
        network: Network::Ipv4(ip, udp),
        ..Recipe::default()
    };
    let mut bytes = [0; LEN];
    recipe.emit(&mut bytes).expect("a sound recipe");
    bytes[..6].copy_from_slice(&mac(to));
    bytes[6..12].copy_from_slice(&mac(from));
    let flow = ((port * STATIONS + from) * TARGETS + to) as u32;
    bytes[FLOW_AT..NUMBER_AT].copy_from_slice(&flow.to_be_bytes());
    bytes
}
