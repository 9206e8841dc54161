//! The processor's instruction for CRC-32C.
//!
//! Eight bytes take three cycles, where eight tables take some twenty instructions and 8 KiB of the
//! first cache. It is written as assembly and not as an intrinsic, which would be inlined only into
//! functions that are compiled for processors with it: here it belongs in the middle of those that
//! run on all.

/// Proof that this processor has the instruction.
#[derive(Debug, Clone, Copy)]
pub struct Crc32c(());

impl Crc32c {
    /// Looks whether the processor has it; `None` elsewhere, and under Miri.
    #[inline(always)]
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        return std::arch::is_x86_feature_detected!("sse4.2").then_some(Self(()));
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        None
    }

    /// The remainder behind eight more bytes, the first of them the lowest of `bytes`. Neither
    /// begun with ones nor complemented.
    #[inline(always)]
    #[must_use]
    pub fn step(self, remainder: u32, bytes: u64) -> u32 {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let mut wide = u64::from(remainder);
            // SAFETY: touches no memory and no flags; `self` proves that the processor has it.
            unsafe {
                core::arch::asm!("crc32 {0}, {1}", inout(reg) wide, in(reg) bytes,
                    options(pure, nomem, nostack, preserves_flags));
            }
            wide as u32
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        {
            let _ = bytes;
            remainder // never called: there is no proof
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Crc32c;

    #[test]
    fn agrees_with_published_values() {
        let Some(crc) = Crc32c::detect() else {
            println!("skipped: this processor has no instruction for CRC-32C");
            return;
        };
        // RFC 3720 appendix B.4: begun with ones and complemented at the end.
        let of = |words: [u64; 4]| {
            !words
                .into_iter()
                .fold(u32::MAX, |rest, word| crc.step(rest, word))
        };
        assert_eq!(of([0; 4]), 0x8a91_36aa);
        assert_eq!(of([u64::MAX; 4]), 0x62a8_ab43);
        let ascending =
            [0, 8, 16, 24].map(|first| 0x0706_0504_0302_0100 + first * (u64::MAX / 255));
        assert_eq!(of(ascending), 0x46dd_794e);
    }
}
