//! What became of the first fragment of a packet, for those that follow it and have no ports.

use std::hash::BuildHasher;

use stack::KeyedHash;
use wire::view::Ipv4View;

use super::tuple::Tuple;

/// Sets of a few packets each.
const SETS: usize = 512;
const PER_SET: usize = 4;
/// How long fragments may follow: what the kernel waits for them.
const TICKS: u32 = (30_000_000_000u64 >> super::TICK_BITS) as u32;

/// Which packet a fragment is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Key {
    src: u32,
    dst: u32,
    identification: u16,
    protocol: u8,
}

/// Addresses that fragments of a packet leave with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(super) src: u32,
    pub(super) dst: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    key: Key,
    to: Addresses,
    /// The tick after which it counts no more; 0: it is empty.
    until: u32,
}

/// Packets in fragments; of a set the oldest makes room.
#[derive(Debug)]
pub(super) struct Fragments {
    sets: Vec<[Known; PER_SET]>,
    hash: KeyedHash,
}

impl Fragments {
    pub(super) fn new(hash: KeyedHash) -> Self {
        Self {
            sets: vec![[Known::default(); PER_SET]; SETS],
            hash,
        }
    }

    /// The addresses that the later fragments of this one's packet get.
    pub(super) fn find(&self, fragment: &[u8], tick: u32) -> Option<Addresses> {
        let key = Key::of(fragment)?;
        let set = &self.sets[self.set_of(&key)];
        let mut own = set.iter();
        let known = own.find(|known| known.until > tick && known.key == key)?;
        Some(known.to)
    }

    /// Remembers what a first fragment becomes; other packets pass.
    pub(super) fn note(&mut self, packet: &[u8], to: &Tuple, tick: u32) {
        let is_first = Ipv4View::new_checked(packet).is_ok_and(|view| view.more_fragments());
        let Some(key) = Key::of(packet).filter(|_| is_first) else {
            return;
        };
        let at = self.set_of(&key);
        let set = &mut self.sets[at];
        let known = set.iter().position(|known| known.key == key);
        let oldest = (0..PER_SET).min_by_key(|&place| set[place].until);
        if let Some(place) = known.or(oldest) {
            set[place] = Known {
                key,
                to: Addresses {
                    src: to.src,
                    dst: to.dst,
                },
                until: tick + TICKS,
            };
        }
    }

    fn set_of(&self, key: &Key) -> usize {
        let addresses = u64::from(key.src) << 32 | u64::from(key.dst);
        let rest = u64::from(key.identification) << 8 | u64::from(key.protocol);
        (self.hash.hash_one([addresses, rest]) >> 20) as usize % SETS
    }
}

impl Key {
    fn of(fragment: &[u8]) -> Option<Self> {
        let view = Ipv4View::new_checked(fragment).ok()?;
        Some(Self {
            src: view.src(),
            dst: view.dst(),
            identification: view.identification(),
            protocol: view.protocol(),
        })
    }
}
