//! What kind of core this is, where that decides how memory is asked for.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use core::arch::x86_64::__cpuid;

/// The family of an AMD core, as AMD counts: 25 is Zen 3 and Zen 4, 26 is Zen 5. `None` where
/// another maker's core is, or no x86. Hygon makes AMD's cores.
///
/// Asks the processor, which a virtual machine answers in microseconds: ask once.
#[must_use]
pub fn amd_family() -> Option<u32> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        const AMD: u32 = u32::from_le_bytes(*b"cAMD");
        const HYGON: u32 = u32::from_le_bytes(*b"uine");
        let version = __cpuid(1).eax;
        // The base, which has been 15 for long, and the extension.
        let family = (version >> 8 & 15) + (version >> 20 & 255);
        [AMD, HYGON].contains(&__cpuid(0).ecx).then_some(family)
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    /// The kernel read the same words.
    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    fn the_kernel_says_so_too() {
        let text = std::fs::read_to_string("/proc/cpuinfo").expect("/proc is mounted");
        let of = |name: &str| {
            let mut lines = text.lines();
            let line = lines.find(|line| line.starts_with(name)).expect(name);
            line.split_once(':').expect("a value").1.trim().to_string()
        };
        let is_amd = ["AuthenticAMD", "HygonGenuine"].contains(&of("vendor_id").as_str());
        let family = is_amd.then(|| of("cpu family").parse().expect("a number"));
        assert_eq!(super::amd_family(), family);
    }
}
