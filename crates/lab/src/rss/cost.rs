//! What a hash of IPv4 four-tuples takes, by the ways there are.

use std::hint::black_box;
use std::rc::Rc;

use table::{FlowColumns, RssHash};
use wire::toeplitz::{Key, Toeplitz};

use super::{Scale, contestant};
use crate::contest::{Contestant, rate};
use crate::shuffle::Seeded;

/// 48 KiB of columns, which the second-level cache holds.
pub(super) const FLOWS: usize = 4096;
pub(super) const BURST: usize = 64;

/// As rows name them; the first is the yardstick.
pub(super) const WAYS: [&str; 4] = ["plain loop", "half bytes", "whole bytes", "carry-less"];

/// Columns of random flows.
pub(super) struct Columns {
    src: Vec<u32>,
    dst: Vec<u32>,
    ports: Vec<u32>,
}

impl Columns {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Seeded::new(seed);
        let mut column = || (0..FLOWS).map(|_| random.next() as u32).collect();
        Self {
            src: column(),
            dst: column(),
            ports: column(),
        }
    }

    /// The flows from `at` on, a burst of them; the last begin again at the first.
    pub(super) fn burst(&self, at: usize) -> FlowColumns<'_, u32> {
        let at = at % FLOWS / BURST * BURST;
        FlowColumns {
            src: &self.src[at..at + BURST],
            dst: &self.dst[at..at + BURST],
            ports: &self.ports[at..at + BURST],
        }
    }
}

/// What most programs do: a table of 256 for each byte of the input, and a loop over its bytes.
pub(super) struct Plain(Vec<[u32; 256]>);

impl Plain {
    pub(super) fn new(key: &Key) -> Self {
        let entry = |place: usize, value: usize| {
            let mut input = [0; 36];
            input[place] = value as u8;
            key.hash_bytes(&input)
        };
        let table = |place| std::array::from_fn(|value| entry(place, value));
        Self((0..36).map(table).collect())
    }

    pub(super) fn hash(&self, input: &[u8]) -> u32 {
        let bytes = input.iter().zip(&self.0);
        bytes.fold(0, |hash, (&byte, table)| hash ^ table[usize::from(byte)])
    }

    fn burst(&self, flows: FlowColumns<'_, u32>, hashes: &mut [u32; BURST]) {
        let columns = flows.src.iter().zip(flows.dst).zip(flows.ports);
        for (((src, dst), ports), hash) in columns.zip(hashes) {
            let mut input = [0; 12];
            input[..4].copy_from_slice(&src.to_be_bytes());
            input[4..8].copy_from_slice(&dst.to_be_bytes());
            input[8..].copy_from_slice(&ports.to_be_bytes());
            *hash = self.hash(&input);
        }
    }
}

fn half_bytes(hash: &Toeplitz, flows: FlowColumns<'_, u32>, hashes: &mut [u32; BURST]) {
    let columns = flows.src.iter().zip(flows.dst).zip(flows.ports);
    for (((src, dst), ports), place) in columns.zip(hashes) {
        *place = hash.hash_v4(*src, *dst, *ports);
    }
}

/// Hashes a burst of flows.
type Way = Box<dyn Fn(FlowColumns<'_, u32>, &mut [u32; BURST])>;

/// All ways of this machine, interleaved.
pub(super) fn contestants(scale: &Scale) -> Vec<Contestant> {
    let columns = Rc::new(Columns::new(1));
    let trial = scale.trial;
    let way = |name: &'static str, hash: Way| {
        let columns = Rc::clone(&columns);
        let variant = vec![("hash", name.into())];
        contestant(variant, "ns_per_hash", move |_| {
            let mut hashes = [0; BURST];
            let a_second = rate(trial, FLOWS, |count| {
                for at in (0..count).step_by(BURST) {
                    hash(columns.burst(at), &mut hashes);
                    black_box(&mut hashes);
                }
            });
            1e9 / a_second
        })
    };
    let key = Key::MICROSOFT;
    let (plain, one) = (Plain::new(&key), Toeplitz::new(&key));
    let (portable, best) = (RssHash::portable(&key), RssHash::new(&key));
    let mut ways = vec![
        way(
            WAYS[0],
            Box::new(move |flows, hashes| plain.burst(flows, hashes)),
        ),
        way(
            WAYS[1],
            Box::new(move |flows, hashes| half_bytes(&one, flows, hashes)),
        ),
    ];
    let has_vectors = best.means() != portable.means();
    ways.push(way(
        WAYS[2],
        Box::new(move |flows, hashes| {
            portable.hash_v4(flows, hashes);
        }),
    ));
    if has_vectors {
        ways.push(way(
            WAYS[3],
            Box::new(move |flows, hashes| {
                best.hash_v4(flows, hashes);
            }),
        ));
    }
    ways
}
