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
pub(super) struct Key {
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

    /// Remembers what the first fragment of a packet became.
    #[cold]
    pub(super) fn note(&mut self, key: Key, to: &Tuple, tick: u32) {
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

/// Which packet this is the first fragment of; `None` if it is a whole packet or a later fragment.
#[inline]
pub(super) fn first_of(packet: &[u8]) -> Option<Key> {
    /// The flag that more fragments follow, in front of 13 bits of their offset.
    const MORE: u16 = 0x2000;
    const OFFSET: u16 = 0x1FFF;
    let word = packet.get(6..)?.first_chunk::<2>()?;
    match u16::from_be_bytes(*word) & (MORE | OFFSET) {
        MORE => Key::of(packet),
        _ => None,
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
