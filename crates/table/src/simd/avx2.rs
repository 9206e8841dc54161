//! Half a line a compare: vectors of 32 bytes.

use super::{Avx2, FIRST_10, FIRST_30, Lanes};
use std::arch::x86_64::*;

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
    fn split(self, keys: &[u128; 8]) -> [[u32; 8]; 3] {
        let [mut tops, mut middles, mut lows] = [[0; 8]; 3];
        // SAFETY: `self` proves the instructions; the loads read 16 bytes of `keys` each, an upper
        // half behind its lower one as on any x86, and the stores write the 32 bytes of `tops`,
        // of `middles` and of `lows`.
        unsafe {
            // Keys whose indices differ by 4 side by side: what follows works within 16 bytes.
            let both = |index: usize| {
                let key: *const __m128i = keys.as_ptr().add(index).cast();
                let first = _mm256_castsi128_si256(_mm_loadu_si128(key));
                _mm256_inserti128_si256::<1>(first, _mm_loadu_si128(key.add(4)))
            };
            let pair = |index| {
                let upper = _mm256_unpackhi_epi64(both(index), both(index + 1));
                _mm256_castsi256_ps(upper)
            };
            let (a, b) = (pair(0), pair(2));
            let first = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(a, b));
            let second = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(a, b));
            let top = _mm256_srli_epi32::<16>(first);
            _mm256_storeu_si256(tops.as_mut_ptr().cast(), top);
            let zero = _mm256_setzero_si256();
            let first = _mm256_blend_epi16::<0b1010_1010>(first, zero);
            _mm256_storeu_si256(middles.as_mut_ptr().cast(), first);
            let second = _mm256_shuffle_epi8(second, upper_halves());
            let signs = _mm256_set1_epi16(i16::MIN);
            let second = _mm256_xor_si256(second, signs);
            _mm256_storeu_si256(lows.as_mut_ptr().cast(), second);
        }
        [tops, middles, lows]
    }
    #[inline(always)]
    fn negative(self, numbers: &[i32; 8]) -> u8 {
        // SAFETY: `self` proves the instructions; the load reads the 32 bytes of `numbers`.
        unsafe {
            let numbers = _mm256_loadu_si256(numbers.as_ptr().cast());
            _mm256_movemask_ps(_mm256_castsi256_ps(numbers)) as u8
        }
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
    fn below16(self, line: &[u16; 32], value: u32) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the last 32 bytes of `line`.
        let mask = unsafe {
            let places = _mm256_loadu_si256(line.as_ptr().add(16).cast());
            let most = _mm256_set1_epi32(value.cast_signed());
            _mm256_movemask_epi8(_mm256_cmpgt_epi16(most, places))
        };
        // Two bits a place.
        mask.count_ones() / 2
    }
    #[inline(always)]
    fn below30(self, line: &[u16; 32], value: u32) -> u32 {
        // SAFETY: `self` proves the instructions; the two loads read the 64 bytes of `line`.
        let mask = unsafe {
            let most = _mm256_set1_epi32(value.cast_signed());
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

/// The upper half of each 32 bits, twice.
///
/// # Safety
///
/// The CPU has AVX2.
#[inline(always)]
pub(super) unsafe fn upper_halves() -> __m256i {
    // SAFETY: the caller's proof.
    unsafe {
        _mm256_broadcastsi128_si256(_mm_setr_epi8(
            2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11, 14, 15, 14, 15,
        ))
    }
}
