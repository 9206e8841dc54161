//! Plain loops, which every CPU has.

use super::{BELOW_TOP, Lanes};
use std::hint::black_box;

#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn equal8(self, bytes: &[u8; 64], value: u8) -> u64 {
        bytes
            .iter()
            .rev()
            .fold(0, |mask, &byte| mask << 1 | u64::from(byte == value))
    }
    #[inline(always)]
    fn pick(self, values: &[u32; 32], indices: &[u8; 8]) -> [u32; 8] {
        indices.map(|index| values[usize::from(index % 32)])
    }
    #[inline(always)]
    fn equal16(self, line: &[u16; 32], value: u16) -> u32 {
        line.iter()
            .rev()
            .fold(0, |mask, &place| mask << 1 | u32::from(place == value))
    }
    #[inline(always)]
    fn equal32(self, line: &[u32; 16], value: u32) -> u32 {
        line.iter()
            .rev()
            .fold(0, |mask, &place| mask << 1 | u32::from(place == value))
    }
    #[inline(always)]
    fn equal120(self, line: &[u64; 8], value: [u64; 2]) -> u32 {
        let (first, second) = line.split_at(4);
        let places = first.iter().zip(second).rev();
        places.fold(0, |mask, (first, second)| {
            let differs = (first ^ value[0]) | (second ^ value[1]) & BELOW_TOP;
            mask << 1 | u32::from(differs == 0)
        })
    }
    #[inline(always)]
    fn at_most16(self, line: &[u16; 32], value: u16) -> u32 {
        line.iter()
            .rev()
            .fold(0, |mask, &place| mask << 1 | u32::from(place <= value))
    }
    #[inline(always)]
    fn at_most32(self, line: &[u32; 16], value: u32) -> u32 {
        line.iter()
            .rev()
            .fold(0, |mask, &place| mask << 1 | u32::from(place <= value))
    }
    #[inline(always)]
    fn below16(self, line: &[u16; 32], value: u32) -> u32 {
        below(&line[16..], value)
    }
    #[inline(always)]
    fn below30(self, line: &[u16; 32], value: u32) -> u32 {
        below(&line[..30], value)
    }
}

#[inline(always)]
fn below(places: &[u16], value: u32) -> u32 {
    let value = (value as u16).cast_signed();
    let mut counts = [0u16; 8];
    for eight in places.chunks(counts.len()) {
        for (count, place) in counts.iter_mut().zip(eight) {
            *count += u16::from(place.cast_signed() < value);
        }
    }
    // Known to be a sum of conditions, and an index, compilers take it out of a vector bit by bit,
    // and lookups among IPv6 networks have two thirds of their rate.
    black_box(counts).into_iter().map(u32::from).sum()
}
