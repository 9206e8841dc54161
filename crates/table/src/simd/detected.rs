//! What this CPU can do.

use std::sync::atomic::{AtomicU8, Ordering};

/// Bits of what [`detected`] tells: that it has looked, and what is here.
const LOOKED: u8 = 1;
pub(super) const AVX2: u8 = 2;
pub(super) const AVX512: u8 = 4;

/// What this CPU has. Asked once a burst, so it is one load: nine features looked up one by one
/// were some 30 instructions, half a key's.
#[inline]
pub(super) fn detected() -> u8 {
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
    let found = [(avx2, AVX2), (avx512, AVX512)];
    let found = found.into_iter().filter(|feature| feature.0);
    found.fold(LOOKED, |all, feature| all | feature.1)
}
