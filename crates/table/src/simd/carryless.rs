//! The Toeplitz hash of columns by carry-less multiplication.
//!
//! Bit `j` of the hash is the XOR of `input[i] & key[i + j]` over all `i`: a product of two
//! polynomials over GF(2), of which 32 coefficients are wanted. With the input's first bit as the
//! highest coefficient and the key's first bit as the lowest, bit `j` of the hash of a word of 32
//! bits is coefficient `31 + j` of the product, so the hash comes out with its bits reversed, once
//! for all words of an input, whose products are added first.

use core::arch::x86_64::*;

use crate::FlowColumns;

/// The key from the place of each word of the input on: 63 bits, the first one lowest.
pub(crate) type Factors = [u64; 3];

/// The key from the place of each 64 bits of the input on: 95 bits, the first one lowest. The
/// last place has two bytes for each port and nothing beyond.
pub(crate) type WideFactors = [[u64; 2]; 5];

/// The columns of a burst of IPv4 flows, each as long as the others.
pub(crate) type Columns<'a> = FlowColumns<'a, u32>;

/// The columns of a burst of IPv6 flows, each as long as the others.
pub(crate) type WideColumns<'a> = FlowColumns<'a, u128>;

/// Proof that the CPU multiplies without carry: in 32-byte vectors, or at least in 16-byte ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carryless {
    wide: bool,
}

impl Carryless {
    /// The proof, where there is one.
    pub(crate) fn new() -> Option<Self> {
        let narrow = is_x86_feature_detected!("pclmulqdq") && is_x86_feature_detected!("ssse3");
        let wide = is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("avx2");
        narrow.then_some(Self { wide })
    }

    /// The same with 16-byte vectors alone, for tests.
    #[cfg(test)]
    pub(crate) fn narrow() -> Option<Self> {
        Self::new()?;
        Some(Self { wide: false })
    }

    /// The hashes of IPv4 flows, as many as the shortest column has.
    #[inline]
    pub(crate) fn hash(self, factors: &Factors, columns: Columns<'_>, hashes: &mut [u32]) {
        if self.wide {
            // SAFETY: `wide` says that this CPU has what the function is compiled for.
            unsafe { eight_at_a_time(factors, columns, hashes) };
        } else {
            // SAFETY: a `Carryless` says that this CPU has what the function is compiled for.
            unsafe { four_at_a_time(factors, columns, hashes) };
        }
    }

    /// The hashes of IPv6 flows, as many as the shortest column has.
    #[inline]
    pub(crate) fn hash_wide(
        self,
        factors: &WideFactors,
        columns: WideColumns<'_>,
        hashes: &mut [u32],
    ) {
        // SAFETY: a `Carryless` says that this CPU has what the function is compiled for.
        unsafe { one_at_a_time(factors, columns, hashes) };
    }
}

