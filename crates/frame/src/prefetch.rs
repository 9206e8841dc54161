//! Asks the CPU to begin a memory read before its value is needed.
//!
//! A prefetch is a hint: it cannot fault, whatever the address, and changes nothing a program can
//! see but time. That is why these functions are safe and take any pointer. They do nothing on
//! processors without such an instruction, and under Miri.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use core::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};

/// Begins to load the cache line of `address` into all cache levels, to be read soon.
#[inline(always)]
pub fn read(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: PREFETCHT0 dereferences nothing and never faults, whoever owns the address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: PRFM dereferences nothing and never faults, whoever owns the address.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address,
            options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

/// Begins to load the cache line of `address` into the second cache level, to be read later: it
/// does not displace what the first level holds.
#[inline(always)]
pub fn read_far(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: PREFETCHT1 dereferences nothing and never faults, whoever owns the address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T1>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: PRFM dereferences nothing and never faults, whoever owns the address.
    unsafe {
        core::arch::asm!("prfm pldl2keep, [{0}]", in(reg) address,
            options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

/// [`read_far`] or [`read`], as the loop it stands in was compiled.
#[inline(always)]
pub fn read_into<const FAR: bool>(address: *const u8) {
    if FAR {
        read_far(address);
    } else {
        read(address);
    }
}

/// Begins to load the cache line of `address` for writing: takes it from other CPUs' caches.
#[inline(always)]
pub fn write(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: PREFETCHW dereferences nothing and never faults, whoever owns the address.
    unsafe {
        _mm_prefetch::<_MM_HINT_ET0>(address.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: PRFM dereferences nothing and never faults, whoever owns the address.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{0}]", in(reg) address,
            options(nostack, preserves_flags, readonly));
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = address;
}

#[cfg(test)]
mod tests {
    /// Also on addresses nobody mapped.
    #[test]
    fn any_address_will_do() {
        for address in [core::ptr::null(), core::ptr::without_provenance(usize::MAX)] {
            super::read(address);
            super::read_far(address);
            super::read_into::<true>(address);
            super::read_into::<false>(address);
            super::write(address);
        }
    }
}
