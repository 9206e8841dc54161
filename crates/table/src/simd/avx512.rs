//! A line a compare: vectors of 64 bytes, and masks instead of vectors of truth.

use super::avx2::upper_halves;
use super::{Avx512, BELOW_TOP, FIRST_30, Found120, Lanes};
use crate::secret::WidePermutation;
use std::arch::x86_64::*;
use std::mem;

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
    fn pick16(self, values: &[u32; 32], indices: &[u8; 16]) -> [u32; 16] {
        let mut picked = [0; 16];
        // SAFETY: `self` proves the instructions; the loads read the 16 bytes of `indices` and the
        // halves of `values`, 64 bytes each, and the store writes the 64 bytes of `picked`.
        unsafe {
            let index = _mm512_cvtepu8_epi32(_mm_loadu_si128(indices.as_ptr().cast()));
            let low = _mm512_loadu_si512(values.as_ptr().cast());
            let high = _mm512_loadu_si512(values.as_ptr().add(16).cast());
            let found = _mm512_permutex2var_epi32(low, index, high);
            _mm512_storeu_si512(picked.as_mut_ptr().cast(), found);
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
    const MARKS: bool = true;
    #[inline(always)]
    fn marked31(self, line: &[u16; 32], value: u16) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes of `line`.
        unsafe {
            let places = _mm512_loadu_si512(line.as_ptr().cast());
            let value = _mm512_set1_epi16(value.cast_signed());
            let last = _mm512_inserti32x4::<3>(
                _mm512_setzero_si512(),
                _mm_setr_epi16(0, 0, 0, 0, 0, 0, 0, -1),
            );
            let compared = _mm512_inserti32x4::<3>(
                _mm512_set1_epi16(-1),
                _mm_setr_epi16(-1, -1, -1, -1, -1, -1, -1, i16::MIN),
            );
            // (value and not last) xor places
            let differs = _mm512_ternarylogic_epi64::<0x9a>(value, last, places);
            _mm512_testn_epi16_mask(differs, compared)
        }
    }
    #[inline(always)]
    fn codes31(self, marked: &[u32; 16]) -> [u8; 16] {
        let mut codes = [0; 16];
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes of `marked`, and the
        // store writes the 16 of `codes`.
        unsafe {
            let marked = _mm512_loadu_si512(marked.as_ptr().cast());
            let found = _mm512_test_epi32_mask(marked, _mm512_set1_epi32(i32::MAX));
            let aside = _mm512_testn_epi32_mask(marked, marked);
            let ones = _mm_maskz_set1_epi8(found, 1);
            _mm_storeu_si128(
                codes.as_mut_ptr().cast(),
                _mm_mask_set1_epi8(ones, aside, -1),
            );
        }
        codes
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
    fn find120(self, line: &[u64; 8], value: [u64; 2]) -> u64 {
        let places = self.equal120(line, value) as __mmask8;
        // SAFETY: `self` proves the instructions; the load reads the upper 32 bytes of `line`.
        unsafe {
            let second = _mm256_loadu_si256(line.as_ptr().add(4).cast());
            let found = _mm256_maskz_compress_epi64(places, second);
            _mm_cvtsi128_si64(_mm256_castsi256_si128(found)).cast_unsigned()
        }
    }
    // 13 instructions a value, where one by one it was 18.
    #[inline(always)]
    fn look120(self, lines: &[&[u64; 8]; 8], values: &[[u64; 2]; 8]) -> Found120 {
        let at = |index: usize| (lines[index], values[index]);
        // SAFETY: `self` proves the instructions; each byte of `ones` is 0 or 1, as a `bool` is.
        unsafe {
            let (found, marked) = look120_four([at(0), at(1), at(2), at(3)]);
            let (more, more_marked) = look120_four([at(4), at(5), at(6), at(7)]);
            let found = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(found), more);
            let marked = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(marked), more_marked);
            let codes = _mm512_and_si512(_mm512_srli_epi64::<56>(found), _mm512_set1_epi64(0x7f));
            let is_there = _mm512_test_epi64_mask(codes, codes);
            let codes = _mm_cvtsi128_si64(_mm512_cvtepi64_epi8(codes));
            let ones = _mm_cvtsi128_si64(_mm_maskz_set1_epi8(u16::from(is_there), 1));
            Found120 {
                codes: codes.to_le_bytes(),
                is_there: mem::transmute::<[u8; 8], [bool; 8]>(ones.to_le_bytes()),
                passed: _mm512_movepi64_mask(marked) & !is_there,
            }
        }
    }
    // The compiler does not make vectors of 64-bit products by itself: on a Zen 4 that was 17
    // instructions an address, and is 2.
    #[inline(always)]
    fn mix(self, by: &WidePermutation, addresses: &[u128; 8], words: &mut [[u64; 2]; 8]) {
        // SAFETY: `self` proves the instructions; the loads read the 128 bytes of `addresses`, a
        // lower half before its upper one as on any x86, and the stores write those of `words`.
        unsafe {
            let all = |word: u64| _mm512_set1_epi64(word.cast_signed());
            let from: *const __m512i = addresses.as_ptr().cast();
            let (four, more) = (_mm512_loadu_si512(from), _mm512_loadu_si512(from.add(1)));
            let low = _mm512_unpacklo_epi64(four, more);
            let high = _mm512_unpackhi_epi64(four, more);
            let product = _mm512_mullo_epi64(_mm512_xor_si512(high, all(by.mask)), all(by.factor));
            let folded = _mm512_xor_si512(product, _mm512_srli_epi64::<32>(product));
            let low = _mm512_xor_si512(low, folded);
            let product = _mm512_mullo_epi64(low, all(by.inner));
            let folded = _mm512_xor_si512(product, _mm512_srli_epi64::<32>(product));
            let twice = _mm512_add_epi64(_mm512_add_epi64(folded, folded), all(by.outer));
            let high = _mm512_xor_si512(high, _mm512_mullo_epi64(folded, twice));
            let to: *mut __m512i = words.as_mut_ptr().cast();
            _mm512_storeu_si512(to, _mm512_unpacklo_epi64(low, high));
            _mm512_storeu_si512(to.add(1), _mm512_unpackhi_epi64(low, high));
        }
    }
    #[inline(always)]
    fn split(self, keys: &[u128; 8]) -> [[u32; 8]; 3] {
        let [mut tops, mut middles, mut lows] = [[0; 8]; 3];
        // SAFETY: `self` proves the instructions; the loads read the 128 bytes of `keys`, a lower
        // half before its upper one as on any x86, and the stores write the 32 bytes of `tops`,
        // of `middles` and of `lows`.
        unsafe {
            let from: *const __m512i = keys.as_ptr().cast();
            let (four, more) = (_mm512_loadu_si512(from), _mm512_loadu_si512(from.add(1)));
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            let upper = _mm512_permutex2var_epi64(four, odd, more);
            let first = _mm512_cvtepi64_epi32(_mm512_srli_epi64::<32>(upper));
            let top = _mm256_srli_epi32::<16>(first);
            _mm256_storeu_si256(tops.as_mut_ptr().cast(), top);
            let first = _mm256_and_si256(first, _mm256_set1_epi32(0xffff));
            _mm256_storeu_si256(middles.as_mut_ptr().cast(), first);
            let second = _mm256_shuffle_epi8(_mm512_cvtepi64_epi32(upper), upper_halves());
            let second = _mm256_xor_si256(second, _mm256_set1_epi16(i16::MIN));
            _mm256_storeu_si256(lows.as_mut_ptr().cast(), second);
        }
        [tops, middles, lows]
    }
    #[inline(always)]
    fn negative(self, numbers: &[i32; 8]) -> u8 {
        // SAFETY: `self` proves the instructions; the load reads the 32 bytes of `numbers`.
        unsafe { _mm256_movepi32_mask(_mm256_loadu_si256(numbers.as_ptr().cast())) }
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
    fn below16(self, line: &[u16; 32], value: u32) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the last 32 bytes of `line`.
        let mask = unsafe {
            let places = _mm256_loadu_si256(line.as_ptr().add(16).cast());
            _mm256_cmplt_epi16_mask(places, _mm256_set1_epi32(value.cast_signed()))
        };
        mask.count_ones()
    }
    #[inline(always)]
    fn below30(self, line: &[u16; 32], value: u32) -> u32 {
        // SAFETY: `self` proves the instructions; the load reads the 64 bytes of `line`.
        let mask = unsafe {
            let places = _mm512_loadu_si512(line.as_ptr().cast());
            _mm512_mask_cmplt_epi16_mask(FIRST_30, places, _mm512_set1_epi32(value.cast_signed()))
        };
        mask.count_ones()
    }
}

