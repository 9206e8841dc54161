//! Comparing a key with all places of a cache line, by the widest means the CPU has.
//!
//! With `carryless.rs` the only file with `unsafe`: vector intrinsics and prefetching. What leaves
//! it is safe: a token ([`Avx512`], [`Avx2`]) exists only where its instructions do, and [`run`]
//! compiles a [`Job`] once a level, so that a loop over a burst holds the intrinsics inline.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod carryless;
mod level;
mod portable;

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) use carryless::{Carryless, Factors, WideFactors};
pub use level::Level;
pub(crate) use portable::Portable;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::arch::asm;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::arch::x86_64::*;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use std::sync::atomic::{AtomicU8, Ordering};

/// Compares all places of a line with one value; bit `i` of the answer is place `i`.
pub(crate) trait Lanes: Copy {
    /// True where the core keeps so many misses under way that lines should be asked for early,
    /// even if a burst of 64 keys is then asked for before it is answered.
    ///
    /// Cores with 64-byte vectors are taken for such: a Zen 5 gave 1.3 times the lookups with 64
    /// lines under way that it gave with 32, where a Zen 3 gave two thirds.
    const DEEP: bool = false;
    fn equal8(self, bytes: &[u8; 64], value: u8) -> u64;
    fn equal16(self, line: &[u16; 32], value: u16) -> u32;
    /// True when one of the first 31 places is `value`.
    #[inline(always)]
    fn among31(self, line: &[u16; 32], value: u16) -> bool {
        self.equal16(line, value) << 1 != 0
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
    /// Which places are `value` or less.
    fn at_most16(self, line: &[u16; 32], value: u16) -> u32;
    /// Which places are `value` or less.
    fn at_most32(self, line: &[u32; 16], value: u32) -> u32;
    /// How many of the first 16 places are below `value`, all taken as signed numbers: vectors
    /// have one instruction for those.
    fn below16(self, line: &[u16; 32], value: u16) -> u32;
    /// How many of the first 30 places are below `value`, all taken as signed numbers.
    fn below30(self, line: &[u16; 32], value: u16) -> u32;
    /// How many zeros of `ones` are below that one of it whose number is the lowest bit of
    /// `numbers`, which is not 0; as if bit 64 were a one when there are fewer.
    ///
    /// Slow where [`deposits_fast`] says no.
    fn zeros_below(self, ones: u64, numbers: u32) -> u32;
    /// The values at `indices`, of which the lower five bits count.
    fn pick(self, values: &[u32; 32], indices: &[u8; 8]) -> [u32; 8];
}

/// All but the top byte of the second word of a place of [`Lanes::equal120`].
const BELOW_TOP: u64 = u64::MAX >> 8;

/// The places of [`Lanes::equal10`].
const FIRST_10: u32 = (1 << 10) - 1;

/// All but the last two places of [`Lanes::below30`].
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

/// True when [`Lanes::zeros_below`] takes a few instructions.
pub(crate) fn deposits_fast() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return detected() & DEPOSIT != 0;
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    return false;
}

/// [`Lanes::zeros_below`] by instructions.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
#[target_feature(enable = "bmi1,bmi2")]
fn zeros_below(ones: u64, numbers: u32) -> u32 {
    let one = _pdep_u64(u64::from(numbers), ones).trailing_zeros();
    let mut zeros = one - numbers.trailing_zeros();
    // SAFETY: no instruction. It hides the value from the compiler, which otherwise puts those of
    // neighbours into vectors one by one, and then each waits for the lines of all.
    unsafe {
        asm!("/* {0:e} */", inout(reg) zeros, options(pure, nomem, nostack, preserves_flags));
    };
    zeros
}

/// Asks for the line of `slice[index]`; nothing happens when there is no such place.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let at = slice.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch reads nothing that a program can see and faults on no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (slice, index);
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

/// Bits of what [`detected`] tells: that it has looked, and what is here.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const LOOKED: u8 = 1;
#[cfg(all(target_arch = "x86_64", not(miri)))]
const AVX2: u8 = 2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
const AVX512: u8 = 4;
#[cfg(all(target_arch = "x86_64", not(miri)))]
const DEPOSIT: u8 = 8;

