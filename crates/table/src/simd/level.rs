//! Which vectors lines are compared by.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::{Avx2, Avx512};
use std::fmt;

/// How lines are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain loops.
    #[default]
    Portable,
    /// 32-byte vectors.
    Avx2,
    /// 64-byte vectors, a line a compare.
    Avx512,
}

impl Level {
    /// The widest this CPU has.
    #[must_use]
    pub fn best() -> Self {
        [Self::Avx512, Self::Avx2]
            .into_iter()
            .find(|level| level.is_here())
            .unwrap_or_default()
    }

    /// True when this CPU has it.
    #[must_use]
    pub fn is_here(self) -> bool {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        return match self {
            Self::Portable => true,
            Self::Avx2 => Avx2::new().is_some(),
            Self::Avx512 => Avx512::new().is_some(),
        };
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        return self == Self::Portable;
    }

    /// All that this CPU has, for tests and benchmarks.
    pub fn here() -> impl Iterator<Item = Self> {
        [Self::Portable, Self::Avx2, Self::Avx512]
            .into_iter()
            .filter(|level| level.is_here())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable",
            Self::Avx2 => "AVX2",
            Self::Avx512 => "AVX-512",
        })
    }
}
