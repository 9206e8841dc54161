//! Comparing a key with all places of a cache line, by the widest means the CPU has.
//!
//! With `avx2.rs`, `avx512.rs` and `carryless.rs` beneath it the only one with `unsafe`: vector
//! intrinsics. What leaves it is safe: a token ([`Avx512`], [`Avx2`]) exists only where its
//! instructions do, and [`run`] compiles a [`Job`] once a level, so that a loop over a burst holds
//! the intrinsics inline.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx512;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod carryless;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod detected;
mod level;
mod portable;

use crate::secret::WidePermutation;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) use carryless::{Carryless, Factors, WideFactors};
#[cfg(all(target_arch = "x86_64", not(miri)))]
use detected::{AVX2, AVX512, detected};
pub use level::Level;
pub(crate) use portable::Portable;

/// Compares all places of a line with one value; bit `i` of the answer is place `i`.
pub(crate) trait Lanes: Copy {
    /// True where the core keeps so many misses under way that lines should be asked for early,
    /// even if a burst of 64 keys is then asked for before it is answered.
    ///
    /// Cores with 64-byte vectors are taken for such: a Zen 5 gave 1.3 times the lookups with 64
    /// lines under way that it gave with 32, and a Zen 4 that asks for them into its second cache
    /// level ([`ahead`]) 1.2 times, where a Zen 3 gave two thirds. Among IPv6 networks all cores
    /// ask for 128 keys: on a Zen 3 64 give 0.95 of the rate.
    const DEEP: bool = false;
    fn equal8(self, bytes: &[u8; 64], value: u8) -> u64;
    fn equal16(self, line: &[u16; 32], value: u16) -> u32;
    /// True when one of the first 31 places is `value`.
    #[inline(always)]
    fn among31(self, line: &[u16; 32], value: u16) -> bool {
        self.equal16(line, value) << 1 != 0
    }
    /// True where a line is compared by [`Lanes::marked31`] in fewer instructions than by
    /// [`Lanes::among31`] and a load of what it says then.
    const MARKS: bool = false;
    /// [`Lanes::equal16`] of the first 31 places, and bit 31 where the top bit of the last place
    /// is not set. Where not [`Lanes::MARKS`] it is what tests hold the others against.
    #[inline(always)]
    fn marked31(self, line: &[u16; 32], value: u16) -> u32 {
        self.equal16(line, value) << 1 >> 1 | u32::from(!line[31] >> 15) << 31
    }
    /// What [`Lanes::marked31`] says of 16 lines: 1 where a place is equal, and where none is, 255
    /// where the top bit is set, 0 where it is not.
    #[inline(always)]
    fn codes31(self, marked: &[u32; 16]) -> [u8; 16] {
        marked.map(|marked| match marked {
            0 => 255,
            _ => u8::from(marked << 1 != 0),
        })
    }
    /// [`Lanes::equal16`] of the first ten places.
    #[inline(always)]
    fn equal10(self, line: &[u16; 32], value: u16) -> u32 {
        self.equal16(line, value) & FIRST_10
    }
    fn equal32(self, line: &[u32; 16], value: u32) -> u32;
    /// Compares four places of two words, `i` and `4 + i` of the line, with `value`, but for the
    /// top byte of the second word.
    fn equal120(self, line: &[u64; 8], value: [u64; 2]) -> u32;
    /// The second word of the first place of [`Lanes::equal120`] that is equal; 0 when none is.
    #[inline(always)]
    fn find120(self, line: &[u64; 8], value: [u64; 2]) -> u64 {
        let places = self.equal120(line, value);
        // Where no place is equal, that of place 0.
        let second = line[4 + (places.trailing_zeros() as usize & 3)];
        // All ones when a place is equal; an arithmetic shift, since a choice became a branch.
        second & i64::from(places.cast_signed().wrapping_neg() >> 31).cast_unsigned()
    }
    /// [`Lanes::find120`] of eight values, each in a line of its own.
    #[inline(always)]
    fn look120(self, lines: &[&[u64; 8]; 8], values: &[[u64; 2]; 8]) -> Found120 {
        let (mut codes, mut passed) = ([0; 8], 0);
        for (index, (line, &value)) in lines.iter().zip(values).enumerate() {
            let code = (self.find120(line, value) >> 56) as u8 & 0x7f;
            codes[index] = code;
            // The top bit of the difference is set where there is no code: five instructions in
            // all, where comparing code and mark took eight.
            let marked = line[4 + (value[0] as usize & 3)] & u64::from(code).wrapping_sub(1);
            passed |= ((marked >> 63) as u8) << index;
        }
        Found120 {
            codes,
            is_there: codes.map(|code| code != 0),
            passed,
        }
    }
    /// [`WidePermutation::apply_all`] of eight addresses.
    #[inline(always)]
    fn mix(self, by: &WidePermutation, addresses: &[u128; 8], words: &mut [[u64; 2]; 8]) {
        by.apply_all(addresses, words);
    }
    /// Of eight addresses the bits 0 to 15, the bits 16 to 31, and the bits 32 to 47 as [`twice`]
    /// has them.
    #[inline(always)]
    fn split(self, keys: &[u128; 8]) -> [[u32; 8]; 3] {
        let [mut tops, mut middles, mut lows] = [[0; 8]; 3];
        for (index, key) in keys.iter().enumerate() {
            tops[index] = (key >> 112) as u32;
            middles[index] = u32::from((key >> 96) as u16);
            lows[index] = twice((key >> 80) as u16);
        }
        [tops, middles, lows]
    }
    /// Which numbers are negative: bit `i` is of number `i`.
    #[inline(always)]
    fn negative(self, numbers: &[i32; 8]) -> u8 {
        let bits = numbers.iter().rev();
        bits.fold(0, |bits, &number| bits << 1 | u8::from(number < 0))
    }
    /// Which places are `value` or less.
    fn at_most16(self, line: &[u16; 32], value: u16) -> u32;
    /// Which places are `value` or less.
    fn at_most32(self, line: &[u32; 16], value: u32) -> u32;
    /// How many of the last 16 places are below the number that `value` has [`twice`], all taken
    /// as signed numbers: vectors have one instruction for those.
    fn below16(self, line: &[u16; 32], value: u32) -> u32;
    /// How many of the first 30 places are below the number that `value` has [`twice`], all taken
    /// as signed numbers.
    fn below30(self, line: &[u16; 32], value: u32) -> u32;
    /// The values at `indices`, of which the lower five bits count.
    fn pick(self, values: &[u32; 32], indices: &[u8; 8]) -> [u32; 8];
    /// [`Lanes::pick`] of twice as many.
    #[inline(always)]
    fn pick16(self, values: &[u32; 32], indices: &[u8; 16]) -> [u32; 16] {
        let mut picked = [0; 16];
        let halves = picked.as_chunks_mut().0.iter_mut();
        for (picked, indices) in halves.zip(indices.as_chunks().0) {
            *picked = self.pick(values, indices);
        }
        picked
    }
}

