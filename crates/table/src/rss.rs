//! Placement: the RSS hash of columns of flows.
//!
//! [`wire::toeplitz`] is the hash of one flow and the definition. Here are bursts of them, as
//! columns, by carry-less multiplication where the CPU has it and by tables of whole bytes where
//! not. Placement only: anybody can make flows that collide, so no table of ours is keyed by it.

mod keys;
mod plan;

#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::simd::{Carryless, Factors, WideFactors};
use std::fmt;
use wire::toeplitz::{Key, Toeplitz};

pub use keys::{KeyWeakness, check_key, random_key};
pub use plan::SourcePlan;

/// The columns of a burst of flows, each as long as the others.
#[derive(Clone, Copy, Debug)]
pub struct FlowColumns<'a, A> {
    /// Source addresses.
    pub src: &'a [A],
    /// Destination addresses.
    pub dst: &'a [A],
    /// `src_port << 16 | dst_port`; 0 where the ports are not to count.
    pub ports: &'a [u32],
}

impl<A> FlowColumns<'_, A> {
    /// The first flows, as many as every column and a column of `hashes` hashes have.
    #[inline(always)]
    fn cut(self, hashes: usize) -> Self {
        let count = self.src.len().min(self.dst.len()).min(self.ports.len());
        let count = count.min(hashes);
        Self {
            src: &self.src[..count],
            dst: &self.dst[..count],
            ports: &self.ports[..count],
        }
    }
}

/// An RSS key made ready to hash bursts with: 18 KiB, built once.
#[derive(Clone)]
pub struct RssHash {
    one: Toeplitz,
    /// What each byte of an IPv4 flow contributes, by its place.
    bytes: Box<[[u32; 256]; 12]>,
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    vectors: Option<Vectors>,
}

/// The same key for carry-less multiplication.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[derive(Clone)]
struct Vectors {
    unit: Carryless,
    factors: Factors,
    wide: WideFactors,
}

impl RssHash {
    /// Makes `key` ready, for the best instructions of this CPU.
    #[must_use]
    pub fn new(key: &Key) -> Self {
        Self {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            vectors: Carryless::new().map(|unit| Vectors::new(unit, key)),
            ..Self::portable(key)
        }
    }

    /// The same without carry-less multiplication.
    #[must_use]
    pub fn portable(key: &Key) -> Self {
        let one = Toeplitz::new(key);
        let mut bytes = Box::new([[0; 256]; 12]);
        for (place, table) in bytes.iter_mut().enumerate() {
            for (value, entry) in table.iter_mut().enumerate() {
                let mut input = [0; 12];
                input[place] = value as u8;
                *entry = key.hash_bytes(&input);
            }
        }
        Self {
            one,
            bytes,
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            vectors: None,
        }
    }

    /// The hash of one flow.
    #[must_use]
    pub fn one(&self) -> &Toeplitz {
        &self.one
    }

    /// How bursts are hashed: `carry-less multiplication` or `tables`.
    #[must_use]
    pub fn means(&self) -> &'static str {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if self.vectors.is_some() {
            return "carry-less multiplication";
        }
        "tables"
    }

    /// The hashes of IPv4 flows; returns how many places of `hashes` were written, which is the
    /// length of the shortest column.
    #[inline]
    pub fn hash_v4(&self, flows: FlowColumns<'_, u32>, hashes: &mut [u32]) -> usize {
        let flows = flows.cut(hashes.len());
        let hashes = &mut hashes[..flows.src.len()];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if let Some(vectors) = &self.vectors {
            vectors.unit.hash(&vectors.factors, flows, hashes);
            return hashes.len();
        }
        one_by_one(flows, hashes, |src, dst, ports| {
            self.by_bytes([src, dst, ports])
        })
    }

    /// The hashes of IPv6 flows; returns how many places of `hashes` were written, which is the
    /// length of the shortest column.
    #[inline]
    pub fn hash_v6(&self, flows: FlowColumns<'_, u128>, hashes: &mut [u32]) -> usize {
        let flows = flows.cut(hashes.len());
        let hashes = &mut hashes[..flows.src.len()];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if let Some(vectors) = &self.vectors {
            vectors.unit.hash_wide(&vectors.wide, flows, hashes);
            return hashes.len();
        }
        one_by_one(flows, hashes, |src, dst, ports| {
            self.one.hash_v6(src, dst, ports)
        })
    }

    /// Twelve reads of 12 KiB that none waits for another.
    #[inline(always)]
    fn by_bytes(&self, words: [u32; 3]) -> u32 {
        let (tables, _) = self.bytes.as_chunks::<4>();
        let of_word = |word: u32, tables: &[[u32; 256]; 4]| {
            tables[0][(word >> 24) as usize]
                ^ tables[1][usize::from((word >> 16) as u8)]
                ^ tables[2][usize::from((word >> 8) as u8)]
                ^ tables[3][usize::from(word as u8)]
        };
        let parts = words.into_iter().zip(tables);
        parts.fold(0, |hash, (word, tables)| hash ^ of_word(word, tables))
    }
}

/// Columns without vectors; returns how many hashes there are.
#[inline(always)]
fn one_by_one<A: Copy>(
    flows: FlowColumns<'_, A>,
    hashes: &mut [u32],
    hash: impl Fn(A, A, u32) -> u32,
) -> usize {
    let columns = flows.src.iter().zip(flows.dst).zip(flows.ports);
    for (((src, dst), ports), place) in columns.zip(&mut *hashes) {
        *place = hash(*src, *dst, *ports);
    }
    hashes.len()
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Vectors {
    fn new(unit: Carryless, key: &Key) -> Self {
        Self {
            unit,
            factors: [0, 32, 64].map(|at| factor(key, at, 63)),
            wide: [0, 64, 128, 192, 256].map(|at| {
                let beyond = 95 - 64;
                [factor(key, at, 64), factor(key, at + 64, beyond)]
            }),
        }
    }
}

/// `count` bits of the key from bit `at` on, the first one lowest; past its end they are 0.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn factor(key: &Key, at: usize, count: usize) -> u64 {
    let bit = |place: usize| {
        let byte = key.as_bytes().get(place / 8).copied().unwrap_or(0);
        u64::from(byte >> (7 - place % 8) & 1)
    };
    (0..count).fold(0, |factor, place| factor | bit(at + place) << place)
}

impl fmt::Debug for RssHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RssHash")
            .field("means", &self.means())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
