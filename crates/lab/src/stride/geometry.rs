//! How many frames a cache holds, by arithmetic.

use std::fs;

const LINE_BYTES: u64 = 64;

/// A cache: `sets` places an address can go to, `ways` lines in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cache {
    pub(super) sets: u64,
    pub(super) ways: u64,
}

/// First and second level; none where the kernel does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Caches {
    pub(super) first: Option<Cache>,
    pub(super) second: Option<Cache>,
}

impl Caches {
    /// Asks the kernel about the first CPU.
    pub(super) fn read() -> Self {
        let mut caches = Self::default();
        for index in 0..8 {
            let field = |name: &str| {
                let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
                fs::read_to_string(path).map(|text| text.trim().to_owned())
            };
            let number = |name: &str| field(name).ok()?.parse::<u64>().ok();
            let (Some(sets), Some(ways)) =
                (number("number_of_sets"), number("ways_of_associativity"))
            else {
                continue;
            };
            let instructions = field("type").is_ok_and(|kind| kind == "Instruction");
            match number("level") {
                Some(1) if !instructions => caches.first = Some(Cache { sets, ways }),
                Some(2) => caches.second = Some(Cache { sets, ways }),
                _ => {}
            }
        }
        caches
    }
}

impl Cache {
    /// How many headers stay here at most when frames are this far apart: the line numbers of
    /// headers step by the stride's lines, so they meet `sets / gcd(lines, sets)` of the sets.
    pub(super) fn frames(self, stride_bytes: u64) -> u64 {
        sets_used(stride_bytes, self.sets) * self.ways
    }
}

/// Sets that headers at this distance fall into.
pub(super) fn sets_used(stride_bytes: u64, sets: u64) -> u64 {
    let (mut a, mut b) = (stride_bytes / LINE_BYTES, sets);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    sets / a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_strides_use_every_set() {
        let used = [1920, 1984, 2048, 2112, 4096].map(|stride| sets_used(stride, 64));
        assert_eq!(used, [32, 64, 2, 64, 1]);
        let second = Cache {
            sets: 1024,
            ways: 16,
        };
        assert_eq!((second.frames(2048), second.frames(2112)), (512, 16_384));
    }

    #[test]
    fn the_kernel_may_say_nothing() {
        let caches = Caches::read();
        for cache in [caches.first, caches.second].into_iter().flatten() {
            assert!(cache.sets > 0 && cache.ways > 0);
        }
    }
}