/// What [`Lanes::look120`] tells of eight values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found120 {
    /// The top byte of what was found, but for its top bit.
    pub(crate) codes: [u8; 8],
    /// Where that is not 0.
    pub(crate) is_there: [bool; 8],
    /// Where it is, and the top bit of word `4 + (value[0] & 3)` of the line is set: bit `i` is of
    /// value `i`.
    pub(crate) passed: u8,
}

/// A number with its first bit flipped, so that as a signed one it is in the order of the unsigned
/// ones, in both halves of a word: words are what one instruction loads into all places of a
/// vector, where half a word takes two.
#[inline(always)]
pub(crate) fn twice(number: u16) -> u32 {
    u32::from(number ^ 1 << 15) * 0x1_0001
}

/// For each byte the numbers of the bits that are set in it, then zeros.
pub(crate) static BITS_SET: [[u8; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut byte = 0;
    while byte < all.len() {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 != 0 {
                all[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    all
};

/// All but the top byte of the second word of a place of [`Lanes::equal120`].
const BELOW_TOP: u64 = u64::MAX >> 8;

/// The places of [`Lanes::equal10`].
const FIRST_10: u32 = (1 << 10) - 1;

/// All but the last two places of [`Lanes::below30`].
#[cfg(target_arch = "x86_64")]
const FIRST_30: u32 = u32::MAX >> 2;

/// A loop over a burst, compiled once a [`Level`]. `run` must be `#[inline(always)]`.
pub(crate) trait Job {
    type Answer;
    fn run<L: Lanes>(self, lanes: L) -> Self::Answer;
}

/// Runs `job` at `level`, or portably where the CPU has no such level.
#[inline]
pub(crate) fn run<J: Job>(level: Level, job: J) -> J::Answer {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    match level {
        Level::Avx512 => {
            if let Some(lanes) = Avx512::new() {
                // SAFETY: the token says that this CPU has what `run_avx512` is compiled for.
                return unsafe { run_avx512(job, lanes) };
            }
        }
        Level::Avx2 => {
            if let Some(lanes) = Avx2::new() {
                // SAFETY: the token says that this CPU has what `run_avx2` is compiled for.
                return unsafe { run_avx2(job, lanes) };
            }
        }
        Level::Portable => {}
    }
    let _ = level;
    run_portably(job)
}

/// Not inlined: whoever calls [`run`] would save registers for this loop, and have its stack, at
/// every level.
#[inline(never)]
fn run_portably<J: Job>(job: J) -> J::Answer {
    job.run(Portable)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx512<J: Job>(job: J, lanes: Avx512) -> J::Answer {
    job.run(lanes)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn run_avx2<J: Job>(job: J, lanes: Avx2) -> J::Answer {
    job.run(lanes)
}

/// How far ahead the lines of a table are asked for, and into which cache level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// Not far, into the first: caches hold the table, or the core keeps few misses under way.
    Near,
    /// Twice as far, into the second.
    Far,
}

/// How the lines of a table of so many bytes should be asked for.
///
/// A Zen 4 keeps two dozen misses of the first level under way, and gives twice the random lines
/// where the second one is asked; the machine of the published figures, which has 2 MB of it, gave
/// 1.5 times at 128 MB. A Zen 5 gives as many or up to a sixth less. A table that caches hold is
/// answered faster from the first level, not far ahead: on a Zen 4 both are alike at 5 to 9 MB.
#[inline]
pub(crate) fn ahead<S: Lanes>(bytes: usize) -> Ahead {
    if S::DEEP && bytes >= 8 << 20 {
        Ahead::Far
    } else {
        Ahead::Near
    }
}

/// Proof that the CPU has AVX-512 F, BW, VL and DQ (and the bit instructions that came before).
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

/// Proof that the CPU has AVX2 (and the bit instructions that came with it).
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Avx512 {
    #[inline]
    fn new() -> Option<Self> {
        (detected() & AVX512 != 0).then_some(Self(()))
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Avx2 {
    #[inline]
    fn new() -> Option<Self> {
        (detected() & AVX2 != 0).then_some(Self(()))
    }
}

#[cfg(test)]
mod tests;