/// Calls `kernel` with `N` places of each column at a time; what is beyond the end is 0.
#[inline(always)]
fn in_blocks<const N: usize>(
    columns: Columns<'_>,
    hashes: &mut [u32],
    kernel: impl Fn([&[u32; N]; 3]) -> [u32; N],
) {
    let (src, src_rest) = columns.src.as_chunks::<N>();
    let (dst, dst_rest) = columns.dst.as_chunks::<N>();
    let (ports, ports_rest) = columns.ports.as_chunks::<N>();
    let (blocks, rest) = hashes.as_chunks_mut::<N>();
    for (((src, dst), ports), block) in src.iter().zip(dst).zip(ports).zip(blocks) {
        *block = kernel([src, dst, ports]);
    }
    if !rest.is_empty() {
        let padded = |part: &[u32]| {
            let mut block = [0; N];
            for (to, from) in block.iter_mut().zip(part) {
                *to = *from;
            }
            block
        };
        let parts = [src_rest, dst_rest, ports_rest].map(padded);
        let last = kernel([&parts[0], &parts[1], &parts[2]]);
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
fn eight_at_a_time(factors: &Factors, columns: Columns<'_>, hashes: &mut [u32]) {
    let factors = factors.map(|factor| _mm256_set1_epi64x(factor as i64));
    in_blocks::<8>(columns, hashes, |words| {
        let [low, high] = [0, 4].map(|at| {
            let mut even = _mm256_setzero_si256();
            let mut odd = even;
            for (word, &factor) in words.iter().zip(&factors) {
                let four = _mm_set_epi32(
                    word[at + 3] as i32,
                    word[at + 2] as i32,
                    word[at + 1] as i32,
                    word[at] as i32,
                );
                let four = _mm256_cvtepu32_epi64(four);
                even = _mm256_xor_si256(even, _mm256_clmulepi64_epi128::<0x00>(four, factor));
                odd = _mm256_xor_si256(odd, _mm256_clmulepi64_epi128::<0x01>(four, factor));
            }
            _mm256_srli_epi64::<31>(_mm256_unpacklo_epi64(even, odd))
        });
        let pairs = _mm256_shuffle_ps::<0x88>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        let ordered = _mm256_permute4x64_epi64::<0xD8>(_mm256_castps_si256(pairs));
        let reversed = reversed_wide(ordered);
        let halves = [
            _mm256_castsi256_si128(reversed),
            _mm256_extracti128_si256::<1>(reversed),
        ];
        let [low, high] = halves.map(|half| numbers(half));
        [
            low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3],
        ]
    });
}

#[target_feature(enable = "ssse3,pclmulqdq")]
fn four_at_a_time(factors: &Factors, columns: Columns<'_>, hashes: &mut [u32]) {
    let factors = factors.map(|factor| _mm_set1_epi64x(factor as i64));
    in_blocks::<4>(columns, hashes, |words| {
        let mut sums = [_mm_setzero_si128(); 4];
        for (word, &factor) in words.iter().zip(&factors) {
            for (sum, &one) in sums.iter_mut().zip(*word) {
                let product = _mm_clmulepi64_si128::<0x00>(_mm_cvtsi32_si128(one as i32), factor);
                *sum = _mm_xor_si128(*sum, product);
            }
        }
        let low = _mm_srli_epi64::<31>(_mm_unpacklo_epi64(sums[0], sums[1]));
        let high = _mm_srli_epi64::<31>(_mm_unpacklo_epi64(sums[2], sums[3]));
        let all = _mm_shuffle_ps::<0x88>(_mm_castsi128_ps(low), _mm_castsi128_ps(high));
        numbers(reversed(_mm_castps_si128(all)))
    });
}

/// A word of 64 bits has its wanted coefficients from 63 on, so a factor is longer than a register
/// by 31 bits, which are a factor of their own.
#[target_feature(enable = "ssse3,pclmulqdq")]
fn one_at_a_time(factors: &WideFactors, columns: WideColumns<'_>, hashes: &mut [u32]) {
    let factors = factors.map(|[low, high]| _mm_set_epi64x(high as i64, low as i64));
    let flows = columns.src.iter().zip(columns.dst).zip(columns.ports);
    for (((src, dst), ports), hash) in flows.zip(hashes) {
        let halves = [
            (src >> 64) as u64,
            *src as u64,
            (dst >> 64) as u64,
            *dst as u64,
            u64::from(*ports) << 32,
        ];
        let mut near = _mm_setzero_si128();
        let mut far = near;
        for (half, &factor) in halves.into_iter().zip(&factors) {
            let half = _mm_cvtsi64_si128(half as i64);
            near = _mm_xor_si128(near, _mm_clmulepi64_si128::<0x00>(half, factor));
            far = _mm_xor_si128(far, _mm_clmulepi64_si128::<0x10>(half, factor));
        }
        let low = _mm_cvtsi128_si64(near) as u64;
        let above = _mm_xor_si128(_mm_unpackhi_epi64(near, near), far);
        let above = _mm_cvtsi128_si64(above) as u64;
        *hash = ((low >> 63 ^ above << 1) as u32).reverse_bits();
    }
}

/// Half bytes with their bits reversed, as the low and as the high half of a byte.
const REVERSED_LOW: [i8; 16] = [
    0x0, 0x8, 0x4, 0xC, 0x2, 0xA, 0x6, 0xE, 0x1, 0x9, 0x5, 0xD, 0x3, 0xB, 0x7, 0xF,
];

/// The bytes of each 32-bit number in the other order.
const BYTES_REVERSED: [i8; 16] = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12];

#[inline]
#[target_feature(enable = "ssse3")]
fn vector(bytes: [i8; 16]) -> __m128i {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
    _mm_setr_epi8(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
}

/// The bits of each 32-bit number in the other order.
#[inline]
#[target_feature(enable = "ssse3")]
fn reversed(words: __m128i) -> __m128i {
    let (low, nibble) = (vector(REVERSED_LOW), _mm_set1_epi8(0x0F));
    let below = _mm_shuffle_epi8(low, _mm_and_si128(words, nibble));
    let above = _mm_and_si128(_mm_srli_epi16::<4>(words), nibble);
    let above = _mm_shuffle_epi8(low, above);
    let bytes = _mm_or_si128(_mm_slli_epi16::<4>(below), above);
    _mm_shuffle_epi8(bytes, vector(BYTES_REVERSED))
}

/// The bits of each 32-bit number in the other order.
#[inline]
#[target_feature(enable = "avx2")]
fn reversed_wide(words: __m256i) -> __m256i {
    let low = _mm256_broadcastsi128_si256(vector(REVERSED_LOW));
    let nibble = _mm256_set1_epi8(0x0F);
    let below = _mm256_shuffle_epi8(low, _mm256_and_si256(words, nibble));
    let above = _mm256_and_si256(_mm256_srli_epi16::<4>(words), nibble);
    let above = _mm256_shuffle_epi8(low, above);
    let bytes = _mm256_or_si256(_mm256_slli_epi16::<4>(below), above);
    let order = _mm256_broadcastsi128_si256(vector(BYTES_REVERSED));
    _mm256_shuffle_epi8(bytes, order)
}

/// The four numbers of a vector.
#[inline]
#[target_feature(enable = "ssse3")]
fn numbers(vector: __m128i) -> [u32; 4] {
    let low = _mm_cvtsi128_si64(vector) as u64;
    let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(vector, vector)) as u64;
    [
        low as u32,
        (low >> 32) as u32,
        high as u32,
        (high >> 32) as u32,
    ]
}