/// [`look120_one`] of four values.
///
/// # Safety
///
/// The CPU has what [`Avx512`] proves.
#[inline(always)]
unsafe fn look120_four([a, b, c, d]: [(&[u64; 8], [u64; 2]); 4]) -> (__m256i, __m256i) {
    // SAFETY: the caller's proof.
    unsafe {
        let ((a, a_marked), (b, b_marked)) = (look120_one(a), look120_one(b));
        let ((c, c_marked), (d, d_marked)) = (look120_one(c), look120_one(d));
        let found = (_mm_unpacklo_epi64(a, b), _mm_unpacklo_epi64(c, d));
        let first = _mm_unpacklo_epi64(a_marked, b_marked);
        let marked = (first, _mm_unpacklo_epi64(c_marked, d_marked));
        let found = _mm256_set_m128i(found.1, found.0);
        (found, _mm256_set_m128i(marked.1, marked.0))
    }
}

/// What [`Lanes::find120`] finds, and the place whose top bit tells whether a value may lie
/// further on; each in the lower 64 bits. A function of its own, since the instructions are not
/// compiled into a closure.
///
/// # Safety
///
/// The CPU has what [`Avx512`] proves.
#[inline(always)]
unsafe fn look120_one((line, value): (&[u64; 8], [u64; 2])) -> (__m128i, __m128i) {
    // SAFETY: the caller's proof; the loads read the 64 bytes of `line`.
    unsafe {
        let first = _mm256_loadu_si256(line.as_ptr().cast());
        let second = _mm256_loadu_si256(line.as_ptr().add(4).cast());
        let low = _mm256_set1_epi64x(value[0].cast_signed());
        let differs = _mm256_xor_si256(second, _mm256_set1_epi64x(value[1].cast_signed()));
        let equal = _mm256_cmpeq_epi64_mask(first, low);
        let compared = _mm256_set1_epi64x(BELOW_TOP.cast_signed());
        let places = _mm256_mask_testn_epi64_mask(equal, differs, compared);
        let found = _mm256_maskz_compress_epi64(places, second);
        // The lower two bits of a number choose.
        let marked = _mm256_permutexvar_epi64(low, second);
        (
            _mm256_castsi256_si128(found),
            _mm256_castsi256_si128(marked),
        )
    }
}