/// What this CPU has. Asked once a burst, so it is one load: nine features looked up one by one
/// were some 30 instructions, half a key's.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn detected() -> u8 {
    static DETECTED: AtomicU8 = AtomicU8::new(0);
    match DETECTED.load(Ordering::Relaxed) {
        0 => {
            let found = detect();
            DETECTED.store(found, Ordering::Relaxed);
            found
        }
        found => found,
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[cold]
fn detect() -> u8 {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq");
    let found = [
        (avx2, AVX2),
        (avx512, AVX512),
        (avx2 && !emulates_deposits(), DEPOSIT),
    ];
    let found = found.into_iter().filter(|feature| feature.0);
    found.fold(LOOKED, |all, feature| all | feature.1)
}

/// True for AMD before Zen 3, family 25, where `pdep` is a program of some 20 instructions and one
/// or two dozen cycles a bit (Agner Fog's tables).
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn emulates_deposits() -> bool {
    const AMD: u32 = u32::from_le_bytes(*b"cAMD");
    const HYGON: u32 = u32::from_le_bytes(*b"uine");
    let version = __cpuid(1).eax;
    let family = (version >> 8 & 15) + (version >> 20 & 255);
    [AMD, HYGON].contains(&__cpuid(0).ecx) && family < 25
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Lanes for Avx512 {
    const DEEP: bool = true;
    #[inline(always)]
    fn equal8(self, bytes: &[u8; 64], value: u8) -> u64 {
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes.
        unsafe {
            let bytes = _mm512_loadu_si512(bytes.as_ptr().cast());
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(value.cast_signed()))
        }
    }
    #[inline(always)]
    fn zeros_below(self, ones: u64, numbers: u32) -> u32 {
        // SAFETY: `self` proves the instructions.
        unsafe { zeros_below(ones, numbers) }
    }
    #[inline(always)]
    fn pick(self, values: &[u32; 32], indices: &[u8; 8]) -> [u32; 8] {
        let mut picked = [0; 8];
        // SAFETY: `self` proves the instructions; the loads read the 8 bytes of `indices` and the
        // halves of `values`, 64 bytes each, and the store writes the 32 bytes of `picked`.
        unsafe {
            let index = _mm256_cvtepu8_epi32(_mm_loadl_epi64(indices.as_ptr().cast()));
            let low = _mm512_loadu_si512(values.as_ptr().cast());
            let high = _mm512_loadu_si512(values.as_ptr().add(16).cast());
            let found = _mm512_permutex2var_epi32(low, _mm512_castsi256_si512(index), high);
            _mm256_storeu_si256(picked.as_mut_ptr().cast(), _mm512_castsi512_si256(found));
        }
        picked
    }
    #[inline(always)]
    fn equal16(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes of `line`.
        unsafe {
            let places = _mm512_loadu_si512(line.as_ptr().cast());
            _mm512_cmpeq_epi16_mask(places, _mm512_set1_epi16(value.cast_signed()))
        }
    }
    #[inline(always)]
    fn equal32(self, line: &[u32; 16], value: u32) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes of `line`.
        let mask = unsafe {
            let places = _mm512_loadu_si512(line.as_ptr().cast());
            _mm512_cmpeq_epi32_mask(places, _mm512_set1_epi32(value.cast_signed()))
        };
        u32::from(mask)
    }
    #[inline(always)]
    fn equal120(self, line: &[u64; 8], value: [u64; 2]) -> u32 {
        // SAFETY: `self` proves the instructions; the loads read the 64 bytes of `line`.
        let places = unsafe {
            let first = _mm256_loadu_si256(line.as_ptr().cast());
            let second = _mm256_loadu_si256(line.as_ptr().add(4).cast());
            let equal = _mm256_cmpeq_epi64_mask(first, _mm256_set1_epi64x(value[0].cast_signed()));
            let differs = _mm256_xor_si256(second, _mm256_set1_epi64x(value[1].cast_signed()));
            let compared = _mm256_set1_epi64x(BELOW_TOP.cast_signed());
            _mm256_mask_testn_epi64_mask(equal, differs, compared)
        };
        u32::from(places)
    }
    #[inline(always)]
    fn at_most16(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes of `line`.
        unsafe {
            let places = _mm512_loadu_si512(line.as_ptr().cast());
            _mm512_cmple_epu16_mask(places, _mm512_set1_epi16(value.cast_signed()))
        }
    }
    #[inline(always)]
    fn at_most32(self, line: &[u32; 16], value: u32) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes of `line`.
        let mask = unsafe {
            let places = _mm512_loadu_si512(line.as_ptr().cast());
            _mm512_cmple_epu32_mask(places, _mm512_set1_epi32(value.cast_signed()))
        };
        u32::from(mask)
    }
    #[inline(always)]
    fn below16(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the first 32 bytes of `line`.
        let mask = unsafe {
            let places = _mm256_loadu_si256(line.as_ptr().cast());
            _mm256_cmplt_epi16_mask(places, _mm256_set1_epi16(value.cast_signed()))
        };
        mask.count_ones()
    }
    #[inline(always)]
    fn below30(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes of `line`.
        let mask = unsafe {
            let places = _mm512_loadu_si512(line.as_ptr().cast());
            _mm512_cmplt_epi16_mask(places, _mm512_set1_epi16(value.cast_signed()))
        };
        (mask & FIRST_30).count_ones()
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
impl Lanes for Avx2 {
    #[inline(always)]
    fn equal8(self, bytes: &[u8; 64], value: u8) -> u64 {
        // SAFETY: `self` proves the instructions; the two loads read the 64 bytes.
        let [low, high] = unsafe {
            let wanted = _mm256_set1_epi8(value.cast_signed());
            [0, 32].map(|at| {
                let half = _mm256_loadu_si256(bytes.as_ptr().add(at).cast());
                _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, wanted))
            })
        };
        u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
    }
    #[inline(always)]
    fn zeros_below(self, ones: u64, numbers: u32) -> u32 {
        // SAFETY: `self` proves the instructions.
        unsafe { zeros_below(ones, numbers) }
    }
    #[inline(always)]
    fn pick(self, values: &[u32; 32], indices: &[u8; 8]) -> [u32; 8] {
        let mut picked = [0; 8];
        // SAFETY: `self` proves the instructions; the loads read the 8 bytes of `indices` and the
        // quarters of `values`, 32 bytes each, and the store writes the 32 bytes of `picked`.
        unsafe {
            let index = _mm256_cvtepu8_epi32(_mm_loadl_epi64(indices.as_ptr().cast()));
            let quarter = |at: usize| {
                let quarter = _mm256_loadu_si256(values.as_ptr().add(8 * at).cast());
                _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(quarter, index))
            };
            // Bits 3 and 4 of an index, where a blend looks for them.
            let by_8 = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(index));
            let by_16 = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(index));
            let low = _mm256_blendv_ps(quarter(0), quarter(1), by_8);
            let high = _mm256_blendv_ps(quarter(2), quarter(3), by_8);
            let found = _mm256_blendv_ps(low, high, by_16);
            _mm256_storeu_ps(picked.as_mut_ptr().cast(), found);
        }
        picked
    }
    #[inline(always)]
    fn equal16(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the two loads read the 64 bytes of `line`.
        let mask = unsafe {
            let wanted = _mm256_set1_epi16(value.cast_signed());
            let low = _mm256_loadu_si256(line.as_ptr().cast());
            let high = _mm256_loadu_si256(line.as_ptr().add(16).cast());
            let low = _mm256_cmpeq_epi16(low, wanted);
            let high = _mm256_cmpeq_epi16(high, wanted);
            // Packing works within 16-byte halves: the permutation puts them in order again.
            let packed = _mm256_packs_epi16(low, high);
            _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed))
        };
        mask.cast_unsigned()
    }
    #[inline(always)]
    fn equal10(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the loads read the first 32 bytes of `line`.
        let mask = unsafe {
            let wanted = _mm_set1_epi16(value.cast_signed());
            let low = _mm_cmpeq_epi16(_mm_loadu_si128(line.as_ptr().cast()), wanted);
            let high = _mm_loadu_si128(line.as_ptr().add(8).cast());
            let high = _mm_cmpeq_epi16(high, wanted);
            _mm_movemask_epi8(_mm_packs_epi16(low, high))
        };
        mask.cast_unsigned() & FIRST_10
    }
    #[inline(always)]
    fn among31(self, line: &[u16; 32], value: u16) -> bool {
        // SAFETY: `self` proves the instructions; the two loads read the 64 bytes of `line`.
        let mask = unsafe {
            let wanted = _mm256_set1_epi16(value.cast_signed());
            let low = _mm256_loadu_si256(line.as_ptr().cast());
            let high = _mm256_loadu_si256(line.as_ptr().add(16).cast());
            let low = _mm256_cmpeq_epi16(low, wanted);
            let high = _mm256_cmpeq_epi16(high, wanted);
            // Out of order but for the last place, which stays last.
            _mm256_movemask_epi8(_mm256_packs_epi16(low, high))
        };
        mask << 1 != 0
    }
    #[inline(always)]
    fn equal32(self, line: &[u32; 16], value: u32) -> u32 {
        // SAFETY: `self` proves the instructions; the two loads read the 64 bytes of `line`.
        let (low, high) = unsafe {
            let wanted = _mm256_set1_epi32(value.cast_signed());
            let low = _mm256_loadu_si256(line.as_ptr().cast());
            let high = _mm256_loadu_si256(line.as_ptr().add(8).cast());
            let low = _mm256_castsi256_ps(_mm256_cmpeq_epi32(low, wanted));
            let high = _mm256_castsi256_ps(_mm256_cmpeq_epi32(high, wanted));
            (_mm256_movemask_ps(low), _mm256_movemask_ps(high))
        };
        low.cast_unsigned() | high.cast_unsigned() << 8
    }
    #[inline(always)]
    fn equal120(self, line: &[u64; 8], value: [u64; 2]) -> u32 {
        // SAFETY: `self` proves the instructions; the loads read the 64 bytes of `line`.
        let places = unsafe {
            let first = _mm256_loadu_si256(line.as_ptr().cast());
            let second = _mm256_loadu_si256(line.as_ptr().add(4).cast());
            let equal = _mm256_cmpeq_epi64(first, _mm256_set1_epi64x(value[0].cast_signed()));
            let differs = _mm256_xor_si256(second, _mm256_set1_epi64x(value[1].cast_signed()));
            // The top byte is shifted out.
            let differs = _mm256_slli_epi64::<8>(differs);
            let alike = _mm256_cmpeq_epi64(differs, _mm256_setzero_si256());
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_and_si256(equal, alike)))
        };
        places.cast_unsigned()
    }
    #[inline(always)]
    fn at_most16(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the two loads read the 64 bytes of `line`.
        let mask = unsafe {
            let most = _mm256_set1_epi16(value.cast_signed());
            let low = _mm256_loadu_si256(line.as_ptr().cast());
            let high = _mm256_loadu_si256(line.as_ptr().add(16).cast());
            // A place is at most `most` when the smaller of the two is the place.
            let low = _mm256_cmpeq_epi16(_mm256_min_epu16(low, most), low);
            let high = _mm256_cmpeq_epi16(_mm256_min_epu16(high, most), high);
            let packed = _mm256_packs_epi16(low, high);
            _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed))
        };
        mask.cast_unsigned()
    }
    #[inline(always)]
    fn at_most32(self, line: &[u32; 16], value: u32) -> u32 {
        // SAFETY: `self` proves the instructions; the two loads read the 64 bytes of `line`.
        let (low, high) = unsafe {
            let most = _mm256_set1_epi32(value.cast_signed());
            let low = _mm256_loadu_si256(line.as_ptr().cast());
            let high = _mm256_loadu_si256(line.as_ptr().add(8).cast());
            let low = _mm256_cmpeq_epi32(_mm256_min_epu32(low, most), low);
            let high = _mm256_cmpeq_epi32(_mm256_min_epu32(high, most), high);
            let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
            (_mm256_movemask_ps(low), _mm256_movemask_ps(high))
        };
        low.cast_unsigned() | high.cast_unsigned() << 8
    }
    #[inline(always)]
    fn below16(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the first 32 bytes of `line`.
        let mask = unsafe {
            let places = _mm256_loadu_si256(line.as_ptr().cast());
            let most = _mm256_set1_epi16(value.cast_signed());
            _mm256_movemask_epi8(_mm256_cmpgt_epi16(most, places))
        };
        // Two bits a place.
        mask.count_ones() / 2
    }
    #[inline(always)]
    fn below30(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the two loads read the 64 bytes of `line`.
        let mask = unsafe {
            let most = _mm256_set1_epi16(value.cast_signed());
            let low = _mm256_loadu_si256(line.as_ptr().cast());
            let high = _mm256_loadu_si256(line.as_ptr().add(16).cast());
            let low = _mm256_cmpgt_epi16(most, low);
            let high = _mm256_cmpgt_epi16(most, high);
            // Out of order but for the last eight places, which stay last.
            _mm256_movemask_epi8(_mm256_packs_epi16(low, high))
        };
        (mask.cast_unsigned() & FIRST_30).count_ones()
    }
}

#[cfg(test)]
mod tests;
